"""A folder in the layout of VNN-COMP whose answers are known (`ground_truth`).

    onnx/length_5.onnx             the model, unrolled for sequences of 5 tokens
    vnnlib/sequence_1_below.vnnlib the property in VNN-LIB 1.0; vnnlib2/ the same in VNN-LIB 2.0
    instances.csv                  onnx file, vnnlib file, seconds
    ground_truth.csv               the answer to every instance, and how it is known
    counterexamples/               for each `sat` an input that loses the label, exactly

A property asks for a counterexample: `sat` means that some input within the radius loses the label,
`unsat` that the label holds. ℓ2 balls can't be written in VNN-LIB, whose constraints are linear.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np

from ..dataset import Dataset
from ..errors import InputError
from ..exact.array import ExactArray
from ..exact.numbers import Vector
from ..model.transformer import Transformer
from .extras import need
from .ground_truth import Truth, ground_truth
from .onnx_builder import with_metadata
from .unrolled import Unrolled, unrolled

TIMEOUT = 60  # seconds, the third column of instances.csv
LAYOUT = (
    "onnx", "vnnlib", "vnnlib2", "counterexamples", "instances.csv", "ground_truth.csv", "README.md"
)  # fmt: skip
HEADER = ("onnx", "vnnlib", "result", "radius", "robust_radius", "known_by", "sequence", "label")
GAP = Fraction(1, 512)


@dataclass
class Benchmark:
    """The files by name, and how many instances of which kind there are."""

    files: dict[str, bytes] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=lambda: {"sat": 0, "unsat": 0})
    exact: int = 0  # sequences whose robust radius is known exactly
    skipped: list[int] = field(default_factory=list)  # the written model misses their label


def benchmark(
    model: Transformer,
    data: Dataset,
    sequences: Sequence[int] | None = None,
    dtype: str = "float32",
    gap: Fraction = GAP,
) -> Benchmark:
    """Instances for some sequences of ``data`` (from 0; by default all), two for each.

    Tokens and constants are rounded to ``dtype``, and what is known is known of the rounded
    ones: the files are exact statements about the numbers in them. Raises InputError as
    `unrolled` does; MissingExtraError without the library onnx.

    >>> import hardmax as hm
    >>> data = hm.Dataset([[(0,)], [(3,), (3,)]], ["a", "b"])
    >>> made = benchmark(hm.Transformer([hm.RankOneBlock.of(1, rho=0, alpha=1)]), data)
    >>> made.counts, made.exact
    ({'sat': 2, 'unsat': 2}, 2)
    """
    if not 0 < gap < 1:
        raise InputError(f"the gap is {gap}; it must lie between 0 and 1")
    labels = data.need_labels()
    chosen = list(range(len(data))) if sequences is None else list(sequences)
    made, networks = Benchmark(), dict[int, Unrolled]()
    rows: list[tuple[str, ...]] = []
    means = np.array([Z.mean(axis=0) for Z in data.arrays()])
    for j in chosen:
        tokens = _rounded(data, j, dtype)
        length = len(tokens)
        if length not in networks:
            networks[length] = unrolled(model, data.sets, length, dtype)
            made.files[_onnx_name(length)] = _graph(networks[length], data, length)
        net = networks[length]
        region = net.sets.get(labels[j])
        if region is None:
            raise InputError("with a single label there is nothing to verify")
        others = means[[name != labels[j] for name in labels]]
        truth = ground_truth(net.model, tokens, region, gap, others)
        if truth is None:
            made.skipped.append(j)
            continue
        made.exact += truth.exact
        rows += _instances(made, net, truth, tokens, j, labels[j], dtype)
    made.files["instances.csv"] = _csv([(a, b, str(TIMEOUT)) for a, b, *_ in rows])
    made.files["ground_truth.csv"] = _csv([HEADER, *rows])
    made.files["README.md"] = _readme(made, model, data, dtype, gap)
    return made


def _onnx_name(length: int) -> str:
    return f"onnx/length_{length}.onnx"


def _rounded(data: Dataset, j: int, dtype: str) -> tuple[Vector, ...]:
    """The tokens of a sequence as floats, exactly."""
    values = data.arrays()[j].astype(dtype)
    if not np.isfinite(values).all():
        raise InputError(f"{data.name(j)} has numbers past the range of {dtype}")
    exact = ExactArray.from_numpy(values)
    return tuple(exact.row(i) for i in range(len(exact)))


def _graph(net: Unrolled, data: Dataset, length: int) -> bytes:
    onnx = need("onnx")
    facts = {
        "format": "hardmax-vnnlib/1",
        "expects": f"one sequence of {length} tokens of dimension {data.dimension}, as the model "
        f"sees them, flattened",
        "labels": json.dumps(list(data.sets)),
    }
    model = with_metadata(onnx, net.graph, facts)
    onnx.checker.check_model(model)
    return bytes(model.SerializeToString(deterministic=True))


def _instances(
    made: Benchmark, net: Unrolled, truth: Truth, tokens: Sequence[Vector], j: int, label: str,
    dtype: str,
) -> list[tuple[str, ...]]:  # fmt: skip
    """The instances of one sequence: rows of ground_truth.csv; their files go to ``made``."""
    rows: list[tuple[str, ...]] = []
    flat = [x for token in tokens for x in token]
    for side, radius, result in (("below", truth.below, "unsat"), ("above", truth.above, "sat")):
        if radius is None:
            continue
        made.counts[result] += 1
        name = f"sequence_{j + 1}_{side}"
        box = [(decimal(x - radius), decimal(x + radius)) for x in flat]
        title = f"sequence {j + 1}, label {json.dumps(label)}, radius {decimal(radius)}: {result}"
        ways = net.misses[label]
        made.files[f"vnnlib/{name}.vnnlib"] = _first(title, box, ways, len(net.rows))
        made.files[f"vnnlib2/{name}.vnnlib"] = _second(title, box, ways, len(net.rows), dtype)
        if result == "unsat":
            known = "proof: C7"
        else:
            known = "counterexample, exact"
            made.files[f"counterexamples/{name}.txt"] = _witness(net, truth)
        robust = "?" if not truth.exact or truth.radius is None else str(truth.radius)
        rows.append((
            _onnx_name(len(tokens)), f"vnnlib/{name}.vnnlib", result, decimal(radius), robust,
            known, str(j + 1), label,
        ))  # fmt: skip
    return rows


def _first(
    title: str, box: list[tuple[str, str]], ways: list[tuple[int, int | None]], outputs: int
) -> bytes:
    """The property in VNN-LIB 1.0, as VNN-COMP uses it."""
    lines = [f"; {title}"]
    lines += [f"(declare-const X_{i} Real)" for i in range(len(box))]
    lines += [f"(declare-const Y_{i} Real)" for i in range(outputs)]
    for i, (low, high) in enumerate(box):
        lines += [f"(assert (>= X_{i} {low}))", f"(assert (<= X_{i} {high}))"]
    parts = [f"(and (>= Y_{i} {'0' if k is None else f'Y_{k}'}))" for i, k in ways]
    lines.append(f"(assert (or {' '.join(parts)}))")
    return ("\n".join(lines) + "\n").encode()


def _second(
    title: str, box: list[tuple[str, str]], ways: list[tuple[int, int | None]], outputs: int,
    dtype: str,
) -> bytes:  # fmt: skip
    """The property in VNN-LIB 2.0."""
    lines = [
        f"; {title}", "(vnnlib-version <2.0>)", "(declare-network hardmax",
        f"  (declare-input X {dtype} [1, {len(box)}])",
        f"  (declare-output Y {dtype} [1, {outputs}])", ")",
    ]  # fmt: skip
    for i, (low, high) in enumerate(box):
        lines += [f"(assert (>= X[0,{i}] {low}))", f"(assert (<= X[0,{i}] {high}))"]
    parts = [f"(>= Y[0,{i}] {'0.0' if k is None else f'Y[0,{k}]'})" for i, k in ways]
    some = parts[0] if len(parts) == 1 else f"(or {' '.join(parts)})"
    lines.append(f"(assert {some})")
    return ("\n".join(lines) + "\n").encode()


def _witness(net: Unrolled, truth: Truth) -> bytes:
    """A counterexample as VNN-COMP writes one: values of all X and Y (Y to 17 digits)."""
    if truth.counterexample is None:
        raise TypeError("a counterexample expected")
    flat = [x for token in truth.counterexample for x in token]
    output = net.model.output(truth.counterexample)
    lines = [f"(X_{i} {decimal(x)})" for i, x in enumerate(flat)]
    for i, (row, bound) in enumerate(net.rows):
        exact = sum((a * y for a, y in zip(row, output, strict=True)), bound)
        lines.append(f"(Y_{i} {float(exact)!r})")
    return ("(" + "\n ".join(lines) + ")\n").encode()


def decimal(number: Fraction) -> str:
    """A dyadic number as the finite decimal that it is, without an exponent.

    >>> decimal(Fraction(-3, 8)), decimal(Fraction(2))
    ('-0.375', '2.0')
    """
    with localcontext() as context:
        context.prec = 5000
        found = Decimal(number.numerator) / Decimal(number.denominator)
        if Fraction(found) != number:
            raise InputError(f"{number} is not dyadic, so no finite decimal says it in short")
        text = format(found, "f")
    return text if "." in text else f"{text}.0"


def _csv(rows: Sequence[Sequence[str]]) -> bytes:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue().encode()


def _readme(made: Benchmark, model: Transformer, data: Dataset, dtype: str, gap: Fraction) -> bytes:
    return _README.format(
        instances=sum(made.counts.values()), sat=made.counts["sat"], unsat=made.counts["unsat"],
        model=model.sha256 or "not from a file",
        data=data.source.get("sha256") or "not from a file",
        dtype=dtype, exact=made.exact, gap=gap, skipped=len(made.skipped),
    ).encode()  # fmt: skip


_README = """# Instances for neural network verifiers, with known answers

Written by `hardmax export --to vnnlib`: {instances} instances, {sat} sat and {unsat} unsat.
sha256 of the model: {model}
sha256 of the data: {data}

An instance asks whether an input in a box around a sequence (every coordinate moves by at most the
radius) loses the label of that sequence. `sat`: yes. `unsat`: no, the label holds. The answers in
`ground_truth.csv` are statements about a function over the real numbers: the graph in the ONNX
file, whose constants are {dtype} numbers, read exactly.

- `unsat` is proved: exact arithmetic computes a radius below which no decision of the network
  changes, and the radius of the instance is smaller.
- `sat` is proved: `counterexamples/` holds an input in the box at which the exact output loses the
  label.
- `robust_radius` is a fraction where the radius is known exactly ({exact} sequences): both
  instances of the sequence lie within a factor 1 ± {gap} of it. Otherwise it is "?": nothing is
  known between the two instances.

`vnnlib/` is VNN-LIB 1.0, `vnnlib2/` says the same in VNN-LIB 2.0. All numbers in them are exact
decimals. Sequences whose label the rounded network misses from the start are left out: {skipped}.
"""
