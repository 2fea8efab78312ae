"""Clustering: every sequence collapses to its leader, in one block (Section 3.1)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import islice, pairwise
from random import Random

from ..model.layers import RankOneBlock
from ..model.tokens import Tokens
from ..model.transformer import apply
from ..numbers import Vector, dot
from .draw import directions
from .leaders import leader_shift

_DRAWS = 8


def cluster(batch: Tokens, targets: Sequence[Vector], seed: int = 0) -> tuple[RankOneBlock, Vector]:
    """Collapse every sequence to one point, in place; return the block and its direction v.

    The sequences must share no token. v gives every sequence one leader (Lemma 3.2), and
    ⟨v,·⟩ takes different values on different leaders; the translation of Lemma 3.3 lifts
    them above all ``targets``: max ⟨v,target⟩ < ⟨v,x_j⟩. Both serve the later stages, which
    move the points one by one in the order of ⟨v,·⟩.

    >>> batch = Tokens.from_sequences([[(Fraction(0),), (Fraction(1),)], [(Fraction(2),)]])
    >>> block, v = cluster(batch, [(Fraction(0),)])
    >>> batch.sequence(0) == batch.sequence(1)
    False
    """
    drawn = islice(_generic(batch, Random(seed)), _DRAWS)
    v = max(drawn, key=lambda pair: _least_gap(*pair))[0]
    floor = max((dot(v, y) for y in targets), default=Fraction(0))
    shift = leader_shift(batch, v, max(floor, Fraction(0)))
    block = RankOneBlock.translation(shift, rho=0, alpha=1, v=v)
    apply(batch, block)
    return block, v


def _generic(batch: Tokens, rng: Random) -> Iterator[tuple[Vector, list[Fraction]]]:
    """Directions with one leader for each sequence and different values on all leaders."""
    for v in directions(rng, batch.dimension, 4):
        leaders = [row for row in batch.leaders(v) if row is not None]
        if len(leaders) == len(batch):
            values = batch.projections(v)
            led = [values[row] for row in leaders]
            if len(set(led)) == len(led):
                yield v, led


def _least_gap(v: Vector, values: list[Fraction]) -> float:
    """Least distance of two leaders along v, for choosing only."""
    gaps = (float(b - a) for a, b in pairwise(sorted(values)))
    return min(gaps, default=1.0) / float(max(map(abs, v)))
