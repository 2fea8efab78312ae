"""What a long construction is doing, told to whoever listens: a progress bar, or nobody."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

Listener = Callable[[str, int | None], None]
_LISTENER: ContextVar[Listener | None] = ContextVar("listener", default=None)


def tell(stage: str, left: int | None = None) -> None:
    """Say which stage goes on, and how many points are left to treat in it."""
    listener = _LISTENER.get()
    if listener is not None:
        listener(stage, left)


@contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """Call ``listener`` with what `tell` says meanwhile, in this thread.

    >>> with listening(lambda stage, left: print(stage, left)):
    ...     tell("match", 3)
    match 3
    """
    token = _LISTENER.set(listener)
    try:
        yield
    finally:
        _LISTENER.reset(token)
