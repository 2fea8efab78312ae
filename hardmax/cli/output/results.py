"""The results of ``hardmax run``: an object and a line for each sequence."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import isfinite
from typing import TYPE_CHECKING, Any

from ...errors import InputError, ResourceLimitError
from ...exact.numbers import json_number, show_vector
from ...words import plural

MAX_TRACE = 1 << 24  # numbers; each takes some 100 bytes until it is written

if TYPE_CHECKING:
    from ...dataset import Dataset
    from ...labels import LabelSet
    from ...model.transformer import Transformer


def worked_out(
    model: Transformer,
    data: Dataset,
    sets: Mapping[str, LabelSet],
    exact: bool,
    trace: bool,
    backend: str,
) -> tuple[list[dict[str, Any]], list[str]]:
    """The results of all sequences, as objects for a file and as lines for people."""
    from ...certify.predict import predicted

    if trace:
        _check_trace(len(model), data)
    asked, given = data.outputs, data.given_outputs or []
    results, traces = _results(model, data, exact, trace or asked is not None, backend)
    entries: list[dict[str, Any]] = []
    for j, result in enumerate(results):
        entry: dict[str, Any] = {"sequence": data.first + j + 1}
        if data.ids[j] is not None:
            entry["id"] = data.ids[j]
        if asked is not None and traces is not None:
            last = traces[j][-1][: int((asked.owner == j).sum())]
            if sets and all(isinstance(x, str) for each in given for x in each):
                entry["labels"] = [predicted(tuple(map(Fraction, z)), sets) for z in last]
            entry["outputs"] = [_numbers(z) for z in last]
        else:
            if sets:
                entry["label"] = predicted(tuple(Fraction(x) for x in result), sets)
            entry["output"] = _numbers(result)
        if trace and traces is not None:
            entry["trace"] = [[_numbers(z) for z in state] for state in traces[j]]
        entries.append(entry)
    lines: list[str] = []
    for j, (entry, result) in enumerate(zip(entries, results, strict=True)):
        if asked is not None and traces is not None:
            ends = traces[j][-1][: len(entry["outputs"])]
            labels = [f"{_printable(label)}  " for label in entry.get("labels", [])]
            lines.append(f"{data.name(j)}:")
            for i, (label, z) in enumerate(zip(labels or [""] * len(ends), ends, strict=True), 1):
                lines.append(f"  token {i}: {label}{_shown(z, exact)}")
        else:
            label = _printable(entry.get("label", "(no labels)"))
            lines.append(f"{data.name(j)}: {label}  {_shown(result, exact)}")
        for k, state in enumerate(entry.get("trace", [])):
            stage = model.stages[k - 1] if k else "input"
            lines.append(f"  {k:>4} {stage}: {json.dumps(state, ensure_ascii=False)}")
    return entries, lines


def _check_trace(blocks: int, data: Dataset) -> None:
    """Refuse a trace that would not fit into the memory of a usual machine."""
    count = (blocks + 1) * len(data.tokens) * data.dimension
    if count > MAX_TRACE:
        raise InputError(
            f"--trace: the {plural(len(data.tokens), 'token')} after each of "
            f"{plural(blocks, 'block')} are {count} numbers, and at most {MAX_TRACE} are written; "
            f"take fewer sequences, in Python hardmax.load(…)[:10].save('some.json')"
        )


def _printable(label: str) -> str:
    return label if label.isprintable() else repr(label)


def _shown(vector: Sequence[Any], exact: bool) -> str:
    return show_vector(vector) if exact else "(" + ", ".join(f"{x:.6g}" for x in vector) + ")"


def _results(
    model: Transformer, data: Dataset, exact: bool, trace: bool, backend: str
) -> tuple[list[Sequence[Any]], list[list[Any]] | None]:
    """Outputs and, if asked for, the states of every sequence."""
    if exact:
        outputs: list[Sequence[Any]] = list(model.outputs(data))
        return outputs, [model.trace(Z) for Z in data.sequences] if trace else None
    from ...execute.backends import to_numpy
    from ...execute.floating import outputs as float_outputs

    states: list[list[Any]] = [[] for _ in range(len(data))]

    def keep(tokens: list[Any]) -> None:
        for history, state in zip(states, tokens, strict=True):
            history.append(state.tolist())

    found = to_numpy(float_outputs(model, data.arrays(), keep if trace else None, backend=backend))
    for j, row in enumerate(found):
        if not all(map(isfinite, row)):
            raise ResourceLimitError(
                f"{data.name(j)} leaves the range of float64 on its way; run with --exact"
            )
    return [tuple(row) for row in found.tolist()], states if trace else None


def _numbers(vector: Sequence[Any]) -> list[Any]:
    return [json_number(x) if isinstance(x, Fraction) else x for x in vector]
