"""B3: radial peeling sends any N distinct points to any N targets, one block each."""

import sympy

from proofs.checking import relu, require, require_equal, require_nonnegative, require_positive
from proofs.sources import THEORY
from proofs.vectors import gram, inner, vectors

SOURCE = THEORY
PLACE = "Theorem B, step B3"
STATEMENT = (
    "Take the points by decreasing distance from c. For x put u = x - c, g = |u|^2 - "
    "max <u, p - c> over the other remaining points, the targets and c, 0 < h <= g/2, b "
    "= h - <u, x>, w = (y - x)/h. Only x is active and FF(x) = y."
)
HYPOTHESES = (
    "|p - c| <= |x - c|, p != x, for the remaining points p; |y - c| < |x - c| for all "
    "targets; x != c. General d."
)
PROVED = (
    "g > 0 by Cauchy-Schwarz in the form of an identity; x is active with value h and "
    "lands exactly; all others have value <= -h."
)
LEFT = (
    "A power of two h <= g/2 exists; the induction over the points (N - 1 blocks if one "
    "point is c)."
)


def prove_cauchy_schwarz() -> str:
    """|u|^2 - <u, q> = (|u|^2 - |q|^2)/2 + |u - q|^2/2 in every inner product space."""
    u, q = vectors("u q")
    identity = (inner(u, u) - inner(q, q)) / 2 + inner(u - q, u - q) / 2
    require_equal(inner(u, u) - inner(u, q), sympy.expand(identity), "the identity")
    # |u|^2 = |q|^2 + shrink: then the gap is the sum of shrink/2 >= 0 and |u - q|^2/2 >= 0, and one
    # of them is positive: the second if q != u, the first if |q| < |u| (targets, c)
    shrink = sympy.Symbol("shrink", nonnegative=True)
    rest = inner(u, u) - inner(u, q) - inner(u - q, u - q) / 2
    rest = sympy.expand(sympy.expand(rest).subs(gram("u", "u"), gram("q", "q") + shrink))
    require_equal(rest, shrink / 2, "the gap without |u - q|^2/2")
    require_nonnegative(rest, "|q| <= |u|")
    return "|u|^2 - <u, q> = (|u|^2 - |q|^2)/2 + |u - q|^2/2 > 0 if |q| <= |u| and q != u"


def prove_landing() -> str:
    """<u, x> + b = h and x + w h = y."""
    x, y, u = vectors("x y u")
    h = sympy.Symbol("h", positive=True)
    b = h - gram("u", "x")
    active = inner(u, x) + b
    require_equal(active, h, "<u, x> + b = h")
    require((x + relu(active) * ((1 / h) * (y - x))).equals(y), "x lands on y")
    return "x is active with value h and lands on y exactly"


def prove_inactive() -> str:
    """Every other point, target and c has value h - (gap) <= h - g <= -h < 0."""
    x, p, c = vectors("x p c")
    u = x - c
    h = sympy.Symbol("h", positive=True)
    value = inner(u, p) + h - inner(u, x)
    require_equal(
        value,
        sympy.expand(h - (inner(u, u) - inner(u, p - c))),
        "value at p = h - (|u|^2 - <u, p - c>)",
    )
    extra, more = sympy.symbols("extra more", nonnegative=True)
    gap = 2 * h + extra + more  # gap >= g >= 2h
    require_nonnegative(-h - (h - gap), "value <= -h")
    require_equal(relu(h - gap), sympy.Integer(0), "inactive")
    return (
        "all others have <u, p> + b = h - (|u|^2 - <u, p - c>) <= -h < 0, so they stay where "
        "they are"
    )


def prove_order_is_kept() -> str:
    """After x has moved to y with |y - c| < |x' - c| for all points not moved, the hypotheses
    hold again.
    """
    near = sympy.Symbol("near", positive=True)  # |x' - c|^2 - |y - c|^2, x' still to move
    later, landed = vectors("later landed")
    # the hypothesis of the next step, by the identity of prove_cauchy_schwarz with q = y - c: its
    # gap |u|^2 - <u, q> is positive, so the point that has landed stays
    gap = inner(later, later) - inner(later, landed)
    half = inner(later - landed, later - landed) / 2
    rest = sympy.expand(gap - half)
    require_equal(rest, (inner(later, later) - inner(landed, landed)) / 2, "the rest of the gap")
    rest = rest.subs(gram("later", "later"), gram("landed", "landed") + near)
    require_positive(sympy.expand(rest), "a landed point leaves a positive gap")
    return (
        "landed points are targets, hence strictly closer to c than every point that has "
        "still to move"
    )
