"""Theorem 6c: shells at exact heights, and one block that maps the heights to a line."""

import sympy

from proofs.checking import relu, require_equal, require_positive
from proofs.sources import THEORY

SOURCE = THEORY
PLACE = "Theorem 6c: exact-height shells"
STATEMENT = (
    "Targets p + tau_i q on a line, q orthogonal to the height e_d, tau_1 <= tau_i. With t = t0 + "
    "delta s - Lambda h, s = h_i = eta (tau_i - tau_1 + 1) on the vertices of a facet, the block "
    "w = e_d/delta lifts each vertex to B + h_i exactly and moves nothing else. Kills of E and one "
    "block u = e_d, b = -p_d, w = q/eta - e_d then reach every target."
)
HYPOTHESES = (
    "d >= 2; the vertices are affinely independent; f_j != 0, eta > |q_j/f_j| and B large for the "
    "kills. One coordinate j of E stands for all."
)
PROVED = (
    "The lift, the gate, the last block for the height and for any coordinate of E, and that the "
    "constant of a kill lies outside the range of its coordinate for an explicit B."
)
LEFT = (
    "An affine s with given values on affinely independent points exists; the count of shells is "
    "that of Theorem 6a."
)

TAU1, P, Q, HEIGHT, PD = sympy.symbols("tau_1 p_j q_j B p_d", real=True)
ETA, DELTA = sympy.symbols("eta delta", positive=True)
ABOVE = sympy.Symbol("above", nonnegative=True)  # tau_i - tau_1
RISE = ETA * (ABOVE + 1)  # h_i


def prove_vertices_land_exactly() -> str:
    """On a vertex t0 = 0, s = h_i and h = 0: the block adds (delta h_i)/delta."""
    require_positive(sympy.expand(RISE), "h_i > 0")
    require_equal(relu(DELTA * RISE) / DELTA, RISE, "the vertex is lifted by h_i")
    return "t = delta h_i on a vertex, so it lands at height B + h_i exactly"


def prove_parked_points_stay() -> str:
    """With Lambda = max t/h_1 + extra, a point parked at h >= h_1 = eta has t <= 0."""
    top, extra, more = sympy.symbols("top extra more", nonnegative=True)
    gate = top / ETA + extra
    require_equal(relu(sympy.expand(top - gate * (ETA + more))), sympy.Integer(0), "inactive")
    return "the term -Lambda h keeps parked points where they are"


def prove_last_block_reaches_the_line() -> str:
    """From (c_j, B + h_i): the height goes to p_d, coordinate j to p_j + tau_i q_j."""
    over = sympy.Symbol("over", positive=True)  # B - p_d
    c = P + (TAU1 - 1) * Q - over * Q / ETA
    active = relu(over + RISE)  # u = e_d, b = -p_d, at height p_d + over + h_i
    require_equal((PD + over + RISE) - active, PD, "the height")
    require_equal(c + active * Q / ETA, P + (TAU1 + ABOVE) * Q, "coordinate j of E")
    return "one block takes every height B + h_i to the target p + tau_i q"


def prove_kills_are_possible() -> str:
    """x_j - c_j has the sign of f_j as soon as B is large: f_j > 0, |q_j| <= (f_j - slack) eta."""
    f, slack, spread, below = sympy.symbols("f slack spread below", positive=True)
    # x_j = m_j + f (B - m_d) >= f B - spread and c_j <= (f - slack) B + spread, where spread bounds
    # what does not depend on B; take B = 2 spread/slack + below
    B = 2 * spread / slack + below
    gap = (f * B - spread) - ((f - slack) * B + spread)
    require_equal(gap, slack * below, "the least distance of the range from the constant")
    require_positive(sympy.simplify(gap), "the constant lies strictly below the range")
    return "for large B the constant lies outside the range; f_j < 0 is the mirror image"
