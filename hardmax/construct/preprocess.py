"""Preprocessing: no token is zero afterwards (Section 3.1)."""

from __future__ import annotations

from ..model.layers import RankOneBlock
from ..model.tokens import Tokens


def preprocess(batch: Tokens) -> list[RankOneBlock]:
    """One translation that makes every token non-zero; none where no token is zero.

    The lemmas never need it (theory A8); it is here because the paper has it.

    >>> from fractions import Fraction
    >>> batch = Tokens.from_sequences([[(Fraction(0),), (Fraction(-1),)]])
    >>> preprocess(batch)[0].w
    (Fraction(2, 1),)
    """
    keys = set(batch.token_keys())
    zero = (0,) * batch.dimension
    if (*zero, 1) not in keys:
        return []
    step = 1
    while (-step, *zero[1:], 1) in keys:
        step += 1
    block = RankOneBlock.translation((step, *zero[1:]))
    batch.feed_forward(block.u, block.b, block.w)
    return [block]
