"""Work on pieces of an array in several threads, NumPy's own kept to one each.

Matrix products of pieces that fit the cache gain little from threads of their own; what stands
between them in NumPy runs in one thread only. So every thread takes whole pieces.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from threadpoolctl import ThreadpoolController

Piece = TypeVar("Piece")
Result = TypeVar("Result")


def in_threads(work: Callable[[Piece], Result], pieces: Sequence[Piece]) -> Iterator[Result]:
    """``work`` of every piece, in order; in several threads where there are several pieces.

    >>> list(in_threads(abs, [-1, 2, -3]))
    [1, 2, 3]
    """
    if len(pieces) < 2 or cores() == 1:
        yield from map(work, pieces)
        return
    with _libraries().limit(limits=1, user_api="blas"), ThreadPoolExecutor(cores()) as pool:
        yield from pool.map(work, pieces)


@cache
def cores() -> int:
    """Number of cores that this process may use."""
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity is not None else os.cpu_count() or 1


@cache
def _libraries() -> ThreadpoolController:
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
