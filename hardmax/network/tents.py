"""Tents: three hidden units whose sum is positive on a few points and vanishes on all others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from ..exact.array import Array
from ..exact.numbers import dot
from .balls import Balls

_DIRECTIONS = 4096  # tried for a tent, at most
_ENTRIES = 1 << 23  # of the array of their distances


@dataclass(frozen=True)
class Tent:
    """max(0, t + 2ε) − 2 max(0, t) + max(0, t − 2ε), where t = ⟨u, x⟩ − ``centre``, ε = ``half``.

    It is 2ε − |t| where |t| ≤ 2ε, and 0 elsewhere: in a slab around the points ``caught``.
    """

    u: Array
    centre: Fraction
    half: Fraction
    caught: tuple[int, ...]

    @property
    def parts(self) -> tuple[tuple[Fraction, int], ...]:
        """Offset b and factor of its three units max(0, ⟨u, x⟩ + b)."""
        b, e = -self.centre, self.half
        return (b + 2 * e, 1), (b, -2), (b - 2 * e, 1)

    def height(self, x: Sequence[Fraction]) -> Fraction:
        """Its value at a point."""
        t = dot([Fraction(c) for c in self.u.tolist()], x) - self.centre
        return max(2 * self.half - abs(t), Fraction(0))


def tent(points: Balls, group: Sequence[int], seed: int) -> Tent | None:
    """A tent that catches as many points of a group as it can, ``group[0]`` among them.

    It vanishes on every other point, for certain: on its whole ball. None where no tent does that
    for ``group[0]`` alone. Directions u that are orthogonal to the differences of the caught
    points are tried at random, and the one is taken that leaves the most room.
    """
    generator = np.random.default_rng(seed)
    for caught in _parts(points, group):
        found = _around(points, caught, generator)
        if found is not None:
            return found
    return None


def _parts(points: Balls, group: Sequence[int]) -> Iterator[list[int]]:
    """Fewer and fewer points of the group, each with those whose balls meet its own."""
    first: list[int] = []  # of points that may be equal
    meeting: dict[int, list[int]] = {}
    for j in group:
        apart = np.abs(points.mid[first] - points.mid[j]) > points.rad[first] + points.rad[j]
        same = [i for i, away in zip(first, apart.any(axis=1).tolist(), strict=True) if not away]
        if same:
            meeting[same[0]].append(j)
        else:
            first.append(j)
            meeting[j] = [j]
    size = max(1, min(len(first), points.mid.shape[1] - 1))
    while True:
        yield [j for i in first[:size] for j in meeting[i]]
        if size == 1:
            return
        size = (size + 1) // 2


def _around(points: Balls, caught: Sequence[int], generator: np.random.Generator) -> Tent | None:
    x, first = points.mid, points.mid[caught[0]]
    others = np.ones(len(x), dtype=bool)
    others[list(caught)] = False
    scale = x.std(axis=0) + 2.0**-20
    near = (x[list(caught)] - first) * scale
    _, sizes, rows = np.linalg.svd(near, full_matrices=True)
    rank = int((sizes > 2.0**-40 * max(1.0, float(sizes.max(initial=0.0)))).sum())
    free = rows[rank:]
    if not len(free):
        return None
    count = max(64, min(_DIRECTIONS, _ENTRIES // len(x)))
    tried = (generator.standard_normal((count, len(free))) @ free) * scale
    tried /= np.abs(tried).max(axis=1, keepdims=True)
    away = np.abs((x[others] - first) @ tried.T).min(axis=0, initial=1.0)
    u = tried[int(np.argmax(away))]
    low, high = _values(points, u)
    centre = float(first @ u)
    own = float(np.maximum(high - centre, centre - low)[list(caught)].max())
    gap = float(np.maximum(low - centre, centre - high)[others].min(initial=1.0))
    half = gap * (1 - 2.0**-20) / 2  # so that 2ε ≤ |t| on all others, whatever rounding does
    return Tent(u, Fraction(centre), Fraction(half), tuple(caught)) if half > own else None


def _values(points: Balls, u: Array) -> tuple[Array, Array]:
    """Bounds on ⟨u, x⟩ for every point."""
    found = points.affine(Balls(u[None, :], np.zeros((1, len(u)))), None)
    slack = found.rad * (1 + 2.0**-40) + 2.0**-50 * np.abs(found.mid)
    return (found.mid - slack)[:, 0], (found.mid + slack)[:, 0]
