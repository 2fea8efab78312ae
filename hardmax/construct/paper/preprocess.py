"""Preprocessing: no token is zero afterwards (Section 3.1)."""

from __future__ import annotations

from fractions import Fraction

from ...exact.numbers import Vector
from ...model.layers import RankOneBlock
from .state import TokenState


def preprocess(state: TokenState) -> tuple[list[RankOneBlock], TokenState]:
    """One translation that makes every token non-zero, none where no token is zero; the state then.

    The lemmas never need it (theory A8); it is here because the paper has it.

    >>> from hardmax.model.tokens import Tokens
    >>> batch = Tokens.from_sequences([[(Fraction(0),), (Fraction(-1),)]])
    >>> preprocess(TokenState.of_tokens(batch))[0][0].w
    (Fraction(2, 1),)
    """

    def along(step: int) -> Vector:
        return (Fraction(step), *[Fraction(0)] * (state.dimension - 1))

    if not state.holds(along(0)):
        return [], state
    step = 1
    while state.holds(along(-step)):
        step += 1
    return [RankOneBlock.translation(along(step))], state.shifted(along(step))
