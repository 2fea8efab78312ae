"""Blocks and parameters beside the bounds of Theorem 2.4."""

from __future__ import annotations

from dataclasses import dataclass

from ..model.transformer import Transformer


@dataclass(frozen=True)
class Bounds:
    """Counts of a model for N distinct sequences in dimension d, and the paper's bounds.

    ``parameter_bound`` is 54Nd for d ≥ 2 and None for d = 1, where the paper states none.
    ``block_parameter_bound`` is (3d+3)(8N+4).
    """

    blocks: int
    parameters: int
    block_bound: int
    parameter_bound: int | None
    block_parameter_bound: int

    @property
    def status(self) -> str:
        """``holds`` or ``exceeded``: the blocks and, for d ≥ 2, the parameters."""
        within = self.blocks <= self.block_bound and (
            self.parameter_bound is None or self.parameters <= self.parameter_bound
        )
        return "holds" if within else "exceeded"


def bounds_of(model: Transformer, count: int) -> Bounds:
    """Counts of a rank-1 model beside the bounds for ``count`` distinct sequences.

    >>> from hardmax.model.layers import RankOneBlock
    >>> bounds_of(Transformer([RankOneBlock.translation((1, 0))]), 3).block_bound
    28
    """
    d = model.dimension
    parameters = model.parameters.nonzero() if model.parameters is not None else 0
    block_bound = 8 * count + 4
    return Bounds(
        blocks=len(model),
        parameters=parameters,
        block_bound=block_bound,
        parameter_bound=54 * count * d if d >= 2 else None,
        block_parameter_bound=(3 * d + 3) * block_bound,
    )
