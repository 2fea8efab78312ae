"""Radial peeling: from the outside in, one block takes one point to its target (B3).

Source: Theorem B in docs/theory.md. For the outermost point x, ⟨x − c, ·⟩ is larger on x than
on all points nearer to the centre c (Cauchy and Schwarz), so a hyperplane cuts x off.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

import numpy as np

from ..errors import ConstructionError
from ..labels import LabelSet, Point
from ..model.layers import RankOneBlock
from ..numbers import Vector, bits, dot, power_of_two_below
from .collapse import Cloud
from .filtered import FilteredPoints, rounded_to
from .move import move

_PANEL = 512  # points treated in one matrix product
_SHORT = 20  # bits of a rounded direction
_SIZES = (6, 12, 24, 48)  # bits of rounded parameters, tried in turn
_WIDE = 2.0**-16  # a gap this wide, relative to |u||x|, is taken as the floats give it


class Target:
    """A label set and the point of it that is aimed at.

    >>> Target(Point((1, 2))).point
    (Fraction(1, 1), Fraction(2, 1))
    """

    def __init__(self, label_set: LabelSet) -> None:
        self.set = label_set
        self.point = label_set.witness()
        self.open = not isinstance(label_set, Point)


def peel_radially(cloud: Cloud, targets: Mapping[str, Target]) -> list[RankOneBlock]:
    """One block for every point of the cloud that does not lie in its label set already.

    All points must lie farther from the centre than the targets, but for the one that is its
    own target. u = x − c, rounded where that keeps the gap; the block is the one of (3.4):
    with g the gap and h ≤ g/2 a power of two, b = h − ⟨u,x⟩ and w = (y − x)/h.

    >>> cloud = Cloud((Fraction(0),), [(Fraction(3),), (Fraction(0),)], ["a", "b"])
    >>> sets = {"a": Target(Point((1,))), "b": Target(Point((0,)))}
    >>> peel_radially(cloud, sets)[0].w
    (Fraction(-2, 1),)
    """
    order = sorted(
        range(len(cloud.offsets)),
        key=lambda j: sum((t * t for t in cloud.offsets[j]), Fraction(0)),
        reverse=True,
    )
    offsets = [cloud.offsets[j] for j in order]
    labels = [cloud.labels[j] for j in order]
    moving = len(offsets)
    while moving and targets[labels[moving - 1]].set.contains(_plus(cloud, offsets[moving - 1])):
        moving -= 1
    gaps = _Gaps(cloud.center, offsets, targets)
    blocks = []
    for start in range(0, moving, _PANEL):
        for k, (u, gap) in enumerate(gaps.panel(start, min(start + _PANEL, moving)), start):
            x = _plus(cloud, offsets[k])
            blocks.append(_move(x, targets[labels[k]], u, gap, gaps.slack))
    return blocks


class _Gaps:
    """Directions, and certified gaps between a point and all that it must not move."""

    def __init__(
        self, center: Vector, offsets: Sequence[Vector], targets: Mapping[str, Target]
    ) -> None:
        self.offsets = offsets
        self.aims = [
            tuple(a - b for a, b in zip(target.point, center, strict=True))
            for target in targets.values()
        ]
        self.points = FilteredPoints(offsets)
        self.resting = FilteredPoints(self.aims, self.points.scale)
        # landing points in open sets may miss their aim by this much in every coordinate
        shortest = max(map(abs, offsets[-2])) if len(offsets) > 1 else Fraction(1)
        loose = any(target.open for target in targets.values())
        room = power_of_two_below(shortest / (4 * len(center)))
        self.slack = room if loose else Fraction(0)

    def panel(self, start: int, end: int) -> list[tuple[Vector, Fraction]]:
        """(u, gap) of points start … end − 1, all later points still in place."""
        u = rounded_to(self.points.values[start:end], _SHORT)
        value, error = self.points.products(u, slice(start, None))
        own = np.arange(end - start)
        here = value[own, own] - error[own, own]
        size = np.sqrt(np.einsum("ij,ij->i", u, u) * np.maximum(here, 0.0))
        upper = np.where(np.arange(value.shape[1]) > own[:, None], value + error, -np.inf)
        rest, rest_error = self.resting.products(u)
        room = 1.001 * np.abs(u).sum(axis=1) * float(self.slack / self.points.scale)
        upper = np.c_[upper, rest + rest_error + room[:, None]].max(axis=1)
        scale = self.points.scale
        found = []
        for i in range(end - start):
            gap = here[i] - upper[i]
            gap -= 2.0**-50 * (abs(here[i]) + abs(upper[i]))
            if gap > _WIDE * size[i] > 0:
                direction = tuple(Fraction(t) for t in u[i].tolist())
                found.append((direction, Fraction(gap) * scale))
            else:
                found.append(self._exact(start + i))
        return found

    def _exact(self, k: int) -> tuple[Vector, Fraction]:
        """Find u = x − c, shortened, and the exact gap, where the floats are not enough."""
        size = power_of_two_below(max(map(abs, self.offsets[k])))
        u = tuple(t / size for t in self.offsets[k])
        room = self.slack * sum(map(abs, u))
        top = max(
            *(dot(u, x) for x in self.offsets[k + 1 :]), *(dot(u, y) + room for y in self.aims)
        )
        gap = dot(u, self.offsets[k]) - top
        if gap <= 0:
            raise ConstructionError("a point to be peeled is not the outermost one")
        return u, gap


def _plus(cloud: Cloud, offset: Vector) -> Vector:
    return tuple(a + b for a, b in zip(cloud.center, offset, strict=True))


def _move(x: Vector, target: Target, u: Vector, gap: Fraction, slack: Fraction) -> RankOneBlock:
    """The block that takes x, and nothing else above −gap, to its target.

    For open sets b and w are rounded to the fewest bits that let x land in the set, and
    within ``slack`` of the target in every coordinate.
    """
    block = move(x, target.point, u, dot(u, x) - gap)
    b, w, h = block.b, block.w, dot(u, x) + block.b
    for size in _SIZES if target.open else ():
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
