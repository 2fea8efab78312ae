"""Theorem 6d: points of different heights, facets of the lower hull, d points a block."""

import sympy

from proofs.checking import relu, require_equal, require_positive
from proofs.sources import THEORY

SOURCE = THEORY
PLACE = "Theorem 6d: d points in a shell"
STATEMENT = (
    "Let f_d = 1 - eps in the block that flattens. With t0 = a - c m_d as a function of the "
    "mean, a affine on E and c > 0, t0 = 0 on the vertices and < 0 on the points that wait, and s "
    "what each vertex lacks to its height, the block with t = t0/delta + s, w = e_d raises each "
    "vertex to B + h_i exactly and moves no other point, for small eps and delta."
)
HYPOTHESES = (
    "B > m_d and h_i > 0 for all points; the vertices project to affinely independent points of E."
)
PROVED = (
    "The heights behind the block that flattens; that the map is one-to-one; the rise of a vertex, "
    "the points that wait and those raised before, with explicit eps and delta."
)
LEFT = "That the lower hull has a facet with d points, which is the turning of a hyperplane."

B, M, F, EPS, C, H = sympy.symbols("B m_d f_j eps c h_i", positive=True)
DEPTH = sympy.Symbol("depth", positive=True)  # B - m_d
MORE = sympy.Symbol("more", positive=True)


def prove_heights_behind_the_flattening() -> str:
    """u = -e_d, b = B, w = f with f_d = 1 - eps: z_d goes to B - eps (B - z_d)."""
    z = B - DEPTH
    require_equal(z + (1 - EPS) * relu(DEPTH), B - EPS * DEPTH, "the height")
    other = sympy.Symbol("z_j", real=True)
    require_equal(other + F * relu(DEPTH), (other - F * z) + F * B, "z_j - f_j z_d, moved by f_j B")
    return "E is as for f_d = 1, and the height is B - eps (B - m_d)"


def prove_the_map_is_one_to_one() -> str:
    """The matrix of (z_j, z_d) -> (z_j - f_j z_d, eps z_d) has determinant eps."""
    matrix = sympy.Matrix([[1, -F], [0, EPS]])
    require_equal(matrix.det(), EPS, "the determinant, one coordinate of E standing for all")
    return "the map is affine and one-to-one, so affinely independent points stay so"


def prove_vertices_land_exactly() -> str:
    """At a vertex t0 = 0 and s = h_i + eps depth > 0: it rises to B + h_i."""
    lacking = H + EPS * DEPTH
    require_equal((B - EPS * DEPTH) + relu(0 + lacking), B + H, "the height")
    return "t = s on a vertex, which is what it lacks to B + h_i"


def prove_points_that_wait_stay() -> str:
    """Where t0 = -gap < 0: t < 0 as soon as delta s < gap."""
    gap, s = sympy.symbols("gap s", positive=True)
    delta = gap / (s + MORE)
    require_equal(relu(sympy.simplify(-gap / delta + s)), sympy.Integer(0), "inactive")
    return "for small delta the points that wait stay"


def prove_raised_points_stay() -> str:
    """A raised point acts like a mean with m_d = B + h_i/eps, where t0 < 0 for small eps."""
    virtual = B + H / EPS
    require_equal(B - EPS * (B - virtual), B + H, "the height of that mean")
    value = sympy.Symbol(
        "value", real=True
    )  # t0 at the point before it was raised, m_d = B - depth
    there = value - C * (virtual - (B - DEPTH))
    over = sympy.Symbol("over", nonnegative=True)
    bound = sympy.expand(there.subs(value, over).subs(EPS, C * H / (over + MORE)))
    require_equal(bound, -MORE - C * DEPTH, "t0 for eps = c h_i/(over + more), value = over")
    require_positive(-bound, "t0 is negative")
    return "for small eps t0 is negative at raised points, and for small delta so is t"
