"""The summary that build and verify print of a certificate."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from ...exact.numbers import exact_text
from ...words import plural
from ..common import print_json, seconds
from .table import table

if TYPE_CHECKING:
    from ...certify.certificate import Certificate

UNIFORM = "uniform (v = 0): softmax gives the same outputs, at every temperature"


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
            f"{plural(certificate.N, 'distinct sequence')}, "
            f"{plural(certificate.tokens, 'token')}, dimension {certificate.d}, "
            f"{plural(certificate.M, 'label')}",
        )
    ]
    rows += [(f"  {stage}", plural(count, "block")) for stage, count in certificate.stages.items()]
    # the paper's bounds are about one head without mask
    if certificate.masked or certificate.structure.heads > 1:
        most, limit = "", ""
    else:
        most = f" of at most 8N+4 = {bounds.block_bound}"
        limit = (
            f" of at most 54Nd = {bounds.parameter_bound}"
            if bounds.parameter_bound is not None
            else " (the paper's 54Nd needs d ≥ 2)"
        )
    if certificate.outputs is not None:
        rows[0] = (*rows[0][:-1], f"{rows[0][-1]}, {plural(certificate.outputs, 'output')}")
        most, limit = f"; 2·outputs − 1 = {2 * certificate.outputs - 1} are always enough", ""
    rows.append(("blocks", f"{bounds.blocks}{most}"))
    rows.append(("parameters", f"{bounds.parameters} non-zero{limit}"))
    rows.append(
        (
            "bits",
            f"{certificate.total_bits} in all, {certificate.max_bits} in the longest; "
            f"{more_than_float64(certificate.overrides)}",
        )
    )
    rows.append(("bounds", bounds.status))
    rows.append(("structure", certificate.structure.sentence()))
    if certificate.uniform:
        rows.append(("attention", UNIFORM))
    rows += notes or []
    rows.append(("time", ", ".join(f"{name} {seconds(t)}" for name, t in times.items())))
    rows.append(("verdict", certificate.verdict))
    table(title, rows)
    for witness in certificate.witnesses:
        click.echo(f"refuted: {witness.sentence()}")
    if certificate.more:
        click.echo("and maybe more: the search stopped here (--witnesses K goes on)")


def more_than_float64(count: int) -> str:
    """How many parameters have overrides, in words."""
    return f"{plural(count, 'parameter')} need{'s' if count == 1 else ''} more than float64"


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
                    **({} if witness.token is None else {"token": witness.token}),
                }
                for witness in certificate.witnesses
            ],
            "more_witnesses": certificate.more,
            "seconds": {name: round(t, 3) for name, t in times.items()},
            **more,
        }
    )
