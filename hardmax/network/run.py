"""Running a network on sequences: exact outputs, or enclosures at a given precision."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from ..dataset import Dataset
from ..dataset.arrays import packed
from ..errors import InputError
from ..exact.array import ExactArray
from ..exact.numbers import Vector
from .evaluate import Values, run
from .layers import Embedding, Position, Prepend, walk
from .rational import Rationals, numbered

if TYPE_CHECKING:
    from .network import Network

Interval = tuple[Fraction, Fraction]


class Remembering:
    """A reader of parameters that reads each array once."""

    def __init__(self, read: Callable[[ExactArray], Any]) -> None:
        self._read = read
        self._known: dict[int, tuple[ExactArray, Any]] = {}

    def __call__(self, array: ExactArray) -> Any:
        """The numbers of an array."""
        if id(array) not in self._known:
            self._known[id(array)] = array, self._read(array)
        return self._known[id(array)][1]


def tokens_of(network: Network, sequences: Any) -> tuple[ExactArray, np.ndarray]:
    """Packed tokens and offsets of a `Dataset`, or what it takes; checks what the network takes.

    Raises InputError, with the sequence, where the dimension is wrong, a sequence is longer than
    a table of positions, or a token names no row of an embedding.
    """
    if isinstance(sequences, Dataset):
        tokens, offsets = sequences.tokens, sequences.offsets
        name: Callable[[int], str] = sequences.name
    else:
        tokens, offsets = packed(sequences)
        name = "sequence {}".format
    if tokens.shape[1] != network.dimension:
        raise InputError(
            f"the network takes tokens of dimension {network.dimension}, these have "
            f"{tokens.shape[1]}"
        )
    lengths = np.diff(offsets)
    if not lengths.all():
        raise InputError(f"sequence {int(np.argmin(lengths)) + 1} has no tokens")
    longer = 0
    for path, layer in walk(network.layers):
        if isinstance(layer, Prepend):
            longer += len(layer.table)
        if isinstance(layer, Position) and (lengths + longer).max() > len(layer.table):
            j = int(np.argmax(lengths))
            raise InputError(
                f"{name(j)} has {lengths[j]} tokens, layer {path} positions for "
                f"{len(layer.table) - longer}"
            )
        if isinstance(layer, Embedding):
            for j, (start, end) in enumerate(pairwise(offsets.tolist())):
                try:
                    numbered([tokens.entry(i) for i in range(start, end)], len(layer.table))
                except InputError as problem:
                    raise InputError(f"{name(j)}: {problem}") from None
    return tokens, offsets


def _each(
    network: Network, sequences: Any, read: Callable[[ExactArray], Values]
) -> Iterator[Values]:
    tokens, offsets = tokens_of(network, sequences)
    remembering = Remembering(read)
    for start, end in pairwise(offsets.tolist()):
        yield run(network.layers, read(tokens.take(np.arange(start, end))), remembering)


def exact_outputs(network: Network, sequences: Any) -> list[Vector]:
    """Exact outputs of a rational network."""
    if not network.rational:
        raise InputError(
            "the network has softmax, norms or GELU, whose outputs are no rational numbers; "
            "network.enclosures(sequences, bits) encloses them"
        )
    found: Iterable[Any] = _each(network, sequences, Rationals.read)
    return [each.table()[0] for each in found]
