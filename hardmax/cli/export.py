"""``hardmax export``: a model in the form of another program."""

from __future__ import annotations

from pathlib import Path

import click

from .common import json_option, load_for, plural, print_json


@click.command(short_help="Write a model for another program: an SMT solver.")
@click.argument("model", metavar="MODEL")
@click.argument("data", metavar="[DATA]", required=False)
@click.option("--to", "target", type=click.Choice(["smt2"]), required=True, help="What to write.")
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
@json_option
def export(
    model: str,
    data: str | None,
    target: str,
    output: str,
    chosen: tuple[int, ...],
    radius: str,
    claim: str,
    as_json: bool,
) -> int:
    """Write MODEL for another program.

    smt2: a script in linear real arithmetic (QF_LRA) for solvers such as z3 and cvc5. Its
    variables are the tokens of sequences of DATA, each within R of its value; it asserts
    that some output misses its label. So `unsat` means that the labels hold.

    \b
    Example:
      hardmax export model.npz data.json --to smt2 --sequence 1 -o first.smt2
    """
    from ..errors import InputError
    from ..formats.files import keep_apart, write_whole
    from ..formats.smt2 import smt2_script
    from ..model.transformer import Transformer
    from ..numbers import parse_number

    if data is None:
        raise InputError("--to smt2 needs DATA: the sequences that the script speaks of")
    keep_apart(inputs=(model, data), outputs=(output,))
    loaded = Transformer.load(model)
    sequences = load_for(loaded, data)
    places = [j - 1 for j in dict.fromkeys(chosen)] if chosen else None
    script = smt2_script(loaded, sequences, places, parse_number(radius), claim) + "\n"

    def write(temporary: Path) -> None:
        temporary.write_text(script, encoding="ascii")

    write_whole(output, write)
    count = len(places) if places is not None else len(sequences)
    definitions = script.count("(define-fun")
    if as_json:
        print_json({"file": output, "sequences": count, "definitions": definitions})
    else:
        click.echo(
            f"{output}: {plural(count, 'sequence')}, {plural(definitions, 'definition')}; "
            f"unsat means that the {claim} holds"
        )
    return 0
