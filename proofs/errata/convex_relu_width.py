"""The number of heads that the ReLU theorems promise to suffice does not suffice."""

from fractions import Fraction

import sympy

from proofs.checking import require, require_equal
from proofs.sources import CONVEX

SOURCE = CONVEX
PLACE = "Theorems 3.3, 4.2, 4.5, 4.8 and C.6: m* <= n min{., .}"
KIND = "Refuted"
FAILS = "the constant in the bound on m*"
PRINTED = (
    (
        284,
        r"Then, for $m \geq m^*$ where $m^* \leq n \min\{sd,c\}$, the standard "
        "nonconvex training objective is equivalent to a convex optimization problem, "
        "given by",
    ),
)
CLAIM = (
    "For m >= m* with m* <= n min{sd, c} (Theorem 4.5; the others alike), the non-convex "
    "ReLU training problem equals the convex program."
)
MENDED = (
    "The bound must count predictions, not samples: m* <= n s c (n c after average "
    "pooling), by Caratheodory's theorem on the hull of the atoms; one sample with c = 1 "
    "output can need s heads."
)


def witness() -> str:
    """Show a gap between m = 1 and m = 2 for n = 1, s = 2, d = c = 1, where m* <= 1 is claimed."""
    # circ((1,0)^T) = I, so a head predicts relu(w) v with w in R^2 and v in R; target Y = (1, -1),
    # L = |.|^2 / 2.
    beta, a, b = (
        sympy.Rational(1, 10),
        sympy.Symbol("a", nonnegative=True),
        sympy.Symbol("b", nonnegative=True),
    )
    one_head = sympy.Rational(119, 200)
    # relu(w) v has both entries >= 0 (v >= 0) or both <= 0: f = (a, b) or (-a, -b), and the
    # penalty is at least beta |f| >= beta a, beta b.
    positive = (1 - a) ** 2 / 2 + (1 + b) ** 2 / 2 + beta * a
    negative = (1 + a) ** 2 / 2 + (1 - b) ** 2 / 2 + beta * b
    require_equal(
        positive - one_head,
        (a - sympy.Rational(9, 10)) ** 2 / 2 + b + b**2 / 2,
        "f = (a, b): the value is at least 119/200",
    )
    require_equal(
        negative - one_head,
        (b - sympy.Rational(9, 10)) ** 2 / 2 + a + a**2 / 2,
        "f = (-a, -b): likewise",
    )
    # Two heads (w, v) = sqrt(r) (e1, 1) and sqrt(r) (e2, -1) with r = 9/10: prediction (r, -r),
    # penalty (beta/2) 4 r.
    r = Fraction(9, 10)
    two_heads = (1 - r) ** 2 + Fraction(1, 10) * 2 * r
    require(
        two_heads == Fraction(19, 100) and two_heads < Fraction(119, 200),
        "two heads reach 19/100 < 119/200",
    )
    # C.6 with h(X) = (1, -1)^T, d = c = 1: relu(h w) v is (w, 0) v or (0, |w|) v, so one head
    # reaches even fewer predictions.
    return (
        "n = 1, X = (1, 0)^T (so circ(X) = I), Y = (1, -1), beta = 1/10, L = |.|^2/2: with "
        "the claimed m = 1 head the minimum is 119/200, with two heads 19/100 or less. The "
        "same instance serves the Mixer (s = 2, d = c = 1) and B-FNO with B = 1."
    )
