"""The l2-norm expression is not a reproducing kernel."""

from proofs.checking import require
from proofs.sources import TRANSDUCER

SOURCE = TRANSDUCER
PLACE = "S.9.2, third expression"
KIND = "Gap"
FAILS = "the claim for this expression: with K = Q it is no reproducing kernel"
PRINTED = (
    (
        633,
        "In coherence with Wright and Gonzalez (2021), we show that different expres- "
        "sions of the kernel kg can be proposed.",
    ),
    (641, "* ly-norm: Ag(v,v’') = ||Kg(v) —"),
)
CLAIM = (
    "The l2-norm A(v, v') = |K(v) - Q(v')|^2 is another expression of the (reproducing) "
    "kernel kappa."
)
MENDED = (
    "With K = Q it vanishes on the diagonal, so a reproducing kernel of this form would be "
    "0. It is a distance, not a similarity."
)


def witness() -> str:
    """Violate the Cauchy-Schwarz inequality of the semi-inner product with K = Q = 1, W = V = 1."""

    def kernel(v: int, w: int) -> int:
        return (v - w) ** 2

    require(
        kernel(0, 0) == kernel(1, 1) == 0 and kernel(0, 1) == 1,
        "|K(0,1)|^2 = 1 > K(0,0) K(1,1) = 0",
    )
    return (
        "U = V = R, K = Q = W = V = 1: kappa(0,0) = kappa(1,1) = 0 but kappa(0,1) = 1, while "
        "|kappa(v,v')|^2 <= kappa(v,v) kappa(v',v') is necessary."
    )
