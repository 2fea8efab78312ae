"""``hardmax report``: a page, or an animation, that steps through a model."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import click

from ..errors import InputError
from ..words import plural
from .common import force_option, load_for, need_labels, progress

_KINDS = (".html", ".gif", ".mp4")


@click.command(short_help="Write an interactive page or an animation of a run.")
@click.argument("model", metavar="MODEL")
@click.argument("data", metavar="DATA")
@click.option(
    "-o", "--output", metavar="FILE", required=True,
    help="report.html for the page, run.gif or run.mp4 for an animation.",
)  # fmt: skip
@force_option
def report(model: str, data: str, output: str, force: bool) -> int:
    """Show how the tokens of DATA move through MODEL, block by block.

    The page is one file that works offline: a slider over the layers, exact values under the
    pointer, each block's hyperplane, direction and leaders, the label sets, the verdict and
    the bounds. Of large data a sample is shown, and the page says so; the verdict it states
    is about all sequences. An .mp4 needs ffmpeg.

    \b
    Examples:
      hardmax report model.npz examples/vowels.json.gz -o report.html
      hardmax report model.npz data.json -o run.gif
    """
    from ..certify import certify
    from ..draw.film import record
    from ..formats.contents import check_overwrite
    from ..formats.whole_files import keep_apart, write_text, write_whole
    from ..model.transformer import Transformer

    target = Path(output)
    kind = target.suffix.lower()
    if kind not in _KINDS:
        raise InputError(f"{output}: the name must end in .html, .gif or .mp4")
    keep_apart(inputs=(model, data), outputs=(output,))
    check_overwrite(output, kind, force)
    loaded = Transformer.load(model)
    sequences = load_for(loaded, data, name=model)
    need_labels(sequences, data)
    with progress("running", len(loaded)) as step:
        film = record(loaded, sequences, step)
    if kind == ".html":
        from ..draw.report import page

        with progress("verifying", len(loaded)) as step:
            certificate = certify(loaded, sequences, step)
        text = page(
            loaded,
            sequences,
            film,
            certificate,
            f"How {Path(model).name} classifies {Path(data).name}",
        )
        write_text(target, text)
        click.echo(f"{output}: {plural(len(film.frames), 'moment')}, {certificate.verdict}")
        return 0
    from ..draw.animation import animate

    write_whole(target, partial(animate, sequences, film, kind[1:]))
    click.echo(f"{output}: {plural(len(film.frames), 'moment')}")
    return 0
