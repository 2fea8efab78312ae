"""Tents around single tokens: three blocks move one token and no other (Theorem 9, second part)."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import gcd, lcm
from random import Random

import numpy as np

from ...errors import ConstructionError
from ...exact.array import Array
from ...exact.matrix import IntegerRows
from ...exact.numbers import Vector, power_of_two_below
from ...exact.points import IntegerPoints
from ...model.layers import RankOneBlock

# This many directions with two entries, and as many with all, are compared in floats.
_FLOAT_DIRECTIONS = 24
# Gaps larger than this, relative to the size of the points, are measured well enough by floats.
_FLOAT_GAP = 1e-9
# This many directions are compared exactly where floats see no gap.
_EXACT_DIRECTIONS = 12
# This many directions are tried before the search gives up.
_TRIES = 60


class States:
    """P points x = X/q with one denominator q: ``whole`` (P, d) as integers, ``floats`` nearest.

    >>> states = States([(Fraction(0), Fraction(1, 2)), (Fraction(1), Fraction(0))], 6)
    >>> states.whole, states.common
    ([[0, 3], [6, 0]], 6)
    """

    def __init__(self, points: Sequence[Vector], common: int) -> None:
        self.common = common
        self.whole = [[int(x * common) for x in point] for point in points]
        self.floats: Array = np.array([self._nearest(row) for row in self.whole])
        self._rows = IntegerRows(self.whole)

    @classmethod
    def of(cls, points: Sequence[Vector], others: Sequence[Vector]) -> States:
        """Points over the least denominator that serves ``others`` as well."""
        rows = IntegerPoints.of_vectors([*points, *others]).rows
        return cls(points, lcm(*{row[-1] for row in rows}))

    def _nearest(self, row: list[int]) -> list[float]:
        try:
            return [x / self.common for x in row]
        except OverflowError:
            raise ConstructionError("the tokens pass the range of float64") from None

    def vector(self, place: int) -> Vector:
        """One point."""
        return tuple(Fraction(x, self.common) for x in self.whole[place])

    def move(self, place: int, to: list[int]) -> None:
        """Put one point elsewhere; ``to`` has the denominator of all."""
        self.whole[place] = to
        self.floats[place] = self._nearest(to)
        self._rows.set_row(place, to)

    def values(self, u: Sequence[int]) -> list[int]:
        """q·⟨u,x⟩ of all points, for integers u."""
        return [int(x) for x in self._rows.dot(u)]


def moves(states: States, place: int, to: list[int], rng: Random) -> list[RankOneBlock] | None:
    """Blocks that take one point to the integers ``to`` over the common denominator, and leave all
    others where they are; they are moved in ``states``, too.

    Three blocks, or four by way of a far point where others lie on the line of the move. None
    where another point is in the same place.
    """
    found = _tent(states, place, to, rng)
    if found is None:
        found = _detour(states, place, to, rng)
    if found is not None:
        states.move(place, to)
    return found


def _tent(states: States, place: int, to: list[int], rng: Random) -> list[RankOneBlock] | None:
    """Three layers with offsets ε, −ε/2, −ε and w = (1, −4, 3)e/ε, where e is the move.

    They read t = ⟨u, z − x⟩, which is 0 along e; they add e at t = 0 and nothing for |t| ≥ ε. All
    other points have |t| ≥ 2ε, so that no decision is close.
    """
    x = states.whole[place]
    e = [b - a for a, b in zip(x, to, strict=True)]
    common = gcd(*e)
    line = [t // common for t in e]
    u, gap = _clear(states, place, line, rng)
    if gap is None:
        u, gap = _exactly_clear(states, place, line, rng)
    if gap is None:
        return None
    unit = Fraction(1, 1 << max(map(int.bit_length, u)))  # entries of u of about 1
    normal = tuple(unit * t for t in u)
    b = -unit * Fraction(sum(s * t for s, t in zip(u, x, strict=True)), states.common)
    eps = power_of_two_below(gap / 2)
    w = tuple(Fraction(t, states.common) / eps for t in e)
    d = len(x)
    return [
        RankOneBlock.of(d, u=normal, b=b + s * eps, w=[c * t for t in w])
        for s, c in ((1, 1), (Fraction(-1, 2), -4), (-1, 3))
    ]


def _clear(
    states: States, place: int, line: list[int], rng: Random
) -> tuple[list[int], Fraction | None]:
    """Of some directions orthogonal to the line the one whose slab around the point is widest, and
    how far from it the next point is, as floats have measured it; None where they see no gap."""
    looks = _directions(line, rng)
    if not looks:
        return [], None
    units = np.array([[t / (1 << max(map(int.bit_length, u))) for t in u] for u in looks])
    x = states.floats - states.floats[place]
    gaps = np.abs(x @ units.T)
    gaps[place] = np.inf
    widths = gaps.min(axis=0)
    size = float(np.abs(states.floats).max()) * len(line)
    best = int(np.argmax(widths))
    if len(x) == 1:
        return looks[best], Fraction(1)
    if not _FLOAT_GAP * size < widths[best] < np.inf:
        return [], None
    return looks[best], Fraction(float(widths[best]))


def _exactly_clear(
    states: States, place: int, line: list[int], rng: Random
) -> tuple[list[int], Fraction | None]:
    """The same in exact arithmetic."""
    found: tuple[list[int], Fraction | None] = [], None
    for u in _directions(line, rng)[:_EXACT_DIRECTIONS]:
        values = states.values(u)
        width = min(abs(t - values[place]) for i, t in enumerate(values) if i != place)
        size = Fraction(width, states.common << max(map(int.bit_length, u)))
        if size > (found[1] or 0):
            found = u, size
    return found


def _directions(line: list[int], rng: Random) -> list[list[int]]:
    """Integer vectors orthogonal to a line, in lowest terms: two entries, then all."""
    d = len(line)
    found: list[list[int]] = []
    if d < 2:
        return found
    pivot = max(range(d), key=lambda i: abs(line[i]))
    for k in range(2 * _FLOAT_DIRECTIONS):
        u = [0] * d
        if k < _FLOAT_DIRECTIONS:
            p, q = rng.sample(range(d), 2)
            u[p], u[q] = line[q], -line[p]
        else:
            size = 1 + k - _FLOAT_DIRECTIONS
            c = [rng.randint(-size, size) if i != pivot else 0 for i in range(d)]
            u = [t * line[pivot] for t in c]
            u[pivot] = -sum(s * t for s, t in zip(c, line, strict=True))
        common = gcd(*u)
        if common:
            found.append([t // common for t in u])
    return found


def _detour(states: States, place: int, to: list[int], rng: Random) -> list[RankOneBlock] | None:
    """A tent to a far point that alone is outermost, and from there one block to the end."""
    d, q = len(to), states.common
    start = states.whole[place]
    for k in range(_TRIES):
        g = [rng.randint(-1 - k, 1 + k) for _ in range(d)]
        if not any(g):
            continue
        values = [*states.values(g), sum(s * t for s, t in zip(g, to, strict=True))]
        reach = max(values) - values[place] + q
        far = q << (reach // (q * sum(t * t for t in g))).bit_length()
        corner = [x + far * t for x, t in zip(start, g, strict=True)]
        first = _tent(states, place, corner, rng)
        if first is None:
            continue
        top = sum(s * t for s, t in zip(g, corner, strict=True))
        h = power_of_two_below(Fraction(top - max(values), q) / 2)
        w = tuple(Fraction(b - a, q) / h for a, b in zip(corner, to, strict=True))
        return [*first, RankOneBlock.of(d, u=g, b=h - Fraction(top, q), w=w)]
    return None
