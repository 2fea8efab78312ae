"""What ``verify``, ``build`` and ``run`` do with a data set in shards."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from textwrap import indent
from time import perf_counter
from typing import TYPE_CHECKING, Any

import click

from ..errors import InputError
from ..words import plural
from .common import label_sets_of, load_labelled, progress, report_to, stages
from .output.notes import float_notes, radius_notes, show_bounds
from .output.proved import contradiction, need_proof, notes_of, score
from .output.results import worked_out
from .output.summary import show, show_json

if TYPE_CHECKING:
    from ..dataset import Reading
    from ..model.transformer import Transformer
    from ..shards import Shard, Shards
    from ..shards.merge import Verdict
    from .engine import How


def verify_shards(
    model: str,
    data: str,
    how: How,
    *,
    bounds: bool,
    executor: str | None,
    radius: bool,
    witnesses: int,
    definition: bool,
    certificate: str | None,
    labels_of: str | None,
    as_json: bool,
) -> int:
    """``hardmax verify`` on a folder or glob."""
    from ..exchange.read import read_transformer
    from ..formats.certificate_file import write_certificate
    from ..formats.files import STANDARD
    from ..shards.folder import Shards
    from ..shards.judge import certify_shards

    if executor == "softmax":
        raise InputError("--executor softmax is for one file; float64 and float32 serve here")
    if model == STANDARD:
        raise InputError("the workers read MODEL by its name: store it in a file first")
    if labels_of is not None and certificate is not None:
        raise InputError("--certificate: its label sets must be those of labels.json")
    start = perf_counter()
    loaded = read_transformer(model)
    shards = Shards.open_for(loaded, data, sets=label_sets_of(labels_of))
    times = {"open": perf_counter() - start}
    start = perf_counter()
    with how.engine, progress("verifying", shards.sequences) as step:
        found = certify_shards(
            model, shards, how.engine, step, witnesses=witnesses,
            evaluator="definition" if definition else "engine",
            radius=radius, executor=executor, resume=how.resume,
        )  # fmt: skip
    times["verify"] = perf_counter() - start
    proved = found.certificate.proved
    if certificate is not None and proved:
        write_certificate(found.certificate, certificate)
    with report_to(certificate):
        if as_json:
            more = {} if found.floats is None else {found.floats.format: found.floats.to_json()}
            show_json(found.certificate, times, **more, shards=[*found.shards])
            return 0 if proved else 1
        by, decision = found.set_by or ("", None)
        notes = [
            *shard_notes(found),
            *float_notes(found.floats),
            *radius_notes(found.radii, by, decision),
        ]
        show(model, found.certificate, times, notes)
        if bounds:
            show_bounds(found.certificate)
    return 0 if proved else 1


def build_from_shards(
    data: str,
    output: str,
    how: How,
    *,
    strategy: str,
    seed: int,
    learn: bool,
    robust: bool,
    masked: bool,
    heads: int,
    reading: Reading,
    numbers: str,
    certificate: str | None,
    test: str | None,
    labels_of: str | None,
    as_json: bool,
) -> int:
    """``hardmax build`` on a folder or glob."""
    from ..dataset import ContradictionError
    from ..formats.certificate_file import write_with_certificate
    from ..formats.files import STANDARD
    from ..formats.model_file import pack
    from ..formats.npz import write_npz
    from ..formats.whole_files import write_whole
    from ..shards.build import Options, build_shards
    from ..shards.folder import Shards
    from ..shards.judge import certify_shards

    if output == STANDARD:
        raise InputError("work on shards is kept beside MODEL: give it a name, not -")
    if labels_of is not None and certificate is not None:
        raise InputError("--certificate: its label sets must be those of labels.json")
    start = perf_counter()
    sets = label_sets_of(labels_of)
    shards = Shards.open(data, numbers=numbers, reading=reading, sets=sets)
    if Path(output).resolve().parent == Path(data).resolve():
        raise InputError(f"{output}: MODEL would be one of the shards; put it into another folder")
    tested = load_labelled(test, numbers, reading, shards.example.given_sets) if test else None
    times = {"open": perf_counter() - start}
    start = perf_counter()
    options = Options(strategy, seed, learn, robust, masked, heads)
    with how.engine:
        try:
            with stages("building"):
                model, journal = build_shards(
                    shards, output, how.engine, options, resume=how.resume,
                    say=lambda reason: click.echo(f"note: {reason}", err=True),
                )  # fmt: skip
        except ContradictionError as problem:
            return contradiction(problem, as_json)
        times["build"] = perf_counter() - start
        if model.reading != shards.reading:  # the strategy chose its own
            shards = Shards.open_for(model, data, sets=sets)
            tested = tested.read_as(model.reading) if tested is not None else None
        verdicts: list[Verdict] = []

        def store(temporary: Path) -> None:
            write_npz(temporary, pack(model))
            start = perf_counter()
            with progress("verifying", shards.sequences) as step:
                verdicts.append(
                    certify_shards(
                        temporary, shards, how.engine, step, resume=how.resume, journal=output
                    )
                )
            times["verify"] = perf_counter() - start
            need_proof(verdicts[0].certificate, model.meta["strategy"] != "learn")

        notes, more = score(model, shards.example, tested)
        if certificate is None:
            write_whole(output, store)
        else:
            write_with_certificate(output, store, certificate, lambda: verdicts[0].certificate)
    journal.end()
    found = verdicts[0]
    with report_to(certificate):
        if as_json:
            show_json(found.certificate, times, model=output, shards=[*found.shards], **more)
        else:
            notes = [*notes_of(model), *notes, *shard_notes(found)]
            show(f"{output} ({model.meta['strategy']})", found.certificate, times, notes)
    return 0


def shard_notes(found: Verdict) -> list[tuple[str, str]]:
    """The shards that were counted and hashed."""
    merkle = found.certificate.sha256["merkle"]
    notes = [
        (
            "shards",
            f"{plural(len(found.shards), 'file')}, "
            f"{plural(found.certificate.sequences, 'sequence')}, each counted and hashed",
        )
    ]
    return notes if merkle is None else [*notes, ("  merkle", merkle)]


def run_shards(
    loaded: Transformer,
    model: str,
    data: str,
    how: How,
    output: str | None,
    exact: bool,
    trace: bool,
    backend: str,
    labels_of: str | None,
) -> int:
    """``hardmax run`` on a folder or glob: the same output as of one file with all sequences."""
    from ..formats.files import STANDARD
    from ..formats.model_file import label_sets
    from ..formats.whole_files import write_whole
    from ..shards.folder import Shards

    if model == STANDARD:
        raise InputError("the workers read MODEL by its name: store it in a file first")
    sets = None if labels_of == model else label_sets_of(labels_of)
    shards = Shards.open_for(loaded, data, sets=sets, need_sets=False)
    own = shards.labels is not None and labels_of != model
    used = shards.example.sets if own else label_sets(loaded) or shards.example.sets
    work = partial(
        _run_shard, str(Path(model).absolute()), shards.frame, dict(used), exact, trace, backend
    )

    def texts() -> Iterator[tuple[str, str]]:
        waiting: dict[int, tuple[str, str]] = {}
        with how.engine, progress("running", len(shards.shards)) as step:
            following = 0
            for place, found in how.engine.run(work, shards.shards):
                waiting[place] = found
                while following in waiting:
                    yield waiting.pop(following)
                    following += 1
                step(following)

    def store(temporary: Path) -> None:
        head = json.dumps({"model": model, "exact": exact}, ensure_ascii=False, indent=1)
        with open(temporary, "w", encoding="utf-8") as file:
            file.write(head.removesuffix("\n}") + ',\n "results": [')
            for k, (entries, _) in enumerate(texts()):
                file.write((",\n" if k else "\n") + entries)
            file.write("\n ]\n}\n")

    if output is None:
        for _, lines in texts():
            click.echo(lines)
        return 0
    write_whole(output, store)
    if output != STANDARD:
        click.echo(f"{plural(shards.sequences, 'result')} written to {output}")
    return 0


def _run_shard(
    model: str, frame: Shards, sets: dict[str, Any], exact: bool, trace: bool, backend: str,
    shard: Shard,
) -> tuple[str, str]:  # fmt: skip
    """Results of one shard: objects for a file, without brackets, and lines."""
    from ..exact.numbers import any_digits
    from ..exchange.read import read_transformer

    loaded = read_transformer(model)
    data = frame.read(shard)
    data.first = shard.start
    with any_digits():
        entries, lines = worked_out(loaded, data, sets, exact, trace, backend)
        texts = (json.dumps(entry, ensure_ascii=False, indent=1) for entry in entries)
        return ",\n".join(indent(text, "  ") for text in texts), "\n".join(lines)
