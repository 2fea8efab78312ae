"""The verdict: does every sequence's exact output lie in its label set? (2.6)"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from os import PathLike
from typing import Any

import numpy as np

from ..dataset import Dataset
from ..dataset.measures import count_measures
from ..engine import Search, evaluate
from ..engine.forward.points import EnclosedPoints
from ..errors import InputError
from ..exact.array import Array
from ..exact.numbers import Vector
from ..float_mode import check_float_mode
from ..labels import Point
from ..model.transformer import Transformer
from ..threads import one_blas_thread
from ..words import kind
from .bounds import bounds_of, is_uniform, parameter_bits, structure_of
from .certificate import Certificate, Witness
from .membership import outside, surely_inside
from .second_opinion import double_check
from .separation import separation_entries, unwritable

EVALUATORS = ("engine", "definition")
WITNESSES = 10  # that a refutation names, unless more are asked for


def misclassified(
    model: Transformer,
    data: Dataset,
    progress: Callable[[int], None] | None = None,
    most: int = sys.maxsize,
) -> list[tuple[int, Vector]]:
    """The sequences whose exact output lies outside their label set, with that output.

    None means that the model is proved on the data. Dimensions must agree, and every sequence
    needs a label.
    """
    return search(model, data, progress, most)[0]


def search(
    model: Transformer,
    data: Dataset,
    progress: Callable[[int], None] | None,
    most: int,
    evaluator: str = "engine",
) -> tuple[list[tuple[int, Vector]], bool]:
    """As `misclassified`, but at most so many; and whether the search stopped before its end."""
    if model.parameters is None or evaluator == "definition":
        return _search_by_definition(model, data, progress, most)
    codes, names = data.label_codes
    sets = [data.sets[name] for name in names]

    def inside(rows: Array, points: EnclosedPoints) -> Array:
        found = np.zeros(len(rows), dtype=bool)
        for k, label_set in enumerate(sets):
            mine = np.flatnonzero(codes[rows] == k)
            found[mine] = surely_inside(label_set, points.take(mine))
        return found

    points_alone = all(isinstance(label_set, Point) for label_set in sets)
    outputs = evaluate(
        model,
        data.tokens,
        data.offsets,
        None if points_alone else inside,
        progress,
        Search(partial(outside, data), most) if most < sys.maxsize else None,
    )
    if not len(outputs) == len(codes) == len(data) > 0:
        raise AssertionError("every sequence needs exactly one output")
    found = outside(data, 0, outputs.number, outputs.constants, outputs.points)
    if outputs.stopped and not found:
        raise AssertionError("a search stops only where it found something")
    return [(j, outputs[j]) for j in found[:most]], outputs.stopped or len(found) > most


def _search_by_definition(
    model: Transformer, data: Dataset, progress: Callable[[int], None] | None, most: int
) -> tuple[list[tuple[int, Vector]], bool]:
    from .definition import outputs_by_definition

    found: list[tuple[int, Vector]] = []
    labels = data.need_labels()
    outputs = outputs_by_definition(model, data)
    for j, (label, output) in enumerate(zip(labels, outputs, strict=True)):
        if not data.sets[label].contains(output):
            if len(found) == most:
                return found, True
            found.append((j, output))
        if progress is not None:
            progress(len(model) * (j + 1) // len(labels))
    return found, False


def _sha256(data: Dataset) -> str | None:
    """SHA-256 of the file that is the data set; None where its label sets come from elsewhere."""
    return None if "sets" in data.source else data.source.get("sha256")


def certify(
    model: Transformer | str | PathLike[str],
    data: Dataset | str | PathLike[str],
    progress: Callable[[int], None] | None = None,
    *,
    radius: bool = False,
    executor: str | None = None,
    witnesses: int = WITNESSES,
    evaluator: str = "engine",
) -> Certificate:
    """Run a model exactly on every sequence and judge each output.

    ``model`` and ``data`` may be the names of files; data as a file has them are read as the model
    says (`Transformer.read`). A `Network` is judged by
    `hardmax.network.judge.certify_network`. ``radius`` also computes robust radii
    (`hardmax.certify.radius`), ``executor="float64"`` a certificate for float executors.
    Only the model's numbers are used. ``progress`` is called with the number of blocks done. A
    refutation names at most so many ``witnesses``, fewer where exact outputs are dear. Of a proved
    model some sequences are run again without the engine (`second_opinion`). With ``evaluator``
    "definition" the engine takes no part: every layer is applied as it is printed, which is slow.
    Raises InputError where dimensions differ or a sequence has no label, FloatModeError where
    float arithmetic in this process breaks IEEE 754.

    >>> import hardmax as hm
    >>> data = hm.Dataset([[(0, 0)], [(1, 0)]], ["a", "b"])
    >>> certify(hm.build(data), data).verdict
    'proved'
    """
    other: Any = model
    if not isinstance(other, Transformer | str | PathLike):
        from .. import Network, certify_network

        if isinstance(other, Network):
            if radius or evaluator != "engine":
                raise InputError("radius and evaluator are about transformers, not about networks")
            judged: Certificate = certify_network(
                other, data, progress, executor=executor, witnesses=witnesses
            )
            return judged
    model, data = _given(model, data)
    found, more = judge(model, data, progress, witnesses, evaluator)
    outputs = data.outputs
    certificate = conclude(
        model, data, found, more,
        sha256={"data": _sha256(data), "model": model.sha256},
        sequences=len(data),
        distinct=_distinct(model, data),
        tokens=len(data.tokens),
        outputs=None if outputs is None else len(outputs),
    )  # fmt: skip
    if radius:
        from .radius import radii

        certificate = replace(certificate, radius=radii(model, data).to_json())
    if executor is not None:
        from .floating import certify_float

        if executor != "float64":
            raise InputError(
                f"the executor {executor!r} has no place in a certificate; float64 has"
            )
        certificate = replace(certificate, float64=certify_float(model, data, executor).to_json())
    return certificate


def judge(
    model: Transformer,
    data: Dataset,
    progress: Callable[[int], None] | None = None,
    witnesses: int = WITNESSES,
    evaluator: str = "engine",
) -> tuple[tuple[Witness, ...], bool]:
    """The sequences, or tokens, that end where they should not, and whether there may be more.

    This is the verdict: the model is proved on the data where there is none. Raises as `certify`.
    """
    check_float_mode()
    if witnesses < 1:
        raise InputError("a refutation needs at least one witness")
    if evaluator not in EVALUATORS:
        raise InputError(f"the evaluator {evaluator!r} is unknown; known are engine and definition")
    outputs = data.outputs
    if outputs is None:
        data.need_labels()
    if model.dimension != data.dimension:
        raise InputError(
            f"the model has dimension {model.dimension}, the data set {data.dimension}"
            f"{model.advice(data.written_dimension)}"
        )
    with one_blas_thread():
        if outputs is None:
            found = _sequences(model, data, progress, witnesses, evaluator)
        else:
            from .outputs import token_witnesses

            found = token_witnesses(model, data, outputs, progress, witnesses, evaluator)
    check_float_mode()  # whatever ran in between, ``progress`` included
    return found


def conclude(
    model: Transformer,
    data: Dataset,
    witnesses: tuple[Witness, ...],
    more: bool,
    *,
    sha256: dict[str, str | None], sequences: int, distinct: int, tokens: int,
    outputs: int | None = None,
) -> Certificate:  # fmt: skip
    """The certificate of what `judge` found on ``sequences`` sequences.

    Of ``data`` it takes what does not count them: label sets, dimension and reading.
    """
    sizes = parameter_bits(model)
    strategy = model.meta.get("strategy")
    return Certificate(
        verdict="refuted" if witnesses else "proved",
        witnesses=witnesses,
        more=more,
        sha256=sha256,
        strategy=strategy if isinstance(strategy, str) else None,
        numbers=data.source.get("numbers", "exact"),
        reading=data.reading,
        masked=model.masked,
        sequences=sequences,
        N=distinct,
        d=data.dimension,
        M=len(data.sets),
        tokens=tokens,
        stages=model.stage_counts(),
        bounds=bounds_of(model, distinct, outputs is None),
        structure=structure_of(model),
        total_bits=sum(sizes),
        max_bits=max(sizes, default=0),
        overrides=model.parameters.overrides() if model.parameters is not None else 0,
        separation=separation_entries(data),
        unwritable=unwritable(data),
        outputs=outputs,
        uniform=is_uniform(model),
    )


def _sequences(
    model: Transformer,
    data: Dataset,
    progress: Callable[[int], None] | None,
    most: int,
    evaluator: str,
) -> tuple[tuple[Witness, ...], bool]:
    """Witnesses against the labels; where there is none, a second opinion is heard."""
    found, more = search(model, data, progress, most, evaluator)
    if not found and evaluator == "engine":
        double_check(model, data)
    labels = data.need_labels()
    return tuple(Witness(j, data.name(j), labels[j], output) for j, output in found), more


def _distinct(model: Transformer, data: Dataset) -> int:
    """N, the number of sequences that a model can tell apart: by their measures or, with a mask,
    by their order as well."""
    if model.masked:
        from ..dataset.ordered import count_ordered

        return count_ordered(data)
    return count_measures(data)


def _given(model: Any, data: Any) -> tuple[Transformer, Dataset]:
    """Model and data set, read from files where their names are given."""
    if isinstance(model, Dataset) or isinstance(data, Transformer):
        raise InputError("the model comes first: certify(model, data)")
    if isinstance(model, str | PathLike):
        model = Transformer.load(model)
    if not isinstance(model, Transformer):
        raise InputError(f"{kind(model)} is no model; give a Transformer or its file")
    if isinstance(data, str | PathLike):
        from .. import load_for

        data = load_for(model, data)
    if not isinstance(data, Dataset):
        raise InputError(f"{kind(data)} is no data set; give hardmax.Dataset(sequences, labels)")
    return model, model.read(data)
