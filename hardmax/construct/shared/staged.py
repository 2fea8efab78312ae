"""Blocks with their stages, thousands of them packed as arrays."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from ...exact.array import ExactArray
from ...model.parameters import NAMES, PackedBlock, Parameters
from ...model.transformer import Transformer


class Staged(Sequence[tuple[str, PackedBlock]]):
    """Pairs (stage, block), in order. Blocks that come packed stay packed.

    >>> from hardmax import RankOneBlock
    >>> staged = Staged([("shift", RankOneBlock.translation((1, 0)))])
    >>> staged.add("tent", Parameters.pack([RankOneBlock.of(2, b=k) for k in range(3)], 2))
    >>> staged.stages(), staged.parameters(2).b.values.tolist()
    (['shift', 'tent', 'tent', 'tent'], [1.0, 0.0, 1.0, 2.0])
    """

    def __init__(self, pairs: Iterable[tuple[str, PackedBlock]] = ()) -> None:
        self._pieces: list[tuple[str, Sequence[PackedBlock]]] = []
        self.extend(pairs)

    def add(self, stage: str, blocks: Sequence[PackedBlock]) -> None:
        """Append blocks of one stage."""
        self._pieces.append((stage, blocks))

    def extend(self, pairs: Iterable[tuple[str, PackedBlock]]) -> None:
        """Append pairs, or all pieces of another one."""
        if isinstance(pairs, Staged):
            self._pieces += pairs._pieces
        else:
            self._pieces += [(stage, [block]) for stage, block in pairs]

    def __len__(self) -> int:
        return sum(len(blocks) for _, blocks in self._pieces)

    def __iter__(self) -> Iterator[tuple[str, PackedBlock]]:
        return ((stage, block) for stage, blocks in self._pieces for block in blocks)

    def __getitem__(self, k):  # type: ignore[no-untyped-def]
        return list(self)[k]

    def stages(self) -> list[str]:
        """The stage of every block."""
        return [stage for stage, blocks in self._pieces for _ in range(len(blocks))]

    def parameters(self, dimension: int, heads: int = 1) -> Parameters:
        """All blocks, packed, with so many heads; ResourceLimitError past float64's range."""
        parts: list[Parameters] = []
        loose: list[PackedBlock] = []
        for _, blocks in self._pieces:
            if isinstance(blocks, Parameters):
                parts += [Parameters.pack(loose, dimension, heads), blocks.with_heads(heads)]
                loose = []
            else:
                loose += blocks
        parts.append(Parameters.pack(loose, dimension, heads))
        return Parameters(
            **{name: _joined([getattr(part, name) for part in parts]) for name in NAMES}
        )

    def transformer(
        self,
        dimension: int,
        meta: dict[str, Any],
        on_block: Callable[[str], None] | None = None,
        heads: int = 1,
        masked: bool = False,
    ) -> Transformer:
        """The model of all blocks; ``on_block`` is called with the stage of each."""
        blocks, stages = self.parameters(dimension, heads), self.stages()
        if on_block is not None:
            for stage in stages:
                on_block(stage)
        return Transformer(blocks, stages=stages, meta=meta, masked=masked)


def _joined(arrays: Sequence[ExactArray]) -> ExactArray:
    exact: dict[int, Fraction] = {}
    start = 0
    for array in arrays:
        exact |= {start + k: value for k, value in array.exact.items()}
        start += array.values.size
    return ExactArray.owning(np.concatenate([array.values for array in arrays]), exact)
