"""Inner products of many exact points in float64, with a proven error bound (theory C1).

A construction proposes with these floats and takes a strict inequality for granted only where
it holds beyond the bound. Where it does not, exact arithmetic decides or another proposal is
made.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from ..exact.array import Array
from ..exact.numbers import Vector, power_of_two_below
from .rounding import LEAST, MOST, error, lengths

_LEAST = 2.0**-1020  # smaller powers have no inverse


def rounded_to(values: Array, bits: int) -> Array:
    """Nearest numbers with at most ``bits`` bits.

    >>> rounded_to(np.array([0.7, -3.3]), 2)
    array([ 0.75, -3.  ])
    """
    mantissa, exponent = np.frexp(values)
    return np.asarray(np.ldexp(np.round(np.ldexp(mantissa, bits)), exponent - bits))


class FilteredPoints:
    """Points of ℚ^d, shape (n, d), divided by a power of two, in float64.

    ``values[j]·scale`` is point j up to rounding and, in every entry, up to ``error[j]·scale``;
    all entries of ``values`` are at most 2 in absolute value.

    >>> cloud = FilteredPoints([(Fraction(1, 3), Fraction(7))])
    >>> cloud.scale
    Fraction(4, 1)
    """

    def __init__(self, points: Sequence[Vector], scale: Fraction | None = None) -> None:
        width = len(points[0]) if points else 0
        self._take([t.as_integer_ratio() for x in points for t in x], width, scale)

    @classmethod
    def of_ratios(cls, ratios: list[tuple[int, int]], width: int) -> FilteredPoints:
        """Points of ``width`` entries, given by numerators and positive denominators.

        >>> FilteredPoints.of_ratios([(1, 3), (14, 2)], 2).scale
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
    def of_floats(cls, values: Array, error: Array, scale: Fraction) -> FilteredPoints:
        """Points within ``error`` (n,) of the floats ``values`` (n, d), entry by entry.

        Both are multiplied by ``scale``, a power of two; ``values`` may be rescaled in place.

        >>> FilteredPoints.of_floats(np.array([[6.0]]), np.array([2.0**-50]), Fraction(1)).values
        array([[1.5]])
        """
        self = cls.__new__(cls)
        largest = max(float(values.max(initial=0.0)), -float(values.min(initial=0.0)))
        power = power_of_two_below(Fraction(largest)) if largest > _LEAST else Fraction(1)
        values *= 1 / float(power)
        self.scale = scale * power
        self._fill(values, error * (1 / float(power)))
        return self

    def _fill(self, values: Array, error: Array) -> None:
        self.values, self.error = values, error
        self.sizes = lengths(values)

    def __len__(self) -> int:
        return len(self.values)

    def select(self, rows: Any) -> FilteredPoints:
        """Some of the points."""
        chosen = FilteredPoints.__new__(FilteredPoints)
        chosen.scale = self.scale
        chosen._fill(self.values[rows], self.error[rows])
        return chosen

    def scaled(self, factor: Fraction) -> FilteredPoints:
        """All points multiplied by a power of two."""
        chosen = FilteredPoints.__new__(FilteredPoints)
        chosen.scale = self.scale * factor
        chosen._fill(self.values, self.error)
        return chosen

    def column(self, i: int) -> tuple[Array, Array]:
        """Proven lower and upper bounds of entry i of all points, divided by the scale."""
        x = self.values[:, i]
        room = error(2, np.abs(x), self.error)
        return x - room, x + room

    def products(self, u: Array, rows: Any = slice(None)) -> tuple[Array, Array]:
        """⟨u_i, point_j⟩/scale in float64 and its error bound, both of shape (k, n).

        ``u`` has shape (k, d) and is exact. The bound covers the rounding of the points and
        every order of summation, fused or not: γ_{d+8}·|u|·|x| + |u|₁·error (`rounding`).
        """
        value = u @ self.values[rows].T
        return np.asarray(value), self._room(u, self.sizes[rows], self.error[rows])

    def bounded(self, u: Array, beta: Array) -> tuple[Array, Array]:
        """⟨u_i, point_j⟩/scale + beta_i, (k, n), and one error bound for every i, (k,)."""
        most, doubt = self.sizes.max(initial=0.0), self.error.max(initial=0.0)
        value = u @ self.values.T
        value += beta[:, None]
        size = lengths(u) * most + 2 * np.abs(beta)
        return value, error(self.values.shape[1] + 8, size, np.abs(u).sum(axis=1) * doubt)

    def _room(self, u: Array, sizes: Array, own: Array) -> Array:
        carried = np.outer(np.abs(u).sum(axis=1), own) if own.any() else 0.0
        return np.asarray(error(self.values.shape[1] + 8, np.outer(lengths(u), sizes), carried))


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
