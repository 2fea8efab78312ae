"""Means of many sequences: floats with proven bounds for all, exact values for the few in doubt.

Small data sets, and those out of the range in which the bounds hold, get exact means.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from ...enclosure.enclosed import Enclosed
from ...enclosure.means import float_means
from ...enclosure.shadow import ratio
from ...exact.array import Array, ExactArray
from ...exact.means import exact_means
from ...exact.numbers import Vector
from ...exact.points import IntegerPoints
from ...model.tokens import Tokens
from .tie_splitting import Measures

_SMALL = 2**14  # entries of tokens up to which means are exact from the start
_CHUNK = 2**15  # tokens, or points, at a time
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
        self.vectors: list[Vector] | None = None  # all of them, where they were exact anyway

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

        What some random lines leave in doubt (`Enclosed.in_doubt`) is compared exactly.
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


@dataclass(frozen=True)
class Means:
    """Means of sequences, and ``reach(k)``, the largest |z_k| over all their tokens z."""

    cloud: FilteredCloud
    reach: Callable[[int], Fraction]

    @classmethod
    def of_tokens(cls, batch: Tokens) -> Means:
        """Means of sequences that are integer rows already."""
        unit = [Fraction(0)] * batch.dimension

        def reach(k: int) -> Fraction:
            return max(map(abs, batch.projections([*unit[:k], Fraction(1), *unit[k + 1 :]])))

        offsets = np.array(batch.starts)
        if offsets[-1] * batch.dimension > _SMALL:
            points = float_means(batch.floats(), offsets)
            if points is not None:
                return cls(
                    FilteredCloud(
                        points, lambda rows: IntegerPoints(batch.mean_rows(rows)).vectors()
                    ),
                    reach,
                )
        return cls(FilteredCloud.of_vectors(batch.means()), reach)

    @classmethod
    def of_measures(cls, state: Measures) -> Means:
        """Means of sequences whose different tokens, and means, are at hand."""
        rows = state.points.rows
        nearest = np.array([[ratio(p, row[-1]) for p in row[:-1]] for row in rows])
        means, points = state.means(), None
        if len(state.token) * state.dimension > _SMALL:
            points = float_means(nearest[state.token], state.starts)
        return cls(
            FilteredCloud.of_vectors(means.vectors())
            if points is None
            else FilteredCloud(points, lambda some: means.select(some).vectors()),
            lambda k: max(Fraction(abs(row[k]), row[-1]) for row in rows),
        )

    @classmethod
    def of_array(cls, tokens: ExactArray, offsets: Array, chosen: Array) -> Means:
        """Means of some of the packed sequences ``tokens[offsets[j]:offsets[j+1]]``."""
        X = tokens.values
        points = float_means(X, offsets) if X.size > _SMALL else None
        if points is None:
            return cls.of_tokens(Tokens.of_sequences(tokens, offsets, chosen))
        low, high = X.min(axis=0), X.max(axis=0)
        sizes = np.maximum(high, -low)
        cloud = FilteredCloud(
            points if len(chosen) == len(points) else points.select(chosen),
            lambda rows: exact_means(tokens, offsets, chosen[np.asarray(rows)]).vectors(),
            _constant_columns(tokens, np.flatnonzero(low == high)),
        )
        return cls(cloud, lambda k: Fraction(float(sizes[k])))


def _constant_columns(tokens: ExactArray, candidates: Array) -> dict[int, Fraction]:
    """Those of some coordinates that are the same for all tokens, with their values."""
    count, width = tokens.shape
    found = {}
    for k in candidates.tolist():
        value = tokens.entry(k)
        if all(tokens.entry(i * width + k) == value for i in range(count if tokens.exact else 1)):
            found[k] = value
    return found
