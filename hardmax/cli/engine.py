"""The options that say who works on data in shards."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from ..errors import InputError

if TYPE_CHECKING:
    from ..shards.engines import Engine

_OPTIONS = (
    click.option(
        "--engine",
        type=click.Choice(["local", "dask"]),
        default="local",
        show_default=True,
        help="DATA in shards: who does the work, processes of this machine or dask.",
    ),
    click.option(
        "--workers",
        type=click.IntRange(1),
        metavar="K",
        help="DATA in shards: so many processes at once; by default one for each core.",
    ),
    click.option(
        "--scheduler",
        metavar="ADDRESS",
        help="With --engine dask: the scheduler to use, for instance tcp://host:8786.",
    ),
    click.option(
        "--resume",
        is_flag=True,
        help="DATA in shards: go on where an earlier run of the same command ended early.",
    ),
)


def engine_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of engines, and --resume, to a command."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def workers_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of engines to a command that keeps nothing to resume from."""
    for option in reversed(_OPTIONS[:-1]):
        command = option(command)
    return command


@dataclass(frozen=True)
class How:
    """The engine that a command line asks for, and whether to go on where a run ended."""

    engine: Engine
    resume: bool


def asked(
    data: str, engine: str, workers: int | None, scheduler: str | None, resume: bool
) -> How | None:
    """How to work on shards; None where DATA is one file, which needs no engine."""
    from ..shards.listing import is_sharded

    if is_sharded(data):
        from ..shards.engines import engine as chosen

        return How(chosen(engine, workers, scheduler), resume)
    options = {
        "--engine": engine != "local",
        "--workers": workers is not None,
        "--scheduler": scheduler is not None,
        "--resume": resume,
    }
    given = next((name for name, used in options.items() if used), None)
    if given is not None:
        raise InputError(
            f"{given} is for data in shards, and {data} is one file; in Python, "
            f'hardmax.load({data!r}).save("folder", shards=16) writes shards'
        )
    return None
