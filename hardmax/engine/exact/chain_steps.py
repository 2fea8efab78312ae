"""The steps of a deep chain: single layers, attention on points, fans and waves (`chains`).

Points are kept by coordinates, integers over a common denominator each, so that a layer changes
only the coordinates that it writes.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate
from math import gcd, lcm
from typing import Any

import numpy as np

from ...exact.array import Array
from .suffix import Sparse


@dataclass
class Points:
    """n points: coordinate j is ``values[j]`` (n,), Python integers, over ``common[j]``."""

    values: list[Array]
    common: list[int]

    def product(self, u: Sparse, b: Fraction) -> tuple[Array | int, int]:
        """⟨u,z⟩ + b of all points, over a common denominator."""
        q = lcm(b.denominator, *(self.common[j] * x.denominator for j, x in u))
        total: Any = int(b * q)
        for j, x in u:
            total = total + self.values[j] * int(x * q / self.common[j])
        return total, q

    def set(self, j: int, value: Array | int, common: int) -> None:
        """Replace coordinate j of all points; (n,), or one integer for all."""
        if isinstance(value, int):
            value = np.full(len(self.values[j]), value, dtype=object)
        self.values[j], self.common[j] = value, common

    def add(self, w: Sparse, t: Array | int, q: int, rows: Array | None = None) -> None:
        """Add w·t/q to the points ``rows``, or to all; t (n,) belongs to all."""
        for j, x in w:
            was, step = self.common[j], Fraction(x, q)
            common = lcm(was, step.denominator)
            if common != was:
                self.values[j] = self.values[j] * (common // was)
                self.common[j] = common
            factor = int(step * common)
            if rows is None:
                self.values[j] = self.values[j] + t * factor
            else:
                self.values[j] = self.values[j].copy()
                self.values[j][rows] += (t if isinstance(t, int) else t[rows]) * factor
            if common != was and common // was & (common // was - 1):
                self._reduce(j)

    def _reduce(self, j: int) -> None:
        common = gcd(self.common[j], *self.values[j].tolist())
        if common > 1:
            self.values[j], self.common[j] = self.values[j] // common, self.common[j] // common


@dataclass(frozen=True)
class Layer:
    """One feed-forward layer."""

    u: Sparse
    b: Fraction
    w: Sparse

    def apply(self, points: Points) -> None:
        t, q = points.product(self.u, self.b)
        if isinstance(t, int):
            if t > 0:
                points.add(self.w, t, q)
            return
        active = np.asarray(t > 0, dtype=bool)
        if active.all():
            points.add(self.w, t, q)
        elif active.any():
            points.add(self.w, t, q, np.flatnonzero(active))


@dataclass(frozen=True)
class Scaling:
    """Attention on single points: z ↦ factor·z."""

    factor: Fraction

    def apply(self, points: Points) -> None:
        p, q = self.factor.as_integer_ratio()
        points.values = [value * p for value in points.values]
        points.common = [common * q for common in points.common]


@dataclass(frozen=True)
class Fan:
    """z ↦ z + P_g v + Q_g with v = ⟨a,z⟩, g the number of ``knots``, rising, below v."""

    a: Sparse
    knots: Sequence[Fraction]
    slopes: dict[int, list[Fraction]]  # by coordinate, P_0 = 0, P_1, …
    levels: dict[int, list[Fraction]]

    @classmethod
    def of(cls, blocks: Sequence[tuple[Sparse, Fraction, Sparse]]) -> Fan:
        """A fan of blocks that share a direction and leave ⟨a,z⟩ alone."""
        a = blocks[0][0]
        scaled = sorted((-b / ratio(u, a), ratio(u, a), b, w) for u, b, w in blocks)
        slopes: dict[int, list[Fraction]] = {}
        levels: dict[int, list[Fraction]] = {}
        for i, (_, s, b, w) in enumerate(scaled):
            for j, x in w:
                for table, step in ((slopes, s * x), (levels, b * x)):
                    table.setdefault(j, [Fraction(0)] * len(scaled))[i] = step
        sums = [{j: [Fraction(0), *accumulate(steps)] for j, steps in table.items()}
                for table in (slopes, levels)]  # fmt: skip
        return cls(a, [knot for knot, *_ in scaled], sums[0], sums[1])

    def apply(self, points: Points) -> None:
        v, q = points.product(self.a, Fraction(0))
        if isinstance(v, int):
            raise AssertionError("a fan reads no coordinate")
        knots = [-(-k.numerator * q // k.denominator) for k in self.knots]  # v > knot: v·q ≥ …
        exact = [k.numerator * q % k.denominator == 0 for k in self.knots]
        least = [k + 1 if whole else k for k, whole in zip(knots, exact, strict=True)]
        given = v.tolist()
        group = np.array([bisect_left(least, x + 1) for x in given])
        order = np.argsort(group, kind="stable")
        bounds = np.searchsorted(group[order], np.arange(len(least) + 2))
        parts = []
        for g in range(1, len(least) + 1):
            rows = order[bounds[g] : bounds[g + 1]]
            if len(rows):
                parts.append((g, rows, v[rows]))
        for j in self.slopes:
            was = points.common[j]
            slopes, levels = self.slopes[j], self.levels[j]
            common = lcm(
                was, *{x.denominator * q for x in slopes}, *{x.denominator for x in levels}
            )
            value = points.values[j] * (common // was)
            for g, rows, part in parts:
                value[rows] += part * int(slopes[g] * common / q) + int(levels[g] * common)
            points.values[j], points.common[j] = value, common


@dataclass(frozen=True)
class Wave:
    """Folds of r = ⟨e,z⟩ at base + 2^n·half for n = count − 1 … 0; z moves along ``g``."""

    e: Sparse
    g: Sparse
    base: Fraction
    half: Fraction
    count: int

    def apply(self, points: Points) -> None:
        r, q = points.product(self.e, -self.base)
        if isinstance(r, int):
            raise AssertionError("a wave reads no coordinate")
        scale = self.half.denominator // gcd(self.half.denominator, q)
        r, q = r * scale, q * scale
        half = int(self.half * q)
        top, moved = half << self.count, []
        for x in r.tolist():
            if x <= 0:
                moved.append(0)
            elif x >= top:  # the first fold takes it to 0 or below, where nothing folds
                moved.append(top - 2 * x)
            else:
                t = x % (2 * half)
                moved.append((t if t <= half else 2 * half - t) - x)
        points.add(self.g, np.array(moved, dtype=object), q)


def ratio(u: Sparse, a: Sparse) -> Fraction:
    """The s with u = s·a; 0 where there is none."""
    if len(u) != len(a) or not u:
        return Fraction(0)
    s = u[0][1] / a[0][1]
    same = all(j == i and x == s * y for (j, x), (i, y) in zip(u, a, strict=True))
    return s if same else Fraction(0)
