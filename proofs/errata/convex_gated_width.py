"""The gated theorems have no width condition and fail with one head per gate."""

from fractions import Fraction

import sympy

from proofs.checking import require, require_equal
from proofs.sources import CONVEX

SOURCE = CONVEX
PLACE = "Theorems C.1, C.2, C.3, C.4 and C.7"
KIND = "Refuted"
FAILS = "the statement, for lack of a hypothesis: the number of heads for each gate"
PRINTED = (
    (
        1551,
        r"for fixed gates $\{\mathbf{h}_j \in \mathbb{R}^d\}_{j=1}^m$. Then, the "
        "standard non-convex training objective is equivalent to a convex optimization "
        "problem, given by",
    ),
)
CLAIM = (
    "For fixed gates h_1..h_m the non-convex training problem with m gated heads equals the "
    "convex program with penalty beta sum_j |Z_j|_*."
)
MENDED = (
    "True with at least rank(Z_j) heads for each gate, for some optimal (Z_j). False with one "
    "head for each gate if every optimal (Z_j) has a Z_j of rank above 1."
)


def witness() -> str:
    """Compare both sides of Theorem C.7 for one gate that is open everywhere, h(X) = Y = I_2,
    beta = 1/10.
    """
    beta, s, t = (
        sympy.Rational(1, 10),
        sympy.Symbol("s", nonnegative=True),
        sympy.Symbol("t", real=True),
    )
    # One head predicts s p q^T with unit p, q and costs |I - s p q^T|^2/2 + beta s = 1 - s <p, q>
    # + s^2/2 + beta s; put <p, q> = 1 - t, t >= 0.
    cost = 1 - s * (1 - t) + s**2 / 2 + beta * s
    require_equal(
        cost - sympy.Rational(119, 200),
        (s - sympy.Rational(9, 10)) ** 2 / 2 + s * t,
        "one head costs at least 119/200, since s t >= 0",
    )
    r = Fraction(9, 10)  # Z = r I has nuclear norm 2 r
    convex = (1 - r) ** 2 + Fraction(1, 10) * 2 * r
    require(convex == Fraction(19, 100), "Z = (9/10) I gives 19/100 in the convex program")
    gate = [1 if x >= 0 else 0 for x in (1, 1)]
    require(gate == [1, 1], "the gate h = (1, 1) is open on both rows of I_2")
    return (
        "h(X) = Y = I_2, one gate h_1 = (1,1) (open on both rows), beta = 1/10, L = |.|^2/2: "
        "the best single head costs 119/200, the convex program at most 19/100."
    )
