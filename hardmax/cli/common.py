"""What several commands share: options, progress on a terminal, tables."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from ..errors import InputError

if TYPE_CHECKING:
    from ..dataset import Dataset
    from ..model.transformer import Transformer

json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")


def load_for(model: Transformer, path: str) -> Dataset:
    """Read a data set the way the model's was read: numbers and positions from its meta."""
    from ..formats.data import load

    numbers, positional = model.meta.get("numbers", "exact"), model.meta.get("positional", False)
    if numbers not in ("exact", "binary64") or not isinstance(positional, bool):
        raise InputError("the model's meta does not say how numbers and positions are read")
    data = load(path, numbers=numbers, positional=positional)
    if data.dimension != model.dimension:
        raise InputError(
            f"{path}: the data set has dimension {data.dimension}, the model {model.dimension}"
        )
    return data


@contextmanager
def progress(title: str, total: int | None) -> Iterator[Callable[[int], None]]:
    """A progress bar on stderr where that is a terminal; call what it yields with the work done."""
    if not sys.stderr.isatty():
        yield lambda done: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (
        TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(),
    )  # fmt: skip
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(title, total=total)
        yield lambda done: bar.update(task, completed=done)


def table(title: str, rows: Sequence[tuple[str, ...]], head: Sequence[str] = ()) -> None:
    """Print a small table on stdout."""
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    # a terminal's own width there; elsewhere wide enough that nothing is cut
    console = Console(width=None if sys.stdout.isatty() else 120)
    shown = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, show_header=bool(head))
    for index, name in enumerate(head or ("",) * len(rows[0])):
        left = index == 0 or not head
        shown.add_column(name, justify="left" if left else "right", overflow="fold")
    for row in rows:
        shown.add_row(*(Text(cell) for cell in row))
    console.print(shown)


def print_json(value: dict[str, Any]) -> None:
    """Print one JSON object on stdout."""
    click.echo(json.dumps(value, ensure_ascii=False))


def plural(count: int, thing: str) -> str:
    """A count with its noun."""
    return f"{count} {thing}" if count == 1 else f"{count} {thing}s"


def seconds(time: float) -> str:
    """A duration in words."""
    return f"{time:.2f} s" if time < 100 else f"{time:.0f} s"
