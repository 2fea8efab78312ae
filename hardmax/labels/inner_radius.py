"""How far a point of an open label set is from its boundary."""

from __future__ import annotations

from fractions import Fraction

from ..exact.numbers import Vector, dot, root
from .polyhedral import Polyhedral
from .sets import Ball, LabelSet


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
        return (radius * radius - square) / (radius + root(square, up=True))
    if isinstance(label_set, Polyhedral):
        rows = zip(*label_set.rows, strict=True)
        found = [
            (bound - dot(row, x)) / root(dot(row, row), up=True) for row, bound in rows if any(row)
        ]
        return min(found, default=None)
    raise TypeError(f"a label set of kind {label_set.kind} is not open")
