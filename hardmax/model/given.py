"""What users give to a transformer: lists of sequences, lists of blocks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from os import PathLike
from typing import Any

from ..errors import InputError
from ..words import kind
from .heads import MultiHeadBlock
from .layers import Block, RankOneBlock
from .parameters import Parameters


def listed(sequences: Any) -> Any:
    """Sequences that have a length and can be read again."""
    if isinstance(sequences, str) or not isinstance(sequences, Iterable):
        raise InputError(f"{kind(sequences)} is no list of sequences: give a Dataset or arrays")
    return sequences if hasattr(sequences, "__len__") else list(sequences)


def check_blocks(blocks: Any) -> None:
    """Raise InputError unless these are blocks of a transformer."""
    if isinstance(blocks, str | PathLike):
        raise InputError("Transformer takes blocks; Transformer.load reads a model file")
    if not isinstance(blocks, Sequence):
        raise InputError(f"{kind(blocks)} is not a list of blocks")
    if not isinstance(blocks, Parameters):
        for k, block in enumerate(blocks):
            if not isinstance(block, RankOneBlock | MultiHeadBlock | Block):
                raise InputError(f"block {k + 1} is {kind(block)}; give RankOneBlock or Block")
