"""What ``hardmax build`` says of a new model: that it is proved, notes, the score."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from ...errors import ConstructionError
from ...exact.numbers import exact_text
from ...words import plural
from ..common import print_json

if TYPE_CHECKING:
    from ...certify.certificate import Certificate
    from ...dataset import ContradictionError as Contradiction
    from ...dataset import Dataset
    from ...model.transformer import Transformer


def need_proof(found: Certificate, promised: bool) -> None:
    """Raise ConstructionError where a new model is refuted, or breaks bounds that are promised."""
    if not found.proved:
        raise ConstructionError(f"the model was refuted: {found.witnesses[0].sentence()}")
    if found.bounds.status == "exceeded" and promised:
        raise ConstructionError("the model exceeds the bounds that its strategy promises")


def notes_of(model: Transformer) -> list[tuple[str, str]]:
    """What a strategy says of its choices."""
    notes = []
    if why := model.meta.get("why"):
        notes.append(("chosen", str(why)))
    error = model.meta.get("learned", {}).get("cross_validated_error")
    if error is not None:
        notes.append(("learned", f"{100 * (1 - error):.1f} % right in cross-validation on DATA"))
    if cases := model.meta.get("cases"):
        notes.append(("Lemma 3.5", ", ".join(f"Case {k}: {n}" for k, n in cases.items())))
    return notes


def score(
    model: Transformer, data: Dataset, tested: Dataset | None
) -> tuple[list[tuple[str, str]], dict[str, Any]]:
    """How many predictions on other data are right."""
    if tested is None:
        return [], {}
    from ...certify.predict import predicted

    labels = tested.need_labels()
    outputs = model.outputs(tested)
    right = sum(
        predicted(output, data.sets) == label for output, label in zip(outputs, labels, strict=True)
    )
    count = len(labels)
    share = f"({100 * right / count:.1f} %)"
    note = ("test", f"{right} of {plural(count, 'sequence')} right {share}")
    return [note], {"test": {"right": right, "sequences": count}}


def contradiction(found: Contradiction, as_json: bool) -> int:
    """Print the two sequences that no model tells apart."""
    tied = found.tied
    if as_json:
        print_json(
            {
                "verdict": "refuted",
                "contradiction": {
                    "sequences": [tied.first, tied.second],
                    "labels": list(tied.labels),
                    "measure": [
                        {"token": [exact_text(x) for x in z], "mass": str(mass)}
                        for z, mass in tied.measure
                    ],
                    "positional_resolves": tied.ordered,
                },
            }
        )
    else:
        click.echo(f"refuted: {found}")
    return found.exit_code
