"""Work on pieces of an array in several threads, NumPy's own kept to one each.

Matrix products of pieces that fit the cache gain little from threads of their own; what stands
between them in NumPy runs in one thread only. So every thread takes whole pieces.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from functools import cache
from typing import TYPE_CHECKING, TypeVar

from .float_mode import check_float_mode

if TYPE_CHECKING:
    from threadpoolctl import ThreadpoolController

Piece = TypeVar("Piece")
Result = TypeVar("Result")


def in_threads(work: Callable[[Piece], Result], pieces: Sequence[Piece]) -> Iterator[Result]:
    """``work`` of every piece, in order; in several threads where there are several pieces.

    Raises FloatModeError where a thread's float arithmetic breaks IEEE 754.

    >>> list(in_threads(abs, [-1, 2, -3]))
    [1, 2, 3]
    """

    def checked(piece: Piece) -> Result:
        check_float_mode()  # every thread has a mode of its own
        return work(piece)

    if len(pieces) < 2 or usable() == 1:
        yield from map(checked, pieces)
        return
    with one_blas_thread(), ThreadPoolExecutor(usable()) as pool:
        yield from pool.map(checked, pieces)


def one_blas_thread() -> AbstractContextManager[object]:
    """Keep matrix products in the thread that asks for them.

    The threads of the BLAS library are not ours: nobody has checked how they round.
    """
    limiter: AbstractContextManager[object] = _libraries().limit(limits=1, user_api="blas")
    return limiter


@cache
def cores() -> int:
    """Number of cores that this process may use."""
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity is not None else os.cpu_count() or 1


def usable() -> int:
    """Number of threads to use: one for each core, unless `threads` says less."""
    return _most[-1] if _most else cores()


@contextmanager
def threads(most: int) -> Iterator[None]:
    """Use at most so many threads: other processes have the other cores.

    >>> with threads(1):
    ...     usable()
    1
    """
    _most.append(most)
    try:
        yield
    finally:
        _most.pop()


_most: list[int] = []


@cache
def _libraries() -> ThreadpoolController:
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
