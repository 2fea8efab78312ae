"""From heights to targets: fix the other coordinates, then map the height (Theorem B, B4 c, d).

Source: docs/theory.md. The heights order the labels; y_1, …, y_M are their targets in this order.
If all targets agree in the height's coordinate k, they are reached along the polyline y_1 … y_M:
one block for each straight piece, and one block that fixes the height; a single block if there is
only one piece. Otherwise each label is moved to its target by one block (B4 d).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from ...errors import ConstructionError
from ...exact.numbers import Vector, power_of_two_below
from ...labels import LabelSet, Point
from ...model.layers import RankOneBlock
from ..paper.classify import classify
from ..paper.match import LabelledPoints
from .height_slice import HeightSlice

# How far the height rises for each unit of distance between two targets.
_SPREAD = 8


@dataclass(frozen=True)
class Polyline:
    """A path that passes the targets, in order, at rising heights.

    ``heights[c]`` counts from B and is 0 for the first label. ``slopes[i]`` is the direction of
    piece i, which begins at height ``starts[i]``. No bend lies at the height of a label, so that
    small errors of floats do no harm.
    """

    order: Sequence[str]
    heights: Mapping[str, Fraction]
    slopes: Sequence[Vector]
    starts: Sequence[Fraction]

    def start(self, first: Vector) -> list[Fraction]:
        """Where the path begins, for the target of the first label."""
        return [y + p * self.starts[0] for y, p in zip(first, self.slopes[0], strict=True)]


def polyline(order: Sequence[str], targets: Mapping[str, Vector]) -> Polyline:
    """The path with heights in proportion to its length in the ∞-norm, so that collinear pieces
    merge.

    >>> line = polyline("abc", {c: (Fraction(k), Fraction(0)) for k, c in enumerate("abc")})
    >>> line.heights["c"], line.slopes
    (Fraction(16, 1), [(Fraction(1, 8), Fraction(0, 1))])
    """
    heights = {order[0]: Fraction(0)}
    slopes: list[Vector] = []
    starts: list[Fraction] = []
    for first, second in pairwise(order):
        step = _minus(targets[second], targets[first])
        here, rise = heights[first], _SPREAD * max(map(abs, step))
        if not slopes:
            slopes.append(tuple(x / rise for x in step))
            starts.append(-rise)
        elif tuple(x / rise for x in step) != slopes[-1]:
            # go on straight for a while, then turn towards the next target
            room = rise / _SPREAD
            step = _minus(step, tuple(room * x for x in slopes[-1]))
            rise = _SPREAD * max(map(abs, step))
            slopes.append(tuple(x / rise for x in step))
            starts.append(here + room)
            here += room
        heights[second] = here + rise
    return Polyline(order, heights, slopes, starts)


def _minus(x: Vector, y: Vector) -> Vector:
    return tuple(a - b for a, b in zip(x, y, strict=True))


def agree(targets: Mapping[str, Vector], axis: int) -> bool:
    """Whether all targets have the same coordinate ``axis``."""
    return len({y[axis] for y in targets.values()}) == 1


def ending_count(line: Polyline, targets: Mapping[str, Vector], axis: int) -> int:
    """Number of blocks of `finish` once the coordinates are fixed; open sets may need fewer."""
    if len(line.order) == 1 or not agree(targets, axis):
        return len(line.order)
    pieces = len(line.slopes)
    return min(pieces + (pieces > 1), len(line.order))


def fixing_count(base: HeightSlice, targets: Mapping[str, Vector]) -> int:
    """Number of blocks that fix the coordinates of E.

    A coordinate that is constant and right already needs none. One translation is enough where all
    label sets are open, for then the coordinates need not be fixed.
    """
    if base.middle is not None:
        return 1
    values = next(iter(targets.values()))
    return sum(
        base.coordinate_range(i) != (values[i], values[i]) or not agree(targets, i)
        for i in range(len(base.f))
        if i != base.axis
    )


def finish(
    base: HeightSlice, line: Polyline, targets: Mapping[str, Vector], sets: Mapping[str, LabelSet]
) -> list[tuple[str, RankOneBlock]]:
    """Blocks, with their stages, that take height B + heights[c] to the target of c exactly."""
    axis, top = base.axis, base.height
    first = targets[line.order[0]]
    count = len(line.order)
    if base.middle is not None:  # the points keep their differences: land on exact targets
        sets = {name: Point(y) for name, y in targets.items()}
    if count > 1 and agree(targets, axis) and ending_count(line, targets, axis) < count:
        if len(line.slopes) == 1:
            slope = line.slopes[0]
            down = top - first[axis]
            start = [y - p * down for y, p in zip(first, slope, strict=True)]
            w = [p - (i == axis) for i, p in enumerate(slope)]
            ending = [base_block(base, -first[axis], w)]
        else:
            start = line.start(first)
            ending = _pieces(base, line, first[axis])
        return [*fix_coordinates(base, start), *(("line", block) for block in ending)]
    start = [first[i] if i != axis else top for i in range(len(first))]
    killed = fix_coordinates(base, start, anywhere=True)
    corner = list(start)
    for _, block in killed:
        if any(block.u):
            i = next(i for i, x in enumerate(block.u) if x)
            corner[i] = -block.b if block.u[i] > 0 else block.b
    up = tuple(Fraction(int(i == axis)) for i in range(len(first)))
    places = [
        tuple(x + (top + line.heights[c] - x if i == axis else 0) for i, x in enumerate(corner))
        for c in line.order
    ]
    if min(x[axis] for x in places) <= max(y[axis] for y in targets.values()):
        raise ConstructionError("a target lies above the slice")
    peels = classify(LabelledPoints.of(places, list(line.order), up), sets, targets)
    return [*killed, *(("peel", block) for block in peels)]


def base_block(base: HeightSlice, b: Fraction, w: Sequence[Fraction]) -> RankOneBlock:
    """Feed-forward layer that reads the height: z ↦ z + w·max(0, z_k + b)."""
    d = len(base.f)
    return RankOneBlock.of(d, u=[int(i == base.axis) for i in range(d)], b=b, w=w)


def _pieces(base: HeightSlice, line: Polyline, rest: Fraction) -> list[RankOneBlock]:
    """One block for each straight piece, one that kills the height."""
    blocks = []
    before: Vector = (Fraction(0),) * len(base.f)
    for slope, start in zip(line.slopes, line.starts, strict=True):
        bend = [a - b for a, b in zip(slope, before, strict=True)]
        blocks.append(base_block(base, -base.height - start, bend))
        before = slope
    blocks.append(base_block(base, -rest, [-Fraction(i == base.axis) for i in range(len(base.f))]))
    return blocks


def fix_coordinates(
    base: HeightSlice, values: Sequence[Fraction], anywhere: bool = False
) -> list[tuple[str, RankOneBlock]]:
    """Make coordinate i of E equal to values[i] on all points, by u = ±e_i, w = ∓e_i.

    Raises ConstructionError where a value lies inside the range of its coordinate. With
    ``anywhere``, the next power of two beyond the range is taken instead.
    """
    d = len(base.f)
    if base.middle is not None:
        here = list(base.middle)
        here.insert(base.axis, values[base.axis])
        shift = [y - x - g * base.height for y, x, g in zip(values, here, base.f, strict=True)]
        shift[base.axis] = Fraction(0)
        return [("shift", RankOneBlock.translation(shift))]
    found = []
    for i in range(d):
        if i == base.axis:
            continue
        low, high = base.coordinate_range(i)
        value = values[i]
        if low == high == value:
            continue
        if not (value < low or value > high):
            if not anywhere:
                raise ConstructionError("a coordinate can't be killed to a value inside its range")
            value = -2 * power_of_two_below(max(-low, base.height))
        sign = 1 if value < low else -1
        unit = [Fraction(sign * (j == i)) for j in range(d)]
        found.append(("kill", RankOneBlock.of(d, u=unit, b=-sign * value, w=[-x for x in unit])))
    return found
