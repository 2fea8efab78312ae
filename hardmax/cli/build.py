"""``hardmax build``: construct, store, prove."""

from __future__ import annotations

from time import perf_counter
from typing import TYPE_CHECKING

import click

from ..errors import InputError
from .common import (
    force_option,
    json_option,
    label_sets_of,
    labels_of_option,
    load_labelled,
    progress,
    refuse_certificate,
    refuse_terminal,
    report_to,
    say_sets,
    stages,
)
from .engine import asked, engine_options
from .output.proved import contradiction, need_proof, notes_of, score
from .output.summary import show, show_json
from .reading import read_options, reading_options

_DEFAULT = click.core.ParameterSource.DEFAULT

if TYPE_CHECKING:
    from pathlib import Path

    from ..certify.certificate import Certificate
    from ..dataset import Dataset
    from ..model.transformer import Transformer


@click.command(short_help="Build a model of labelled sequences and prove it.")
@click.argument("data", metavar="DATA")
@click.option("-o", "--output", metavar="MODEL", required=True, help="Model file to write (.npz).")
@click.option(
    "--strategy",
    default="paper",
    show_default=True,
    metavar="NAME",
    help="Construction: learn predicts best, cover predicts; paper, peel, fold memorise; auto: the "
    "shallowest.",
)
@click.option(
    "--no-learn",
    is_flag=True,
    help="Strategies cover and auto: memorise, without half-spaces fitted to the data.",
)
@click.option(
    "--robust",
    is_flag=True,
    help="Strategy auto: leave out fold, whose models have no margins.",
)
@click.option(
    "--seed",
    default=0,
    show_default=True,
    type=click.IntRange(0, 2**63 - 1),
    help="Seed of the random directions.",
)
@click.option(
    "--positional",
    is_flag=True,
    help="Append to each token its position 1, 2, 3, … as one more coordinate.",
)
@reading_options
@click.option(
    "--masked",
    is_flag=True,
    help="Each token sees itself and those before it: order counts without positions.",
)
@click.option(
    "--heads",
    default=1,
    show_default=True,
    type=click.IntRange(1, 64),
    metavar="H",
    help="Attention heads of each block, for strategy paper: the more, the fewer blocks separate.",
)
@click.option(
    "--numbers",
    type=click.Choice(["exact", "binary64"]),
    default="exact",
    show_default=True,
    help="Read decimals exactly, or as the nearest float64.",
)
@click.option("--certificate", metavar="CERT", help="Also write the certificate (JSON).")
@click.option(
    "--from",
    "source",
    metavar="NET",
    help="Repair a trained network (.npz, .onnx, .safetensors), or a model, instead of building.",
)
@click.option("--test", metavar="DATA2", help="Also count right predictions on other data.")
@labels_of_option
@engine_options
@force_option
@json_option
def build(
    data: str, output: str, strategy: str, no_learn: bool, robust: bool, seed: int,
    positional: bool, masked: bool, heads: int, window: int, dilation: str | None, stride: int,
    label_sets: str, numbers: str, certificate: str | None, source: str | None, test: str | None,
    labels_of: str | None, engine: str, workers: int | None, scheduler: str | None, resume: bool,
    force: bool, as_json: bool,
) -> int:  # fmt: skip
    """Build a hardmax transformer that classifies every sequence of DATA, and prove it.

    DATA is JSON, npz, CSV, Parquet or .ts; - is standard input or output. The model is verified
    in exact arithmetic as it stands in the file, before the file gets its name: no MODEL
    appears that is not proved.

    Strategies paper and peel memorise: the model classifies DATA and says nothing useful about
    other sequences. To predict, take --strategy learn, and count with --test. It chooses windows
    and features by cross-validation on DATA alone, and says how often it erred there.

    Where DATA asks for outputs in place of labels (docs/formats.md), the strategy is peel: token i
    of each sequence becomes output i.

    With --from NET a trained network is repaired: one feed-forward layer behind it puts every
    mistake on DATA right and leaves all other outputs on DATA exactly as they were.

    DATA may be a folder of .npz or Parquet files, or a quoted glob, with labels.json beside them
    (docs/scale-out.md). Then the strategy is cover unless another one is given, which loads all.

    Exit codes: 0 proved; 1 refuted: two sequences are printed that no such model can
    tell apart; 2 unusable input; 3 a limit stopped an exact decision.

    \b
    Examples:
      hardmax build examples/vowels.json.gz -o model.npz
      hardmax build examples/digits_train.npz --from examples/digits.npz -o repaired.npz
      hardmax build data.csv -o model.npz --positional --seed 7
      hardmax build train.csv -o model.npz --strategy learn --test test.csv
      hardmax build data.csv -o model.npz --window 9 --dilation 1,4 --strategy cover
      hardmax build poem.json -o model.npz --masked
      hardmax build poem.json -o model.npz --heads 3
      hardmax build shards/ -o model.npz --workers 4
    """
    from ..construct.build import build as construct
    from ..dataset import ContradictionError
    from ..formats.contents import check_overwrite
    from ..formats.whole_files import keep_apart

    keep_apart(inputs=(data, test, labels_of, source), outputs=(output, certificate))
    refuse_terminal(output)
    check_overwrite(output, "model" if source is None else "network", force)
    check_overwrite(certificate, "certificate", force)
    if source is not None:
        from .network import refuse, repair_network

        context = click.get_current_context()
        named = (
            "strategy", "no_learn", "robust", "positional", "window", "dilation", "stride",
            "label_sets", "numbers", "masked", "heads", "engine", "workers", "scheduler", "resume",
        )  # fmt: skip
        refuse("about new models; --from repairs one", {
            f"--{name.replace('_', '-')}": context.get_parameter_source(name) is not _DEFAULT
            for name in named
        })  # fmt: skip
        return repair_network(
            source, data, output, test=test, certificate=certificate, labels_of=labels_of,
            seed=seed, as_json=as_json,
        )  # fmt: skip
    times: dict[str, float] = {}
    start = perf_counter()
    reading = read_options(positional, window, dilation, stride, label_sets)
    source_of = click.get_current_context().get_parameter_source
    if strategy == "learn" and label_sets == "points" and source_of("label_sets") is not _DEFAULT:
        raise InputError("strategy learn takes label sets argmax, or those that the data hold")
    how = asked(data, engine, workers, scheduler, resume)
    if how is not None and source_of("strategy") is _DEFAULT and not masked and heads == 1:
        strategy = "cover"
    if no_learn and strategy not in ("cover", "auto"):
        raise InputError(f"--no-learn is for the strategies cover and auto, not for {strategy}")
    if robust and strategy != "auto":
        raise InputError(f"--robust is for the strategy auto, not for {strategy}")
    if how is not None:
        from .shards import build_from_shards

        return build_from_shards(
            data, output, how, strategy=strategy, seed=seed, learn=not no_learn, robust=robust,
            masked=masked, heads=heads, reading=reading, numbers=numbers, certificate=certificate,
            test=test, labels_of=labels_of, as_json=as_json,
        )  # fmt: skip
    sets = label_sets_of(labels_of)
    loaded = load_labelled(data, numbers, reading, sets, outputs=True)
    say_sets(loaded, data, labels_of)
    refuse_certificate(loaded, data, certificate)
    if test is not None and loaded.given_outputs is not None:
        raise InputError("--test counts right labels; this data set asks for outputs")
    tested = load_labelled(test, numbers, loaded.reading, None) if test else None
    if test is not None and tested is not None and tested.dimension != loaded.dimension:
        raise InputError(
            f"{test}: the data set has dimension {tested.dimension}, {data} {loaded.dimension}"
        )
    times["load"] = perf_counter() - start

    start = perf_counter()
    try:
        with stages("building"):
            model = construct(
                loaded, None, strategy, seed, learn=not no_learn, robust=robust, masked=masked,
                heads=heads,
            )  # fmt: skip
    except ContradictionError as found:
        with report_to(output, certificate):
            return contradiction(found, as_json)
    times["build"] = perf_counter() - start
    if model.reading != loaded.reading:  # the strategy chose its own
        loaded = loaded.read_as(model.reading)
        tested = tested.read_as(model.reading) if tested is not None else None
    return _prove_and_store(model, loaded, tested, output, certificate, times, as_json)


