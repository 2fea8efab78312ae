"""All figures by name, each from its data file; nothing is placed by hand after the input."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from importlib import import_module
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from ...errors import InputError
from ...formats.whole_files import bytes_writer, write_whole

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ...dataset import Dataset

# figure -> module and function that draw it from the data file of the figure's name
FIGURES = {
    "figure1": ("figure1", "draw"),
    "figure2": ("figure2", "draw"),
    "figure3": ("cases", "draw_case_1"),
    "figure4": ("cases", "draw_case_2"),
    "figure5": ("cases", "draw_case_3"),
}
# figures that make their own data
MORE = {
    "depth": ("depth", "draw"),
    "side": ("side", "draw"),
    "radii": ("radii", "draw"),
    "waves": ("waves", "draw"),
    "softmax": ("softmax", "draw"),
}
FORMATS = ("pdf", "svg", "png")


def source(name: str) -> bytes:
    """The data file of a figure, as it ships with the package."""
    return files(__package__).joinpath("data", f"{name}.json").read_bytes()


def dataset(name: str) -> Dataset:
    """The data of a figure.

    >>> dataset("figure2")
    <Dataset: 3 sequences, 9 tokens, dimension 2, 2 labels>
    """
    from ...formats.data.json_file import read

    return read(source(name), "exact", {})


def draw(name: str) -> Figure:
    """Draw one figure from an exact run on its data."""
    if name not in FIGURES and name not in MORE:
        raise InputError(f"there is no figure {name!r}; there are {', '.join([*FIGURES, *MORE])}")
    from .. import style

    module, function = {**FIGURES, **MORE}[name]
    make = getattr(import_module(f".{module}", __package__), function)
    with style.look():
        figure: Figure = make(dataset(name)) if name in FIGURES else make()
    return figure


def write_all(folder: Path, formats: Sequence[str]) -> Iterator[Path]:
    """Write every figure and, under ``data``, what it is drawn from; yield the paths."""
    from ..style import write

    try:
        (folder / "data").mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        raise InputError(f"{folder}: can't be made: {problem.strerror or problem}") from None
    for name in (*FIGURES, *MORE):
        if name in FIGURES:
            copy = folder / "data" / f"{name}.json"
            write_whole(copy, bytes_writer(source(name)))
            yield copy
        figure = draw(name)
        for form in formats:
            target = folder / f"{name}.{form}"
            write_whole(target, partial(write, figure, form))
            yield target
