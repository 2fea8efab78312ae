"""Engines run a function on many pieces of work: in this process, in several, or on dask.

The results may come in any order, and nothing of them may depend on the engine. A worker that dies
costs the pieces it was working on, which others take over; an engine that can't go on raises
ResourceLimitError, and what was done before stays done (`journal`).
"""

from __future__ import annotations

import logging
import multiprocessing
import os
import signal
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, CancelledError, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from functools import partial
from itertools import islice
from typing import Any, TypeVar

from ..errors import InputError, MissingExtraError, ResourceLimitError
from ..threads import cores, threads

Piece = TypeVar("Piece")
Result = TypeVar("Result")
NAMES = ("local", "dask")
_DEATHS = 3  # of workers, one after another, without a result between them
_RESUME = "what is finished is kept: --resume goes on from there"


class Engine(ABC):
    """Runs a function on pieces; function and pieces can be pickled.

    Workers stay until the engine is closed; ``with engine`` closes it.
    """

    @abstractmethod
    def run(
        self, work: Callable[[Piece], Result], pieces: Sequence[Piece]
    ) -> Iterator[tuple[int, Result]]:
        """Yield the place of each piece and its result, in any order."""

    def close(self) -> None:  # noqa: B027  (an engine without workers has nothing to close)
        """End the workers."""

    def __enter__(self) -> Engine:
        return self

    def __exit__(self, *what: object) -> None:
        self.close()


def engine(name: str = "local", workers: int | None = None, scheduler: str | None = None) -> Engine:
    """The engine of this name. ``workers`` are as many as there are cores, unless they are given.

    >>> sorted(engine(workers=1).run(abs, [-1, 2]))
    [(0, 1), (1, 2)]
    """
    if name not in NAMES:
        raise InputError(f"the engine {name!r} is unknown; known are {', '.join(NAMES)}")
    if workers is not None and workers < 1:
        raise InputError("an engine needs at least one worker")
    if scheduler is not None and name != "dask":
        raise InputError(
            "a scheduler belongs to the engine dask: --engine dask --scheduler ADDRESS"
        )
    if name == "dask":
        return Dask(workers or cores(), scheduler)
    workers = workers or cores()
    return Processes(workers) if workers > 1 else Serial()


def alone(work: Callable[[Piece], Result], piece: Piece) -> Result:
    """The work on a piece, in one thread: the others have pieces of their own."""
    with threads(1):
        return work(piece)


class Serial(Engine):
    """One piece after another, in this process and one thread."""

    def run(
        self, work: Callable[[Piece], Result], pieces: Sequence[Piece]
    ) -> Iterator[tuple[int, Result]]:
        """In order."""
        for place, piece in enumerate(pieces):
            yield place, alone(work, piece)


class Processes(Engine):
    """Several processes of this machine."""

    def __init__(self, workers: int) -> None:
        self.workers = workers
        self._pool: ProcessPoolExecutor | None = None
        self._others: set[Any] = set()  # processes that are not ours

    def run(
        self, work: Callable[[Piece], Result], pieces: Sequence[Piece]
    ) -> Iterator[tuple[int, Result]]:
        """In the order in which they are done; where a process dies, others take its place."""
        left, deaths = dict(enumerate(pieces)), 0
        while left:
            before = len(left)
            try:
                for place, result in self._results(work, left):
                    del left[place]
                    yield place, result
            except BrokenProcessPool:
                self.close()
                deaths = deaths + 1 if before == len(left) else 1
                if deaths == _DEATHS:
                    raise ResourceLimitError(
                        f"workers died {deaths} times in a row, killed from outside or for lack of "
                        f"memory; nothing is decided, and {_RESUME} (fewer --workers need less "
                        f"memory)"
                    ) from None

    def _results(
        self, work: Callable[[Piece], Result], left: dict[int, Piece]
    ) -> Iterator[tuple[int, Result]]:
        if self._pool is None:
            self._others = set(multiprocessing.active_children())
            context = multiprocessing.get_context("spawn")
            self._pool = ProcessPoolExecutor(self.workers, context, _begin)
        running: dict[Any, int] = {}
        waiting = iter([*left.items()])
        try:
            for place, piece in islice(waiting, 2 * self.workers):
                running[self._pool.submit(alone, work, piece)] = place
            while running:
                for future in wait(running, return_when=FIRST_COMPLETED).done:
                    yield running.pop(future), future.result()
                    for place, piece in islice(waiting, 1):
                        running[self._pool.submit(alone, work, piece)] = place
        except BrokenProcessPool:
            raise
        except BaseException:  # also where the caller wants no more
            for process in set(multiprocessing.active_children()) - self._others:
                process.terminate()
            self.close()
            raise

    def close(self) -> None:
        if self._pool is not None:
            self._pool.shutdown(wait=True, cancel_futures=True)
            self._pool = None


def _begin() -> None:
    """A worker ends with its parent, and without words where it is interrupted."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    parent = multiprocessing.parent_process()
    if parent is not None:

        def watch() -> None:
            parent.join()
            os._exit(1)

        threading.Thread(target=watch, daemon=True).start()


class Dask(Engine):
    """The workers of a dask scheduler; without an ``address`` a cluster on this machine.

    Workers see the same files under the same names. A scheduler has ``patience`` seconds to answer.
    """

    def __init__(self, workers: int, address: str | None = None, patience: float = 20) -> None:
        self.workers, self.address, self.patience = workers, address, patience
        self._cluster: Any = None
        self._client: Any = None

    def run(
        self, work: Callable[[Piece], Result], pieces: Sequence[Piece]
    ) -> Iterator[tuple[int, Result]]:
        """In the order in which they are done."""
        distributed = _distributed()
        self._connect(distributed)
        names = [f"hardmax-{os.urandom(8).hex()}" for _ in pieces]
        place = {name: k for k, name in enumerate(names)}
        futures = self._client.map(partial(alone, work), pieces, pure=False, key=names)
        left = len(pieces)
        try:
            for future in distributed.as_completed(futures, loop=self._client.loop):
                if future.status in ("cancelled", "lost"):
                    break
                yield place[future.key], future.result()
                left -= 1
        except distributed.scheduler.KilledWorker:
            raise ResourceLimitError(
                f"workers died over one piece again and again, killed from outside or for lack of "
                f"memory; nothing is decided, and {_RESUME}"
            ) from None
        except (OSError, TimeoutError, CancelledError):
            pass
        if left:
            raise ResourceLimitError(
                f"the scheduler went away before all was done; nothing is decided, and {_RESUME}"
            )

    def _connect(self, distributed: Any) -> None:
        if self._client is not None:
            return
        if self.address is None:
            self._cluster = distributed.LocalCluster(
                n_workers=self.workers,
                threads_per_worker=1,
                dashboard_address=None,
                silence_logs=logging.CRITICAL,
            )
        where = self.address if self._cluster is None else self._cluster
        try:
            self._client = distributed.Client(where, timeout=self.patience, set_as_default=False)
        except (OSError, TimeoutError, ValueError) as problem:
            raise InputError(
                f"--scheduler {self.address}: no scheduler answers there ({type(problem).__name__})"
            ) from None

    def close(self) -> None:
        for each in (self._client, self._cluster):
            if each is not None:
                with suppress(Exception):  # whatever it is, the work is done
                    each.close()
        self._client = self._cluster = None


def _distributed() -> Any:
    """dask.distributed, imported when first used."""
    try:
        import distributed
    except ImportError:
        raise MissingExtraError("--engine dask needs dask: pip install 'hardmax[dask]'") from None
    return distributed
