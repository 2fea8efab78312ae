"""Many sequences of exact tokens, and the rank-1 layers on all of them at once.

A token z is kept as one integer row (Z, q) with q > 0 and z = Z/q. A sequence is a run of
rows. With A = v vᵀ the maximisers of ⟨v,z_i⟩⟨v,z_l⟩ depend only on the sign of ⟨v,z_i⟩, so
one self-attention layer costs O(n d) per sequence (theory, notation; C2, C5).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction

import numpy as np

from ..enclosure.shadow import Shadow
from ..exact.array import ExactArray, ranges
from ..exact.matrix import IntegerRows, clear_denominators, primitive
from ..exact.numbers import Vector
from ..float_mode import check_float_mode
from .attended import Row, added, attended, mean_row, top_rows
from .masked import attended_masked


def _row(token: Sequence[Fraction]) -> Row:
    numerators, denominator = clear_denominators(token)
    return [*numerators, denominator]


def _vector(row: Sequence[int]) -> Vector:
    denominator = int(row[-1])
    return tuple(Fraction(int(x), denominator) for x in row[:-1])


class Tokens:
    """Ragged batch of exact sequences; ``starts`` (N+1,) marks where each begins.

    >>> batch = Tokens.from_sequences([[(Fraction(1),), (Fraction(2),)], [(Fraction(1, 2),)]])
    >>> batch.attend(Fraction(0), Fraction(1), (Fraction(1),))
    >>> batch.sequence(0)     # both tokens went to the leader, so one token stands for them
    ((Fraction(2, 1),),)
    """

    def __init__(self, rows: IntegerRows, starts: list[int]) -> None:
        check_float_mode()
        self._rows = rows
        self._shadow: Shadow | None = None  # made when a sign is first asked for
        self.starts = starts

    @classmethod
    def from_sequences(cls, sequences: Iterable[Iterable[Sequence[Fraction]]]) -> Tokens:
        """Take sequences of tokens of one dimension d."""
        rows: list[Row] = []
        starts = [0]
        for sequence in sequences:
            rows.extend(_row(token) for token in sequence)
            starts.append(len(rows))
        return cls(IntegerRows(rows), starts)

    @classmethod
    def from_array(cls, tokens: ExactArray, offsets: np.ndarray) -> Tokens:
        """Take packed tokens (T, d): sequence j is ``tokens[offsets[j]:offsets[j+1]]``."""
        return cls(IntegerRows(tokens.integer_rows()), offsets.tolist())

    @classmethod
    def of_sequences(cls, tokens: ExactArray, offsets: np.ndarray, chosen: np.ndarray) -> Tokens:
        """Some of the packed sequences, in the given order.

        >>> tokens = ExactArray(np.array([[1.0], [2.0], [3.0]]))
        >>> Tokens.of_sequences(tokens, np.array([0, 1, 3]), np.array([1])).means()
        [(Fraction(5, 2),)]
        """
        lengths = np.diff(offsets)[chosen]
        rows = ranges(offsets[:-1][chosen], lengths)
        return cls.from_array(tokens.take(rows), np.concatenate([[0], np.cumsum(lengths)]))

    def copy(self) -> Tokens:
        """A batch that can change while this one stays."""
        return Tokens(self._rows.copy(), list(self.starts))

    def become(self, other: Tokens) -> None:
        """Take over the state of another batch, which must not change afterwards."""
        self._rows, self._shadow, self.starts = other._rows, other._shadow, other.starts

    def __len__(self) -> int:
        return len(self.starts) - 1

    @property
    def dimension(self) -> int:
        """Dimension d of the tokens."""
        return self._rows.width - 1

    def spans(self) -> Iterable[tuple[int, int]]:
        """First row and end of every sequence."""
        return zip(self.starts, self.starts[1:], strict=False)

    def token(self, index: int) -> Vector:
        """One token, by its row."""
        return _vector(self._rows.row(index))

    def sequence(self, j: int) -> tuple[Vector, ...]:
        """Tokens of sequence j; a collapsed sequence shows one token."""
        return tuple(self.token(i) for i in range(self.starts[j], self.starts[j + 1]))

    def floats(self) -> np.ndarray:
        """Nearest float64 of every token, (T, d); infinite past the range. Not to be changed."""
        return self._shadows().values

    def _shadows(self) -> Shadow:
        if self._shadow is None:
            self._shadow = Shadow(self._rows.table())
        return self._shadow

    def means(self) -> list[Vector]:
        """Readout (2.2) of every sequence."""
        return [_vector(row) for row in self.mean_rows()]

    def mean_rows(self, sequences: Iterable[int] | None = None) -> list[Row]:
        """Means of all or some sequences as integer rows (Z, q)."""
        table, starts = self._rows.table(), self.starts
        chosen = range(len(self)) if sequences is None else sequences
        means = (mean_row(table[starts[j] : starts[j + 1]]) for j in chosen)
        return [[int(x) for x in row] for row in means]

    def token_keys(self) -> list[tuple[int, ...]]:
        """A hashable key for every token; equal keys mean equal tokens."""
        return [tuple(int(x) for x in primitive(row)) for row in self._rows.table()]

    def mean_keys(self) -> list[tuple[int, ...]]:
        """A hashable key for the mean of every sequence."""
        return [tuple(primitive(row)) for row in self.mean_rows()]

    def projections(self, v: Sequence[Fraction]) -> list[Fraction]:
        """⟨v, z⟩ for every token."""
        values, scales = self.values(v)
        return [Fraction(int(p), int(q)) for p, q in zip(values, scales, strict=True)]

    def values(self, u: Sequence[Fraction]) -> tuple[list[int], list[int]]:
        """Numerators and positive denominators of ⟨u, z⟩ for every token."""
        weights, scale = clear_denominators(u)
        zeros = [0] * self.dimension
        return self._rows.dot([*weights, 0]), self._rows.dot([*zeros, scale])

    def value(self, index: int, u: Sequence[Fraction], b: Fraction) -> Fraction:
        """⟨u, z⟩ + b for one token, by its row."""
        weights, scale = clear_denominators([*u, b])
        p = self._rows.dot_row(index, weights)
        return Fraction(int(p), scale * int(self._rows.row(index)[-1]))

    def float_values(self, u: Sequence[Fraction], b: Fraction) -> tuple[np.ndarray, np.ndarray]:
        """⟨u, z⟩ + b in float64 for every token, and bounds on the errors (theory C1)."""
        return self._shadows().values_and_bounds(*clear_denominators([*u, b]))

    def rest_throughout(self, u: np.ndarray, b: np.ndarray) -> np.ndarray:
        """Which of K layers surely leave every token in place, (K,) of bool; ``u`` (K, d) and ``b``
        (K,) are their nearest floats."""
        return self._shadows().rest_throughout(u, b)

    def leaders(self, v: Sequence[Fraction]) -> list[int | None]:
        """For every sequence the row of its leader, the one token on which ⟨v,·⟩ is largest.

        None where two different tokens share the largest value; the first row where one
        token is repeated.
        """
        scores, scales = self.values(v)
        found: list[int | None] = []
        for a, b in self.spans():
            top = top_rows(scores[a:b], scales[a:b])
            first = self.token(a + top[0]) if len(top) > 1 else None
            alone = all(self.token(a + i) == first for i in top[1:])
            found.append(a + top[0] if alone else None)
        return found

    def feed_forward(self, u: Sequence[Fraction], b: Fraction, w: Sequence[Fraction]) -> None:
        """Apply z ↦ z + w·max(0, ⟨u,z⟩ + b) to every token (2.3), in place."""
        if not any(w):
            return
        weights, scale = clear_denominators([*u, b])
        direction, step = clear_denominators(w)
        moves = [(j, y) for j, y in enumerate(direction) if y]
        for index, value in self._active(weights, scale):
            self._move(index, value, moves, scale * step)

    def _active(self, weights: list[int], scale: int) -> list[tuple[int, int]]:
        """Rows with ⟨u,z⟩ + b > 0, and q·scale·(⟨u,z⟩ + b) for each of them."""
        if not any(weights[:-1]):
            values = self._rows.dot(weights) if weights[-1] > 0 else []
            return list(enumerate(values))
        open_rows = np.flatnonzero(self._shadows().signs(weights, scale) >= 0).tolist()
        if 4 * len(open_rows) > len(self._rows):
            candidates = list(enumerate(self._rows.dot(weights)))
        else:
            candidates = [(i, self._rows.dot_row(i, weights)) for i in open_rows]
        return [(i, value) for i, value in candidates if value > 0]

    def _move(self, index: int, value: int, moves: list[tuple[int, int]], factor: int) -> None:
        """Add value·w to one token, with w = moves/factor and value as `_active` gives it."""
        row = self._rows.row(index)
        if factor != 1:
            row = [factor * x for x in row]
        for j, y in moves:
            row[j] += value * y
        if factor != 1:
            row = primitive(row)
        self._rows.set_row(index, row)
        if self._shadow is not None:
            self._shadow.replace(index, row)

    def attend(
        self, rho: Fraction, alpha: Fraction, v: Sequence[Fraction], masked: bool = False
    ) -> None:
        """Apply hardmax self-attention (2.4) with V = αI, A = v vᵀ, residual ρ, in place.

        Where ρ = 0 and all tokens of a sequence have the same maximisers they become equal:
        one token is kept for the whole sequence (C5). ``masked`` attention (4.2) keeps all.
        """
        self.attend_heads(rho, ((alpha, v),), masked)

    def attend_heads(
        self,
        rho: Fraction,
        heads: Sequence[tuple[Fraction, Sequence[Fraction]]],
        masked: bool = False,
    ) -> None:
        """Apply attention (4.1) with heads (α_h, v_h), V^h = α_h I, A^h = v_h v_hᵀ, in place.

        >>> batch = Tokens.from_sequences([[(Fraction(1),), (Fraction(4),)]])
        >>> one = Fraction(1)
        >>> batch.attend_heads(Fraction(0), [(one, (0 * one,)), (one, (one,))])
        >>> batch.sequence(0)
        ((Fraction(13, 2),),)
        """
        if rho == 1 and not any(alpha for alpha, _ in heads):
            return
        heads = [head for head in heads if head[0]] or heads[:1]  # α = 0 adds nothing
        table = self._rows.table()
        scores = []
        for _, v in heads:
            weights, _ = clear_denominators(v)
            scores.append(self._rows.dot([*weights, 0]) if any(weights) else [0] * len(table))
        rows: list[Row] = []
        starts = [0]
        attend = attended_masked if masked else attended
        for a, b in self.spans():
            parts = [
                attend(table[a:b], own[a:b], Fraction(0) if h else rho, alpha)
                for h, ((alpha, _), own) in enumerate(zip(heads, scores, strict=True))
            ]
            rows.extend(parts[0] if len(parts) == 1 else added(parts))
            starts.append(len(rows))
        self._rows = IntegerRows(rows)
        self._shadow = None
        self.starts = starts
