"""Tokens of all sequences while they are pulled: floats with proven bounds, exact where asked.

After a pull two tokens are equal exactly if they were equal and are pulled to the same point, or
if they meet by chance. Floats exclude most of the chances; exact numbers decide where floats leave
a comparison open (theory C1).
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from ...enclosure.enclosed import Enclosed
from ...enclosure.means import enclosed_means
from ...enclosure.rounding import LEAST, MOST
from ...enclosure.shadow import ratio
from ...exact.array import Array, ExactArray, ranges
from ...exact.numbers import Vector
from ...exact.rows import row_of
from ...model.tokens import Tokens
from ..shared.filtered_cloud import FilteredCloud
from ..shared.sharing import by_appearance, numbered, token_numbers
from .pulls import DEEP, Pull, Pulled


class TokenState:
    """T tokens of N sequences; sequence j is the run of rows from ``starts[j]``.

    ``points`` encloses the tokens, ``exact`` has them exactly. ``token`` (T,) numbers the
    different ones by first appearance, ``owner`` (T,) gives the sequence of each.

    >>> tokens = ExactArray(np.array([[0.0], [1.0], [0.0]]))
    >>> state = TokenState.of_array(tokens, np.array([0, 2, 3]), np.arange(2))
    >>> state.token, state.leaders((Fraction(1),)), state.mean_numbers()
    (array([0, 1, 0]), array([1, 2]), array([0, 1]))
    """

    def __init__(self, points: Enclosed, token: Array, exact: Pulled) -> None:
        self.points, self.token, self.exact = points, token, exact
        self.starts = exact.starts
        self.owner = np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))

    @classmethod
    def of_array(
        cls, tokens: ExactArray, offsets: Array, chosen: Array, deep: int = DEEP
    ) -> TokenState:
        """Some of the packed sequences ``tokens[offsets[j]:offsets[j+1]]``.

        ``deep`` as in `Pulled`.
        """
        exact = Pulled.of_array(tokens, offsets, chosen, deep)
        rows = ranges(offsets[chosen], np.diff(offsets)[chosen])
        X = tokens.values[rows]
        if LEAST < float(np.abs(X).max()) < MOST:
            points = Enclosed.of_floats(X, np.zeros(len(X)), Fraction(1))
        else:
            points = _enclosed(exact)
        return cls(points, token_numbers(tokens, rows), exact)

    @classmethod
    def of_tokens(cls, batch: Tokens, deep: int = DEEP) -> TokenState:
        """All sequences of a batch, as it is now; ``deep`` as in `Pulled`."""
        exact = Pulled.of_tokens(batch.copy(), deep)
        return cls(_enclosed(exact), numbered(batch.token_keys()), exact)

    @property
    def dimension(self) -> int:
        """Dimension d of the tokens."""
        return self.points.dimension

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
        near = self._once(self.points.near(place))
        return row_of(z) in self.exact.tokens(near).reduced().rows

    def _once(self, rows: Array) -> Array:
        """Some rows; of rows whose tokens are equal only the first."""
        return rows[np.sort(np.unique(self.token[rows], return_index=True)[1])]

    def mean_numbers(self) -> Array:
        """For every sequence the first one with the same mean, (N,)."""
        means, exact = enclosed_means(self.points, self.starts), self.exact
        return FilteredCloud(
            means, lambda some: exact.means(np.array(some)).vectors()
        ).first_equal()

    def shifted(self, shift: Vector) -> TokenState:
        """The state after a translation."""
        exact = self.exact.shifted(shift)
        return TokenState(_enclosed(exact), self.token, exact)

    def pulled(self, pull: Pull, numbers: Array) -> TokenState | None:
        """The state after a pull; None where that merges two different tokens by chance.

        ``numbers`` (N,) are equal where sequences are pulled to the same point y_j.
        """
        pairs = self.token * (int(numbers.max()) + 1) + numbers[self.owner]
        _, first, place = np.unique(pairs, return_index=True, return_inverse=True)
        points, exact = self._pulled_points(pull), self.exact.then(pull)
        if not _differ(points, exact, first):
            return None
        return TokenState(points, by_appearance(first)[place], exact)

    def fed_forward(self, u: Vector, b: Fraction, w: Vector) -> TokenState | None:
        """The state after the feed-forward layer z ↦ z + w·max(0, ⟨u,z⟩ + b) (2.3); None where
        that merges two different tokens."""
        offset, direction = float(b / self.points.scale), np.array([float(t) for t in w])
        points = self.points.fed_forward(*self._products(u), offset, direction)
        exact = self.exact.fed_forward(u, b, w)
        _, first = np.unique(self.token, return_index=True)
        return TokenState(points, self.token, exact) if _differ(points, exact, first) else None

    def worked_out(self) -> TokenState:
        """The same state, with all tokens at hand and their nearest floats."""
        exact = Pulled.of_tokens(self.exact.batch())
        return TokenState(_enclosed(exact), self.token, exact)

    def _pulled_points(self, pull: Pull) -> Enclosed:
        points, leaders = self.points, pull.leaders
        if leaders is None:
            means = enclosed_means(points, self.starts)
            unit = float(means.scale)
            aims, room = means.values * unit, means.radius * unit
        else:
            aims, room = points.values[leaders], points.radius[leaders]
        shift = np.array([float(t / points.scale) for t in pull.shift])
        return points.pulled(float(pull.alpha), aims, room, self.owner, shift)


def _differ(points: Enclosed, exact: Pulled, rows: Array) -> bool:
    """Whether the tokens in these rows are pairwise different."""
    cloud = FilteredCloud(points.select(rows), lambda some: exact.tokens(rows[some]).vectors())
    return bool((cloud.first_equal() == np.arange(len(rows))).all())


def _enclosed(exact: Pulled) -> Enclosed:
    rows = exact.tokens(np.arange(exact.starts[-1]))
    return Enclosed.of_ratios(list(rows.ratios()), rows.dimension)
