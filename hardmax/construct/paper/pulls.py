"""Exact tokens and means of sequences under a series of steps, computed only for those asked for.

A pull is the attention of the separation stage: every token z of sequence j goes to (1 − α)z + αy_j
+ s, where y_j is its leader or its mean. A series of pulls is therefore one affine map for each
sequence, z ↦ c·z + f_j, with one c for all (theory C2): a token costs the same behind one pull and
behind many. The means follow the same formula. A feed-forward layer begins a new series.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from ...exact.array import Array, ExactArray, ranges
from ...exact.matrix import IntegerRows
from ...exact.means import exact_means, means_of_points
from ...exact.numbers import Vector
from ...exact.points import IntegerPoints
from ...exact.rows import Row, row_of
from ...model.tokens import Tokens

DEEP = 8  # pulls after which the f_j of all sequences are worked out

Some = Callable[[Array], IntegerPoints]  # points of some rows, or of some sequences


@dataclass(frozen=True)
class Pull:
    """One pull: towards the tokens ``leaders`` (N,), by their rows, or else the means."""

    shift: Vector
    alpha: Fraction
    leaders: Array | None


@dataclass(frozen=True)
class Pulled:
    """Tokens by their rows, means by their sequences: a start, and the pulls since then.

    Sequence j is the run of rows from ``starts[j]``; its tokens are ``factor`` times the first
    ones plus ``moves``, f_j, which is None in front of the first pull. ``pulls`` counts those whose
    f_j are found one from the other: after ``deep`` of them all f_j are worked out. ``layers``
    counts the layers in front of the first tokens.

    >>> tokens = ExactArray(np.array([[0.0], [1.0]]))
    >>> start = Pulled.of_array(tokens, np.array([0, 2]), np.arange(1))
    >>> pull = Pull((Fraction(1),), Fraction(1, 2), np.array([1]))
    >>> start.then(pull).tokens(np.arange(2)).vectors()
    [(Fraction(3, 2),), (Fraction(2, 1),)]
    """

    starts: Array
    first_tokens: Some
    first_means: Some
    factor: Fraction = Fraction(1)
    moves: Some | None = None
    pulls: int = 0
    layers: int = 0
    deep: int = DEEP

    @classmethod
    def of_array(
        cls, tokens: ExactArray, offsets: Array, chosen: Array, deep: int = DEEP
    ) -> Pulled:
        """Some of the packed sequences ``tokens[offsets[j]:offsets[j+1]]``."""
        lengths = np.diff(offsets)[chosen]
        rows = ranges(offsets[chosen], lengths)
        return cls(
            np.concatenate([[0], np.cumsum(lengths)]),
            lambda some: IntegerPoints(tokens.take(rows[some]).integer_rows()),
            lambda some: exact_means(tokens, offsets, chosen[some]),
            deep=deep,
        )

    @classmethod
    def of_tokens(cls, batch: Tokens, deep: int = DEEP) -> Pulled:
        """All sequences of a batch, which must not change afterwards."""
        rows = IntegerPoints([list(key) for key in batch.token_keys()])
        return cls(
            np.array(batch.starts),
            rows.select,
            lambda some: IntegerPoints(batch.mean_rows(some.tolist())),
            deep=deep,
        )

    def tokens(self, rows: Array) -> IntegerPoints:
        """Some tokens."""
        return self._moved(self.first_tokens(rows), self._owners(rows))

    def values(self, rows: Array, u: Vector) -> list[Fraction]:
        """⟨u,z⟩ for some tokens."""
        return [Fraction(p, q) for p, q in self._heights(rows, u).rows]

    def means(self, sequences: Array) -> IntegerPoints:
        """Means of some sequences."""
        return self._moved(self.first_means(sequences), sequences)

    def sequence(self, j: int) -> list[Vector]:
        """The tokens of one sequence."""
        return self.tokens(np.arange(self.starts[j], self.starts[j + 1])).vectors()

    def batch(self) -> Tokens:
        """All tokens."""
        rows = self.tokens(np.arange(self.starts[-1])).reduced().rows
        return Tokens(IntegerRows(rows), self.starts.tolist())

    def then(self, pull: Pull) -> Pulled:
        """After one more pull."""
        start = self
        if self.moves is not None and self.pulls == self.deep:
            known = self.moves(np.arange(len(self.starts) - 1)).reduced()
            start = replace(self, moves=known.select, pulls=0)
        keep = 1 - pull.alpha

        def moves(some: Array) -> IntegerPoints:
            aims = start.means(some) if pull.leaders is None else start.tokens(pull.leaders[some])
            aims = aims.affine(pull.alpha, pull.shift)
            one = Fraction(1)
            return aims if start.moves is None else aims.combined(one, start.moves(some), keep)

        return replace(
            start,
            factor=keep * start.factor,
            moves=_Remembered(moves),
            pulls=start.pulls + 1,
        )

    def shifted(self, shift: Vector) -> Pulled:
        """After a translation."""
        one = Fraction(1)
        return Pulled(
            self.starts,
            lambda rows: self.tokens(rows).affine(one, shift),
            lambda sequences: self.means(sequences).affine(one, shift),
            deep=self.deep,
        )

    def fed_forward(self, u: Vector, b: Fraction, w: Vector) -> Pulled:
        """After the feed-forward layer z ↦ z + w·max(0, ⟨u,z⟩ + b) (2.3)."""
        *direction, step = row_of(w)
        up, down = b.as_integer_ratio()
        one = Fraction(1)

        def means(some: Array) -> IntegerPoints:
            # the mean moves by w times the mean of max(0, ⟨u,z⟩ + b)
            counts = np.diff(self.starts)[some]
            heights = self._heights(ranges(self.starts[some], counts), u).rows
            rises = IntegerPoints([[max(down * p + up * q, 0), down * q] for p, q in heights])
            bounds = np.concatenate([[0], np.cumsum(counts)])
            found = means_of_points(rises, np.arange(len(rises)), bounds).rows
            moves = IntegerPoints([[*(p * x for x in direction), q * step] for p, q in found])
            return self.means(some).combined(one, moves, one)

        return Pulled(
            self.starts,
            lambda rows: self.tokens(rows).fed_forward(u, b, w),
            means,
            layers=self.layers + 1,
            deep=self.deep,
        )

    def _moved(self, points: IntegerPoints, sequences: Array) -> IntegerPoints:
        """Where the pulls take points of sequences."""
        if self.moves is None:
            return points
        some, place = np.unique(sequences, return_inverse=True)
        return points.combined(self.factor, self.moves(some).select(place), Fraction(1))

    def _heights(self, rows: Array, u: Vector) -> IntegerPoints:
        """⟨u,z⟩ for some tokens, as points of a line."""
        heights = self.first_tokens(rows).heights(u)
        if self.moves is None:
            return heights
        some, place = np.unique(self._owners(rows), return_inverse=True)
        moves = self.moves(some).heights(u).select(place)
        return heights.combined(self.factor, moves, Fraction(1))

    def _owners(self, rows: Array) -> Array:
        return np.asarray(np.searchsorted(self.starts, rows, side="right") - 1)


class _Remembered:
    """A function of sequences whose values are kept."""

    def __init__(self, function: Some) -> None:
        self.function = function
        self.known: dict[int, Row] = {}

    def __call__(self, some: Array) -> IntegerPoints:
        wanted = some.tolist()
        new = [j for j in wanted if j not in self.known]
        if new:
            rows = self.function(np.array(new)).rows
            self.known.update(zip(new, rows, strict=True))
        return IntegerPoints([self.known[j] for j in wanted])
