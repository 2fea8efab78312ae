"""Hyperplanes through exact points (docs/theory.md, Theorem 6a: facets by rotating hyperplanes).

A point x is a row [p_1, …, p_d, q] of integers, x = p/q, and a hyperplane a row h = [u_1, …, u_d,
β]. Their inner product is q·(⟨u,x⟩ + β), so its sign says on which side the point lies.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import count

from ....exact.matrix import IntegerRows, primitive
from ....exact.rows import Row


class DegenerateError(Exception):
    """Some points are affinely dependent, or meet in a hyperplane that shouldn't hold them all.

    ``places`` are those points, by their places among all.
    """

    def __init__(self, places: Iterable[int]) -> None:
        super().__init__()
        self.places = sorted(places)


def product(h: Row, row: Row) -> int:
    """q·(⟨u,x⟩ + β).

    >>> product([2, 3, -1], [1, 1, 2])
    3
    """
    return sum(a * b for a, b in zip(h, row, strict=True))


def products(rows: Sequence[Row], h: Row) -> list[int]:
    """`product` with every row."""
    return IntegerRows(rows).dot(h) if rows else []


def turned(h: Row, pivot: Row, row: Row) -> Row:
    """The hyperplane through the point in the pencil of two; the pivot misses the point.

    >>> turned([1, 0, 0], [0, 1, 0], [2, 3, 1])
    [3, -2, 0]
    """
    a, b = product(pivot, row), product(h, row)
    if not b:
        return h
    sign = 1 if a > 0 else -1  # h keeps its side
    return [
        int(x) for x in primitive([sign * (a * s - b * t) for s, t in zip(h, pivot, strict=True)])
    ]


def through(basis: list[Row], rows: Sequence[Row], places: Sequence[int]) -> list[Row]:
    """A basis of those hyperplanes in the span of ``basis`` that go through all points.

    Raises DegenerateError with the places of the first points that do not each take away one
    dimension.

    >>> through([[1, 0, 0], [0, 1, 0], [0, 0, 1]], [[2, 3, 1], [0, 0, 1]], [0, 1])
    [[-3, 2, 0]]
    """
    for i, row in enumerate(rows):
        pivot = next((h for h in basis if product(h, row)), None)
        if pivot is None:
            raise DegenerateError(places[: i + 1])
        basis = [turned(h, pivot, row) for h in basis if h is not pivot]
    return basis


def missing(
    basis: list[Row], group: Sequence[int], others: Sequence[Row], places: Sequence[int]
) -> tuple[Row, list[int]]:
    """A hyperplane Σ k^i h_i that misses all ``others``, and its products with them.

    The h_i are a ``basis`` of the hyperplanes through a ``group``; where all of them hold one of
    the others, DegenerateError is raised with this point and the group. Otherwise each of the
    others forbids fewer k than there are h_i.

    >>> missing([[1, 0, 0], [0, 1, 0]], [0], [[1, 0, 1], [0, 1, 1], [1, -1, 1]], [1, 2, 3])
    ([1, 2, 0], [1, 2, -1])
    """
    for k in count(1):
        h = [sum(k**i * x for i, x in enumerate(column)) for column in zip(*basis, strict=True)]
        values = products(others, h)
        zeros = [j for j, value in enumerate(values) if not value]
        if not zeros:
            return h, [int(x) for x in values]
        for j in zeros if k == 1 else []:
            if not any(product(b, others[j]) for b in basis):
                raise DegenerateError([*group, places[j]])
    raise AssertionError
