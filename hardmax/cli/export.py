"""``hardmax export``: a model in the form of another program."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ..words import plural
from .common import force_option, json_option, load_for, print_json, report_to

if TYPE_CHECKING:
    from ..dataset import Dataset
    from ..model.transformer import Transformer


@click.command(short_help="Write a model for another program: an SMT solver, a proof assistant.")
@click.argument("model", metavar="MODEL")
@click.argument("data", metavar="[DATA]", required=False)
@click.option(
    "--to", "target", type=click.Choice(["smt2", "rocq"]), required=True, help="What to write."
)
@click.option("-o", "--output", metavar="FILE", required=True, help="File to write.")
@click.option(
    "--sequence", "chosen", metavar="J", multiple=True, type=click.IntRange(1),
    help="A sequence of DATA, from 1; may be repeated. Default: all.",
)  # fmt: skip
@click.option(
    "--radius", default="0", metavar="R", show_default=True,
    help="Each coordinate of each token may move by R (uniform attention only).",
)  # fmt: skip
@click.option(
    "--claim", type=click.Choice(["label", "prediction"]), default="label", show_default=True,
    help="Outputs lie in the sets of their labels, or are nearest to their points.",
)  # fmt: skip
@force_option
@json_option
def export(
    model: str,
    data: str | None,
    target: str,
    output: str,
    chosen: tuple[int, ...],
    radius: str,
    claim: str,
    force: bool,
    as_json: bool,
) -> int:
    """Write MODEL for another program.

    smt2: a script in linear real arithmetic (QF_LRA) for solvers such as z3 and cvc5. Its
    variables are the tokens of sequences of DATA, each within R of its value; it asserts
    that some output misses its label. So `unsat` means that the labels hold.

    rocq: a file that coqc accepts exactly if the output of every sequence of DATA lies in its
    label set; it uses the checker in proofs/rocq, which is proved sound there.

    \b
    Examples:
      hardmax export model.npz data.json --to smt2 --sequence 1 -o first.smt2
      hardmax export model.npz data.json --to rocq -o proved.v
    """
    from ..errors import InputError
    from ..formats.contents import check_overwrite
    from ..formats.files import keep_apart, write_text
    from ..model.transformer import Transformer

    if data is None:
        raise InputError(f"--to {target} needs DATA: the sequences that it speaks of")
    keep_apart(inputs=(model, data), outputs=(output,))
    check_overwrite(output, target, force)
    loaded = Transformer.load(model)
    sequences = load_for(loaded, data, name=model)
    places = [j - 1 for j in dict.fromkeys(chosen)] or list(range(len(sequences)))
    if max(places) >= len(sequences):
        raise InputError(
            f"{data}: there is no sequence {max(places) + 1}, only {len(sequences)} of them"
        )
    script, meaning = _script(target, loaded, sequences, places, radius, claim)
    write_text(output, script)
    with report_to(output):
        if as_json:
            print_json({"file": output, "to": target, "sequences": len(places)})
        else:
            click.echo(f"{output}: {plural(len(places), 'sequence')}; {meaning}")
    return 0


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
    return rocq_script(model, data, places), "coqc accepts it exactly if the labels hold"
