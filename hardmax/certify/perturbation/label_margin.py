"""How far an output may move before its prediction can change.

The output is y + G δ for a perturbation δ of the input; the bound is a number r such that the
prediction of `predict` is the same for all |δ|∞ < r.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from ...exact.numbers import Vector, dot, root
from ...labels import Ball, Box, Halfspace, LabelSet, Point, Polyhedron
from ..predict import predicted
from .jacobian import Functional, Jacobians


@dataclass(frozen=True)
class LabelMargin:
    """A bound on |δ|∞ that keeps the prediction, and what sets it.

    ``functional`` is the ⟨a, ·⟩ whose growth by the margin leaves the prediction's region;
    None where norms were estimated, so that the bound is safe and not sharp.
    """

    radius: Fraction
    rival: str
    functional: Functional | None


class LabelMargins:
    """Bounds for many outputs of one run; functionals are shared.

    >>> from hardmax.labels import Point
    >>> pool = Jacobians(1)
    >>> margins = LabelMargins(pool, {"a": Point((0,)), "b": Point((4,))})
    >>> margins.margin((Fraction(1),), pool.source(0)).radius
    Fraction(1, 1)
    """

    def __init__(self, pool: Jacobians, sets: Mapping[str, LabelSet]) -> None:
        self._pool = pool
        self._sets = sets
        self._functionals: dict[Hashable, Functional] = {}

    def margin(self, y: Vector, handle: int) -> LabelMargin | None:
        """The bound for output y with Jacobian G; None where nothing limits δ."""
        if handle == self._pool.zero:
            return None
        name = predicted(y, self._sets)
        chosen = self._sets[name]
        if not isinstance(chosen, Point) and chosen.contains(y):
            return self._inside(y, handle, name)
        least: LabelMargin | None = None
        for rival, other in self._sets.items():
            if rival == name:
                continue
            if isinstance(chosen, Point) and isinstance(other, Point):
                found = self._bisector(y, handle, name, rival, chosen.point, other.point)
            else:
                found = self._nearer(y, handle, rival, chosen, other)
            if found is not None and (least is None or found.radius < least.radius):
                least = found
        return least

    def growth(self, handle: int) -> Fraction:
        """The largest |Gδ|∞ over |δ|∞ ≤ 1.

        >>> pool = Jacobians(2)
        >>> LabelMargins(pool, {}).growth(pool.combined([(Fraction(-3), pool.source(0))]))
        Fraction(3, 1)
        """
        return max(self._coordinate(k).norm(handle) for k in range(self._pool.dimension))

    def _inside(self, y: Vector, handle: int, name: str) -> LabelMargin | None:
        """Bound that keeps y in the open set that contains it."""
        chosen = self._sets[name]
        if isinstance(chosen, Ball):
            return self._in_ball(y, handle, name, chosen)
        if not isinstance(chosen, (Halfspace, Box, Polyhedron)):
            raise TypeError(f"{type(chosen).__name__} is no label set")
        least: LabelMargin | None = None
        for index, (row, bound) in enumerate(zip(*chosen.rows, strict=True)):
            functional = self._functional((name, index), row)
            norm = functional.norm(handle)
            if norm:
                radius = (bound - dot(row, y)) / norm
                if least is None or radius < least.radius:
                    least = LabelMargin(radius, name, functional)
        return least

    def _in_ball(self, y: Vector, handle: int, name: str, ball: Ball) -> LabelMargin | None:
        # |Gδ| ≤ |δ|∞·spread; R − |y−c| = (R² − |y−c|²)/(R + |y−c|) with |y−c| rounded up
        spread = self._spread(handle, len(ball.center))
        if spread == 0:
            return None
        square = sum(((s - t) ** 2 for s, t in zip(y, ball.center, strict=False)), Fraction(0))
        room = (ball.radius**2 - square) / (ball.radius + root(square, up=True))
        return LabelMargin(room / spread, name, None)

    def _bisector(
        self, y: Vector, handle: int, name: str, rival: str, p: Vector, q: Vector
    ) -> LabelMargin | None:
        """|y−p| < |y−q| where 2⟨q−p, y⟩ < |q|² − |p|²."""
        normal = tuple(2 * (t - s) for s, t in zip(p, q, strict=True))
        functional = self._functional((name, rival), normal)
        norm = functional.norm(handle)
        if norm == 0:
            return None
        return LabelMargin((dot(q, q) - dot(p, p) - dot(normal, y)) / norm, rival, functional)

    def _nearer(
        self, y: Vector, handle: int, rival: str, chosen: LabelSet, other: LabelSet
    ) -> LabelMargin | None:
        """Distances change by at most |Gδ|, so their difference by at most twice that."""
        near, far = chosen.distance(y), other.distance(y)
        spread = self._spread(handle, self._pool.dimension)
        if not near < far:
            return LabelMargin(Fraction(0), rival, None)
        precision = 64
        while True:
            gap = (
                root(far.square, precision, up=False) - far.offset
                - root(near.square, precision, up=True) + near.offset
            )  # fmt: skip
            if gap > 0:
                return LabelMargin(gap / (2 * spread), rival, None)
            precision *= 2

    def _spread(self, handle: int, coordinates: int) -> Fraction:
        """A bound on the Euclidean length of the first coordinates of Gδ for |δ|∞ ≤ 1."""
        square = sum(
            (self._coordinate(k).norm(handle) ** 2 for k in range(coordinates)), Fraction(0)
        )
        return root(square, up=True)

    def _coordinate(self, k: int) -> Functional:
        unit = [Fraction(int(i == k)) for i in range(self._pool.dimension)]
        return self._functional(k, unit)

    def _functional(self, key: Hashable, u: Sequence[Fraction]) -> Functional:
        if key not in self._functionals:
            self._functionals[key] = self._pool.functional(u)
        return self._functionals[key]