def _prove_and_store(
    model: Transformer,
    data: Dataset,
    tested: Dataset | None,
    output: str,
    certificate: str | None,
    times: dict[str, float],
    as_json: bool,
) -> int:
    from ..certify import certify
    from ..formats.certificate_file import write_with_certificate
    from ..formats.model_file import pack, read_model
    from ..formats.npz import write_npz
    from ..formats.whole_files import write_whole

    proofs: list[Certificate] = []

    def store(temporary: Path) -> None:
        write_npz(temporary, pack(model))
        start = perf_counter()
        with progress("verifying", len(model)) as step:
            proofs.append(certify(read_model(temporary), data, step))
        times["verify"] = perf_counter() - start
        need_proof(proofs[0], data.given_outputs is None and model.meta["strategy"] != "learn")

    notes, more = score(model, data, tested)
    if certificate is None:
        write_whole(output, store)
    else:
        write_with_certificate(output, store, certificate, lambda: proofs[0])
    notes = [*notes_of(model), *notes]
    if learned := model.meta.get("learned"):
        more["learned"] = learned
    with report_to(output, certificate):
        if as_json:
            show_json(proofs[0], times, model=output, **more)
        else:
            show(f"{output} ({model.meta['strategy']})", proofs[0], times, notes)
    return 0
