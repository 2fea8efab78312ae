"""A model with uniform attention, unrolled for one length into Gemm, MatMul, Add and Relu.

The graph takes one sequence of n tokens, flattened, (1, n·d). Verifiers of neural networks speak
about *its* floats, over the real numbers. So every constant is rounded as it is written, and the
exact model is read off what was written: where α/n became the float c, the exact α is n·c. That
exact model and the graph are the same function on ℝ^(n·d).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from ..errors import InputError
from ..exact.numbers import dot
from ..labels import Ball, LabelSet, Point, Polyhedron
from ..model.layers import RankOneBlock
from ..model.transformer import Transformer
from .onnx_builder import Graph, value

_MOST = 1 << 24  # entries of one matrix of the graph


@dataclass(frozen=True)
class Unrolled:
    """The graph for length n, the exact model that it is, and what its outputs Y_i mean.

    ``rows`` are the pairs (A_i, b_i) with Y_i = ⟨A_i, y⟩ + b_i for the output y of the exact
    model; ``misses`` lists for each label the ways to lose it: (i, None) for Y_i ≥ 0, and (i, k)
    for Y_i ≥ Y_k. A label holds where none of them happens; that is the open set ``sets[label]``.
    """

    graph: Any
    model: Transformer
    rows: list[tuple[tuple[Fraction, ...], Fraction]]
    misses: Mapping[str, list[tuple[int, int | None]]]
    sets: Mapping[str, Polyhedron]


def unrolled(
    model: Transformer, sets: Mapping[str, LabelSet], length: int, dtype: str = "float32"
) -> Unrolled:
    """Unroll ``model`` for sequences of ``length`` tokens; constants are of ``dtype``.

    Label sets are all points, of which the nearest is predicted (its score ⟨p,y⟩ − |p|²/2 is the
    largest), or all half-spaces, boxes and polyhedra, in which the output has to lie. Raises
    InputError for other label sets, for general layers, masks and several heads, for
    attention that chooses leaders, and where a constant is past the range of ``dtype``.

    >>> model = Transformer([RankOneBlock.of(1, rho=0, alpha=1)])
    >>> found = unrolled(model, {"a": Point((0,)), "b": Point((2,))}, 3)
    >>> [node.op_type for node in found.graph.graph.node]
    ['MatMul', 'Gemm']
    >>> found.model.blocks[0].alpha == 3 * Fraction(float(np.float32(1 / 3)))
    True
    """
    blocks = _checked(model)
    net = _Unrolling(model.dimension, length, dtype)
    for k, block in enumerate(blocks):
        net.place = f"block {k + 1}"
        net.block(block)
    net.readout()
    net.place = "a label set"
    rows, misses = _head(net, sets)
    graph = net.finish(rows)
    exact = Transformer(net.exact, dimension=model.dimension)
    return Unrolled(graph, exact, rows, misses, _regions(rows, misses))


def _checked(model: Transformer) -> list[RankOneBlock]:
    parameters = model.parameters
    masked = getattr(model, "masked", False) or model.meta.get("masked")
    if parameters is None or parameters.heads > 1 or masked:
        raise InputError("vnnlib needs a model of rank-1 blocks with one head and no mask")
    blocks = [block for block in parameters if isinstance(block, RankOneBlock)]
    for k, block in enumerate(blocks):
        if block.chooses:
            raise InputError(
                f"block {k + 1} chooses leaders (v ≠ 0): --to vnnlib takes models with uniform "
                f"attention only, which --strategy cover and peel build"
            )
    return blocks


class _Unrolling:
    """The graph and the exact blocks, which grow together."""

    def __init__(self, dimension: int, length: int, dtype: str) -> None:
        self.dimension, self.length, self.dtype = dimension, length, dtype
        self.graph = Graph()
        self.exact: list[RankOneBlock] = []
        self.single = False  # has the sequence become one point?
        self.name = "X"
        self.place = ""

    @property
    def tokens(self) -> int:
        """Tokens that are carried."""
        return 1 if self.single else self.length

    def rounded(self, number: Fraction) -> Fraction:
        """The float that is written for a number, as the exact number that it is."""
        with np.errstate(over="ignore"):
            try:
                found = np.float64(float(number)).astype(self.dtype)
            except OverflowError:
                found = np.float64(np.inf)
        if not np.isfinite(found):
            raise InputError(f"{self.place} has a number past the range of {self.dtype}")
        return Fraction(float(found))

    def times(self, matrix: np.ndarray) -> None:
        """State ← state · matrix."""
        self.name = self.graph.add("MatMul", self.name, self._written(matrix))

    def block(self, block: RankOneBlock) -> None:
        """Add a feed-forward layer and uniform attention."""
        u, w = (tuple(map(self.rounded, x)) for x in (block.u, block.w))
        b, rho, alpha = self.rounded(block.b), block.rho, block.alpha
        if any(w):
            eye = np.eye(self.tokens)
            column, row = np.array([u], float).T, np.array([w], float)
            bias = self._written(np.full(self.tokens, float(b)))
            hidden = self.graph.add("Gemm", self.name, self._written(np.kron(eye, column)), bias)
            step = self._written(np.kron(eye, row))
            moved = self.graph.add("MatMul", self.graph.add("Relu", hidden), step)
            self.name = self.graph.add("Add", self.name, moved)
        if self.single:
            rho, alpha = self._scale(rho + alpha), Fraction(0)
        elif alpha == 0:
            rho = self._scale(rho)
        else:
            share = self.rounded(alpha / self.length)
            mean = np.kron(np.ones((self.length, 1)), float(share) * np.eye(self.dimension))
            alpha, before = share * self.length, self.name
            if rho == 0:
                self.times(mean)
                self.single = True
            else:
                self.times(np.tile(mean, (1, self.length)))
                towards, self.name = self.name, before
                rho = self._scale(rho)
                self.name = self.graph.add("Add", self.name, towards)
        self.exact.append(RankOneBlock(u, b, w, rho, alpha, (Fraction(0),) * self.dimension))

    def _scale(self, factor: Fraction) -> Fraction:
        """State ← factor · state; the factor that was written."""
        written = self.rounded(factor)
        if written != 1:
            self.times(float(written) * np.eye(self.tokens * self.dimension))
        return written

    def readout(self) -> None:
        """The mean of the tokens."""
        if not self.single:
            self.block(RankOneBlock.of(self.dimension, rho=0, alpha=1))

    def finish(self, rows: list[tuple[tuple[Fraction, ...], Fraction]]) -> Any:
        """The model whose outputs Y_i are ⟨A_i, y⟩ + b_i."""
        g = self.graph
        weight = self._written(np.array([row for row, _ in rows], float).T)
        g.add("Gemm", self.name, weight, self._written(np.array([b for _, b in rows], float)))
        g.nodes[-1].output[0] = "Y"
        inputs = [value(g.onnx, "X", self.dtype, [1, self.length * self.dimension])]
        outputs = [value(g.onnx, "Y", self.dtype, [1, len(rows)])]
        return g.model("hardmax", inputs, outputs, "one sequence, flattened, to scores of labels")

    def _written(self, matrix: np.ndarray) -> str:
        if matrix.size > _MOST:
            raise InputError(
                f"sequences of {self.length} tokens of dimension {self.dimension} need a matrix "
                f"of {matrix.size} numbers; at most {_MOST} are written"
            )
        return self.graph.constant(matrix, self.dtype)


def _head(
    net: _Unrolling, sets: Mapping[str, LabelSet]
) -> tuple[list[tuple[tuple[Fraction, ...], Fraction]], dict[str, list[tuple[int, int | None]]]]:
    """Outputs as rounded rows, and the ways in which each label is lost."""
    if not sets:
        raise InputError("vnnlib needs label sets: those of the data, or of the model")
    rows: list[tuple[tuple[Fraction, ...], Fraction]] = []
    misses: dict[str, list[tuple[int, int | None]]] = {}

    def add(row: Any, bound: Fraction) -> None:
        rows.append((tuple(map(net.rounded, row)), net.rounded(bound)))

    if all(isinstance(each, Point) for each in sets.values()):
        names = list(sets)
        for k, name in enumerate(names):
            point = sets[name].witness()
            add(point, -dot(point, point) / 2)
            misses[name] = [(i, k) for i in range(len(names)) if i != k]
        return rows, misses
    for name, each in sets.items():
        if isinstance(each, Point | Ball):
            raise InputError(
                f"label {name!r} is a {each.kind}: vnnlib needs label sets that are all points, "
                f"or all half-spaces, boxes and polyhedra"
            )
        start = len(rows)
        for row, bound in zip(*each.rows, strict=True):  # type: ignore[attr-defined]
            add(row, -bound)
        misses[name] = [(i, None) for i in range(start, len(rows))]
    return rows, misses


def _regions(
    rows: list[tuple[tuple[Fraction, ...], Fraction]],
    misses: Mapping[str, list[tuple[int, int | None]]],
) -> dict[str, Polyhedron]:
    """For each label that can be lost, the open set of outputs y that keep it."""
    found = {}
    for name, ways in misses.items():
        A, b = [], []
        for i, k in ways:
            row, bound = rows[i]
            if k is not None:
                row = tuple(x - y for x, y in zip(row, rows[k][0], strict=True))
                bound -= rows[k][1]
            A.append(row)
            b.append(-bound)
        if A:
            found[name] = Polyhedron(tuple(A), tuple(b))
    return found
