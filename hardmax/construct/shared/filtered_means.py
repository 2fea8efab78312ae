"""Means of many sequences: floats with proven bounds for all, exact values for the few in doubt.

The terms of a mean of n tokens pass through n + 1 roundings at most: one of the token, n − 1 of the
sum, one of the quotient. So every entry is within γ_{n+3} max|x| of the exact one
(`enclosure.rounding`). Small data sets, and those out of the range in which this holds, get exact
means.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

import numpy as np

from ...enclosure.filtered import FilteredPoints
from ...enclosure.rounding import LEAST, MOST, error, lengths
from ...enclosure.shadow import ratio
from ...exact.array import Array, ExactArray
from ...exact.means import exact_means
from ...exact.numbers import Vector
from ...exact.points import IntegerPoints
from ...model.tokens import Tokens
from .tie_splitting import Measures

_SMALL = 2**14  # entries of tokens up to which means are exact from the start
_CHUNK = 2**15  # tokens, or points, at a time
_DIRECTIONS = 3  # random projections that tell different points apart
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
        points: FilteredPoints,
        exact: Callable[[Sequence[int]], list[Vector]],
        known: Mapping[int, Fraction] | None = None,
    ) -> None:
        self.points, self.exact, self.known = points, exact, dict(known or {})
        self.vectors: list[Vector] | None = None  # all of them, where they were exact anyway

    @classmethod
    def of_vectors(cls, vectors: list[Vector]) -> FilteredCloud:
        """Exact points that are at hand."""
        cloud = cls(FilteredPoints(vectors), lambda rows: [vectors[j] for j in rows])
        cloud.vectors = vectors
        return cloud

    def __len__(self) -> int:
        return len(self.points)

    @property
    def dimension(self) -> int:
        """Number k of coordinates."""
        return int(self.points.values.shape[1])

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

    def project(self, axis: int, f: Sequence[int]) -> FilteredCloud:
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
        X, weights = self.points.values, np.array(f, dtype=float)
        values = np.empty((len(self), self.dimension - 1))
        room = np.empty(len(self))
        worst = 1 + float(np.abs(weights).max())
        for a in range(0, len(self), _CHUNK):
            rows = X[a : a + _CHUNK]
            values[a : a + _CHUNK] = np.delete(rows - rows[:, axis, None] * weights, axis, axis=1)
            # one rounding each for the entries, the product and the difference
            size, own = np.abs(rows).max(axis=1), self.points.error[a : a + _CHUNK]
            room[a : a + _CHUNK] = error(4, worst * size, worst * own)
        exact = self.exact
        known = {
            i - (i > axis): t - (f[i] * self.known[axis] if f[i] else 0)
            for i, t in self.known.items()
            if i != axis and (f[i] == 0 or axis in self.known)
        }
        points = FilteredPoints.of_floats(values, room, self.points.scale)
        return FilteredCloud(points, lambda rows: [along(x) for x in exact(rows)], known)

    def first_equal(self) -> Array:
        """For every point the index of the first point that is exactly equal to it, (n,).

        Points whose projections to a line differ beyond the error bounds are different; what
        some random lines leave in doubt is compared exactly.
        """
        first = np.arange(len(self))
        rows = self._in_doubt()
        seen: dict[Vector, int] = {}
        for a in range(0, len(rows), _CHUNK):
            part = rows[a : a + _CHUNK].tolist()
            first[part] = [
                seen.setdefault(x, j) for j, x in zip(part, self.exact(part), strict=True)
            ]
        return first

    def _in_doubt(self) -> Array:
        """The points, rising, that may be equal to another one."""
        rng = np.random.default_rng(0)
        rows = np.arange(len(self))
        cluster = np.zeros(len(self), dtype=np.int64)
        for _ in range(_DIRECTIONS):
            if not len(rows):
                break
            everything = rows if cluster.any() else slice(None)  # in order the first time only
            g = rng.standard_normal((1, self.dimension))
            value, room = (x[0] for x in self.points.products(g, everything))
            if cluster.any():  # few points: one bound for all will do
                room = np.full(len(rows), room.max())
            low, high = value - room, value + room
            order = np.lexsort((low, cluster)) if cluster.any() else np.argsort(low)
            reach = high[order] if cluster.any() else np.maximum.accumulate(high[order])
            same = cluster[order]
            new = np.r_[True, (low[order][1:] > reach[:-1]) | (same[1:] != same[:-1])]
            ids = np.cumsum(new)
            kept = np.bincount(ids)[ids] > 1
            rows, cluster = rows[order[kept]], ids[kept]
        return np.sort(rows)

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
            points = _float_means(batch.floats(), offsets)
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
            points = _float_means(nearest[state.token], state.starts)
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
        points = _float_means(X, offsets) if X.size > _SMALL else None
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


def enclosed_means(points: FilteredPoints, offsets: Array) -> FilteredPoints:
    """Means of sequences of enclosed tokens, divided by the scale of the tokens.

    >>> tokens = FilteredPoints([(Fraction(1),), (Fraction(3),)])
    >>> means = enclosed_means(tokens, np.array([0, 2]))
    >>> means.values * float(means.scale * tokens.scale)
    array([[2.]])
    """
    first = offsets[:-1]
    found = _float_means(points.values, offsets)
    if found is None:  # all floats are zero
        found = FilteredPoints.of_floats(points.values[first], np.zeros(len(first)), Fraction(1))
    own = np.maximum.reduceat(points.error, first)
    found.error = error(0, 0.0, found.error + own / float(found.scale))
    return found


def _float_means(X: Array, offsets: Array) -> FilteredPoints | None:
    """Means of nearest floats (T, d); None where these are too large or too small."""
    if not LEAST < max(float(X.max()), -float(X.min())) < MOST:
        return None
    count = len(offsets) - 1
    counts = np.diff(offsets)
    means, largest = np.empty((count, X.shape[1])), np.empty(count)
    per_chunk = max(1, _CHUNK * count // int(offsets[-1]))
    for a, b in pairwise([*range(0, count, per_chunk), count]):
        rows = X[offsets[a] : offsets[b]]
        sizes = lengths(rows)  # quicker than the largest entry
        if (counts[a:b] == counts[a]).all():
            shape = b - a, int(counts[a])
            np.sum(rows.reshape(*shape, -1), axis=1, out=means[a:b])
            np.max(sizes.reshape(shape), axis=1, out=largest[a:b])
        else:
            starts = offsets[a:b] - offsets[a]
            np.add.reduceat(rows, starts, axis=0, out=means[a:b])
            np.maximum.reduceat(sizes, starts, out=largest[a:b])
    means /= counts[:, None]
    return FilteredPoints.of_floats(means, error(counts + 3, largest), Fraction(1))


def _constant_columns(tokens: ExactArray, candidates: Array) -> dict[int, Fraction]:
    """Those of some coordinates that are the same for all tokens, with their values."""
    count, width = tokens.shape
    found = {}
    for k in candidates.tolist():
        value = tokens.entry(k)
        if all(tokens.entry(i * width + k) == value for i in range(count if tokens.exact else 1)):
            found[k] = value
    return found
