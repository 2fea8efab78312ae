"""Dot-product attention is not a reproducing kernel in the sense of Theorem 1."""

from flint import arb

from proofs.checking import require
from proofs.sources import TRANSDUCER

SOURCE = TRANSDUCER
PLACE = "Proposition 1, (4)"
KIND = "Refuted"
FAILS = "the statement"
PRINTED = (
    (
        161,
        "Proposition 1 (Dot-product attention as l{-valued reproducing kernel). Let "
        "(p;);<s a finite sequence of strictly positive integers, let (A}) j<; be "
        "applications fromV x V to R, let Vi be linear applications from L(U,RPi) and "
        "Wy a linear application from L( || RP,U), the (multi-head) application kg : V "
        "x V — L(U) defined by i<J o0, (w) = Wo ([ A3 (0.0) -V )], ) v is the "
        "reproducing kernel of an U-valued RKBS.",
    ),
)
CLAIM = (
    "For all linear V^j, W and all maps A^j : V x V -> R the map (4) is the reproducing "
    "kernel of a U-valued RKBS."
)
MENDED = (
    "(3) with O = K(v, .)u gives <K(v, v)u, u> = |K(v, .)u|^2 >= 0 and |<K(v, v')u, u'>|^2 "
    "<= <K(v, v)u, u><K(v', v')u', u'>. Sufficient: tied queries and keys, W_j V_j "
    "symmetric positive semi-definite, no normalisation."
)


def witness() -> str:
    """Violate both necessary conditions with U = V = R, one head."""

    def kernel(v: int, w: int, out: int, query: int, key: int) -> arb:  # (4) with V = 1
        return out * arb(query * v * key * w).exp()

    # W = -1 and A = 1: K(v, v) u = -u
    negative = kernel(1, 1, -1, 0, 0)
    require(negative < 0, "<K(v, v)u, u> = -u^2 < 0, but it must be |K(v, .)u|^2")
    # W = 1, q = 1, k = -1: K(v, v') = exp(-v v')
    k00, k01, k11 = (kernel(v, w, 1, 1, -1) for v, w in ((0, 0), (0, 1), (1, 1)))
    require(k01 * k01 > k00 * k11, "Cauchy-Schwarz fails: 1 > 1/e")
    return (
        "U = V = R, one head: W = -1, A = 1 gives <K(v,v)u, u> = -u^2 < 0. W = 1, A = exp(-v "
        "v'): K(0,1)^2 = 1 > K(0,0) K(1,1) = 1/e."
    )
