"""Tie splitting: differently labelled sequences get different means (Theorem B, step B1).

Source: docs/theory.md. Every block raises the number of distinct means, so at most
N − (number of distinct means) blocks are needed; none where the means differ already.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from fractions import Fraction
from itertools import islice
from random import Random

import numpy as np

from ...exact.array import Array, ExactArray, ranges
from ...exact.matrix import IntegerRows
from ...exact.means import mean_keys, means_of_points
from ...exact.numbers import Vector, short_between
from ...exact.points import IntegerPoints
from ...model.layers import RankOneBlock
from ...model.tokens import Tokens
from ...stages import tell
from .directions import directions
from .sharing import numbered, token_numbers
from .split_means import split_means

_Choice = tuple[tuple[int, int], RankOneBlock, "Measures"]

_DRAWS = 6  # feed-forward layers among which the one that splits most is kept
_HALVINGS = 4  # lengths of w that are tried for a random layer before it is given up


def split_ties(
    batch: Tokens, labels: Sequence[str], seed: int = 0, heads: Sequence[Vector] = ()
) -> list[RankOneBlock]:
    """Feed-forward blocks, applied in place, after which equal means have equal labels.

    With ``heads``, directions in each of which every sequence has one leader, only sequences with
    equal means *and* equal leaders count as tied; each keeps having one leader (Theorem 9c).

    Sequences of different labels must have different empirical measures. Each layer is
    injective on the finite set of current tokens, checked by hashing their exact values, so
    measures that differ stay different.

    >>> plus = [(Fraction(a), Fraction(b)) for a, b in [(0, 1), (0, -1), (1, 0), (-1, 0)]]
    >>> batch = Tokens.from_sequences([plus, plus[:2]])
    >>> len(split_ties(batch, ["a", "b"])), len(set(batch.mean_keys()))
    (1, 2)
    """
    blocks, state = split_measures(Measures.of_tokens(batch, heads), labels, seed)
    if blocks:
        batch.become(Tokens(IntegerRows(state.points.select(state.token).rows), batch.starts))
    return blocks


def split_measures(
    state: Measures, labels: Sequence[str], seed: int = 0
) -> tuple[list[RankOneBlock], Measures]:
    """The blocks of `split_ties`, and the sequences behind them."""
    rng = Random(seed)
    blocks: list[RankOneBlock] = []
    while tied := _tied(state.keys, labels):
        tell("split ties")
        block, state = _best(state, labels, tied, rng)
        blocks.append(block)
    return blocks, state


class Measures:
    """Sequences of tokens that are kept by number: ``points`` holds each different one once.

    ``token`` (T,) gives the number of each token; sequence j is the run from ``starts[j]``. Two
    sequences have equal means, and equal leaders for all ``heads``, where their ``keys`` are equal;
    ``led`` says whether each sequence has one leader for each head.

    >>> tokens = ExactArray(np.array([[1.0], [2.0], [1.0]]))
    >>> state = Measures.of_array(tokens, np.array([0, 2, 3]), np.arange(2))
    >>> len(state.points), state.token, state.means().vectors()
    (2, array([0, 1, 0]), [(Fraction(3, 2),), (Fraction(1, 1),)])
    """

    def __init__(
        self, points: IntegerPoints, token: Array, starts: Array, heads: Sequence[Vector] = ()
    ) -> None:
        self.points, self.token, self.starts, self.heads = points, token, starts, heads
        self.keys: Sequence[Hashable] = mean_keys(points, token, starts)
        leaders = [found for v in heads if (found := self._leaders(v)) is not None]
        self.led = len(leaders) == len(heads)
        if leaders:
            self.keys = list(zip(self.keys, *leaders, strict=True))
        self.distinct = len(set(self.keys))

    @classmethod
    def of_tokens(cls, batch: Tokens, heads: Sequence[Vector] = ()) -> Measures:
        """All sequences of a batch."""
        keys = batch.token_keys()
        points = IntegerPoints([list(key) for key in dict.fromkeys(keys)])
        return cls(points, numbered(keys), np.array(batch.starts), heads)

    @classmethod
    def of_array(cls, tokens: ExactArray, offsets: Array, chosen: Array) -> Measures:
        """Some of the packed sequences ``tokens[offsets[j]:offsets[j+1]]``."""
        lengths = np.diff(offsets)[chosen]
        rows = ranges(offsets[chosen], lengths)
        token = token_numbers(tokens, rows)
        _, first = np.unique(token, return_index=True)
        points = IntegerPoints(tokens.take(rows[first]).integer_rows())
        return cls(points, token, np.concatenate([[0], np.cumsum(lengths)]))

    def _leaders(self, v: Vector) -> list[int] | None:
        """The number of the token that leads each sequence; None where two different ones do."""
        values = self.points.values(v)
        rank = {value: k for k, value in enumerate(sorted(set(values)))}
        height, first = np.array([rank[x] for x in values])[self.token], self.starts[:-1]
        top = np.repeat(np.maximum.reduceat(height, first), np.diff(self.starts))
        low = np.minimum.reduceat(np.where(height == top, self.token, len(values)), first)
        high = np.maximum.reduceat(np.where(height == top, self.token, -1), first)
        return low.tolist() if (low == high).all() else None

    def means(self) -> IntegerPoints:
        """Means of all sequences, in lowest terms."""
        return means_of_points(self.points, self.token, self.starts)

    @property
    def dimension(self) -> int:
        return self.points.dimension

    def sequence(self, j: int) -> list[Vector]:
        """Tokens of sequence j."""
        return self.points.select(self.token[self.starts[j] : self.starts[j + 1]]).vectors()

    def after(self, u: Vector, b: Fraction, w: Vector) -> Measures | None:
        """The state after a layer; None where it merges two tokens, or leaves two leaders."""
        points = self.points.fed_forward(u, b, w)
        if len(set(map(tuple, points.rows))) < len(points):
            return None
        after = Measures(points, self.token, self.starts, self.heads)
        return after if after.led else None


def _tied(means: Sequence[Hashable], labels: Sequence[str]) -> list[tuple[int, int]]:
    """Pairs of sequences with equal means and different labels; empty where there is none."""
    first: dict[Hashable, int] = {}
    return [
        (first[mean], j)
        for j, mean in enumerate(means)
        if labels[first.setdefault(mean, j)] != labels[j]
    ]


def _best(
    state: Measures, labels: Sequence[str], tied: list[tuple[int, int]], rng: Random
) -> tuple[RankOneBlock, Measures]:
    """Among random layers, and one that provably splits a tied pair, the best.

    Best has the fewest tied pairs left, then the most distinct means.
    """
    best: _Choice | None = None
    for u, b in islice(_random_layers(state, rng), _DRAWS):
        found = _halved(state, u, b, rng, _HALVINGS)
        if found is not None:
            best = _better(best, *found, labels)
            if best[0][0] == 0:
                return best[1:]
    first, second = rng.choice(tied)
    split = split_means(state.sequence(first), state.sequence(second), rng)
    found = _halved(state, split.u, split.b, rng, None)
    if found is None:
        raise AssertionError("unreachable: all but finitely many w serve")
    return _better(best, *found, labels)[1:]


def _better(
    best: _Choice | None, block: RankOneBlock, after: Measures, labels: Sequence[str]
) -> _Choice:
    score = len(_tied(after.keys, labels)), -after.distinct
    return (score, block, after) if best is None or score < best[0] else best


def _random_layers(state: Measures, rng: Random) -> Iterator[tuple[Vector, Fraction]]:
    """Random (u, threshold): about half of the distinct token values are active."""
    for u in directions(rng, state.dimension):
        values = sorted(set(state.points.values(u)))
        if len(values) > 1:
            k = rng.randint(len(values) // 4, max(len(values) // 4, 3 * len(values) // 4 - 1))
            k = min(k, len(values) - 2)
            yield u, -short_between(values[k], values[k + 1])
        else:
            yield u, 1 - values[0]


def _halved(
    state: Measures, u: Vector, b: Fraction, rng: Random, attempts: int | None
) -> tuple[RankOneBlock, Measures] | None:
    """The layer with the first of w = w₀, w₀/2, w₀/4, … that merges no two tokens.

    It must also leave more distinct means than there are now.
    """
    w = next(directions(rng, state.dimension))
    while attempts is None or attempts > 0:
        after = state.after(u, b, w)
        if after is not None and after.distinct > state.distinct:
            return RankOneBlock.of(state.dimension, u=u, b=b, w=w), after
        w = tuple(x / 2 for x in w)
        attempts = None if attempts is None else attempts - 1
    return None
