"""``hardmax run``: outputs and predicted labels."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import isfinite
from typing import TYPE_CHECKING, Any

import click

from ..errors import ResourceLimitError
from ..exact.numbers import json_number, show_vector
from ..words import plural
from .common import force_option, labels_of_option, load_for
from .shards import asked, run_shards, workers_options

BACKENDS = ("numpy", "cupy", "torch", "jax")

if TYPE_CHECKING:
    from ..dataset import Dataset
    from ..labels import LabelSet
    from ..model.transformer import Transformer


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
    from ..formats.files import keep_apart, write_text
    from ..formats.model_file import label_sets

    same = labels_of == model
    keep_apart(inputs=(model, data, None if same else labels_of), outputs=(output,))
    check_overwrite(output, "results", force)
    loaded = read_transformer(model)
    how = asked(data, engine, workers, scheduler, False)
    if how is not None:
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


def worked_out(
    model: Transformer,
    data: Dataset,
    sets: Mapping[str, LabelSet],
    exact: bool,
    trace: bool,
    backend: str,
) -> tuple[list[dict[str, Any]], list[str]]:
    """The results of all sequences, as objects for a file and as lines for people."""
    from ..certify.predict import predicted

    asked, given = data.outputs, data.given_outputs or []
    results, traces = _results(model, data, exact, trace or asked is not None, backend)
    entries: list[dict[str, Any]] = []
    for j, result in enumerate(results):
        entry: dict[str, Any] = {"sequence": data.first + j + 1}
        if data.ids[j] is not None:
            entry["id"] = data.ids[j]
        if asked is not None and traces is not None:
            last = traces[j][-1][: int((asked.owner == j).sum())]
            if sets and all(isinstance(x, str) for each in given for x in each):
                entry["labels"] = [predicted(tuple(map(Fraction, z)), sets) for z in last]
            entry["outputs"] = [_numbers(z) for z in last]
        else:
            if sets:
                entry["label"] = predicted(tuple(Fraction(x) for x in result), sets)
            entry["output"] = _numbers(result)
        if trace and traces is not None:
            entry["trace"] = [[_numbers(z) for z in state] for state in traces[j]]
        entries.append(entry)
    lines: list[str] = []
    for j, (entry, result) in enumerate(zip(entries, results, strict=True)):
        if asked is not None and traces is not None:
            ends = traces[j][-1][: len(entry["outputs"])]
            labels = [f"{_printable(label)}  " for label in entry.get("labels", [])]
            lines.append(f"{data.name(j)}:")
            for i, (label, z) in enumerate(zip(labels or [""] * len(ends), ends, strict=True), 1):
                lines.append(f"  token {i}: {label}{_shown(z, exact)}")
        else:
            label = _printable(entry.get("label", "(no labels)"))
            lines.append(f"{data.name(j)}: {label}  {_shown(result, exact)}")
        for k, state in enumerate(entry.get("trace", [])):
            stage = model.stages[k - 1] if k else "input"
            lines.append(f"  {k:>4} {stage}: {json.dumps(state, ensure_ascii=False)}")
    return entries, lines


def _printable(label: str) -> str:
    return label if label.isprintable() else repr(label)


def _shown(vector: Sequence[Any], exact: bool) -> str:
    return show_vector(vector) if exact else "(" + ", ".join(f"{x:.6g}" for x in vector) + ")"


def _results(
    model: Transformer, data: Dataset, exact: bool, trace: bool, backend: str
) -> tuple[list[Sequence[Any]], list[list[Any]] | None]:
    """Outputs and, if asked for, the states of every sequence."""
    if exact:
        outputs: list[Sequence[Any]] = list(model.outputs(data))
        return outputs, [model.trace(Z) for Z in data.sequences] if trace else None
    from ..execute.backends import to_numpy
    from ..execute.floating import outputs as float_outputs

    states: list[list[Any]] = [[] for _ in range(len(data))]

    def keep(tokens: list[Any]) -> None:
        for history, state in zip(states, tokens, strict=True):
            history.append(state.tolist())

    found = to_numpy(float_outputs(model, data.arrays(), keep if trace else None, backend=backend))
    for j, row in enumerate(found):
        if not all(map(isfinite, row)):
            raise ResourceLimitError(
                f"{data.name(j)} leaves the range of float64 on its way; run with --exact"
            )
    return [tuple(row) for row in found.tolist()], states if trace else None


def _numbers(vector: Sequence[Any]) -> list[Any]:
    return [json_number(x) if isinstance(x, Fraction) else x for x in vector]
