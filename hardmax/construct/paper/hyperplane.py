"""Hyperplanes that separate finite sets of points, with their exact margin."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from ...exact.alternatives import Combination, gordan
from ...exact.numbers import Vector, as_vector, dot


@dataclass(frozen=True)
class Hyperplane:
    """⟨u,x⟩ + b > 0 on the one set, < 0 on the other.

    ``margin`` is the least |⟨u,x⟩ + b| / |u|₁ over all points: the distance in the ∞-norm
    by which every point may move without crossing.
    """

    u: Vector
    b: Fraction
    margin: Fraction

    def value(self, x: Sequence[Fraction]) -> Fraction:
        """⟨u,x⟩ + b."""
        return dot(self.u, x) + self.b


def separating_hyperplane(
    above: Sequence[Sequence[object]], below: Sequence[Sequence[object]]
) -> Hyperplane | Vector:
    """Separate two finite point sets strictly, or return a point of both convex hulls.

    The hyperplane separation theorem, as (3.3), (3.8) and (3.18) use it, decided exactly.

    >>> separating_hyperplane([(2,)], [(0,), (1,)])
    Hyperplane(u=(Fraction(4, 1),), b=Fraction(-6, 1), margin=Fraction(1, 2))
    >>> separating_hyperplane([(1,)], [(0,), (2,)])
    (Fraction(1, 1),)
    """
    one = Fraction(1)
    upper, lower = [as_vector(x) for x in above], [as_vector(x) for x in below]
    found = gordan([(*(-t for t in x), -one) for x in upper] + [(*x, one) for x in lower])
    if isinstance(found, Combination):
        weights = found.weights[: len(upper)]
        total = sum(weights)
        return tuple(
            sum((w * x[i] for w, x in zip(weights, upper, strict=True)), Fraction(0)) / total
            for i in range(len(upper[0]))
        )
    u, b = found.v[:-1], found.v[-1]
    values = [dot(u, x) for x in upper], [dot(u, x) for x in lower]
    if all(values):  # the middle of the gap is the widest place for this direction
        b = -(min(values[0]) + max(values[1])) / 2
    least = min(abs(t + b) for side in values for t in side)
    size = sum(map(abs, u))
    return Hyperplane(u, b, least / size if size else least)
