"""Run the engine on chunks of sequences, in several threads."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from threading import local
from typing import TypeVar

import numpy as np

from ..exact.array import Array
from ..threads import in_threads, usable
from .forward.buffers import Buffers
from .sizes import Sizes

Result = TypeVar("Result")


def chunks(offsets: Array, sizes: Sizes) -> list[tuple[int, int]]:
    """Cut the sequences into chunks of moderate size, equally many for every thread.

    Return the first number and the end of each chunk.
    """
    count = len(offsets) - 1
    if count <= sizes.alone and offsets[-1] - offsets[0] <= sizes.tokens:
        return [(0, count)]
    parts = -(-count // (sizes.chunk * usable())) * usable()
    size = -(-count // parts)
    bounds = [0]
    while bounds[-1] < count:
        start = bounds[-1]
        most = int(np.searchsorted(offsets, offsets[start] + sizes.tokens, side="right")) - 1
        bounds.append(min(max(most, start + 1), start + size, count))
    return list(pairwise(bounds))


def chunkwise(
    work: Callable[[int, int, Buffers], Result], chunks: list[tuple[int, int]]
) -> Iterator[Result]:
    """Yield the results of all chunks in order; every thread has its own buffers."""
    own = local()

    def call(bounds: tuple[int, int]) -> Result:
        if not hasattr(own, "buffers"):
            own.buffers = Buffers()
        with np.errstate(all="ignore"):  # what overflows is unclear
            return work(*bounds, own.buffers)

    return in_threads(call, chunks)
