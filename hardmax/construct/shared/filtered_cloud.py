"""Points of which most questions are settled by floats with proven bounds, the others exactly."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction

import numpy as np

from ...enclosure.enclosed import Enclosed
from ...exact.array import Array
from ...exact.numbers import Vector

_CHUNK = 2**15  # points at a time
_SAMPLE = 64  # exact entries that show, almost always, that a coordinate is not constant


class FilteredCloud:
    """Points of ℚ^k: ``points`` in float64 with bounds, ``exact(rows)`` exactly.

    ``known`` holds the value of coordinates that are known to be constant.

    >>> third = (Fraction(1, 3), Fraction(2))
    >>> cloud = FilteredCloud.of_vectors([third, third])
    >>> cloud.first_equal(), cloud.constant(0)
    (array([0, 0]), Fraction(1, 3))
    """

    def __init__(
        self,
        points: Enclosed,
        exact: Callable[[Sequence[int]], list[Vector]],
        known: Mapping[int, Fraction] | None = None,
    ) -> None:
        self.points, self.exact, self.known = points, exact, dict(known or {})
        self.vectors: list[Vector] | None = None  # all points, where they are exact from the start

    @classmethod
    def of_vectors(cls, vectors: list[Vector]) -> FilteredCloud:
        """Exact points that are at hand."""
        cloud = cls(Enclosed(vectors), lambda rows: [vectors[j] for j in rows])
        cloud.vectors = vectors
        return cloud

    def __len__(self) -> int:
        return len(self.points)

    @property
    def dimension(self) -> int:
        """Number k of coordinates."""
        return self.points.dimension

    def select(self, rows: Array) -> FilteredCloud:
        """Some of the points."""
        if self.vectors is not None:
            return FilteredCloud.of_vectors([self.vectors[j] for j in rows.tolist()])
        if len(rows) == len(self) and (rows == np.arange(len(self))).all():
            return self
        exact = self.exact
        return FilteredCloud(
            self.points.select(rows),
            lambda some: exact(rows[np.asarray(some)].tolist()),
            self.known,
        )

    def scaled(self, factor: Fraction) -> FilteredCloud:
        """All points multiplied by a power of two."""
        if factor == 1:
            return self
        if self.vectors is not None:
            return FilteredCloud.of_vectors([tuple(factor * t for t in x) for x in self.vectors])
        exact = self.exact
        return FilteredCloud(
            self.points.scaled(factor),
            lambda rows: [tuple(factor * t for t in x) for x in exact(rows)],
            {i: factor * t for i, t in self.known.items()},
        )

    def project(self, axis: int, f: Sequence[Fraction]) -> FilteredCloud:
        """x_i − f_i x_k for i ≠ k, with k the axis."""

        def along(x: Vector) -> Vector:
            here = x[axis]
            return tuple(
                t - g * here if g else t
                for i, (t, g) in enumerate(zip(x, f, strict=True))
                if i != axis
            )

        if self.vectors is not None:
            return FilteredCloud.of_vectors([along(x) for x in self.vectors])
        exact = self.exact
        known = {
            i - (i > axis): t - (f[i] * self.known[axis] if f[i] else 0)
            for i, t in self.known.items()
            if i != axis and (f[i] == 0 or axis in self.known)
        }
        points = self.points.project(axis, f)
        return FilteredCloud(points, lambda rows: [along(x) for x in exact(rows)], known)

    def first_equal(self) -> Array:
        """For every point the index of the first point that is exactly equal to it, (n,).

        Projections to random lines tell most points apart (`Enclosed.in_doubt`); the others are
        compared exactly.
        """
        first = np.arange(len(self))
        rows = self.points.in_doubt()
        seen: dict[Vector, int] = {}
        for a in range(0, len(rows), _CHUNK):
            part = rows[a : a + _CHUNK].tolist()
            first[part] = [
                seen.setdefault(x, j) for j, x in zip(part, self.exact(part), strict=True)
            ]
        return first

    def constant(self, i: int) -> Fraction | None:
        """The value of coordinate i if it is the same for all points; None otherwise."""
        if i in self.known:
            return self.known[i]
        low, high = self.points.column(i)
        if high.min() < low.max():
            return None
        value = self.exact([0])[0][i]
        rows = np.unique(np.linspace(0, len(self) - 1, _SAMPLE).astype(int)).tolist()
        if any(x[i] != value for x in self.exact(rows)):
            return None
        for a in range(0, len(self), _CHUNK):
            part = range(a, min(a + _CHUNK, len(self)))
            if any(x[i] != value for x in self.exact(part)):
                return None
        self.known[i] = value
        return value
