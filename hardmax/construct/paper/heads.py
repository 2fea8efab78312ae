"""Separation and clustering with several heads: attention (4.1), Theorems 9b and 9c.

One block with a uniform head and leader heads sends a sequence to Σ_h α_h ℓ_h(Z), where ℓ_0 is its
mean and ℓ_h the token on which ⟨v_h,·⟩ is largest, if all ⟨v_h,z⟩ are positive. So sequences need
not be separated token by token, as one head needs it (Lemma 3.5): different tuples (ℓ_0, …, ℓ_H)
are enough, and for most data a few heads make them different without any block in front.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import count, islice, pairwise
from random import Random

import numpy as np

from ...exact.array import Array
from ...exact.numbers import Vector, dot, power_of_two_below
from ...exact.points import IntegerPoints, falling
from ...model.heads import MultiHeadBlock
from ...model.layers import RankOneBlock
from ...model.tokens import Tokens
from ...stages import tell
from ..shared.directions import directions
from ..shared.sharing import numbered
from ..shared.tie_splitting import split_ties
from .state import TokenState

_DRAWS = 16  # directions among which the one that tells most sequences apart is kept
_SWEEPS = 8  # directions for matching among which the one with the widest gap is kept


@dataclass(frozen=True)
class Headed:
    """Sequences that several heads tell apart.

    ``split`` are feed-forward blocks in front of the heads, ``batch`` the tokens behind those
    blocks, ``heads`` the directions v_h, of which the first is 0: the uniform head.
    """

    split: list[RankOneBlock]
    batch: Tokens
    heads: list[Vector]


def separate_by_heads(
    state: TokenState, labels: Sequence[str], heads: int, seed: int = 0
) -> Headed:
    """Leader heads and feed-forward blocks that tell sequences of different labels apart.

    Heads are added one by one, each the best of some random directions, until no two sequences
    with different labels have the same mean and leaders, or none helps; then tie splitting parts
    the rest (Theorem 9c: at most one block for each sequence that is tied).

    >>> batch = Tokens.from_sequences([[(Fraction(0),), (Fraction(2),)], [(Fraction(1),)]])
    >>> found = separate_by_heads(TokenState.of_tokens(batch), ["a", "b"], 2)
    >>> len(found.split), len(found.heads)
    (0, 2)
    """
    rng = Random(seed)
    label = numbered(labels)
    chosen: list[Vector] = [(Fraction(0),) * state.dimension]
    keys = state.mean_numbers()
    while len(chosen) < heads and (tied := _tied(keys, label)):
        tell("heads", tied)
        drawn = islice(_leaders(state, chosen, rng), _DRAWS)
        pairs = [(v, _joined(keys, state.token[rows])) for v, rows in drawn]
        v, after = min(pairs, key=lambda pair: _tied(pair[1], label))
        if _tied(after, label) == tied:
            break
        chosen.append(v)
        keys = after
    batch = state.exact.batch()
    split = split_ties(batch, labels, seed, chosen[1:]) if _tied(keys, label) else []
    return Headed(split, batch, chosen)


def cluster_by_heads(
    found: Headed, labels: Sequence[str], targets: Sequence[Vector], heads: int, seed: int = 0
) -> tuple[MultiHeadBlock, Vector, IntegerPoints]:
    """The block that makes a point of every sequence; a direction v; the points.

    The block has ``heads`` heads; those that are not needed are zero. Points of different
    labels differ. ⟨v,·⟩ differs on all different points, and is larger than on all ``targets``:
    what `match_labels` needs.
    """
    batch, directed = found.batch, found.heads[1:]
    features = [IntegerPoints(batch.mean_rows())]
    for w in directed:
        rows = [row for row in batch.leaders(w) if row is not None]
        features.append(IntegerPoints.of_vectors(batch.token(row) for row in rows))
    alphas, points = _combined(features, labels, Random(seed))
    share = Fraction(sum(alphas))
    v = _sweep(points, directed, Random(seed))
    along = directed[0] if directed else v
    lifts = [(-min(batch.projections(w)), dot(w, along)) for w in directed]
    floor = max([Fraction(0), *(dot(v, y) for y in targets)])
    lifts.append((floor - min(points.values(v)), share * dot(v, along)))
    shift = _shift(along, max(missing / gain for missing, gain in lifts))
    zero = (Fraction(0), (Fraction(0),) * batch.dimension)
    used = [*zip(map(Fraction, alphas), found.heads, strict=True)]
    padded = tuple(used + [zero] * (heads - len(used)))
    plain = RankOneBlock.translation(shift)
    block = MultiHeadBlock(plain.u, plain.b, plain.w, Fraction(0), padded)
    return block, v, points.affine(Fraction(1), tuple(share * x for x in shift))


def _tied(keys: Array, label: Array) -> int:
    """Pairs (key, label) less keys: 0 where sequences with equal keys have equal labels."""
    return len(np.unique(np.stack([keys, label]), axis=1).T) - len(np.unique(keys))


def _joined(keys: Array, more: Array) -> Array:
    """Numbers of pairs: equal where both entries are equal."""
    return np.unique(np.stack([keys, more]), axis=1, return_inverse=True)[1].reshape(-1)


def _leaders(
    state: TokenState, chosen: list[Vector], rng: Random
) -> Iterator[tuple[Vector, Array]]:
    """Directions with one leader for each sequence, and these leaders (`_beside` the chosen)."""
    for v in _beside(chosen[1:], state.dimension, rng):
        rows = state.leaders(v)
        if rows is not None:
            yield v, rows


def _beside(others: Sequence[Vector], dimension: int, rng: Random) -> Iterator[Vector]:
    """Random directions v with ⟨v,e⟩ > 0, where e is the first of the others, if there is one."""
    for v in directions(rng, dimension):
        side = dot(v, others[0]) if others else Fraction(1)
        if side:
            yield v if side > 0 else tuple(-x for x in v)


def _combined(
    features: list[IntegerPoints], labels: Sequence[str], rng: Random
) -> tuple[list[int], IntegerPoints]:
    """Small positive α_h under which different labels have different points Σ_h α_h ℓ_h; α_0 = 0
    where the leaders alone do. All but finitely many hyperplanes of α serve (Theorem 9b)."""
    label = numbered(labels)
    for attempt in count():
        size = 1 + attempt // 4
        alphas = [int(attempt > 0), *(rng.randint(1, size) for _ in features[1:])]
        if not any(alphas):
            continue
        points, before = features[0], Fraction(alphas[0])
        for alpha, feature in zip(alphas[1:], features[1:], strict=True):
            points, before = points.combined(before, feature, Fraction(alpha)), Fraction(1)
        if not _tied(points.first_equal(), label):
            return alphas, points
    raise AssertionError("unreachable: almost all α serve")


def _sweep(points: IntegerPoints, others: Sequence[Vector], rng: Random) -> Vector:
    """A direction with different values on different points: of some, that with the widest gap."""
    best: tuple[float, Vector] | None = None
    different = points.select(np.unique(points.first_equal()))
    valid = 0
    for v in _beside(others, points.dimension, rng):
        heights = different.values(v)
        ranked = [heights[j] for j in falling(heights)]
        gap = min((a - b for a, b in pairwise(ranked)), default=Fraction(1))
        if gap:
            width = float(gap / max(map(abs, v)))
            best = max(best or (width, v), (width, v))
            valid += 1
            if valid == _SWEEPS:
                return best[1]
    raise AssertionError("unreachable: directions never end")


def _shift(along: Vector, needed: Fraction) -> Vector:
    """κ·along with κ > ``needed``: 0 where nothing is needed, otherwise a power of two."""
    if needed < 0:
        return tuple(Fraction(0) for _ in along)
    factor = 2 * power_of_two_below(needed) if needed else Fraction(1)
    return tuple(factor * x for x in along)
