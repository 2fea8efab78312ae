"""Lower semi-continuous, coercive and bounded below is not enough for a minimiser."""

from fractions import Fraction

import sympy

from proofs.checking import require, require_equal
from proofs.sources import TRANSDUCER

SOURCE = TRANSDUCER
PLACE = "Theorem 2, existence"
KIND = "Refuted"
FAILS = "the statement, for lack of a hypothesis: weak lower semi-continuity"
PRINTED = (
    (
        136,
        "Theorem 2 (RKBS representer map). Let B be a U-valued RKBS from V to U, if "
        "for any dataset Do € D, L(.,Do) is lower semi-continuous, coercive and "
        "bounded below, then there exists a funcnon T : D — B such that T(Do) is a "
        "minimizer of equation (1).",
    ),
)
CLAIM = (
    "If L(., D) is lower semi-continuous, coercive and bounded below for every D, there is "
    "T with T(D) a minimiser of (1)."
)
MENDED = (
    "The proof uses weak lower semi-continuity, which must be assumed (it follows from "
    "convexity and lower semi-continuity)."
)


def witness() -> str:
    """Take f(x) = (|x|^2 - 1)^2 + sum x_k^2/k^2 on l^2, functions on the positive integers."""

    def f(x: dict[int, Fraction]) -> Fraction:
        return (sum(t * t for t in x.values()) - 1) ** 2 + sum(t * t / k**2 for k, t in x.items())

    require(
        all(f({k: Fraction(1)}) == Fraction(1, k * k) for k in range(1, 200)),
        "f(e_k) = 1/k^2, so inf f = 0, as f >= 0",
    )
    # f(x) = 0 needs sum x_k^2/k^2 = 0, so x = 0; but f(0) = 1
    require(f({}) == 1, "f(0) = 1")
    n = sympy.Symbol("n", nonnegative=True)
    require_equal(
        (n - 1) ** 2 - (n**2 / 2 - 1), (n - 2) ** 2 / 2, "f >= |x|^4/2 - 1, so f is coercive"
    )
    return (
        "B = l^2 (a reproducing kernel Hilbert space on the positive integers), L(x) = "
        "(|x|^2 - 1)^2 + sum x_k^2/k^2: continuous, coercive, >= 0, L(e_k) = 1/k^2, and L > "
        "0 everywhere, since L = 0 forces x = 0 where L = 1."
    )
