"""``hardmax figures``: the paper's figures, drawn from exact runs."""

from __future__ import annotations

from pathlib import Path

import click

from ..errors import InputError
from ..words import plural
from .common import progress


@click.command(short_help="Draw the paper's Figures 1 to 5 from exact runs.")
@click.option(
    "-o", "--output", metavar="DIR", default="figures", show_default=True,
    help="Folder to write to; made if it is missing.",
)  # fmt: skip
@click.option(
    "--format", "formats", type=click.Choice(["pdf", "svg", "png"]), multiple=True,
    default=("pdf",), show_default=True, help="Give it several times for several formats.",
)  # fmt: skip
def figures(output: str, formats: tuple[str, ...]) -> int:
    """Draw Figures 1 to 5 of the paper, each from an exact run on its data file.

    Writes figure1.pdf, …, figure5.pdf into DIR, and what each is drawn from into DIR/data;
    then five figures more: depth (blocks against sequences), waves (the folds of strategy fold),
    side (half-space, tent and clamp), radii (robust radii by strategy) and softmax (the softmax
    version of a model). Fonts are embedded; the same versions write the same bytes.

    \b
    Examples:
      hardmax figures
      hardmax figures -o out --format svg --format png
    """
    from ..draw.figures import FIGURES, MORE, write_all

    if output == "-":
        raise InputError("-o -: figures are several files; name a folder")
    kinds = list(dict.fromkeys(formats))
    count = len(FIGURES) + len(MORE)
    with progress("drawing", len(FIGURES) + count * len(kinds)) as step:
        for done, _ in enumerate(write_all(Path(output), kinds), start=1):
            step(done)
    click.echo(f"{plural(count, 'figure')} as {', '.join(kinds)} in {output}")
    return 0
