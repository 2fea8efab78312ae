"""Beyond B4, shells: one block parks d - 1 points of any labels; then a staircase."""

import sympy

from proofs.checking import relu, require_equal, require_positive
from proofs.sources import THEORY

SOURCE = THEORY
PLACE = "Beyond Theorem B, step B4: shells and staircase"
STATEMENT = (
    "Let t0 = 0 on the vertices of a facet and t0 < 0 on all other points at height B, and let s "
    "be affine with s = rank on the vertices. For small delta > 0 one block with "
    "t = t0 + delta s - Lambda h (h the height above B) and w = e_d/delta raises each vertex to "
    "h = rank and moves nothing else. Bands of half-width 1/4 around the ranks then go to their "
    "targets by 2(M - 1) hinges and one kill."
)
HYPOTHESES = (
    "d >= 2; ranks 1..M; parked points have h >= 3/4; the targets agree in the coordinate of the "
    "height."
)
PROVED = (
    "The tilt on the facet, on the rest and on parked points; the staircase on every band; the "
    "last kill."
)
LEFT = (
    "A facet in general position has d - 1 vertices, which are affinely independent, so s exists; "
    "the count."
)

RANK, DELTA, GAP, ABOVE = sympy.symbols("rank delta gap above", positive=True)
SLOPE, EXTRA = sympy.symbols("slope extra", nonnegative=True)


def prove_vertices_land_on_their_rank() -> str:
    """On a vertex t0 = 0, s = rank, h = 0: the block adds (delta rank)/delta to the height."""
    t = relu(0 + DELTA * RANK)
    require_equal(t / DELTA, RANK, "the vertex is raised by its rank")
    return "t0 = 0, s = rank: height B + rank, whatever the label"


def prove_rest_stays() -> str:
    """Where t0 = -gap < 0: t < 0 for every delta with delta s < gap."""
    # s <= 0 needs nothing; for s = slope > 0 take delta = gap / (slope + above)
    require_equal(relu(-GAP - DELTA * SLOPE), sympy.Integer(0), "s <= 0: inactive")
    delta = GAP / (SLOPE + ABOVE)
    margin = sympy.together(GAP - delta * SLOPE)
    require_equal(margin, GAP * ABOVE / (SLOPE + ABOVE), "the margin that is left")
    require_positive(sympy.numer(margin), "positive")
    require_positive(sympy.denom(margin), "positive")
    return (
        "delta < gap/s on the rest keeps t < 0 there; finitely many points, so one delta serves all"
    )


def prove_parked_points_stay() -> str:
    """With Lambda >= (4/3) max(t0 + delta s), a point parked at h >= 3/4 has t <= 0."""
    top = sympy.Symbol("top", nonnegative=True)  # an upper bound of t0 + delta s on all points
    gate = sympy.Rational(4, 3) * top + EXTRA
    height = sympy.Rational(3, 4) + ABOVE
    require_equal(relu(top - gate * height), sympy.Integer(0), "parked: inactive")
    return "the term -Lambda h keeps parked points where they are"


def prove_bands_go_to_targets() -> str:
    """The staircase adds y_{j+1} - y_j between bands and is flat on them, for M = 2..6."""
    quarter = sympy.Rational(1, 4)
    for labels in range(2, 7):
        targets = sympy.symbols(f"y1:{labels + 1}", real=True)
        for rank in range(1, labels + 1):
            for h in (rank - quarter, rank + quarter, rank):
                total = targets[0] + _stairs(h, targets, quarter)
                require_equal(total, targets[rank - 1], f"rank {rank} of {labels} at h = {h}")
    return "heights rank - 1/4, rank, rank + 1/4 end on the target; affine between: the whole band"


def _stairs(h: sympy.Expr, targets: tuple[sympy.Symbol, ...], half: sympy.Rational) -> sympy.Expr:
    """Sum of the 2(M - 1) hinges at height h: slopes +-(y_{i+1} - y_i)/(1 - 2 half)."""
    total = sympy.Integer(0)
    for i in range(1, len(targets)):
        step = (targets[i] - targets[i - 1]) / (1 - 2 * half)
        total += step * relu(h - (i + half)) - step * relu(h - (i + 1 - half))
    return sympy.expand(total)


def prove_hinges_lie_between_bands() -> str:
    """No hinge lies inside a band: i + 1/4 and (i + 1) - 1/4 are ends of bands i and i + 1."""
    i, quarter = sympy.Symbol("i", positive=True), sympy.Rational(1, 4)
    require_equal(
        i + 1 - quarter, (i + quarter) + sympy.Rational(1, 2), "a gap of 1/2 between bands"
    )
    return "the staircase is affine on every band, so its values at both ends decide it"


def prove_last_kill() -> str:
    """The height x_d >= B above y_d goes to y_d: x_d - relu(x_d - y_d) = y_d."""
    y = sympy.Symbol("y", real=True)
    above = sympy.Symbol("above", nonnegative=True)
    require_equal((y + above) - relu((y + above) - y), y, "the height is killed")
    return "u = e_d, b = -y_d, w = -e_d sends every height above y_d to y_d"
