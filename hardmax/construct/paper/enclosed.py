"""Tokens of all sequences while they are pulled: floats with proven bounds, exact where asked.

Which tokens are equal after a pull is known beforehand, if it merges none by chance. So exact
numbers are needed only where floats leave a comparison open (theory C1).
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from ...enclosure.filtered import FilteredPoints
from ...enclosure.rounding import LEAST, MOST, error
from ...enclosure.shadow import ratio
from ...exact.array import Array, ExactArray, ranges
from ...exact.numbers import Vector
from ...exact.rows import row_of
from ...model.tokens import Tokens
from ..shared.filtered_means import FilteredCloud, enclosed_means
from ..shared.sharing import by_appearance, numbered, token_numbers
from .pulls import Pull, Pulled


class Enclosed:
    """T tokens of N sequences; sequence j is the run of rows from ``starts[j]``.

    ``points`` encloses the tokens, ``exact`` has them exactly. ``token`` (T,) numbers the
    different ones by first appearance, ``owner`` (T,) gives the sequence of each.

    >>> tokens = ExactArray(np.array([[0.0], [1.0], [0.0]]))
    >>> state = Enclosed.of_array(tokens, np.array([0, 2, 3]), np.arange(2))
    >>> state.token, state.leaders((Fraction(1),)), state.mean_numbers()
    (array([0, 1, 0]), array([1, 2]), array([0, 1]))
    """

    def __init__(self, points: FilteredPoints, token: Array, exact: Pulled) -> None:
        self.points, self.token, self.exact = points, token, exact
        self.starts = exact.starts
        self.owner = np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))

    @classmethod
    def of_array(cls, tokens: ExactArray, offsets: Array, chosen: Array) -> Enclosed:
        """Some of the packed sequences ``tokens[offsets[j]:offsets[j+1]]``."""
        exact = Pulled.of_array(tokens, offsets, chosen)
        rows = ranges(offsets[chosen], np.diff(offsets)[chosen])
        X = tokens.values[rows]
        if LEAST < float(np.abs(X).max()) < MOST:
            points = FilteredPoints.of_floats(X, np.zeros(len(X)), Fraction(1))
        else:
            points = _enclosed(exact)
        return cls(points, token_numbers(tokens, rows), exact)

    @classmethod
    def of_tokens(cls, batch: Tokens) -> Enclosed:
        """All sequences of a batch, as it is now."""
        exact = Pulled.of_tokens(batch.copy())
        return cls(_enclosed(exact), numbered(batch.token_keys()), exact)

    @property
    def dimension(self) -> int:
        """Dimension d of the tokens."""
        return int(self.points.values.shape[1])

    def values(self, v: Vector) -> tuple[Array, Array]:
        """Proven lower and upper bounds of ⟨v,z⟩ for every token, divided by the scale."""
        value, room = self._products(v)
        return value - room, value + room

    def _products(self, v: Vector) -> tuple[Array, Array]:
        """⟨v,z⟩ for every token and a proven bound on the error, divided by the scale."""
        direction = np.array([float(t) for t in v])
        value, room = (x[0] for x in self.points.products(direction[None, :]))
        if any(Fraction(t) != s for t, s in zip(direction.tolist(), v, strict=True)):
            room = np.full(len(value), np.inf)
        return value, room

    def least(self, v: Vector) -> Fraction:
        """The least ⟨v,z⟩ of all tokens."""
        low, high = self.values(v)
        return min(self.exact.values(self._once(np.flatnonzero(low <= high.min())), v))

    def leaders(self, v: Vector) -> Array | None:
        """For every sequence the row of its leader, the one token on which ⟨v,·⟩ is largest; of
        equal tokens the first. None where a sequence has no leader."""
        low, high = self.values(v)
        top = np.maximum.reduceat(low, self.starts[:-1])
        rows = np.flatnonzero(high >= top[self.owner])
        begin = np.searchsorted(self.owner[rows], np.arange(len(top)))
        found = rows[begin]
        kinds = self.token[rows]
        open_ones = np.minimum.reduceat(kinds, begin) < np.maximum.reduceat(kinds, begin)
        ends = np.append(begin[1:], len(rows))
        for j in np.flatnonzero(open_ones).tolist():
            some = self._once(rows[begin[j] : ends[j]])
            values = self.exact.values(some, v)
            best = max(values)
            if values.count(best) > 1:
                return None
            found[j] = some[values.index(best)]
        return found

    def holds(self, z: Vector) -> bool:
        """Whether some token is z."""
        row = row_of(tuple(t / self.points.scale for t in z))
        place = np.array([ratio(p, row[-1]) for p in row[:-1]])
        room = error(8, 2 + np.abs(place).max(), self.points.error)
        near = np.abs(self.points.values - place).max(axis=1) <= room
        return row_of(z) in self.exact.tokens(self._once(np.flatnonzero(near))).reduced().rows

    def _once(self, rows: Array) -> Array:
        """Of rows with equal tokens the first."""
        return rows[np.sort(np.unique(self.token[rows], return_index=True)[1])]

    def mean_numbers(self) -> Array:
        """For every sequence the first one with the same mean, (N,)."""
        means, exact = enclosed_means(self.points, self.starts), self.exact
        return FilteredCloud(
            means, lambda some: exact.means(np.array(some)).vectors()
        ).first_equal()

    def shifted(self, shift: Vector) -> Enclosed:
        """The state after a translation."""
        exact = self.exact.shifted(shift)
        return Enclosed(_enclosed(exact), self.token, exact)

    def pulled(self, pull: Pull, numbers: Array) -> Enclosed | None:
        """The state after a pull; None where that merges two different tokens by chance.

        ``numbers`` (N,) are equal where the y_j are.
        """
        pairs = self.token * (int(numbers.max()) + 1) + numbers[self.owner]
        _, first, place = np.unique(pairs, return_index=True, return_inverse=True)
        points, exact = self._pulled_points(pull), self.exact.then(pull)
        if not _differ(points, exact, first):
            return None
        return Enclosed(points, by_appearance(first)[place], exact)

    def fed_forward(self, u: Vector, b: Fraction, w: Vector) -> Enclosed | None:
        """The state after the feed-forward layer z ↦ z + w·max(0, ⟨u,z⟩ + b) (2.3); None where
        that merges two different tokens."""
        points, exact = self._fed_points(u, b, w), self.exact.fed_forward(u, b, w)
        _, first = np.unique(self.token, return_index=True)
        return Enclosed(points, self.token, exact) if _differ(points, exact, first) else None

    def worked_out(self) -> Enclosed:
        """The same state, with all tokens at hand and their nearest floats."""
        exact = Pulled.of_tokens(self.exact.batch())
        return Enclosed(_enclosed(exact), self.token, exact)

    def _pulled_points(self, pull: Pull) -> FilteredPoints:
        X, own, scale = self.points.values, self.points.error, self.points.scale
        if pull.leaders is None:
            means = enclosed_means(self.points, self.starts)
            unit = float(means.scale)
            Y, room = means.values * unit, means.error * unit
        else:
            Y, room = X[pull.leaders], own[pull.leaders]
        alpha = float(pull.alpha)
        shift = np.array([float(t / scale) for t in pull.shift])
        sizes = self.points.sizes + (np.abs(Y).max(axis=1) + np.abs(shift).max())[self.owner]
        # one rounding each for z, y_j, s, α, 1 − α, the product, and two sums
        room = error(8, sizes, (1 - alpha) * own + alpha * room[self.owner])
        X = (1 - alpha) * X
        X += (alpha * Y + shift)[self.owner]
        return FilteredPoints.of_floats(X, room, scale)

    def _fed_points(self, u: Vector, b: Fraction, w: Vector) -> FilteredPoints:
        X, own, scale = self.points.values, self.points.error, self.points.scale
        value, room = self._products(u)
        offset, direction = float(b / scale), np.array([float(t) for t in w])
        value += offset
        # a rounding of b and one of the sum; max(0, ·) enlarges no error, whatever the sign is
        room = error(2, np.abs(value) + abs(offset), room)
        value = np.maximum(value, 0)
        most = float(np.abs(direction).max())
        # one rounding each for z, w, the product and the sum
        room = error(4, self.points.sizes + most * value, own + most * room)
        return FilteredPoints.of_floats(X + np.outer(value, direction), room, scale)


def _differ(points: FilteredPoints, exact: Pulled, rows: Array) -> bool:
    """Whether some tokens are all different."""
    cloud = FilteredCloud(points.select(rows), lambda some: exact.tokens(rows[some]).vectors())
    return bool((cloud.first_equal() == np.arange(len(rows))).all())


def _enclosed(exact: Pulled) -> FilteredPoints:
    rows = exact.tokens(np.arange(exact.starts[-1]))
    return FilteredPoints.of_ratios(list(rows.ratios()), rows.dimension)
