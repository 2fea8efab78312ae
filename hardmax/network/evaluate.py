"""The literal evaluator: what each layer computes, for any kind of numbers.

A kind of numbers is a class of matrices with the methods of `Values`: `rational.Rationals` holds
exact numbers, `balls.Balls` float64 balls, `arbs.Arbs` balls of any precision. The same lines
below give exact outputs, rigorous enclosures, and enclosures of what an executor computes.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, Protocol, Self, TypeVar

from ..exact.array import ExactArray
from .layer import Layer
from .layers import (
    Affine,
    Attention,
    Embedding,
    Gelu,
    Norm,
    Position,
    Prepend,
    Readout,
    Relu,
    Residual,
)


class Values(ABC):
    """A matrix of numbers of one kind: n tokens of d coordinates, or scores of shape (n, n)."""

    @property
    @abstractmethod
    def length(self) -> int:
        """Number of rows n."""

    @abstractmethod
    def affine(self, W: Any, b: Any) -> Self:
        """W z + b for each row z; b is one row, or None for 0."""

    @abstractmethod
    def scores(self, other: Self) -> Self:
        """Inner products of each row with each row of another matrix."""

    @abstractmethod
    def mixed(self, other: Self) -> Self:
        """The product with another matrix: each row holds weights of its rows."""

    @abstractmethod
    def __add__(self, other: Self) -> Self: ...

    @abstractmethod
    def times(self, factor: Fraction) -> Self:
        """Each entry times a rational number."""

    @abstractmethod
    def relu(self) -> Self:
        """max(0, x), entry by entry."""

    @abstractmethod
    def gelu(self) -> Self:
        """The map x ↦ x Φ(x), entry by entry."""

    @abstractmethod
    def norm(self, eps: Fraction, g: Self | None, b: Self | None) -> Self:
        """Layer norm of each row."""

    @abstractmethod
    def hardmax(self, causal: bool) -> Self:
        """Equal weights on the largest scores of each row."""

    @abstractmethod
    def softmax(self, beta: Fraction, root: int, causal: bool) -> Self:
        """Weights exp(β s/√root), divided by their sum in each row."""

    @abstractmethod
    def mean(self) -> Self:
        """The mean of the rows, as one row."""

    @abstractmethod
    def rows(self, places: Sequence[int]) -> Self:
        """Some rows."""

    @abstractmethod
    def columns(self, start: int, stop: int) -> Self:
        """Some columns."""

    @abstractmethod
    def above(self, other: Self) -> Self:
        """These rows, then those of another matrix."""

    @abstractmethod
    def beside(self, others: Sequence[Self]) -> Self:
        """The columns of this matrix, then those of others."""

    @abstractmethod
    def looked_up(self, table: Self) -> Self:
        """The rows of a table that the entries, integers, name."""


V = TypeVar("V", bound=Values)


class Reader(Protocol):
    """Turns exact parameters, vectors as one row, into the numbers of an evaluation."""

    def __call__(self, array: ExactArray, /) -> Any: ...


def run(layers: Sequence[Layer], Z: V, read: Reader) -> V:
    """Apply layers one after another."""
    for layer in layers:
        Z = apply(layer, Z, read)
    return Z


def apply(layer: Layer, Z: V, read: Reader) -> V:
    """Apply one layer to tokens (docstrings of `hardmax.network.layers`)."""

    def given(array: ExactArray | None) -> Any:
        return None if array is None else read(array)

    match layer:
        case Affine(W=W, b=b):
            return Z.affine(read(W), given(b))
        case Relu():
            return Z.relu()
        case Gelu():
            return Z.gelu()
        case Norm(eps=eps, g=g, b=b):
            return Z.norm(eps, given(g), given(b))
        case Attention():
            return _attention(layer, Z, read)
        case Residual(layers=inner, rho=rho):
            return (Z if rho == 1 else Z.times(rho)) + run(inner, Z, read)
        case Embedding(table=table):
            return Z.looked_up(read(table))
        case Position(table=table):
            places: V = read(table)
            return Z + places.rows(range(Z.length))
        case Prepend(table=table):
            front: V = read(table)
            return front.above(Z)
        case Readout(which=which):
            return (
                Z.mean() if which == "mean" else Z.rows([0 if which == "first" else Z.length - 1])
            )
    raise AssertionError(f"an unknown layer {layer!r}")


def _attention(layer: Attention, Z: V, read: Reader) -> V:
    flat: dict[str, Any] = {
        name: None if x is None else read(x) for name, x in layer.stacked.items()
    }
    heads, k, m = layer.heads, layer.score_width, layer.value_width
    queries, values = Z.affine(flat["Q"], flat["q"]), Z.affine(flat["V"], flat["v"])
    keys = None if flat["K"] is None else Z.affine(flat["K"], flat["k"])
    parts = []
    for h in range(heads):
        own = slice(h * k, (h + 1) * k)
        key = Z if keys is None else keys.columns(own.start, own.stop)
        scores = queries.columns(own.start, own.stop).scores(key)
        if layer.weights == "hardmax":
            weights = scores.hardmax(layer.causal)
        else:
            weights = scores.softmax(layer.beta, layer.root, layer.causal)
        parts.append(weights.mixed(values.columns(h * m, (h + 1) * m)))
    return parts[0].beside(parts[1:]).affine(flat["O"], flat["o"])
