"""A model as an ONNX graph for ragged input: Scan loops over stacked parameters.

Inputs: ``tokens`` (N, n, d) and ``mask`` (N, n), true at tokens and false at padding. Outputs:
``outputs`` (N, d) and, where label sets are known, ``labels`` (N,), ids from 0. ONNX's operator
`Hardmax` takes the first maximum only, so ties are found by comparison with the maximum and
averaged, as in (2.4b).
"""

from __future__ import annotations

from itertools import groupby
from typing import Any

import numpy as np

from ..model.parameters import NAMES
from .extras import need
from .label_head import Head, head_of
from .onnx_builder import Graph, value
from .rounded import Rounded

_MOST_LOOPS = 64  # kinds of attention are told apart as long as there are few changes


def onnx_model(found: Rounded) -> Any:
    """The `onnx.ModelProto`, without metadata; equal floats give equal graphs.

    Raises MissingExtraError without the library onnx.

    >>> from hardmax.model.layers import RankOneBlock
    >>> from hardmax.model.transformer import Transformer
    >>> from hardmax.exchange.rounded import rounded
    >>> proto = onnx_model(rounded(Transformer([RankOneBlock.of(1)])))
    >>> [node.op_type for node in proto.graph.node][:3]
    ['Unsqueeze', 'Where', 'Scan']
    """
    onnx = need("onnx")
    g = Graph()
    dtype, d = found.dtype, found.dimension
    zero = g.constant(0, dtype)
    x = g.add("Where", g.add("Unsqueeze", "mask", g.axes(-1)), "tokens", zero)
    mask = "mask"
    for name in NAMES:
        g.constant(found.arrays[name], dtype, name)
    for kind, start, stop in _runs(found):
        rows = [_rows(g, name, start, stop, len(found.arrays["b"])) for name in NAMES]
        x = g.add("Scan", x, *rows, body=_body(g, kind, mask, found), num_scan_inputs=len(NAMES))
        if kind == "collapse":
            one = g.axes(1)
            x = g.add("ReduceMax", x, one, keepdims=1)  # all tokens are equal
            mask = g.add("Cast", g.add("ReduceMax", g.add("Cast", mask, to=_INT64), one), to=_BOOL)
    y = g.add("Squeeze", _mean(g, x, mask, dtype), g.axes(1))
    g.copied(y, "outputs")
    outputs = [value(onnx, "outputs", dtype, ["N", d])]
    head = head_of(found.sets, dtype)
    if head.names:
        g.copied(_labels(g, y, head, dtype), "labels")
        outputs.append(value(onnx, "labels", "int64", ["N"]))
    inputs = [value(onnx, "tokens", dtype, ["N", "n", d]), value(onnx, "mask", "bool", ["N", "n"])]
    return g.model("hardmax", inputs, outputs, "a hardmax transformer; see hardmax.expects")


_BOOL, _INT64 = 9, 7  # onnx.TensorProto


def _runs(found: Rounded) -> list[tuple[str, int, int]]:
    """Consecutive blocks of one kind: none, uniform or leader attention, or a collapse."""
    a = found.arrays
    kinds = []
    for k in range(len(a["b"])):
        if a["alpha"][k] == 0:
            kinds.append("none")
        elif a["v"][k].any():
            kinds.append("leader")
        else:
            kinds.append("collapse" if a["rho"][k] == 0 else "uniform")
    runs, start = [], 0
    for kind, group in groupby(kinds):
        stop = start + len(list(group))
        runs.append((kind, start, stop))
        start = stop
    return runs if len(runs) <= _MOST_LOOPS else [("leader", 0, len(kinds))]


def _rows(g: Graph, name: str, start: int, stop: int, depth: int) -> str:
    """Rows of a stacked parameter; the whole of it where all are meant."""
    if (start, stop) == (0, depth):
        return name
    ends = (g.constant([x], np.int64) for x in (start, stop, 0))
    return str(g.add("Slice", name, *ends))


def _body(outer: Graph, kind: str, mask: str, found: Rounded) -> Any:
    """One block, the body of a loop over its parameters; the mask is the outer graph's."""
    dtype = found.dtype
    g = Graph(outer)
    x, u, b, w, rho, alpha, v = (g.new(stem) for stem in ("x", "u", "b", "w", "rho", "alpha", "v"))
    last = g.axes(-1)
    moved = g.add("Relu", g.add("Add", g.add("MatMul", x, u), b))
    z = g.add("Add", x, g.add("Mul", g.add("Unsqueeze", moved, last), w))
    if kind == "none":
        after = g.add("Mul", z, rho)
    else:
        focus = _focus(g, z, v, mask, dtype) if kind == "leader" else _mean(g, z, mask, dtype)
        after = g.add("Add", g.add("Mul", z, rho), g.add("Mul", focus, alpha))
    target = g.new("after")
    g.copied(after, target)
    d = found.dimension
    sizes: list[list[int | str] | None] = [None, [d], [], [d], [], [], [d]]
    names = (x, u, b, w, rho, alpha, v)
    inputs = [value(g.onnx, name, dtype, size) for name, size in zip(names, sizes, strict=True)]
    return g.body(outer.new("block"), inputs, [value(g.onnx, target, dtype, None)])


