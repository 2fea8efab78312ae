"""Classification: one point for each label goes to its label set (Section 3.1, theory A6).

The paper quotes continuous-time flows. Here one block for each point suffices (theory B3): the
points lie above all targets along v, and the highest goes first.
"""

from __future__ import annotations

from collections.abc import Mapping

from ...exact.numbers import Vector, dot, short_between
from ...labels import LabelSet
from ...model.layers import RankOneBlock
from ..shared.move import move, rounded
from .match import LabelledPoints


def classify(
    state: LabelledPoints, sets: Mapping[str, LabelSet], targets: Mapping[str, Vector]
) -> list[RankOneBlock]:
    """Blocks that take every remaining point into its label set; at most one for each.

    The lowest points stay where they are if they lie in their sets already. For open sets
    the parameters are rounded to float64 where the landing point stays in the set.

    >>> from fractions import Fraction as F
    >>> from hardmax.labels import Halfspace
    >>> sets = {"up": Halfspace((1,), 0), "down": Halfspace((-1,), 0)}
    >>> state = LabelledPoints.of([(F(3),), (F(2),)], ["down", "up"], (F(1),))
    >>> len(classify(state, sets, {"up": (F(1),), "down": (F(-1),)}))
    1
    """
    resting = [dot(state.v, y) for y in targets.values()]
    points = state.points
    while points and sets[points[-1][1]].contains(points[-1][0]):
        resting.append(dot(state.v, points.pop()[0]))
    if not points:
        return []
    # what has come to rest lies on or below the floor, what still has to move above it
    floor = short_between(max(resting), dot(state.v, points[-1][0]))
    blocks = []
    for k, (x, label) in enumerate(points, 1):
        below = dot(state.v, points[k][0]) if k < len(points) else floor
        block = move(x, targets[label], state.v, below)
        short = rounded(block)
        landing = _landing(short, x)
        fits = (
            landing is not None
            and sets[label].contains(landing)
            and dot(state.v, landing) <= floor
            and below + short.b <= 0
        )
        blocks.append(short if fits else block)
    return blocks


def _landing(block: RankOneBlock, x: Vector) -> Vector | None:
    """Where the block takes x; None where it leaves x."""
    value = dot(block.u, x) + block.b
    if value <= 0:
        return None
    return tuple(a + value * w for a, w in zip(x, block.w, strict=True))
