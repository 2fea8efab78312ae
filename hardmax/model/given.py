"""What users give to a transformer: lists of sequences, one sequence, lists of blocks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from os import PathLike
from typing import Any

import numpy as np

from ..errors import InputError
from ..exact.numbers import Vector, as_vector
from ..words import kind
from .heads import MultiHeadBlock
from .layers import Block, RankOneBlock
from .parameters import Parameters


def listed(sequences: Any) -> Any:
    """Sequences that have a length and can be read again."""
    if isinstance(sequences, str) or not isinstance(sequences, Iterable):
        raise InputError(f"{kind(sequences)} is no list of sequences: give a Dataset or arrays")
    return sequences if hasattr(sequences, "__len__") else list(sequences)


def exact_sequence(
    j: int, sequence: Any, dimension: int, advice: Callable[[int], str]
) -> tuple[Vector, ...]:
    """Exact tokens of sequence j, from 0; InputError where they do not have ``dimension``.

    ``advice`` tells what to do with tokens of another number of coordinates; it may be empty.
    """
    if isinstance(sequence, str) or not isinstance(sequence, Iterable):
        raise InputError(f"{kind(sequence)} is no sequence: give a list of tokens, (n, d)")
    given = list(sequence)
    if given and isinstance(given[0], Sequence | np.ndarray) and len(given[0]):
        inner = given[0][0]
        if getattr(inner, "ndim", 0) or isinstance(inner, list | tuple):
            raise InputError("these are several sequences; give one, a list of tokens (n, d)")
    if given and (isinstance(given[0], str) or not isinstance(given[0], Iterable)):
        raise InputError("a sequence is a list of tokens, a token a list of numbers")
    tokens = tuple(as_vector(token) for token in given)
    if not tokens:
        raise InputError(f"sequence {j + 1} has no tokens")
    for index, token in enumerate(tokens):
        if len(token) != dimension:
            raise InputError(
                f"sequence {j + 1}, token {index + 1} has {len(token)} coordinates, "
                f"the model has dimension {dimension}{advice(len(token))}"
            )
    return tokens


def checked_dimension(blocks: Any, dimension: int | None) -> int:
    """The dimension of the blocks of a transformer; an empty list needs it given.

    Raises InputError where these are not blocks, or not all of that dimension.
    """
    if isinstance(blocks, str | PathLike):
        raise InputError("Transformer takes blocks; Transformer.load reads a model file")
    if not isinstance(blocks, Sequence):
        raise InputError(f"{kind(blocks)} is not a list of blocks")
    if isinstance(blocks, Parameters):
        return blocks.dimension if dimension is None else dimension
    for k, block in enumerate(blocks):
        if not isinstance(block, RankOneBlock | MultiHeadBlock | Block):
            raise InputError(f"block {k + 1} is {kind(block)}; give RankOneBlock or Block")
    if dimension is None:
        if not blocks:
            raise InputError("a transformer without blocks needs its dimension")
        dimension = blocks[0].dimension
    for k, block in enumerate(blocks):
        if block.dimension != dimension:
            raise InputError(f"block {k + 1} has dimension {block.dimension}, expected {dimension}")
    return dimension
