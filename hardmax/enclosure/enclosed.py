"""Points in float64 with a proven radius of error, and operations on them (theory C1).

A construction computes with these floats. It relies on a strict inequality only if that holds by
more than the error bound. Otherwise exact arithmetic decides, or the construction tries something
else. All bounds follow from the theorem on rounding errors (`rounding`).
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from ..exact.array import Array
from ..exact.numbers import Vector, power_of_two_below
from .rounding import LEAST, MOST, error, lengths

_LEAST_INVERTIBLE = 2.0**-1020  # the inverse of a smaller power of two overflows
_DIRECTIONS = 3  # random lines on which points are told apart
_CHUNK_POINTS = 2**15  # points that are processed at once


class Enclosed:
    """Points of ℚ^d, shape (n, d), divided by a power of two, in float64.

    ``values[j]·scale`` is point j up to rounding and, in every entry, up to ``radius[j]·scale``;
    all entries of ``values`` are at most 2 in absolute value.

    >>> points = Enclosed([(Fraction(1, 3), Fraction(7))])
    >>> points.scale
    Fraction(4, 1)
    """

    def __init__(self, points: Sequence[Vector], scale: Fraction | None = None) -> None:
        width = len(points[0]) if points else 0
        self._take([t.as_integer_ratio() for x in points for t in x], width, scale)

    @classmethod
    def of_ratios(cls, ratios: list[tuple[int, int]], width: int) -> Enclosed:
        """Points of ``width`` entries, given by numerators and positive denominators.

        >>> Enclosed.of_ratios([(1, 3), (14, 2)], 2).scale
        Fraction(4, 1)
        """
        self = cls.__new__(cls)
        self._take(ratios, width, None)
        return self

    def _take(self, ratios: list[tuple[int, int]], width: int, scale: Fraction | None) -> None:
        values = _quotients(ratios) if scale is None else None
        if scale is None:
            scale = _power(ratios, values)
        if values is None:
            p, q = scale.numerator, scale.denominator
            values = np.array([(a * q) / (b * p) for a, b in ratios], dtype=np.float64)
        else:
            values = values / float(scale)
        self.scale = scale
        count = len(ratios) // width if width else 0
        self._fill(values.reshape(count, width), np.zeros(count))

    @classmethod
    def of_floats(cls, values: Array, radius: Array, scale: Fraction) -> Enclosed:
        """Points within ``radius`` (n,) of the floats ``values`` (n, d), entry by entry.

        Both are multiplied by ``scale``, a power of two; ``values`` may be rescaled in place.

        >>> Enclosed.of_floats(np.array([[6.0]]), np.array([2.0**-50]), Fraction(1)).values
        array([[1.5]])
        """
        self = cls.__new__(cls)
        largest = max(float(values.max(initial=0.0)), -float(values.min(initial=0.0)))
        power = (
            power_of_two_below(Fraction(largest)) if largest > _LEAST_INVERTIBLE else Fraction(1)
        )
        values *= 1 / float(power)
        self.scale = scale * power
        self._fill(values, radius * (1 / float(power)))
        return self

    def _fill(self, values: Array, radius: Array) -> None:
        self.values, self.radius = values, radius
        self.sizes = lengths(values)

    def __len__(self) -> int:
        return len(self.values)

    @property
    def dimension(self) -> int:
        """Dimension d of the points."""
        return int(self.values.shape[1])

    def select(self, rows: Any) -> Enclosed:
        """Some of the points."""
        chosen = Enclosed.__new__(Enclosed)
        chosen.scale = self.scale
        chosen._fill(self.values[rows], self.radius[rows])
        return chosen

    def scaled(self, factor: Fraction) -> Enclosed:
        """All points multiplied by a power of two."""
        chosen = Enclosed.__new__(Enclosed)
        chosen.scale = self.scale * factor
        chosen._fill(self.values, self.radius)
        return chosen

    def column(self, i: int) -> tuple[Array, Array]:
        """Proven lower and upper bounds of entry i of all points, divided by the scale."""
        x = self.values[:, i]
        room = error(2, np.abs(x), self.radius)
        return x - room, x + room

    def near(self, place: Array) -> Array:
        """Which points may be the one whose nearest floats, over the scale, are ``place`` (d,)."""
        room = error(8, 2 + np.abs(place).max(), self.radius)
        return np.flatnonzero(np.abs(self.values - place).max(axis=1) <= room)

    def products(self, u: Array, rows: Any = slice(None)) -> tuple[Array, Array]:
        """⟨u_i, point_j⟩/scale in float64 and its error bound, both of shape (k, n).

        ``u`` has shape (k, d) and is exact. By Cauchy and Schwarz the bound is
        γ_{d+8}·|u|·|x| + |u|₁·radius.
        """
        value = u @ self.values[rows].T
        own = self.radius[rows]
        carried = np.outer(np.abs(u).sum(axis=1), own) if own.any() else None
        size = np.outer(lengths(u), self.sizes[rows])
        return np.asarray(value), np.asarray(error(self.dimension + 8, size, carried))

    def bounded(self, u: Array, beta: Array) -> tuple[Array, Array]:
        """⟨u_i, point_j⟩/scale + beta_i, (k, n), and one error bound for every i, (k,)."""
        most, doubt = self.sizes.max(initial=0.0), self.radius.max(initial=0.0)
        value = u @ self.values.T
        value += beta[:, None]
        size = lengths(u) * most + 2 * np.abs(beta)
        return value, error(self.dimension + 8, size, np.abs(u).sum(axis=1) * doubt)

    def minus(self, middle: Array) -> Enclosed:
        """The points relative to one whose nearest floats, over the scale, are ``middle`` (d,)."""
        size = np.abs(self.values).max(axis=1) + np.abs(middle).max()
        return Enclosed.of_floats(self.values - middle, error(4, size, self.radius), self.scale)

    def project(self, axis: int, f: Sequence[Fraction]) -> Enclosed:
        """x_i − f_i x_k for i ≠ k, with k the axis and f a vector of floats."""
        weights = np.array(f, dtype=float)
        values, radius = np.empty((len(self), self.dimension - 1)), np.empty(len(self))
        worst = 1 + float(np.abs(weights).max())
        for a in range(0, len(self), _CHUNK_POINTS):
            rows = self.values[a : a + _CHUNK_POINTS]
            values[a : a + _CHUNK_POINTS] = np.delete(
                rows - rows[:, axis, None] * weights, axis, axis=1
            )
            # one rounding each for the entries, the product and the difference
            size, own = np.abs(rows).max(axis=1), self.radius[a : a + _CHUNK_POINTS]
            radius[a : a + _CHUNK_POINTS] = error(4, worst * size, worst * own)
        return Enclosed.of_floats(values, radius, self.scale)

    def fed_forward(self, value: Array, room: Array, b: float, w: Array) -> Enclosed:
        """The points after z ↦ z + w·max(0, ⟨u,z⟩ + b) (2.3), given the `products` with u, (n,).

        ``b`` is the nearest float of the offset over the scale, ``w`` (d,) those of the vector.
        """
        value = value + b
        # a rounding of b and one of the sum; max(0, ·) enlarges no error, whatever the sign is
        room = error(2, np.abs(value) + abs(b), room)
        value = np.maximum(value, 0)
        most = float(np.abs(w).max())
        # one rounding each for z, w, the product and the sum
        radius = error(4, self.sizes + most * value, self.radius + most * room)
        return Enclosed.of_floats(self.values + np.outer(value, w), radius, self.scale)

    def pulled(
        self, alpha: float, aims: Array, room: Array, owner: Array, shift: Array
    ) -> Enclosed:
        """The points (1 − α)z + αy + shift, where y is the aim number ``owner[j]`` of point j.

        ``aims`` (m, d), their radii ``room`` (m,) and ``shift`` (d,) are divided by the scale.
        """
        sizes = self.sizes + (np.abs(aims).max(axis=1) + np.abs(shift).max())[owner]
        # one rounding each for z, y, the shift, α, 1 − α, the product, and two sums
        carried = (1 - alpha) * self.radius + alpha * room[owner]
        X = (1 - alpha) * self.values
        X += (alpha * aims + shift)[owner]
        return Enclosed.of_floats(X, error(8, sizes, carried), self.scale)

    def in_doubt(self) -> Array:
        """The points, rising, that may be equal to another one.

        Points whose projections to a random line differ beyond the error bounds are different.
        """
        rng = np.random.default_rng(0)
        rows = np.arange(len(self))
        cluster = np.zeros(len(self), dtype=np.int64)
        for _ in range(_DIRECTIONS):
            if not len(rows):
                break
            everything = rows if cluster.any() else slice(None)  # in order the first time only
            g = rng.standard_normal((1, self.dimension))
            value, room = (x[0] for x in self.products(g, everything))
            if cluster.any():  # few points: one bound for all will do
                room = np.full(len(rows), room.max())
            low, high = value - room, value + room
            order = np.lexsort((low, cluster)) if cluster.any() else np.argsort(low)
            reach = high[order] if cluster.any() else np.maximum.accumulate(high[order])
            same = cluster[order]
            new = np.r_[True, (low[order][1:] > reach[:-1]) | (same[1:] != same[:-1])]
            ids = np.cumsum(new)
            kept = np.bincount(ids)[ids] > 1
            rows, cluster = rows[order[kept]], ids[kept]
        return np.sort(rows)


def _quotients(ratios: list[tuple[int, int]]) -> Array | None:
    """Nearest floats; None where they are very large or very small."""
    try:
        values = np.array([a / b for a, b in ratios], dtype=np.float64)
    except OverflowError:
        return None
    largest = float(np.abs(values).max(initial=0.0))
    return values if LEAST < largest < MOST else None


def _power(ratios: list[tuple[int, int]], values: Array | None) -> Fraction:
    """A power of two, at least half of the largest entry and at most it (1 for zeros)."""
    if values is not None:
        # rounding to nearest may reach the next power of two, never pass it
        return power_of_two_below(Fraction(float(np.abs(values).max())))
    largest = max((Fraction(abs(a), b) for a, b in ratios), default=Fraction(0))
    return power_of_two_below(largest) if largest else Fraction(1)
