"""Exact points as rows of integers over a positive denominator (theory C2).

A row [p_1, …, p_d, q] stands for the point (p_1/q, …, p_d/q). In lowest terms, equal points have
equal rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from math import gcd

from .matrix import clear_denominators
from .numbers import Vector

Row = list[int]


def row_of(x: Iterable[Fraction]) -> Row:
    """The row of a point, in lowest terms.

    >>> row_of((Fraction(1, 2), Fraction(1, 3)))
    [3, 2, 6]
    """
    numerators, denominator = clear_denominators(list(x))
    return [*numerators, denominator]


def vector_of(row: Sequence[int]) -> Vector:
    """The point of a row.

    >>> vector_of([3, 2, 6])
    (Fraction(1, 2), Fraction(1, 3))
    """
    *p, q = row
    return tuple(Fraction(x, q) for x in p)


def lowest_terms(row: Row) -> Row:
    """The row divided by the greatest common divisor of its entries.

    >>> lowest_terms([2, -4, 6])
    [1, -2, 3]
    """
    divisor = gcd(*row)
    return row if divisor == 1 else [x // divisor for x in row]
