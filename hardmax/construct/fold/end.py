"""End: the bands of y become the targets, all points of a class the same point.

A cut takes the bands from its own on down to the lowest bands and adds a vector to their points:
two blocks. So all classes whose numbers have a binary digit in common share its cut: 2⌈log₂M⌉
blocks serve targets t_0 + Σ (digits of c)·v, collinear equidistant ones above all.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from ...exact.numbers import Vector, power_of_two_below
from ...labels import LabelSet, Point
from ...labels.inner_radius import inner_radius
from ...model.layers import RankOneBlock
from .common import Array, Places, classify
from .layout import Layout


@dataclass(frozen=True)
class Ending:
    """``names[c]`` is the label of class c, ``places[c]`` where the cuts take it.

    ``cuts`` are pairs (number of bands below, vector). ``axis`` is the coordinate of y, which is
    killed to ``level``; then, where ``follow`` is (i, ratio, from), it becomes level +
    ratio·(coordinate i − from). Places that are no targets are peeled along ``up``. With ``loose``
    all label sets are open: nothing is killed, all registers were shrunk to almost nothing.
    """

    names: tuple[str, ...]
    places: tuple[Vector, ...]
    cuts: tuple[tuple[int, Vector], ...]
    axis: int
    level: Fraction
    follow: tuple[int, Fraction, Fraction] | None
    up: int | None
    loose: bool = False

    @property
    def blocks(self) -> int:
        """Number of blocks behind the kills."""
        peels = len(self.names) - 1 if self.up is not None else 0
        last = any(self.base) if self.loose else 1  # a translation, or the kill of y
        return 2 * len(self.cuts) + last + (self.follow is not None) + peels

    @property
    def closing(self) -> int:
        """Number of blocks behind the folds."""
        return self.blocks + (0 if self.loose else len(self.base) - 1)

    @property
    def base(self) -> Vector:
        """Where class 0 lies when y has been killed."""
        return tuple(self.level if j == self.axis else t for j, t in enumerate(self.places[0]))


def ending(targets: Mapping[str, Vector], sets: Mapping[str, LabelSet] | None = None) -> Ending:
    """The ending with the fewest blocks; ``sets``, if all of them are open, need no kills.

    >>> line = {str(c): (Fraction(c), Fraction(0)) for c in range(10)}
    >>> pair = {"a": (Fraction(1), Fraction(2)), "b": (Fraction(3), Fraction(3))}
    >>> ending(line).blocks, ending(pair).blocks
    (9, 4)
    """
    names = tuple(sorted(targets, key=lambda name: targets[name]))
    places = tuple(targets[name] for name in names)
    found = []
    for axis in range(len(places[0])):
        level, follow, flat = _followed(places, axis)
        if not flat:
            continue
        flattened = [tuple(level if j == axis else t for j, t in enumerate(p)) for p in places]
        for cuts in (_digits(len(names)), tuple(range(len(names) - 1, 0, -1))):
            vectors = tuple((c, _minus(flattened[c], flattened[0])) for c in cuts)
            taken = [_taken(vectors, flattened[0], c) for c in range(len(names))]
            if taken == flattened:
                found.append(Ending(names, places, vectors, axis, level, follow, None))
    if sets and not any(isinstance(label_set, Point) for label_set in sets.values()):
        found += [replace(ending, loose=True) for ending in found]
    found.append(_peeled(targets))
    return min(found, key=lambda ending: ending.closing)


def shrinking(ending: Ending, layout: Layout, reach: int, sets: Mapping[str, LabelSet]) -> Fraction:
    """A factor after which registers up to ``reach`` lead no point out of its open label set."""
    radii = [
        radius
        for name, place in zip(ending.names, ending.places, strict=True)
        if (radius := inner_radius(sets[name], place)) is not None
    ]
    d = len(ending.base)
    slope = 1 + abs(ending.follow[1]) if ending.follow is not None else Fraction(1)
    # a coordinate is at most d times the largest register, and √d ≤ d
    length = layout.points.registers.unit * reach * d * d * slope
    return power_of_two_below(min(radii, default=Fraction(1)) / (2 * length))


def _digits(count: int) -> tuple[int, ...]:
    return tuple(1 << q for q in range((count - 1).bit_length() - 1, -1, -1))


def _minus(x: Vector, y: Vector) -> Vector:
    return tuple(a - b for a, b in zip(x, y, strict=True))


def _taken(cuts: Sequence[tuple[int, Vector]], start: Vector, code: int) -> Vector:
    """Where the cuts take class ``code``."""
    for cut, vector in cuts:
        if code >= cut:
            code -= cut
            start = tuple(a + b for a, b in zip(start, vector, strict=True))
    return start


def _followed(
    places: Sequence[Vector], axis: int
) -> tuple[Fraction, tuple[int, Fraction, Fraction] | None, bool]:
    """How coordinate ``axis`` of the targets comes from one other: (level, follow, possible)."""
    first = places[0]
    if all(place[axis] == first[axis] for place in places):
        return first[axis], None, True
    other = next(place for place in places if place[axis] != first[axis])
    for i in range(len(first)):
        rise = other[i] - first[i]
        if i == axis or not rise:
            continue
        ratio = (other[axis] - first[axis]) / rise
        if all(p[axis] - first[axis] == ratio * (p[i] - first[i]) for p in places):
            lowest = min(places, key=lambda p: p[i])
            return lowest[axis], (i, ratio, lowest[i]), True
    return first[axis], None, False


def _peeled(targets: Mapping[str, Vector]) -> Ending:
    """Classes side by side above all targets, the first on its own; then one block each."""
    up, axis = 0, 1
    names = sorted(targets, key=lambda name: targets[name][up], reverse=True)
    first = targets[names[0]]
    step = max(Fraction(1), *(abs(t) for t in first))
    places = [tuple(t + c * step * (j == up) for j, t in enumerate(first))
              for c in range(len(names))]  # fmt: skip
    cuts = tuple((c, _minus(places[c], first)) for c in _digits(len(names)))
    return Ending(tuple(names), tuple(places), cuts, axis, first[axis], None, up)


def end(
    ending: Ending, layout: Layout, heights: Sequence[int], codes: Array, ground: int,
    shrink: Fraction, sets: Mapping[str, LabelSet], targets: Mapping[str, Vector],
) -> Iterator[tuple[str, RankOneBlock]]:  # fmt: skip
    """The blocks, from the heights of all points over ``ground``, in units 2^-scale."""
    frame, y = layout.frame, layout.y
    registers = replace(layout.points.registers, unit=layout.points.registers.unit * shrink)
    bands = len(ending.names)
    fine = bands << frame.scale  # heights are counted in 1/fine units, so that bands are whole
    low, high = [0] * bands, [0] * bands
    for c in range(bands):
        mine = [h for h, code in zip(heights, codes.tolist(), strict=True) if code == c]
        low[c], high[c] = bands * min(mine), bands * max(mine)
    at = {c: (low[c], high[c]) for c in range(bands)}
    band = frame.half << frame.scale
    base = Fraction(ground, 1 << frame.scale)
    for cut, vector in ending.cuts:
        below = [at[c] for c in at if c < cut]
        above = [at[c] for c in at if c >= cut]
        bottom, floor = min(a for a, _ in below), max(b for _, b in below)
        gap, down = min(a for a, _ in above) - floor, cut * band
        steep = 1 << max(-(-down // gap), -(-down // (down - floor + bottom))).bit_length()
        start, drop = base + Fraction(floor, fine), Fraction(down, fine)
        move = registers.direction(vector)
        share = steep / drop
        yield (
            "end",
            registers.layer(
                {y: 1}, -start, _sum({y: -steep}, {j: share * v for j, v in move.items()})
            ),
        )
        # behind the first block y − start is 1 − steep times what it was
        back = Fraction(steep, steep - 1)
        yield (
            "end",
            registers.layer(
                {y: -back},
                back * start - drop,
                _sum({y: 1}, {j: -v / drop for j, v in move.items()}),
            ),
        )
        merged: dict[int, tuple[int, int]] = {}
        for c, (a, b) in at.items():
            c, a, b = (c - cut, a - down, b - down) if c >= cut else (c, a, b)
            was = merged.get(c, (a, b))
            merged[c] = min(a, was[0]), max(b, was[1])
        at = merged
    d = registers.dimension
    if not ending.loose:
        yield "end", registers.layer({y: 1}, -layout.rest[y], {y: -1})
    elif any(ending.base):
        yield "end", RankOneBlock.translation(ending.base)
    if ending.follow is not None:
        i, ratio, start = ending.follow
        u, w = ([Fraction(int(j == k)) * x for j in range(d)]
                for k, x in ((i, Fraction(1)), (y, ratio)))  # fmt: skip
        yield "end", RankOneBlock.of(d, u=u, b=-start, w=w)
    if ending.up is not None:
        up = tuple(Fraction(int(j == ending.up)) for j in range(d))
        places = Places.of(list(ending.places), list(ending.names), up)
        yield from (("end", block) for block in classify(places, sets, targets))


def _sum(
    x: Mapping[int, int | Fraction], y: Mapping[int, int | Fraction]
) -> dict[int, int | Fraction]:
    return {j: x.get(j, 0) + y.get(j, 0) for j in {**x, **y}}
