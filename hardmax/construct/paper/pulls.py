"""Exact tokens and means of sequences under a series of pulls, computed only for those asked for.

A pull is the attention of the separation stage: every token z of sequence j goes to (1 − α)(z + s)
+ α(y_j + s), where y_j is its leader or its mean. The means follow the same formula, so the result
of each token depends only on its own start and that of the y_j (theory C2).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from ...exact.array import Array, ExactArray, ranges
from ...exact.matrix import IntegerRows
from ...exact.means import exact_means
from ...exact.numbers import Vector
from ...exact.points import IntegerPoints
from ...model.tokens import Tokens

_DEEP = 8  # pulls after which all tokens are worked out


@dataclass(frozen=True)
class Pull:
    """One pull: towards the tokens ``leaders`` (N,), by their rows, or else the means."""

    shift: Vector
    alpha: Fraction
    leaders: Array | None


@dataclass(frozen=True)
class Pulled:
    """Tokens by their rows, means by their sequences: a start, and the pulls since then.

    Sequence j is the run of rows from ``starts[j]``.

    >>> tokens = ExactArray(np.array([[0.0], [1.0]]))
    >>> start = Pulled.of_array(tokens, np.array([0, 2]), np.arange(1))
    >>> pull = Pull((Fraction(1),), Fraction(1, 2), np.array([1]))
    >>> start.then(pull).tokens(np.arange(2)).vectors()
    [(Fraction(3, 2),), (Fraction(2, 1),)]
    """

    starts: Array
    first_tokens: Callable[[Array], IntegerPoints]
    first_means: Callable[[Array], IntegerPoints]
    pulls: tuple[Pull, ...] = ()

    @classmethod
    def of_array(cls, tokens: ExactArray, offsets: Array, chosen: Array) -> Pulled:
        """Some of the packed sequences ``tokens[offsets[j]:offsets[j+1]]``."""
        lengths = np.diff(offsets)[chosen]
        rows = ranges(offsets[chosen], lengths)
        return cls(
            np.concatenate([[0], np.cumsum(lengths)]),
            lambda some: IntegerPoints(tokens.take(rows[some]).integer_rows()),
            lambda some: exact_means(tokens, offsets, chosen[some]),
        )

    @classmethod
    def of_tokens(cls, batch: Tokens) -> Pulled:
        """All sequences of a batch, which must not change afterwards."""
        rows = IntegerPoints([list(key) for key in batch.token_keys()])
        return cls(
            np.array(batch.starts),
            rows.select,
            lambda some: IntegerPoints(batch.mean_rows(some.tolist())),
        )

    def tokens(self, rows: Array) -> IntegerPoints:
        """Some tokens."""
        owners = np.searchsorted(self.starts, rows, side="right") - 1
        sequences, place = np.unique(owners, return_inverse=True)
        return self._followed(self.first_tokens(rows), sequences, place)

    def means(self, sequences: Array) -> IntegerPoints:
        """Means of some sequences."""
        return self._followed(self.first_means(sequences), sequences, np.arange(len(sequences)))

    def _followed(self, x: IntegerPoints, sequences: Array, place: Array) -> IntegerPoints:
        """Where the pulls take points x_i of the sequences ``sequences[place[i]]``."""
        aims = [
            self.first_means(sequences)
            if pull.leaders is None
            else self.first_tokens(pull.leaders[sequences])
            for pull in self.pulls
        ]
        one = Fraction(1)
        for pull in self.pulls:
            focus, *aims = (y.affine(one, pull.shift) for y in aims)
            x = x.affine(one, pull.shift).toward(focus.select(place), pull.alpha)
            aims = [y.toward(focus, pull.alpha) for y in aims]
        return x

    def batch(self) -> Tokens:
        """All tokens."""
        rows = self.tokens(np.arange(self.starts[-1])).reduced().rows
        return Tokens(IntegerRows(rows), self.starts.tolist())

    def then(self, pull: Pull) -> Pulled:
        """After one more pull."""
        start = self if len(self.pulls) < _DEEP else Pulled.of_tokens(self.batch())
        return Pulled(start.starts, start.first_tokens, start.first_means, (*start.pulls, pull))

    def shifted(self, shift: Vector) -> Pulled:
        """After a translation."""
        one = Fraction(1)
        return Pulled(
            self.starts,
            lambda rows: self.tokens(rows).affine(one, shift),
            lambda sequences: self.means(sequences).affine(one, shift),
        )
