"""Preprocessing: no token is zero afterwards (Section 3.1)."""

from __future__ import annotations

from fractions import Fraction

from ...exact.numbers import Vector
from ...model.layers import RankOneBlock
from ...model.tokens import Tokens
from ...model.transformer import apply
from .enclosed import Enclosed


def preprocess(batch: Tokens) -> list[RankOneBlock]:
    """One translation that makes every token non-zero; none where no token is zero.

    The lemmas never need it (theory A8); it is here because the paper has it.

    >>> from fractions import Fraction
    >>> batch = Tokens.from_sequences([[(Fraction(0),), (Fraction(-1),)]])
    >>> preprocess(batch)[0].w
    (Fraction(2, 1),)
    """
    shift = shift_off_zero(Enclosed.of_tokens(batch))
    if shift is None:
        return []
    block = RankOneBlock.translation(shift)
    apply(batch, block)
    return [block]


def shift_off_zero(state: Enclosed) -> Vector | None:
    """The translation of `preprocess`; None where no token is zero."""

    def along(step: int) -> Vector:
        return (Fraction(step), *[Fraction(0)] * (state.dimension - 1))

    if not state.holds(along(0)):
        return None
    step = 1
    while state.holds(along(-step)):
        step += 1
    return along(step)
