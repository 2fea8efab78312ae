"""Many exact points, each a row of integers (`rows`) that need not be in lowest terms.

Python's integers take a tenth of the time of Fractions, which are made of what is asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from fractions import Fraction
from math import lcm
from operator import mul
from typing import Any

import numpy as np

from .array import Array
from .numbers import Vector, nearest_float
from .rows import Row, lowest_terms, row_of, vector_of


class IntegerPoints:
    """Points of ℚ^d as integer rows.

    >>> half = IntegerPoints.of_vectors([(Fraction(1, 2), Fraction(1, 3))])
    >>> half.rows, half.affine(Fraction(2), (Fraction(0), Fraction(1))).vector(0)
    ([[3, 2, 6]], (Fraction(1, 1), Fraction(5, 3)))
    """

    def __init__(self, rows: list[Row]) -> None:
        self.rows = rows

    @classmethod
    def of_vectors(cls, vectors: Iterable[Vector]) -> IntegerPoints:
        """Take Fractions."""
        return cls([row_of(x) for x in vectors])

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def dimension(self) -> int:
        """Dimension d; there must be a point."""
        return len(self.rows[0]) - 1

    def vector(self, j: int) -> Vector:
        """One point."""
        return vector_of(self.rows[j])

    def vectors(self) -> list[Vector]:
        """All points."""
        return [self.vector(j) for j in range(len(self))]

    def select(self, chosen: Sequence[int] | Array) -> IntegerPoints:
        """Some of the points, in the given order."""
        return IntegerPoints([self.rows[j] for j in np.asarray(chosen, dtype=int).tolist()])

    def ratios(self) -> Iterator[tuple[int, int]]:
        """Numerator and denominator of every entry, point by point."""
        return ((p, row[-1]) for row in self.rows for p in row[:-1])

    def affine(self, factor: Fraction, shift: Vector) -> IntegerPoints:
        """factor·x + shift for every point x."""
        if factor == 1 and not any(shift):
            return self

        def step(q: int) -> tuple[int, list[int], int]:
            *s, common = row_of([factor / q, *shift])
            return s[0], s[1:], common

        known = _Known(step)
        return IntegerPoints(
            [
                [*(a * p + b for p, b in zip(row, shift, strict=False)), common]
                for row, (a, shift, common) in ((row, known[row[-1]]) for row in self.rows)
            ]
        )

    def combined(self, a: Fraction, others: IntegerPoints, b: Fraction) -> IntegerPoints:
        """a·x + b·y for every point x and its own y in ``others``.

        >>> IntegerPoints([[1, 2]]).combined(Fraction(3), IntegerPoints([[4, 1]]), Fraction(1)).rows
        [[11, 2]]
        """
        (up_a, down_a), (up_b, down_b) = a.as_integer_ratio(), b.as_integer_ratio()
        rows = []
        for x, y in zip(self.rows, others.rows, strict=True):
            p, q = down_a * x[-1], down_b * y[-1]
            common = lcm(p, q)
            p, q = up_a * (common // p), up_b * (common // q)
            row = [p * s + q * t for s, t in zip(x, y, strict=True)]
            row[-1] = common
            rows.append(row)
        return IntegerPoints(rows)

    def fed_forward(self, u: Vector, b: Fraction, w: Vector) -> IntegerPoints:
        """Where the feed-forward layer takes every point x: x + w·max(0, ⟨u,x⟩ + b) (2.3)."""
        *weights, offset, scale = row_of([*u, b])
        *direction, step = row_of(w)
        rows = []
        for x in self.rows:
            value = int(sum(map(mul, weights, x))) + offset * x[-1]
            if value > 0:
                moved = [scale * step * p + value * y for p, y in zip(x, direction, strict=False)]
                x = lowest_terms([*moved, scale * step * x[-1]])
            rows.append(x)
        return IntegerPoints(rows)

    def values(self, u: Vector) -> list[Fraction]:
        """⟨u, x⟩ for every point."""
        return [Fraction(p, q) for p, q in self.heights(u).rows]

    def heights(self, u: Vector) -> IntegerPoints:
        """⟨u, x⟩ for every point, as points of ℚ¹.

        >>> IntegerPoints([[1, 2, 4]]).heights((Fraction(1), Fraction(3))).rows
        [[7, 4]]
        """
        weights = row_of(u)
        return IntegerPoints([[inner(weights, x), weights[-1] * x[-1]] for x in self.rows])

    def squares(self) -> list[Fraction]:
        """|x|² for every point."""
        return [Fraction(inner(row, row), row[-1] ** 2) for row in self.rows]

    def reduced(self) -> IntegerPoints:
        """The same points in lowest terms: equal points are equal rows."""
        return IntegerPoints([lowest_terms(row) for row in self.rows])

    def first_equal(self) -> Array:
        """For every point the index of the first point that is equal to it, (n,)."""
        seen: dict[tuple[int, ...], int] = {}
        firsts = (seen.setdefault(tuple(row), j) for j, row in enumerate(self.reduced().rows))
        return np.fromiter(firsts, dtype=np.int64, count=len(self))


def falling(values: list[Fraction]) -> list[int]:
    """The places of numbers, from the largest down; of equal numbers the first comes first.

    The nearest float of a larger number is not smaller, so it decides unless it is the same.

    >>> falling([Fraction(1), Fraction(3), Fraction(1), Fraction(2)])
    [1, 3, 0, 2]
    """
    keys: list[Any] = values
    with suppress(OverflowError):  # past the range of floats the numbers themselves serve
        keys = [(nearest_float(x), x) for x in values]
    return sorted(range(len(values)), key=keys.__getitem__, reverse=True)


class _Known(dict[int, tuple[int, list[int], int]]):
    """Values of a function of the denominators, most of which are alike."""

    def __init__(self, function: Callable[[int], tuple[int, list[int], int]]) -> None:
        self.function = function

    def __missing__(self, q: int) -> tuple[int, list[int], int]:
        self[q] = found = self.function(q)
        return found


def inner(x: Row, y: Row) -> int:
    """Inner product of the numerators of two rows.

    >>> inner([1, 2, 7], [3, 4, 9])
    11
    """
    return int(sum(map(mul, x, y))) - x[-1] * y[-1]
