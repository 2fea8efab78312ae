"""Blocks one after another: on a batch of sequences in place, and on one sequence step by step."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..exact.matrix import Matrix
from ..exact.numbers import Vector
from .layers import Block
from .parameters import PackedBlock
from .tokens import Tokens


def whole(block: PackedBlock | Block) -> Block:
    """A block as general layers."""
    return block if isinstance(block, Block) else block.general()


def apply(batch: Tokens, block: PackedBlock, masked: bool = False) -> None:
    """Apply one rank-1 block to all sequences of a batch, in place."""
    batch.feed_forward(block.u, block.b, block.w)
    batch.attend_heads(block.rho, block.heads, masked)


def states(
    blocks: Iterable[PackedBlock | Block],
    tokens: Sequence[Vector],
    dimension: int,
    masked: bool = False,
) -> list[Matrix]:
    """One sequence (n, d) before the first block and after each, by the general layers.

    >>> from hardmax import RankOneBlock
    >>> one, two = (RankOneBlock.translation((x,)) for x in (1, 2))
    >>> [state.rows()[0] for state in states([one, two], [(0,)], 1)]
    [(Fraction(0, 1),), (Fraction(1, 1),), (Fraction(3, 1),)]
    """
    found = [Matrix(tokens, dimension)]
    for block in blocks:
        found.append(block(found[-1], masked))
    return found


def packed_states(
    blocks: Iterable[PackedBlock], tokens: Sequence[Vector], masked: bool = False
) -> list[tuple[Vector, ...]]:
    """As `states`, by the faster way of rank-1 blocks (`hardmax.model.tokens`)."""
    batch = Tokens.from_sequences([tokens])
    found = [batch.sequence(0)]
    for block in blocks:
        apply(batch, block, masked)
        state = batch.sequence(0)
        # a collapsed sequence is carried as one token; show all its positions
        found.append(state * len(tokens) if len(state) < len(tokens) else state)
    return found
