"""``hardmax export``: a model in the form of another program."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from ..words import plural
from .common import force_option, json_option, load_for, print_json, report_to

if TYPE_CHECKING:
    from ..dataset import Dataset
    from ..model.transformer import Transformer

SCRIPTS = ("smt2", "rocq")
FLOATS = ("torch", "safetensors", "onnx")


@click.command(short_help="Write a model for another program: PyTorch, ONNX, solvers, Rocq.")
@click.argument("model", metavar="MODEL")
@click.argument("data", metavar="[DATA]", required=False)
@click.option(
    "--to", "target", type=click.Choice([*FLOATS, *SCRIPTS, "vnnlib"]), required=True,
    help="What to write.",
)  # fmt: skip
@click.option(
    "-o", "--output", metavar="FILE", required=True, help="File (vnnlib: folder) to write."
)
@click.option(
    "--dtype", type=click.Choice(["float64", "float32"]),
    help="Floats of torch, safetensors, onnx (default: float64) and vnnlib (float32).",
)  # fmt: skip
@click.option(
    "--sequence", "chosen", metavar="J", multiple=True, type=click.IntRange(1),
    help="smt2, rocq, vnnlib: a sequence of DATA, from 1; may be repeated. Default: all.",
)  # fmt: skip
@click.option(
    "--radius", default="0", metavar="R", show_default=True,
    help="smt2: each coordinate of each token may move by R (uniform attention only).",
)  # fmt: skip
@click.option(
    "--claim", type=click.Choice(["label", "prediction"]), default="label", show_default=True,
    help="smt2: outputs lie in the sets of their labels, or are nearest to their points.",
)  # fmt: skip
@click.option(
    "--gap", default="1/512", metavar="G", show_default=True,
    help="vnnlib: relative distance of the instances' radii from the robust radius.",
)  # fmt: skip
@force_option
@json_option
def export(
    model: str,
    data: str | None,
    target: str,
    output: str,
    dtype: str | None,
    chosen: tuple[int, ...],
    radius: str,
    claim: str,
    gap: str,
    force: bool,
    as_json: bool,
) -> int:
    """Write MODEL for another program.

    torch, safetensors: the parameters as floats, the state_dict of the module that
    `model.to_torch()` gives, in one safetensors file. onnx: a graph for batches of ragged
    sequences (inputs `tokens` and `mask`, outputs `outputs` and `labels`). Floats are rounded
    parameters; with DATA the rounded model is judged exactly, and the verdict stands in the
    metadata of the file. The exit code is 1 where it predicts a label of DATA wrong.

    smt2: a script in linear real arithmetic (QF_LRA) for solvers such as z3 and cvc5. Its
    variables are the tokens of sequences of DATA, each within R of its value; it asserts
    that some output misses its label. So `unsat` means that the labels hold.

    rocq: a file that coqc accepts exactly if the output of every sequence of DATA lies in its
    label set, the label sets are disjoint, and N, the blocks and the parameters are as it says,
    with their bounds where they hold; it uses the checker in proofs/rocq, proved sound there.

    vnnlib: a folder in the layout of VNN-COMP, for verifiers of neural networks, with the
    answers: for each sequence of DATA the label holds within a radius just below the robust
    radius, and not within one just above (uniform attention only).

    \b
    Examples:
      hardmax export model.npz data.json --to onnx -o model.onnx
      hardmax export model.npz data.json --to smt2 --sequence 1 -o first.smt2
      hardmax export model.npz data.json --to rocq -o proved.v
      hardmax export model.npz data.json --to vnnlib -o instances
    """
    from ..errors import InputError
    from ..formats.contents import check_overwrite
    from ..formats.whole_files import keep_apart, write_text
    from ..model.transformer import Transformer

    keep_apart(inputs=(model, data), outputs=(output,))
    if gap != "1/512" and target != "vnnlib":
        raise InputError("--gap belongs to --to vnnlib")
    if target in FLOATS:
        if chosen or radius != "0" or claim != "label":
            raise InputError("--sequence, --radius and --claim belong to --to smt2 and rocq")
        return _floats(target, model, data, output, dtype or "float64", force, as_json)
    if data is None:
        raise InputError(f"--to {target} needs DATA: the sequences that it speaks of")
    if dtype is not None and target != "vnnlib":
        raise InputError(
            f"--dtype belongs to --to {', '.join(FLOATS)} and vnnlib; {target} is exact"
        )
    if target != "vnnlib":
        check_overwrite(output, target, force)
    loaded = Transformer.load(model)
    sequences = load_for(loaded, data, name=model)
    places = [j - 1 for j in dict.fromkeys(chosen)] or list(range(len(sequences)))
    if max(places) >= len(sequences):
        raise InputError(
            f"{data}: there is no sequence {max(places) + 1}, only {len(sequences)} of them"
        )
    if target == "vnnlib":
        if radius != "0" or claim != "label":
            raise InputError("--radius and --claim belong to --to smt2")
        return _folder(loaded, sequences, places, output, dtype or "float32", gap, as_json)
    script, meaning = _script(target, loaded, sequences, places, radius, claim)
    write_text(output, script)
    with report_to(output):
        if as_json:
            print_json({"file": output, "to": target, "sequences": len(places)})
        else:
            click.echo(f"{output}: {plural(len(places), 'sequence')}; {meaning}")
    return 0


def _folder(
    model: Transformer, data: Dataset, places: list[int], output: str, dtype: str, gap: str,
    as_json: bool,
) -> int:  # fmt: skip
    """Write instances for verifiers, with their answers."""
    from ..errors import InputError
    from ..exact.numbers import parse_number
    from ..exchange.folder import check_folder, write_folder
    from ..exchange.vnnlib import HEADER, LAYOUT, benchmark

    mark = "ground_truth.csv"
    if output == "-":
        raise InputError("--to vnnlib writes a folder, which standard output can't take")
    check_folder(output, mark, ",".join(HEADER).encode(), LAYOUT)
    made = benchmark(model, data, places, dtype, parse_number(gap))
    write_folder(output, made.files, mark)
    if as_json:
        told = {**made.counts, "exact": made.exact, "skipped": len(made.skipped)}
        print_json({"file": output, "to": "vnnlib", **told})
        return 0
    click.echo(
        f"{output}: {made.counts['sat']} instances are sat, {made.counts['unsat']} unsat; the "
        f"robust radius is known exactly for {plural(made.exact, 'sequence')}"
    )
    if made.skipped:
        first = data.name(made.skipped[0])
        click.echo(
            f"  {plural(len(made.skipped), 'sequence')} left out: rounded to {dtype}, the model "
            f"misses the label ({first} first)"
        )
    return 0


def _floats(
    target: str, model: str, data: str | None, output: str, dtype: str, force: bool, as_json: bool
) -> int:
    """Write the rounded model; the exit code says whether it predicts the labels of the data."""
    from ..exchange.files import write_onnx, write_safetensors
    from ..exchange.rounded import judged
    from ..formats.contents import check_overwrite
    from ..model.transformer import Transformer
    from .common import need_labels, refuse_terminal

    refuse_terminal(output)
    check_overwrite(output, "onnx" if target == "onnx" else "safetensors", force)
    loaded = Transformer.load(model)
    sequences = None
    if data is not None:
        sequences = load_for(loaded, data)
        need_labels(sequences, data)
    found, facts = judged(loaded, dtype, sequences)
    write = write_onnx if target == "onnx" else write_safetensors
    write(found, facts, output)
    with report_to(output):
        if as_json:
            hidden = ("meta", "stages")
            kept: dict[str, Any] = {k: x for k, x in facts.items() if k not in hidden}
            print_json({"file": output, "to": target, **kept})
        else:
            _show(output, facts)
    return int(facts["prediction"] == "refuted")


def _show(output: str, facts: dict[str, str]) -> None:
    rounded = f"{facts['parameters_rounded']} of {facts['parameters']} parameters rounded"
    click.echo(f"{output}: {facts['dtype']}, {rounded}; it takes {facts['expects']}")
    if "sequences" not in facts:
        click.echo("  not checked: give DATA to have the rounded model judged exactly")
        return
    right = int(facts["sequences"]) - int(facts["wrong"])
    click.echo(f"  label sets   {facts['verdict']}, for the rounded parameters, exactly")
    click.echo(
        f"  predictions  {facts['prediction']}: {right} of {facts['sequences']} labels"
        + (f"; {facts['witness']} is wrong" if "witness" in facts else "")
    )
    click.echo(f"  executors    {facts['executor']}")


def _script(
    target: str, model: Transformer, data: Dataset, places: list[int], radius: str, claim: str
) -> tuple[str, str]:
    """The text to write, and what the other program's answer means."""
    from ..errors import InputError
    from ..exact.numbers import parse_number

    if target == "smt2":
        from ..formats.smt2 import smt2_script

        script = smt2_script(model, data, places, parse_number(radius), claim) + "\n"
        return script, f"unsat means that the {claim} holds"
    from ..formats.rocq import rocq_script

    if parse_number(radius) or claim != "label":
        raise InputError("--radius and --claim belong to --to smt2")
    return rocq_script(model, data, places), "coqc accepts it exactly if it is proved"
