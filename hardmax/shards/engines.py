"""Engines run a function on many pieces of work: in this process, in several, or on dask.

The results may come in any order, and nothing of them may depend on the engine. A worker that dies
costs the pieces it was working on, which others take over; an engine that can't go on raises
ResourceLimitError, and what was done before stays done (`journal`).
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol, TypeVar

from ..errors import InputError, MissingExtraError, ResourceLimitError
from ..threads import cores, threads

Piece = TypeVar("Piece")
Result = TypeVar("Result")
NAMES = ("local", "dask")
_DEATHS = 3  # of workers, one after another, without a result between them
_PATIENCE = 20  # seconds to reach a scheduler
_RESUME = "what is finished is kept: --resume goes on from there"


class Engine(Protocol):
    """Runs a function on pieces; function and pieces can be pickled."""

    def run(
        self, work: Callable[[Piece], Result], pieces: Sequence[Piece]
    ) -> Iterator[tuple[int, Result]]:
        """Yield the place of each piece and its result, in any order."""


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
        raise InputError("a scheduler belongs to the engine dask: --engine dask --scheduler ADDRESS")
    if name == "dask":
        return Dask(workers or cores(), scheduler)
    workers = workers or cores()
    return Processes(workers) if workers > 1 else Serial()


@dataclass(frozen=True)
class Serial:
    """One piece after another, in this process and one thread."""

    def run(
        self, work: Callable[[Piece], Result], pieces: Sequence[Piece]
    ) -> Iterator[tuple[int, Result]]:
        """In order."""
        for place, piece in enumerate(pieces):
            yield place, alone(work, piece)


def alone(work: Callable[[Piece], Result], piece: Piece) -> Result:
    """The work on a piece, in one thread: the others have pieces of their own."""
    with threads(1):
        return work(piece)


@dataclass(frozen=True)
class Processes:
    """Several processes of this machine."""

    workers: int

    def run(
        self, work: Callable[[Piece], Result], pieces: Sequence[Piece]
    ) -> Iterator[tuple[int, Result]]:
        """In the order in which they are done; where a process dies, others take its place."""
        left, deaths = dict(enumerate(pieces)), 0
        while left:
            done = len(left)
            try:
                for place, result in self._pool(work, left):
                    del left[place]
                    yield place, result
            except BrokenProcessPool:
                deaths = deaths + 1 if done == len(left) else 1
                if deaths == _DEATHS:
                    raise ResourceLimitError(
                        f"workers died {deaths} times in a row, killed from outside or for lack of "
                        f"memory; nothing is decided, and {_RESUME} (fewer --workers need less "
                        f"memory)"
                    ) from None

    def _pool(
        self, work: Callable[[Piece], Result], left: dict[int, Piece]
    ) -> Iterator[tuple[int, Result]]:
        others = set(multiprocessing.active_children())
        pool = ProcessPoolExecutor(
            min(self.workers, len(left)), multiprocessing.get_context("spawn"), _begin
        )
        try:
            waiting = iter([*left.items()])
            running: dict[Any, int] = {}
            for place, piece in waiting:
                running[pool.submit(alone, work, piece)] = place
                if len(running) == 2 * self.workers:
                    break
            while running:
                for future in wait(running, return_when=FIRST_COMPLETED).done:
                    yield running.pop(future), future.result()
                    for place, piece in waiting:
                        running[pool.submit(alone, work, piece)] = place
                        break
        except BaseException:
            for process in set(multiprocessing.active_children()) - others:
                process.terminate()
            raise
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


def _begin() -> None:
    """A worker ends with its parent, and without words where it is interrupted."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    parent = multiprocessing.parent_process()
    if parent is not None:

        def watch() -> None:
            parent.join()
            os._exit(1)

        threading.Thread(target=watch, daemon=True).start()


@dataclass(frozen=True)
class Dask:
    """The workers of a dask scheduler; without an ``address`` a cluster on this machine.

    Workers see the same files under the same names.
    """

    workers: int
    address: str | None = None

    def run(
        self, work: Callable[[Piece], Result], pieces: Sequence[Piece]
    ) -> Iterator[tuple[int, Result]]:
        """In the order in which they are done."""
        distributed = _distributed()
        try:
            with self._client(distributed) as client:
                yield from self._results(distributed, client, work, pieces)
        except distributed.scheduler.KilledWorker:
            raise ResourceLimitError(
                f"workers died over one piece again and again, killed from outside or for lack of "
                f"memory; nothing is decided, and {_RESUME}"
            ) from None

    def _client(self, distributed: Any) -> Any:
        if self.address is None:
            cluster = distributed.LocalCluster(
                n_workers=self.workers, threads_per_worker=1, dashboard_address=None
            )
            return _Together(cluster, distributed.Client(cluster))
        try:
            return distributed.Client(self.address, timeout=_PATIENCE)
        except (OSError, TimeoutError, ValueError) as problem:
            raise InputError(
                f"--scheduler {self.address}: no scheduler answers there ({type(problem).__name__})"
            ) from None

    def _results(
        self, distributed: Any, client: Any, work: Callable[[Piece], Result], pieces: Sequence[Piece]
    ) -> Iterator[tuple[int, Result]]:
        call = partial(alone, work)
        futures = client.map(call, pieces, pure=False, key=f"hardmax-{os.urandom(4).hex()}")
        place = {future.key: k for k, future in enumerate(futures)}
        left = len(pieces)
        try:
            for future in distributed.as_completed(futures):
                if future.status in ("cancelled", "lost"):
                    break
                yield place[future.key], future.result()
                left -= 1
        except (OSError, TimeoutError, distributed.client.FutureCancelledError):
            pass
        if left:
            raise ResourceLimitError(
                f"the scheduler went away before all was done; nothing is decided, and {_RESUME}"
            )


class _Together:
    """A cluster and its client, closed together."""

    def __init__(self, cluster: Any, client: Any) -> None:
        self.cluster, self.client = cluster, client

    def __enter__(self) -> Any:
        return self.client

    def __exit__(self, *what: object) -> None:
        with suppress(Exception):
            self.client.close()
        self.cluster.close()


def _distributed() -> Any:
    """dask.distributed, imported when first used."""
    try:
        import distributed
    except ImportError:
        raise MissingExtraError("--engine dask needs dask: pip install 'hardmax[dask]'") from None
    return distributed
