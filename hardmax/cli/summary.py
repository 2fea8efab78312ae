"""The summary that build and verify print of a certificate."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from ..exact.numbers import exact_text
from .common import plural, print_json, seconds, table

if TYPE_CHECKING:
    from ..certify.verify import Certificate

_SHOWN = 3  # witnesses printed in full


def show(
    title: str,
    certificate: Certificate,
    times: dict[str, float],
    notes: list[tuple[str, str]] | None = None,
) -> None:
    """Print a certificate for people."""
    bounds = certificate.bounds
    rows = [
        (
            "data",
            f"{certificate.N} distinct sequences, {certificate.tokens} tokens, "
            f"dimension {certificate.d}, {certificate.M} labels",
        )
    ]
    rows += [(f"  {stage}", plural(count, "block")) for stage, count in certificate.stages.items()]
    rows.append(("blocks", f"{bounds.blocks} of at most 8N+4 = {bounds.block_bound}"))
    limit = (
        f" of at most 54Nd = {bounds.parameter_bound}"
        if bounds.parameter_bound is not None
        else " (the paper's 54Nd needs d ≥ 2)"
    )
    rows.append(("parameters", f"{bounds.parameters} non-zero{limit}"))
    rows.append(
        (
            "bits",
            f"{certificate.total_bits} in all, {certificate.max_bits} in the longest; "
            f"{certificate.overrides} parameters need more than float64",
        )
    )
    rows.append(("bounds", bounds.status))
    rows.append(("structure", certificate.structure.sentence()))
    rows += notes or []
    rows.append(("time", ", ".join(f"{name} {seconds(t)}" for name, t in times.items())))
    rows.append(("verdict", certificate.verdict))
    table(title, rows)
    for witness in certificate.witnesses[:_SHOWN]:
        click.echo(f"refuted: {witness.sentence()}")
    hidden = len(certificate.witnesses) - _SHOWN
    if hidden > 0:
        click.echo(f"refuted: {hidden} more sequences lie outside their label sets")


def show_json(certificate: Certificate, times: dict[str, float], **more: Any) -> None:
    """Print a certificate for programs."""
    print_json(
        {
            **certificate.to_json(),
            "witnesses": [
                {
                    "sequence": witness.sequence,
                    "name": witness.name,
                    "label": witness.label,
                    "output": [exact_text(x) for x in witness.output],
                }
                for witness in certificate.witnesses
            ],
            "seconds": {name: round(t, 3) for name, t in times.items()},
            **more,
        }
    )
