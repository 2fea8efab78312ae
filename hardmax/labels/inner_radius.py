"""How far a point of an open label set is from its boundary."""

from __future__ import annotations

from fractions import Fraction
from math import isqrt

from ..numbers import Vector, dot
from .sets import Ball, LabelSet, _Polyhedral

_BITS = 64  # of a root that is not rational


def inner_radius(label_set: LabelSet, x: Vector) -> Fraction | None:
    """A radius r with {z : |z − x| < r} ⊂ label_set, for a point x of an open set.

    It is the largest such r, rounded down a little where that is not rational; None where
    every r serves. Raises TypeError for a set that is not open, ValueError for x outside.

    >>> from hardmax.labels import Box, Halfspace
    >>> inner_radius(Box((0, 0), (1, 4)), (Fraction(1, 4), Fraction(2)))
    Fraction(1, 4)
    >>> inner_radius(Halfspace((3, 4), 0), (Fraction(0), Fraction(5)))
    Fraction(4, 1)
    """
    if not label_set.contains(x):
        raise ValueError("the point lies outside of the label set")
    if isinstance(label_set, Ball):
        square = sum(((s - t) ** 2 for s, t in zip(x, label_set.center, strict=False)), Fraction(0))
        radius = label_set.radius
        # R − √q = (R² − q)/(R + √q) stays positive when the root is rounded up
        return (radius * radius - square) / (radius + root_above(square))
    if isinstance(label_set, _Polyhedral):
        rows = zip(*label_set.rows, strict=True)
        found = [
            (bound - dot(row, x)) / root_above(dot(row, row)) for row, bound in rows if any(row)
        ]
        return min(found, default=None)
    raise TypeError(f"a label set of kind {label_set.kind} is not open")


def root_above(x: Fraction) -> Fraction:
    """√x for x ≥ 0, rounded up to about 64 bits where it is not rational.

    >>> root_above(Fraction(9, 4)), 2 < root_above(Fraction(2)) ** 2 < 2 + Fraction(1, 2**60)
    (Fraction(3, 2), True)
    """
    p, q = x.numerator * x.denominator, x.denominator  # √x = √p / q
    shift = max(0, _BITS - p.bit_length() // 2)
    low = isqrt(p << 2 * shift)
    exact = low * low == p << 2 * shift
    return Fraction(low + (not exact), q << shift)
