"""Sequences, a chunk at a time, in several threads."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from threading import local
from typing import TypeVar

import numpy as np

from ..exact.array import Array
from ..threads import cores, in_threads
from .forward.buffers import Buffers

Result = TypeVar("Result")

_ALONE = 2048  # sequences that one thread takes
_CHUNK = 4096  # sequences at a time
_TOKENS = 1 << 16  # and about this many tokens


def chunks(offsets: Array) -> list[tuple[int, int]]:
    """Runs of sequences, of moderate numbers of sequences and tokens, as many for every thread."""
    count = len(offsets) - 1
    if count <= _ALONE and offsets[-1] - offsets[0] <= _TOKENS:
        return [(0, count)]
    parts = -(-count // (_CHUNK * cores())) * cores()
    size = -(-count // parts)
    bounds = [0]
    while bounds[-1] < count:
        start = bounds[-1]
        most = int(np.searchsorted(offsets, offsets[start] + _TOKENS, side="right")) - 1
        bounds.append(min(max(most, start + 1), start + size, count))
    return list(pairwise(bounds))


def chunkwise(
    work: Callable[[int, int, Buffers], Result], chunks: list[tuple[int, int]]
) -> Iterator[Result]:
    """Results in order; every thread has buffers of its own."""
    own = local()

    def call(bounds: tuple[int, int]) -> Result:
        if not hasattr(own, "buffers"):
            own.buffers = Buffers()
        with np.errstate(all="ignore"):  # what overflows is unclear
            return work(*bounds, own.buffers)

    return in_threads(call, chunks)