def _focus(g: Graph, z: str, v: str, mask: str, dtype: str) -> str:
    """For each token the mean of the tokens that it selects (2.4), (N, n, d)."""
    score, one = g.add("MatMul", z, v), g.axes(1)
    zero, last = g.constant(0, dtype), g.axes(-1)
    means = []
    for reduce, bound in (("ReduceMax", -np.inf), ("ReduceMin", np.inf)):
        there = g.add("Where", mask, score, g.constant(bound, dtype))
        best = g.add("Equal", score, g.add(reduce, there, one, keepdims=1))
        means.append(_mean(g, z, g.add("And", best, mask), dtype))
    # ⟨v,z_i⟩⟨v,z_l⟩ is largest where ⟨v,z_l⟩ is largest, or least, or anywhere
    sign = g.add("Unsqueeze", score, last)
    rest = g.add("Where", g.add("Less", sign, zero), means[1], _mean(g, z, mask, dtype))
    return str(g.add("Where", g.add("Greater", sign, zero), means[0], rest))


def _mean(g: Graph, x: str, chosen: str, dtype: str) -> str:
    """Mean of the chosen tokens of each sequence, (N, 1, d)."""
    one, last = g.axes(1), g.axes(-1)
    there = g.add("Where", g.add("Unsqueeze", chosen, last), x, g.constant(0, dtype))
    total = g.add("ReduceSum", there, one, keepdims=1)
    kind = g.onnx.TensorProto.DOUBLE if dtype == "float64" else g.onnx.TensorProto.FLOAT
    count = g.add("ReduceSum", g.add("Cast", chosen, to=kind), one, keepdims=1)
    return str(g.add("Div", total, g.add("Unsqueeze", count, last)))


def _labels(g: Graph, y: str, head: Head, dtype: str) -> str:
    """Label ids (N,) of outputs (N, d), as `Head.of_torch` finds them."""
    if head.weight is not None:
        scores = g.add(
            "Gemm", y, g.constant(head.weight, dtype), g.constant(head.bias, dtype), transB=1
        )
        return str(g.add("ArgMax", scores, axis=1, keepdims=0))
    one, minus = g.axes(1), g.constant(-1, dtype)
    keys = []
    for part in head.parts:
        first, second = (g.constant(array, dtype) for array in part.arrays)
        if part.kind == "rows":
            product = g.add("MatMul", y, g.add("Transpose", first, perm=[1, 0]))
            inside = _all(g, g.add("Less", product, second))
            distance = g.constant(np.inf, dtype)
        elif part.kind == "ball":
            off = g.add("Sub", y, first)
            length = g.add("Sqrt", g.add("ReduceSum", g.add("Mul", off, off), one, keepdims=0))
            inside = g.add("Less", length, second)
            distance = g.add("Relu", g.add("Sub", length, second))
        elif part.kind == "halfspace":
            excess = g.add("Sub", g.add("MatMul", y, first), second)
            inside = g.add("Less", excess, g.constant(0, dtype))
            distance = g.add("Relu", excess)
        else:
            within = g.add("And", g.add("Less", first, y), g.add("Less", y, second))
            inside = _all(g, g.add("Equal", y, first) if part.kind == "point" else within)
            low, high = g.add("Sub", first, y), g.add("Sub", y, second)
            off = g.add("Add", g.add("Relu", low), g.add("Relu", high))
            distance = g.add("Sqrt", g.add("ReduceSum", g.add("Mul", off, off), one, keepdims=0))
        keys.append(g.add("Unsqueeze", g.add("Where", inside, minus, distance), one))
    key = g.add("Concat", *keys, axis=1)
    chosen = g.add("ArgMin", key, axis=1, keepdims=0)
    if not head.partial:
        return str(chosen)
    held = g.add("Less", g.add("ReduceMin", key, one, keepdims=0), g.constant(0, dtype))
    return str(g.add("Where", held, chosen, g.constant(-1, np.int64)))


def _all(g: Graph, truth: str) -> str:
    """Whether all entries of a row are true."""
    least = g.add("ReduceMin", g.add("Cast", truth, to=_INT64), g.axes(1), keepdims=0)
    return str(g.add("Cast", least, to=_BOOL))
