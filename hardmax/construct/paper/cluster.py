"""Clustering: every sequence collapses to its leader, in one block (Section 3.1)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import islice, pairwise
from operator import itemgetter
from random import Random

import numpy as np

from ...exact.array import Array
from ...exact.numbers import Vector, dot
from ...exact.points import IntegerPoints
from ...model.layers import RankOneBlock
from ..shared.directions import directions
from .leaders import shift_above
from .state import TokenState

_DRAWS = 8


def cluster(
    state: TokenState, targets: Sequence[Vector], seed: int = 0
) -> tuple[RankOneBlock, Vector, IntegerPoints]:
    """Collapse every sequence to one point; return the block, its direction v, and the points.

    The sequences must share no token. v gives every sequence one leader (Lemma 3.2), and
    ⟨v,·⟩ takes different values on different leaders; the translation of Lemma 3.3 lifts
    them above all ``targets``: max ⟨v,target⟩ < ⟨v,x_j⟩. Both serve the later stages, which
    move the points one by one in the order of ⟨v,·⟩.

    >>> from hardmax.model.tokens import Tokens
    >>> batch = Tokens.from_sequences([[(Fraction(0),), (Fraction(1),)], [(Fraction(2),)]])
    >>> block, v, points = cluster(TokenState.of_tokens(batch), [(Fraction(0),)])
    >>> points.vector(0) == points.vector(1)
    False
    """
    drawn = islice(_generic(state, Random(seed)), _DRAWS)
    _, v, leaders = max(drawn, key=itemgetter(0))
    floor = max((dot(v, y) for y in targets), default=Fraction(0))
    shift = shift_above(state.least(v), v, max(floor, Fraction(0)))
    block = RankOneBlock.translation(shift, rho=0, alpha=1, v=v)
    return block, v, state.exact.tokens(leaders).affine(Fraction(1), shift)


def _generic(state: TokenState, rng: Random) -> Iterator[tuple[float, Vector, Array]]:
    """Directions v with one leader for each sequence and different values on all leaders, and these
    leaders; in front a number to choose by: the least distance of two leaders along v."""
    for v in directions(rng, state.dimension, 4):
        leaders = state.leaders(v)
        if leaders is not None:
            gap = _least_gap(state, v, leaders)
            if gap is None or gap:
                size = float(max(map(abs, v)))
                yield (1.0 if gap is None else float(gap)) / size, v, leaders


def _least_gap(state: TokenState, v: Vector, rows: Array) -> Fraction | None:
    """The least difference of two of the values ⟨v,·⟩ of some tokens; None for one token.

    Sorted by their floats, the two nearest tokens are neighbours, up to the errors. So exact values
    are needed only for neighbours whose difference may be the least.
    """
    low, high = (bound[rows] for bound in state.values(v))
    if len(rows) == 1:
        return None
    value, error = (low + high) / 2, 2 * float((high - low).max())  # the error of any difference
    order = np.argsort(value)
    gaps = np.diff(value[order])
    near = np.flatnonzero(~(gaps - error > gaps.min() + error))
    some = rows[order[np.union1d(near, near + 1)]]
    return min(b - a for a, b in pairwise(sorted(state.exact.values(some, v))))
