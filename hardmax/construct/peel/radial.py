"""Radial peeling: move the outermost point to its target, one block each (theory B3).

Source: Theorem B in docs/theory.md. For the outermost point x, ⟨x − c, ·⟩ is larger on x than on
all points nearer to the centre c, by Cauchy and Schwarz, so a hyperplane separates x from them.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

import numpy as np

from ...enclosure.enclosed import Enclosed
from ...enclosure.rounding import SLACK, error
from ...errors import ConstructionError
from ...exact.array import ExactArray
from ...exact.dyadic import rounded_to
from ...exact.numbers import Vector, bits, dot, power_of_two_below
from ...exact.points import IntegerPoints, falling
from ...exact.rows import Row, row_of, vector_of
from ...labels import LabelSet, Point
from ...model.layers import RankOneBlock
from ...model.parameters import Parameters
from ...stages import tell
from ..shared.collapse import CollapsedPoints
from ..shared.move import move
from ..shared.moves import Moves

# This many points are treated in one matrix product.
_PANEL_POINTS = 512
# Bits of a rounded direction.
_DIRECTION_BITS = 20
# Bits of rounded parameters, tried in turn.
_PARAMETER_BITS = (6, 12, 24, 48)
# A gap this wide, relative to |u||x|, is taken as the floats give it.
_CLEAR_GAP = 2.0**-16


class Target:
    """A label set and the point of it that is aimed at.

    >>> Target(Point((1, 2))).point
    (Fraction(1, 1), Fraction(2, 1))
    """

    def __init__(self, label_set: LabelSet) -> None:
        self.set = label_set
        self.point = label_set.witness()
        self.row = row_of(self.point)
        self.open = not isinstance(label_set, Point)


def peel_radially(cloud: CollapsedPoints, targets: Mapping[str, Target]) -> Parameters:
    """One block for every point of the cloud that does not lie in its label set already.

    All points must lie farther from the centre than the targets, but for the one that is its
    own target. u = x − c, rounded where that keeps the gap; the block is the one of (3.4):
    with g the gap and h ≤ g/2 a power of two, b = h − ⟨u,x⟩ and w = (y − x)/h.

    >>> offsets = IntegerPoints.of_vectors([(Fraction(3),), (Fraction(0),)])
    >>> sets = {"a": Target(Point((1,))), "b": Target(Point((0,)))}
    >>> peel_radially(CollapsedPoints((Fraction(0),), offsets, ["a", "b"]), sets)[0].w
    (Fraction(-2, 1),)
    """
    order = falling(cloud.offsets.squares())
    offsets = cloud.offsets.select(order)
    points = offsets.affine(Fraction(1), cloud.center)
    aims = [targets[cloud.labels[j]] for j in order]
    moving = len(order)
    while moving and aims[moving - 1].set.contains(points.vector(moving - 1)):
        moving -= 1
    gaps = _Gaps(cloud.center, offsets, targets)
    moves = Moves(len(cloud.center))
    for start in range(0, moving, _PANEL_POINTS):
        tell("peel", moving - start)
        for k, (u, gap) in enumerate(gaps.panel(start, min(start + _PANEL_POINTS, moving)), start):
            if aims[k].open:
                moves.add_block(_move(points.vector(k), aims[k], vector_of(u), gap, gaps.slack))
            else:
                moves.add(points.rows[k], aims[k].row, u, gap)
    return moves.packed()


class _Gaps:
    """Directions, and certified gaps between a point and all that it must not move."""

    def __init__(
        self, center: Vector, offsets: IntegerPoints, targets: Mapping[str, Target]
    ) -> None:
        self.offsets = offsets
        self.aims = [
            tuple(a - b for a, b in zip(target.point, center, strict=True))
            for target in targets.values()
        ]
        self.points = Enclosed.of_ratios(list(offsets.ratios()), len(center))
        self.resting = Enclosed(self.aims, self.points.scale)
        # landing points in open sets may miss their aim by this much in every coordinate
        shortest = max(map(abs, offsets.vector(-2))) if len(offsets) > 1 else Fraction(1)
        loose = any(target.open for target in targets.values())
        room = power_of_two_below(shortest / (4 * len(center)))
        self.slack = room if loose else Fraction(0)

    def panel(self, start: int, end: int) -> list[tuple[Row, Fraction]]:
        """(u, gap) of points start … end − 1, all later points still in place."""
        u = rounded_to(self.points.values[start:end], _DIRECTION_BITS)
        own = np.arange(end - start)
        upper = np.full(len(u), -np.inf)
        for first in range(start, len(self.points), _PANEL_POINTS):
            value, room = self.points.products(u, slice(first, first + _PANEL_POINTS))
            if first == start:
                here = value[own, own] - room[own, own]
                value[
                    np.arange(value.shape[1]) <= own[:, None]
                ] = -np.inf  # itself, and earlier ones
            np.maximum(upper, (value + room).max(axis=1), out=upper)
        size = np.sqrt(np.einsum("ij,ij->i", u, u) * np.maximum(here, 0.0))
        rest, room = self.resting.products(u)
        miss = SLACK * np.abs(u).sum(axis=1) * float(self.slack / self.points.scale)
        upper = np.maximum(upper, (rest + room + miss[:, None]).max(axis=1))
        gap = here - upper
        gap -= error(8, np.abs(here) + np.abs(upper), lost=0.0)
        wide = (gap > _CLEAR_GAP * size) & (_CLEAR_GAP * size > 0)
        return [
            (row, Fraction(g) * self.points.scale) if sure else self._exact(start + i)
            for i, (row, g, sure) in enumerate(
                zip(ExactArray(u).integer_rows(), gap.tolist(), wide.tolist(), strict=True)
            )
        ]

    def _exact(self, k: int) -> tuple[Row, Fraction]:
        """Find u = x − c, shortened, and the exact gap, where the floats are not enough."""
        x = self.offsets.vector(k)
        size = power_of_two_below(max(map(abs, x)))
        u = tuple(t / size for t in x)
        room = self.slack * sum(map(abs, u))
        later = IntegerPoints(self.offsets.rows[k + 1 :])
        gap = dot(u, x) - max([*later.values(u), *(dot(u, y) + room for y in self.aims)])
        if gap <= 0:
            raise ConstructionError("a point to be peeled is not the outermost one")
        return row_of(u), gap


def _move(x: Vector, target: Target, u: Vector, gap: Fraction, slack: Fraction) -> RankOneBlock:
    """The block that takes x, and nothing else above −gap, to its target.

    For open sets b and w are rounded to the fewest bits that let x land in the set, and
    within ``slack`` of the target in every coordinate.
    """
    block = move(x, target.point, u, dot(u, x) - gap)
    b, w, h = block.b, block.w, dot(u, x) + block.b
    for size in _PARAMETER_BITS if target.open else ():
        found = _rounded(b, w, h, size)
        height = h + found[0] - b
        landing = tuple(t + height * s for t, s in zip(x, found[1], strict=True))
        near = all(abs(a - y) <= slack for a, y in zip(landing, target.point, strict=True))
        if near and 0 < height < 2 * h and target.set.contains(landing):
            if _bits(*found) < _bits(b, w):
                b, w = found
            break
    return RankOneBlock.of(len(x), u=u, b=b, w=w)


def _rounded(b: Fraction, w: Vector, h: Fraction, size: int) -> tuple[Fraction, Vector]:
    """Round b and w to grids of ``size`` bits below h and below the largest entry of w."""
    largest = max(map(abs, w))
    step = power_of_two_below(largest) / 2**size if largest else Fraction(1)
    return round(b * 2**size / h) * h / 2**size, tuple(round(t / step) * step for t in w)


def _bits(b: Fraction, w: Vector) -> int:
    return sum(map(bits, (b, *w)))
