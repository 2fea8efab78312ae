"""Running a network on sequences: exact outputs, or enclosures at a given precision."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from ..dataset import Dataset
from ..dataset.arrays import packed
from ..errors import InputError, ResourceLimitError
from ..exact.array import ExactArray
from ..exact.numbers import Vector
from ..threads import one_blas_thread
from .arbs import Arbs, ends, precision
from .balls import Balls
from .evaluate import run
from .layer import Layer
from .layers import Embedding, Position, Prepend, walk
from .rational import Rationals, numbered

if TYPE_CHECKING:
    from .network import Network

Interval = tuple[Fraction, Fraction]
Box = Sequence[Interval | None]
BALLS = 53  # the precision of float64 balls
MOST_BITS = 1 << 16
_ENTRIES = 1 << 17  # of an array of balls, so that it stays in the cache


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


def _counted(j: int) -> str:
    return f"sequence {j + 1}"


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
        name = _counted
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


def boxes(
    network: Network,
    data: tuple[ExactArray, np.ndarray],
    chosen: Sequence[int] | None,
    bits: int | None,
    unit: float = 0.0,
) -> Iterator[tuple[int, Box]]:
    """Boxes that hold the outputs of the ``chosen`` sequences (None: all), in any order.

    ``bits`` is the precision: None for exact rational numbers, 53 for float64 balls, else that of
    ball arithmetic. With an executor's roundoff ``unit``, and 53 bits, a box holds its outputs too.
    """
    tokens, offsets = data
    chosen = range(len(offsets) - 1) if chosen is None else chosen
    if bits == BALLS:
        yield from _ball_boxes(network, tokens, offsets, np.array(chosen, dtype=np.int64), unit)
    elif bits is None:
        read = Remembering(Rationals.read)
        for j in chosen:
            rows = tokens.take(np.arange(offsets[j], offsets[j + 1]))
            output = run(network.layers, Rationals.read(rows), read).table()[0]
            yield j, [(x, x) for x in output]
    else:
        with precision(bits):
            arbs = Remembering(Arbs.read)
            for j in chosen:
                rows = tokens.take(np.arange(offsets[j], offsets[j + 1]))
                found = run(network.layers, Arbs.read(rows), arbs).table()[0]
                yield j, [ends(x) for x in found]


def _ball_boxes(
    network: Network, tokens: ExactArray, offsets: np.ndarray, chosen: np.ndarray, unit: float
) -> Iterator[tuple[int, Box]]:
    for part, balls in _in_balls(network, network.layers, tokens, offsets, chosen, unit):
        yield from zip(part.tolist(), balls.boxes(), strict=True)


def _in_balls(
    network: Network,
    layers: Sequence[Layer],
    tokens: ExactArray,
    offsets: np.ndarray,
    chosen: np.ndarray,
    unit: float,
) -> Iterator[tuple[np.ndarray, Balls]]:
    """Some sequences of equal length at a time, and the balls (B, n, e) behind the layers."""
    read = Remembering(partial(Balls.read, unit=unit))
    lengths = np.diff(offsets)[chosen]
    width = max([network.dimension, *(max(x.shape) for x in network.arrays.values())])
    for length in np.unique(lengths).tolist():
        same = chosen[lengths == length]
        step = max(1, _ENTRIES // (length * max(width, length)))
        for start in range(0, len(same), step):
            part = same[start : start + step]
            places = (offsets[part, None] + np.arange(length)).ravel()
            flat = Balls.read(tokens.take(places), unit)
            shape = len(part), length, network.dimension
            batch = Balls(flat.mid.reshape(shape), flat.rad.reshape(shape), unit)
            with np.errstate(all="ignore"):  # what overflows gets an infinite radius
                yield part, run(layers, batch, read)


def outputs_as_balls(network: Network, sequences: Any, place: int) -> Balls:
    """Float64 balls (N, e) that hold the one token in front of ``network.layers[place]``."""
    tokens, offsets = tokens_of(network, sequences)
    every = np.arange(len(offsets) - 1)
    found = list(_in_balls(network, network.layers[:place], tokens, offsets, every, 0.0))
    order = np.argsort(np.concatenate([part for part, _ in found]))
    mid = np.concatenate([balls.mid[:, 0] for _, balls in found])[order]
    rad = np.concatenate([balls.rad[:, 0] for _, balls in found])[order]
    return Balls(mid, rad)


def exact_outputs(network: Network, sequences: Any) -> list[Vector]:
    """Exact outputs of a rational network."""
    if not network.rational:
        raise InputError(
            "the network has softmax, norms or GELU, whose outputs are no rational numbers; "
            "network.enclosures(sequences, bits) encloses them"
        )
    found = boxes(network, tokens_of(network, sequences), None, None)
    return [tuple(span[0] for span in box if span is not None) for _, box in found]


def enclosures(network: Network, sequences: Any, bits: int = BALLS) -> list[list[Interval]]:
    """Numbers (low, high) for each coordinate of each output, at a precision of ``bits``.

    Raises ResourceLimitError, with the sequence, where a coordinate has no bound.
    """
    if type(bits) is not int or not BALLS <= bits <= MOST_BITS:
        raise InputError(f"the precision is {bits!r}, expected {BALLS} to {MOST_BITS} bits")
    data = tokens_of(network, sequences)
    found: list[list[Interval]] = [[]] * (len(data[1]) - 1)
    with one_blas_thread():
        for j, box in boxes(network, data, None, bits):
            found[j] = [span for span in box if span is not None]
            if len(found[j]) < len(box):
                raise ResourceLimitError(
                    f"sequence {j + 1}: no bound on its output with {bits} bits; take more"
                )
    return found
