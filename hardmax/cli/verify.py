"""``hardmax verify``: the verdict on a model file and a data set."""

from __future__ import annotations

from dataclasses import replace
from time import perf_counter
from typing import TYPE_CHECKING

import click

from ..errors import InputError
from .common import (
    force_option,
    json_option,
    labels_of_option,
    load_for,
    need_labels,
    progress,
    refuse_certificate,
    report_to,
)
from .engine import asked, engine_options
from .output.notes import float_notes, radius_notes, show_bounds, softmax_notes
from .output.summary import show as show_summary
from .output.summary import show_json

if TYPE_CHECKING:
    from ..certify.floating import FloatCertificate
    from ..certify.softmax import SoftmaxCertificate


@click.command(short_help="Prove or refute a model on labelled sequences, exactly.")
@click.argument("model", metavar="MODEL")
@click.argument("data", metavar="DATA")
@click.option("--bounds", is_flag=True, help="Also print the counts beside their bounds.")
@click.option(
    "--executor",
    type=click.Choice(["float64", "float32", "softmax"]),
    help="Also prove that every float executor makes the same predictions, or from which inverse "
    "temperature on softmax attention does.",
)
@click.option(
    "--radius",
    is_flag=True,
    help="Also compute how far all tokens may move before a prediction can change.",
)
@click.option(
    "--witnesses",
    type=click.IntRange(min=1),
    metavar="K",
    default=10,
    show_default=True,
    help="Name up to K sequences that are wrong.",
)
@click.option(
    "--definition",
    is_flag=True,
    help="Judge by the literal layer-by-layer evaluator alone, without the engine (slow).",
)
@click.option("--certificate", metavar="CERT", help="Write the certificate (JSON) if proved.")
@labels_of_option
@engine_options
@force_option
@json_option
def verify(
    model: str,
    data: str,
    bounds: bool,
    executor: str | None,
    radius: bool,
    definition: bool,
    witnesses: int,
    certificate: str | None,
    labels_of: str | None,
    engine: str,
    workers: int | None,
    scheduler: str | None,
    resume: bool,
    force: bool,
    as_json: bool,
) -> int:
    """Run MODEL exactly on every sequence of DATA and judge each output.

    Trusts nothing in MODEL but its numbers (and its note of how numbers and positions of
    the data are read). No floating point takes part in the verdict. MODEL may also be a network
    of format hardmax-network/1: its class over the real numbers is decided by rigorous
    enclosures (docs/network.md). It may be a file of `hardmax export` (.onnx, .safetensors): then
    the model of its floats is judged; or a network as ONNX or safetensors (docs/export.md).

    Exit codes: 0 proved; 1 refuted: a sequence, its exact output and its label are printed;
    2 unusable input; 3 a limit stopped an exact decision.

    DATA may be a folder of .npz or Parquet files, or a quoted glob, with labels.json beside them:
    then the files, the shards, are judged one by one, by several processes or by the workers of
    a dask scheduler, with the same verdict and certificate (docs/scale-out.md).

    Where DATA has no label sets of its own (a CSV file, say), its sorted labels get the points
    0, 1, 2, … on the first axis. If the model was built for others, --labels-of MODEL takes
    the sets that it remembers.

    \b
    Examples:
      hardmax verify model.npz examples/vowels.json.gz
      hardmax verify model.npz part.csv --labels-of model.npz
      hardmax verify model.npz shards/ --workers 4 --certificate cert.json
    """
    from ..certify import certify
    from ..certify.floating import certify_float
    from ..certify.radius import radii
    from ..certify.softmax import certify_softmax
    from ..exchange.read import read_transformer
    from ..formats.certificate_file import write_certificate
    from ..formats.contents import check_overwrite
    from ..formats.whole_files import keep_apart
    from .network import is_network, verify_network

    same = labels_of == model
    keep_apart(inputs=(model, data, None if same else labels_of), outputs=(certificate,))
    check_overwrite(certificate, "certificate", force)
    if same and model == "-":
        raise InputError("standard input can be read once only; name the file of the model")
    if is_network(model):
        return verify_network(
            model, data, executor=executor, witnesses=witnesses, certificate=certificate,
            labels_of=labels_of, as_json=as_json, refused={
                "--bounds": bounds, "--radius": radius, "--definition": definition,
                "--engine": engine != "local", "--workers": workers is not None,
                "--scheduler": scheduler is not None, "--resume": resume,
            },
        )  # fmt: skip
    how = asked(data, engine, workers, scheduler, resume)
    if how is not None:
        from .shards import verify_shards

        return verify_shards(
            model, data, how, bounds=bounds, executor=executor, radius=radius, witnesses=witnesses,
            definition=definition, certificate=certificate, labels_of=labels_of, as_json=as_json,
        )  # fmt: skip
    start = perf_counter()
    loaded = read_transformer(model)
    sequences = load_for(loaded, data, labels_of, model)
    need_labels(sequences, data, outputs=executor is None and not radius)
    refuse_certificate(sequences, data, certificate)
    times = {"load": perf_counter() - start}
    start = perf_counter()
    with progress("verifying", len(loaded)) as step:
        found = certify(
            loaded,
            sequences,
            step,
            witnesses=witnesses,
            evaluator="definition" if definition else "engine",
        )
    times["verify"] = perf_counter() - start
    floats: FloatCertificate | None = None
    soft: SoftmaxCertificate | None = None
    if executor is not None:
        start = perf_counter()
        with progress(executor, len(loaded)) as step:
            if executor == "softmax":
                soft = certify_softmax(loaded, sequences, step)
            else:
                floats = certify_float(loaded, sequences, executor, step)
        times[executor] = perf_counter() - start
        if floats is not None and executor == "float64":
            found = replace(found, float64=floats.to_json())
    reach = None
    if radius:
        start = perf_counter()
        with progress("radius", len(loaded)) as step:
            reach = radii(loaded, sequences, step)
        times["radius"] = perf_counter() - start
        found = replace(found, radius=reach.to_json())
    if certificate is not None and found.proved:
        write_certificate(found, certificate)
    with report_to(certificate):
        if as_json:
            more = {} if floats is None else {floats.format: floats.to_json()}
            more |= {} if soft is None else {"softmax": soft.to_json()}
            show_json(found, times, **more)
            return 0 if found.proved else 1
        by = "" if reach is None else sequences.name(reach.binding)
        notes = [*float_notes(floats), *softmax_notes(soft), *radius_notes(reach, by)]
        if labels_of is not None:
            notes.insert(0, ("label sets", f"those that {labels_of} remembers"))
        show_summary(model, found, times, notes)
        if bounds:
            show_bounds(found)
    return 0 if found.proved else 1
