"""``hardmax run``: outputs and predicted labels."""

from __future__ import annotations

import json

import click

from ..words import plural
from .common import force_option, labels_of_option, load_for
from .engine import asked, workers_options
from .output.results import worked_out

BACKENDS = ("numpy", "cupy", "torch", "jax")


@click.command(short_help="Run a model: outputs and predicted labels.")
@click.argument("model", metavar="MODEL")
@click.argument("data", metavar="DATA")
@click.option("-o", "--output", metavar="OUT", help="Write the results to OUT as JSON.")
@click.option("--exact", is_flag=True, help="Run in exact rational arithmetic.")
@click.option("--trace", is_flag=True, help="Also give the tokens after each block.")
@click.option(
    "--backend",
    type=click.Choice(BACKENDS),
    default="numpy",
    show_default=True,
    help="Library that runs the float64 executor; all but numpy are optional extras.",
)
@labels_of_option
@workers_options
@force_option
def run(
    model: str, data: str, output: str | None, exact: bool, trace: bool, backend: str,
    labels_of: str | None, engine: str, workers: int | None, scheduler: str | None, force: bool,
) -> int:  # fmt: skip
    """Run MODEL on the sequences of DATA; labels are not needed.

    Prints one line a sequence: its name, the predicted label, the output. The prediction is
    the label whose set holds the output, else the label of the nearest set; the sets are
    those of DATA, or of MODEL where DATA has none. Runs in float64 unless --exact is given;
    then numbers are written as integers or "p/q".

    Where DATA asks for outputs, the tokens that have one are printed, each with its label, in
    place of the output.

    DATA may be a folder of .npz or Parquet files, or a quoted glob (docs/scale-out.md): the results
    are those of one file, in the order of the files.

    OUT is a JSON object; its "results" hold one object a sequence: its number, id, label,
    output and, with --trace, the tokens before the first block and after each.

    \b
    Examples:
      hardmax run model.npz data.json
      hardmax run model.npz data.json --exact --trace -o trace.json
    """
    from ..exchange.read import read_transformer
    from ..formats.contents import check_overwrite
    from ..formats.model_file import label_sets
    from ..formats.whole_files import keep_apart, write_text

    same = labels_of == model
    keep_apart(inputs=(model, data, None if same else labels_of), outputs=(output,))
    check_overwrite(output, "results", force)
    loaded = read_transformer(model)
    how = asked(data, engine, workers, scheduler, False)
    if how is not None:
        from .shards import run_shards

        return run_shards(loaded, model, data, how, output, exact, trace, backend, labels_of)
    sequences = load_for(loaded, data, None if same else labels_of)
    own = sequences.has_sets and not same
    sets = sequences.sets if own else label_sets(loaded) or sequences.sets
    entries, lines = worked_out(loaded, sequences, sets, exact, trace, backend)
    if output is not None:
        document = {"model": model, "exact": exact, "results": entries}
        content = json.dumps(document, ensure_ascii=False, indent=1) + "\n"
        write_text(output, content)
        if output != "-":
            click.echo(f"{plural(len(entries), 'result')} written to {output}")
        return 0
    for line in lines:
        click.echo(line)
    return 0
