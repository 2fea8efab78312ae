"""Tie splitting: differently labelled sequences get different means (Theorem B, step B1).

Source: docs/theory.md. Every block raises the number of distinct means, so at most
N − (number of distinct means) blocks are needed; none where the means differ already.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from fractions import Fraction
from itertools import islice
from random import Random

from ..model.layers import RankOneBlock
from ..model.tokens import Tokens
from ..numbers import Vector, dot, short_between
from .draw import directions
from .means import split_means

_DRAWS = 6  # feed-forward layers among which the one that splits most is kept
_HALVINGS = 4  # shorter w tried for a random layer before it is given up


def split_ties(batch: Tokens, labels: Sequence[str], seed: int = 0) -> list[RankOneBlock]:
    """Feed-forward blocks, applied in place, after which equal means have equal labels.

    Sequences of different labels must have different empirical measures. Each layer is
    injective on the finite set of current tokens, checked by hashing their exact values, so
    measures that differ stay different.

    >>> plus = [(Fraction(a), Fraction(b)) for a, b in [(0, 1), (0, -1), (1, 0), (-1, 0)]]
    >>> batch = Tokens.from_sequences([plus, plus[:2]])
    >>> len(split_ties(batch, ["a", "b"])), len(set(batch.mean_keys()))
    (1, 2)
    """
    rng = Random(seed)
    blocks: list[RankOneBlock] = []
    means: list[Hashable] = list(batch.mean_keys())
    while tied := _tied(means, labels):
        block, batch_after = _best(batch, means, labels, tied, rng)
        batch.become(batch_after)
        means = list(batch.mean_keys())
        blocks.append(block)
    return blocks


def _tied(means: Sequence[Hashable], labels: Sequence[str]) -> list[tuple[int, int]]:
    """Pairs of sequences with equal means and different labels; empty where there is none."""
    first: dict[Hashable, int] = {}
    return [
        (first[mean], j)
        for j, mean in enumerate(means)
        if labels[first.setdefault(mean, j)] != labels[j]
    ]


def _best(
    batch: Tokens,
    means: Sequence[Hashable],
    labels: Sequence[str],
    tied: list[tuple[int, int]],
    rng: Random,
) -> tuple[RankOneBlock, Tokens]:
    """Among random layers, and one that provably splits a tied pair, the best.

    Best has the fewest tied pairs left, then the most distinct means.
    """
    images, distinct = len(set(batch.token_keys())), len(set(means))
    best: tuple[tuple[int, int], RankOneBlock, Tokens] | None = None
    for u, b in islice(_random_layers(batch, rng), _DRAWS):
        found = _halved(batch, u, b, images, distinct, rng, _HALVINGS)
        if found is not None:
            best = _better(best, *found, labels)
            if best[0][0] == 0:
                return best[1:]
    first, second = rng.choice(tied)
    split = split_means(batch.sequence(first), batch.sequence(second), rng)
    found = _halved(batch, split.u, split.b, images, distinct, rng, None)
    if found is None:
        raise AssertionError("unreachable: all but finitely many w serve")
    return _better(best, *found, labels)[1:]


def _better(
    best: tuple[tuple[int, int], RankOneBlock, Tokens] | None,
    block: RankOneBlock,
    after: Tokens,
    labels: Sequence[str],
) -> tuple[tuple[int, int], RankOneBlock, Tokens]:
    means = list(after.mean_keys())
    score = len(_tied(means, labels)), -len(set(means))
    return (score, block, after) if best is None or score < best[0] else best


def _random_layers(batch: Tokens, rng: Random) -> Iterator[tuple[Vector, Fraction]]:
    """Random (u, threshold): about half of the distinct token values are active."""
    for u in directions(rng, batch.dimension):
        values = sorted(set(batch.projections(u)))
        if len(values) > 1:
            k = rng.randint(len(values) // 4, max(len(values) // 4, 3 * len(values) // 4 - 1))
            k = min(k, len(values) - 2)
            yield u, -short_between(values[k], values[k + 1])
        else:
            yield u, 1 - dot(u, batch.token(0))


def _halved(
    batch: Tokens,
    u: Vector,
    b: Fraction,
    images: int,
    distinct: int,
    rng: Random,
    attempts: int | None,
) -> tuple[RankOneBlock, Tokens] | None:
    """The layer with w = w₀, w₀/2, w₀/4, …: the first that merges no two of the ``images``
    tokens and leaves more than ``distinct`` means."""
    w = next(directions(rng, batch.dimension))
    while attempts is None or attempts > 0:
        after = batch.copy()
        after.feed_forward(u, b, w)
        if len(set(after.mean_keys())) > distinct and len(set(after.token_keys())) == images:
            return RankOneBlock.of(batch.dimension, u=u, b=b, w=w), after
        w = tuple(x / 2 for x in w)
        attempts = None if attempts is None else attempts - 1
    return None
