"""``hardmax compare``: built and trained models on the same data."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..words import plural
from .common import json_option, print_json, progress
from .output.table import table

if TYPE_CHECKING:
    from ..compare import Row


@click.command(short_help="Built and trained models on the same data, side by side.")
@click.argument("data", metavar="DATA")
@click.option("--test", metavar="DATA2", help="Also count right predictions on other data.")
@click.option("--figure", metavar="FILE", help="Draw the accuracies (pdf, svg, png).")
@json_option
def compare(data: str, test: str | None, figure: str | None, as_json: bool) -> int:
    """Fit each model to DATA; print accuracies, sizes, time, and what is certified about each.

    Built models are proved to classify DATA. Convex attention heads carry a proved interval
    around the least training objective over all numbers of heads. LDA and 1-NN see the means
    and deviations of the tokens; nothing is certified about them. A row whose library is not
    installed names the extra that brings it.

    \b
    Example:
      hardmax compare examples/vowels.json.gz --test examples/vowels_test.json.gz
    """
    from ..compare import compare as fit_all
    from ..compare import contenders
    from ..errors import InputError
    from ..formats.data import load
    from ..formats.whole_files import keep_apart, write_whole

    keep_apart(inputs=(data, test), outputs=(figure,))
    form = Path(figure).suffix[1:] if figure else ""
    if figure and form not in ("pdf", "svg", "png"):
        raise InputError(f"{figure}: the name must end in .pdf, .svg or .png")
    loaded = load(data)
    loaded.need_labels()
    tested = load(test) if test else None
    if tested is not None:
        tested.need_labels()
        if tested.dimension != loaded.dimension:
            raise InputError(
                f"{test}: the data set has dimension {tested.dimension}, not {loaded.dimension}"
            )
    chosen = contenders()
    with progress("fitting", len(chosen)) as step:
        rows = fit_all(loaded, tested, chosen, step)
    if figure:
        from ..draw.compared import draw
        from ..draw.style import look, write

        with look():
            drawn = draw(rows)
        write_whole(figure, lambda path: write(drawn, form, path))
    if as_json:
        print_json({"sequences": len(loaded), "rows": [row.to_json() for row in rows]})
        return 0
    title = f"{data}: {plural(len(loaded), 'sequence')}, dimension {loaded.dimension}"
    head = ("model", "train", "test", "parameters", "bits", "time", "certified")
    table(title, [_cells(row) for row in rows], head)
    return 0


def _cells(row: Row) -> tuple[str, ...]:
    if row.missing:
        return (row.name, "", "", "", "", "", row.missing)
    return (
        row.name,
        _percent(row.train),
        _percent(row.test),
        str(row.parameters),
        "" if row.bits is None else str(row.bits),
        f"{row.seconds:.2f} s",
        row.certified or "nothing",
    )


def _percent(part: float | None) -> str:
    return "" if part is None else f"{100 * part:.1f} %"
