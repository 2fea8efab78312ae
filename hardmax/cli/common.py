"""What several commands share: options, reading data, progress on a terminal."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, redirect_stdout
from typing import TYPE_CHECKING, Any

import click

from ..errors import InputError
from ..words import plural

if TYPE_CHECKING:
    from ..dataset import Dataset, Reading
    from ..labels import LabelSet
    from ..model.transformer import Transformer

json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
force_option = click.option(
    "--force", is_flag=True, help="Overwrite a file that hardmax did not write."
)
labels_of_option = click.option(
    "--labels-of",
    metavar="MODEL",
    help="Take the label sets that MODEL remembers instead of those of the data.",
)


def label_sets_of(path: str | None) -> Mapping[str, LabelSet] | None:
    """The label sets that the model file of --labels-of remembers; None without the option."""
    if path is None:
        return None
    from ..formats.model_file import label_sets
    from ..model.transformer import Transformer

    found = label_sets(Transformer.load(path), lifted=False)
    if not found:
        raise InputError(f"{path}: the model remembers no label sets")
    return found


def load_for(
    model: Transformer, path: str, labels_of: str | None = None, name: str | None = None
) -> Dataset:
    """Read a data set the way the model's was read.

    ``name`` is the model's file, given where its label sets matter: the user is told where
    they differ from the data's default ones.
    """
    from ..formats.data import load_for as load

    data = load(model, path, sets=label_sets_of(labels_of))
    if name is not None and not data.has_sets:
        _compare_sets(model, name, path, data)
    say_sets(data, path, labels_of)
    return data


def say_sets(data: Dataset, path: str, labels_of: str | None) -> None:
    """Say that the label sets come from the file beside a CSV file."""
    if "sets" in data.source and labels_of is None:
        click.echo(f"note: {path} has the label sets of {data.source['sets']}", err=True)


def load_labelled(
    path: str,
    numbers: str,
    reading: Reading,
    sets: Mapping[str, LabelSet] | None,
    outputs: bool = False,
) -> Dataset:
    """Read a data set in which every sequence needs its label, or with ``outputs`` these."""
    from ..formats.data import load

    data = load(path, numbers=numbers, reading=reading, sets=sets)
    need_labels(data, path, outputs)
    return data


def need_labels(data: Dataset, path: str, outputs: bool = False) -> None:
    """Stop, naming the file, where a sequence has no label; with ``outputs`` these will do."""
    if outputs and data.given_outputs is not None:
        return
    try:
        data.need_labels()
    except InputError as problem:
        raise InputError(f"{path}: {problem}") from None


def refuse_certificate(data: Dataset, path: str, certificate: str | None) -> None:
    """A certificate speaks of one data file: refuse it where this can't be checked alone."""
    if certificate is None:
        return
    if "sets" in data.source:
        raise InputError(
            f"--certificate: its data file must hold the label sets, which {path} does not; in "
            f"Python, hardmax.load({path!r}, sets=...).save('data.json') writes one that does"
        )
    if data.source.get("sha256") is None:
        raise InputError(
            f"--certificate: the checker reads JSON, npz and CSV, and {path} is none of them; in "
            f"Python, hardmax.load({path!r}).save('data.json') writes one"
        )


def _compare_sets(model: Transformer, name: str, path: str, data: Dataset) -> None:
    """Say so where the model remembers other label sets than the default points of the data."""
    from ..formats.model_file import label_sets

    remembered = label_sets(model)
    wrong = next((label for label in data.sets if remembered.get(label) != data.sets[label]), None)
    if not remembered or wrong is None:
        return
    there = label_sets(model, lifted=False)
    argmax = data.reading.label_sets == "argmax"
    kind = "sets of argmax" if argmax else "default points"
    here, known = (_told(wrong, sets, argmax) for sets in (data.given_sets, there))
    click.echo(
        f"note: {path} has no label sets, so its {plural(len(data.sets), 'label')} got the "
        f"{kind}; {name} remembers others (label {wrong!r}: here {here}, there "
        f"{known}). To judge by the model's sets, add: --labels-of {name}",
        err=True,
    )


def _told(label: str, sets: Mapping[str, LabelSet], argmax: bool) -> str:
    """A label's set in few words: for argmax which coordinate is to be the largest."""
    if label not in sets:
        return "has no set"
    if argmax:
        return f"coordinate {[*sets].index(label) + 1} of {len(sets)}"
    return json.dumps(sets[label].to_json(), ensure_ascii=False)


@contextmanager
def report_to(*outputs: str | None) -> Iterator[None]:
    """Send what is printed to stderr where stdout ("-") takes a file."""
    if "-" in outputs:
        with redirect_stdout(sys.stderr):
            yield
    else:
        yield


def refuse_terminal(output: str | None) -> None:
    """Refuse to write a binary file to a terminal."""
    if output == "-" and sys.stdout.isatty():
        raise InputError("a model is not text: send -o - into a pipe, or name a file")


@contextmanager
def progress(title: str, total: int | None) -> Iterator[Callable[[int], None]]:
    """A progress bar on stderr where that is a terminal; call what it yields with the work done."""
    if not sys.stderr.isatty():
        yield lambda done: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    console = Console(stderr=True)
    columns = (
        TextColumn("{task.description}"), BarColumn(max(4, min(40, console.width - 40))),
        TextColumn("{task.fields[counted]}"), TimeElapsedColumn(),
    )  # fmt: skip
    with Progress(*columns, console=console, transient=True) as bar:
        # moves to and fro until something is done
        task = bar.add_task(title, total=None, counted="")

        def step(done: int) -> None:
            bar.update(task, completed=done, total=total, counted=f"{done} of {total}")

        yield step


@contextmanager
def stages(title: str) -> Iterator[None]:
    """On a terminal, say what a construction does: its stage, the points left, the time."""
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    from ..stages import listening

    columns = SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn()
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(title, total=None)

        def told(stage: str, left: int | None) -> None:
            rest = "" if left is None else f", {plural(left, 'point')} left"
            bar.update(task, description=f"{title}: {stage}{rest}")

        with listening(told):
            yield


def print_json(value: dict[str, Any]) -> None:
    """Print one JSON object on stdout."""
    click.echo(json.dumps(value, ensure_ascii=False))


def seconds(time: float) -> str:
    """A duration in words."""
    return f"{time:.2f} s" if time < 100 else f"{time:.0f} s"
