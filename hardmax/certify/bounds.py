"""Counts and structure of a model beside the bounds of Theorem 2.4."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain

from ..exact.matrix import Matrix
from ..exact.numbers import bits
from ..model.blocks import whole
from ..model.layers import Block
from ..model.transformer import Transformer


@dataclass(frozen=True)
class Structure:
    """The architecture that a model uses (Remark 2.7)."""

    hidden_width: int
    attention_rank: int
    scalar_values: bool
    masked: bool = False
    heads: int = 1

    @property
    def is_papers(self) -> bool:
        """Whether the bounds of Theorem 2.4 are about this architecture."""
        plain = self.hidden_width <= 1 and self.attention_rank <= 1 and self.scalar_values
        return plain and not self.masked and self.heads == 1

    def sentence(self) -> str:
        """The structure in words."""
        values = "V = αI" if self.scalar_values else "V general"
        mask = ", masked" if self.masked else ""
        heads = f", {self.heads} heads" if self.heads > 1 else ""
        rank = self.attention_rank
        return f"hidden width {self.hidden_width}, rank A ≤ {rank}, {values}{heads}{mask}"


def structure_of(model: Transformer) -> Structure:
    """Largest hidden width and rank of A, and whether every V is a multiple of I.

    >>> from hardmax import RankOneBlock
    >>> structure_of(Transformer([RankOneBlock.translation((1, 0))])).sentence()
    'hidden width 1, rank A ≤ 1, V = αI'
    """
    general = _general_blocks(model)
    return Structure(
        max((block.feed_forward.hidden_width for block in general), default=1),
        max((head.A.rank() for block in general for head in block.attention.heads), default=1),
        all(_is_scalar(head.V) for block in general for head in block.attention.heads),
        model.masked,
        model.heads,
    )


def is_uniform(model: Transformer) -> bool:
    """Whether v = 0 in every block: attention is uniform, so softmax gives the same outputs.

    With v = 0 every score is 0, hence every token attends to all tokens with equal weights, under
    hardmax and under softmax at any temperature (theory B2; `soft_run_is_run1` in Rocq).

    >>> from hardmax import RankOneBlock
    >>> is_uniform(Transformer([RankOneBlock.of(1, rho=0, alpha=1)]))
    True
    >>> is_uniform(Transformer([RankOneBlock.of(1, rho=0, alpha=1, v=(1,))]))
    False
    """
    return model.parameters is not None and not model.parameters.v.nonzero()


def parameter_bits(model: Transformer) -> list[int]:
    """Bits of each non-zero parameter; for general layers the entries of U, b, W, ρ, V and A."""
    if model.parameters is not None:
        return model.parameters.bit_lengths()
    return [bits(x) for block in _general_blocks(model) for x in _entries(block) if x]


def parameter_count(model: Transformer) -> int:
    """Number of non-zero parameters P."""
    if model.parameters is not None:
        return model.parameters.nonzero()
    return len(parameter_bits(model))


def _general_blocks(model: Transformer) -> list[Block]:
    if model.parameters is not None:
        return []
    return [whole(block) for block in model.blocks]


def _entries(block: Block) -> Iterable[Fraction]:
    layer, attention = block.feed_forward, block.attention
    matrices = (layer.U, layer.W, *(m for head in attention.heads for m in (head.V, head.A)))
    rows = chain.from_iterable(matrix.rows() for matrix in matrices)
    return chain(layer.b, (attention.rho,), chain.from_iterable(rows))


def _is_scalar(matrix: Matrix) -> bool:
    return matrix == matrix[0, 0] * Matrix.identity(matrix.shape[0])


@dataclass(frozen=True)
class Bounds:
    """Counts of a model for N distinct sequences in dimension d, and the paper's bounds.

    ``parameter_bound`` is 54Nd for d ≥ 2 and None for d = 1, where the paper states none.
    The bounds are about the paper's architecture, one head without mask; ``applies`` says whether
    this is one.
    ``block_parameter_bound`` is (3d+3)(8N+4).
    """

    blocks: int
    parameters: int
    block_bound: int
    parameter_bound: int | None
    block_parameter_bound: int
    applies: bool = True

    @property
    def exceeded(self) -> bool:
        """Whether there are too many blocks or, for d ≥ 2, parameters."""
        return self.blocks > self.block_bound or (
            self.parameter_bound is not None and self.parameters > self.parameter_bound
        )

    @property
    def status(self) -> str:
        """``holds`` or ``exceeded``; ``n/a`` for d = 1, for output sequences and for other
        architectures, which the theorem leaves out."""
        if self.parameter_bound is None or not self.applies:
            return "n/a"
        return "exceeded" if self.exceeded else "holds"


def bounds_of(model: Transformer, count: int, labels: bool = True) -> Bounds:
    """Counts of a model beside the bounds for ``count`` distinct sequences.

    The bounds are about data with ``labels``, not about outputs.

    >>> from hardmax import RankOneBlock
    >>> bounds_of(Transformer([RankOneBlock.translation((1, 0))]), 3).block_bound
    28
    """
    d = model.dimension
    block_bound = 8 * count + 4
    return Bounds(
        blocks=len(model),
        parameters=parameter_count(model),
        block_bound=block_bound,
        parameter_bound=54 * count * d if d >= 2 else None,
        block_parameter_bound=(3 * d + 3) * block_bound,
        applies=labels and structure_of(model).is_papers,
    )
