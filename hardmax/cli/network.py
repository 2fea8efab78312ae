"""Verdicts on networks: what ``hardmax verify`` does with a file of format hardmax-network/1."""

from __future__ import annotations

from time import perf_counter
from typing import TYPE_CHECKING

import click

from ..errors import InputError
from .common import (
    label_sets_of,
    need_labels,
    print_json,
    progress,
    refuse_certificate,
    report_to,
    say_sets,
    seconds,
)
from .table import table

if TYPE_CHECKING:
    from ..network.certificate import NetworkCertificate

EXIT = {"proved": 0, "refuted": 1, "undecided": 3}


def is_network(path: str) -> bool:
    """Whether a file holds a network; false where it can't be read: its reader says why."""
    from ..formats.contents import kind_of
    from ..formats.files import STANDARD, read_bytes

    if path == STANDARD:
        return False
    try:
        return kind_of(read_bytes(path))[0] == "network"
    except InputError:
        return False


def verify_network(
    path: str,
    data: str,
    *,
    executor: str | None,
    witnesses: int,
    certificate: str | None,
    labels_of: str | None,
    as_json: bool,
    refused: dict[str, bool],
) -> int:
    """Judge a network, print the verdict, return the exit code."""
    from .. import load_for
    from ..network.judge import certify_network
    from ..network.network import Network

    for option, given in refused.items():
        if given:
            raise InputError(f"{option} is about models that hardmax built, not about networks")
    start = perf_counter()
    network = Network.load(path)
    sequences = load_for(network, data, sets=label_sets_of(labels_of))
    say_sets(sequences, data, labels_of)
    need_labels(sequences, data)
    refuse_certificate(sequences, data, certificate)
    times = {"load": perf_counter() - start}
    start = perf_counter()
    with progress("verifying", len(sequences)) as step:
        found = certify_network(network, sequences, step, executor=executor, witnesses=witnesses)
    times["verify"] = perf_counter() - start
    if certificate is not None and found.proved:
        found.save(certificate)
    with report_to(certificate):
        show_network(path, found, times, as_json)
    return EXIT[found.verdict]


def show_network(
    title: str,
    found: NetworkCertificate,
    times: dict[str, float],
    as_json: bool,
    notes: list[tuple[str, str]] | None = None,
    **more: object,
) -> None:
    """Print a verdict on a network, for people or for programs."""
    if as_json:
        wrong = [
            {"sequence": x.sequence, "name": x.name, "label": x.label, "class": x.answer}
            for x in found.witnesses
        ]
        rounded = {name: round(t, 3) for name, t in times.items()}
        print_json({**found.to_json(), "witnesses": wrong, "seconds": rounded, **more})
        return
    rows = [*found.rows(), *(notes or [])]
    rows.append(("time", ", ".join(f"{name} {seconds(t)}" for name, t in times.items())))
    rows.append(("verdict", found.verdict))
    table(title, rows)
    for witness in found.witnesses:
        click.echo(f"refuted: {witness.sentence()}")
    if found.verdict == "undecided":
        first = found.undecided[0] + 1
        click.echo(
            f"undecided: sequence {first}: its two largest outputs, or its output and the boundary "
            f"of its set, can't be told apart with 2048 bits"
        )
