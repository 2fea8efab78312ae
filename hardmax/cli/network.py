"""Verdicts on networks: what ``hardmax verify`` does with a file of format hardmax-network/1."""

from __future__ import annotations

from time import perf_counter
from typing import TYPE_CHECKING

import click

from ..errors import ConstructionError, InputError, ResourceLimitError
from ..words import plural
from .common import (
    label_sets_of,
    need_labels,
    print_json,
    progress,
    refuse_certificate,
    report_to,
    say_sets,
    seconds,
    stages,
)
from .output.table import table

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from ..network.certificate import NetworkCertificate


def is_network(path: str) -> bool:
    """Whether a file holds a network; false where it can't be read: its reader says why."""
    from ..exchange.read import holds_network

    return holds_network(path)


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
    from ..exchange.read import read
    from ..network.judge import certify_network
    from ..network.network import Network

    refuse("about models that hardmax built, not about networks", refused)
    start = perf_counter()
    network = read(path)
    if not isinstance(network, Network):
        raise TypeError("a network expected")
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
    if found.verdict == "undecided":
        return 3
    return 0 if found.proved else 1


def refuse(reason: str, given: dict[str, bool]) -> None:
    """Refuse options that have no meaning here."""
    for option, there in given.items():
        if there:
            raise InputError(f"{option} is {reason}")


def repair_network(
    source: str,
    data: str,
    output: str,
    *,
    test: str | None,
    certificate: str | None,
    labels_of: str | None,
    seed: int,
    as_json: bool,
) -> int:
    """Repair a network, prove the result as it stands in its file, print the verdict."""
    from .. import load_for
    from ..exchange.read import read
    from ..formats.npz import write_npz
    from ..formats.whole_files import text_writer, write_together
    from ..model.transformer import Transformer
    from ..network.file import members, read_network
    from ..network.judge import certify_network
    from ..network.network import Network
    from ..network.repair import NotApartError, repair

    start = perf_counter()
    given = read(source)
    network = Network.of(given) if isinstance(given, Transformer) else given
    sets = label_sets_of(labels_of)
    sequences = load_for(network, data, sets=sets)
    say_sets(sequences, data, labels_of)
    need_labels(sequences, data)
    labels = sequences.need_labels()
    refuse_certificate(sequences, data, certificate)
    tested = None if test is None else load_for(network, test, sets=sequences.given_sets)
    times = {"load": perf_counter() - start}
    start = perf_counter()
    try:
        with stages("repairing"):
            found = repair(network, sequences, seed)
    except NotApartError as problem:
        with report_to(output, certificate):
            if as_json:
                names = [labels[j] for j in problem.pair]
                print_json({"verdict": "refuted", "sequences": problem.pair, "labels": names})
            else:
                click.echo(f"refuted: {problem}")
        return 1
    times["repair"] = perf_counter() - start
    proofs: list[NetworkCertificate] = []

    def store(temporary: Path) -> None:
        write_npz(temporary, members(found.network))
        begin = perf_counter()
        with progress("verifying", len(sequences)) as step:
            proofs.append(certify_network(read_network(temporary), sequences, step))
        times["verify"] = perf_counter() - begin
        if proofs[0].verdict == "undecided":
            raise ResourceLimitError(
                "the class of a repaired sequence is undecided; nothing written"
            )
        if not proofs[0].proved:
            raise ConstructionError(f"the repair was refuted: {proofs[0].witnesses[0].sentence()}")

    files: list[tuple[str, Callable[[Path], None]]] = [(output, store)]
    if certificate is not None:
        files.append((certificate, lambda path: text_writer(proofs[0].text())(path)))
    write_together(files)
    notes = [("repaired", f"{plural(len(found.wrong), 'sequence')}, {found.units} hidden units")]
    more: dict[str, object] = {"repaired": len(found.wrong), "units": found.units}
    if tested is not None:
        truth = tested.need_labels()
        before, after = (
            sum(a == b for a, b in zip(each.predict(tested), truth, strict=True))
            for each in (network, found.network)
        )
        notes.append(
            ("test", f"{before} of {plural(len(truth), 'sequence')} right before, {after} after")
        )
        more["test"] = {"before": before, "after": after, "sequences": len(truth)}
    with report_to(output, certificate):
        show_network(output, proofs[0], times, as_json, notes, **more)
    return 0


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
