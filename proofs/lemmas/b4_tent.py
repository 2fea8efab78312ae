"""B4, the tent: three blocks that raise the points near a hyperplane and touch no others."""

import sympy

from proofs.checking import relu, require_equal, require_nonnegative
from proofs.sources import THEORY
from proofs.vectors import gram, inner, vectors

SOURCE = THEORY
PLACE = "Theorem B, step B4, the tent"
STATEMENT = (
    "With t = <u, z> + b, <u, w> = 0, offsets b + 2 eps, b, b - 2 eps, w = R(1, -2, 1)e_d, three "
    "blocks add R(2 eps - |t|) >= R eps for |t| <= eps and nothing for |t| >= 2 eps."
)
HYPOTHESES = "u in E = span(e_1..e_{d-1}), d >= 2; eps, R > 0."
PROVED = (
    "The tent on |t| <= eps, between, and for |t| >= 2 eps; the three blocks share t; the landing "
    "error for open label sets."
)
LEFT = "Any d - 1 points of E lie on a hyperplane; avoiding the others is general position."

EPS, R = sympy.symbols("eps R", positive=True)
P, Q = sympy.symbols("p q", nonnegative=True)


def tent(t: sympy.Expr, eps: sympy.Expr) -> sympy.Expr:
    """Evaluate R (relu(t + 2 eps) - 2 relu(t) + relu(t - 2 eps)); the signs must follow from
    the symbols.
    """
    return sympy.expand(R * (relu(t + 2 * eps) - 2 * relu(t) + relu(t - 2 * eps)))


def prove_tent_top() -> str:
    """|t| <= eps: the tent is R (2 eps - |t|) >= R eps."""
    eps = (P + Q) / 2
    plus = sympy.Symbol("t", nonnegative=True)
    rest = sympy.Symbol("rest", nonnegative=True)
    for sign in (1, -1):
        value = tent(sign * plus, plus + rest)  # eps = |t| + rest
        require_equal(value, sympy.expand(R * (2 * (plus + rest) - plus)), "R (2 eps - |t|)")
        require_equal(value - R * (plus + rest), R * rest, "at least R eps")
    require_equal(tent(sympy.Integer(0), eps + EPS), 2 * R * (eps + EPS), "the top is 2 R eps")
    return "|t| <= eps: tent = R (2 eps - |t|), between R eps and 2 R eps"


def prove_tent_slope() -> str:
    """eps <= |t| <= 2 eps: the tent is R (2 eps - |t|) >= 0: a push of the wanted sign, never a
    wrong one.
    """
    t, a = sympy.Symbol("a", nonnegative=True) + P, sympy.Symbol("a", nonnegative=True)
    eps = (t + a) / 2  # 2 eps = t + a >= t
    for sign in (1, -1):
        require_equal(tent(sign * t, eps), sympy.expand(R * a), "R (2 eps - |t|)")
        require_nonnegative(tent(sign * t, eps), "non-negative")
    return "eps <= |t| <= 2 eps: tent = R (2 eps - |t|) >= 0"


def prove_tent_zero() -> str:
    """|t| >= 2 eps: the tent vanishes identically."""
    for sign in (1, -1):
        require_equal(tent(sign * (2 * EPS + P), EPS), sympy.Integer(0), "zero outside")
    return "|t| >= 2 eps: tent = 0 exactly"


def prove_tent_blocks_share_t() -> str:
    """<u, w> = 0 for u in E and w along e_d, so the second and third block see the same t."""
    z, u, e = vectors("z u e")
    c = sympy.Symbol("c", real=True)
    require_equal(
        inner(u, z + c * e).subs(gram("e", "u"), 0), gram("u", "z"), "<u, z> is unchanged"
    )
    return "<u, e_d> = 0: three consecutive blocks add the tent of the original t"


def prove_open_label_sets() -> str:
    """w = (p/2 eps)(1, -2, 1): a point at distance t from the hyperplane lands |p||t|/(2 eps)
    away from p.
    """
    t, rest = sympy.symbols("t rest", nonnegative=True)
    eps = t + rest + EPS
    for sign in (1, -1):
        factor = sympy.simplify(tent(sign * t, eps) / R / (2 * eps))
        require_equal(
            sympy.simplify(1 - factor - t / (2 * eps)),
            sympy.Integer(0),
            "the factor is 1 - |t|/(2 eps)",
        )
    return (
        "three blocks add p (1 - |t|/(2 eps)): the landing error is |p||t|/(2 eps), plus the "
        "radius of the collapsed cloud"
    )
