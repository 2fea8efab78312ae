"""What the tensors of an ONNX graph are, while it is read: states of a network, and where their
entries stand.

A state has n tokens of some width e. A tensor that holds entries of a state is an array of
integers, i·e + c for coordinate c of token i. Whatever only moves entries (Reshape, Transpose,
Slice, …) acts on that array, by ONNX's own reference implementation.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from ..errors import InputError
from ..network.layer import Layer
from ..network.layers import Affine, Attention, Position


@dataclass(frozen=True, eq=False)
class State:
    """n tokens of ``width`` coordinates: the input, or what ``layer`` makes of the ``parent``."""

    count: int
    width: int
    parent: State | None = None
    layer: Layer | None = None

    def then(self, layer: Layer, width: int | None = None, count: int | None = None) -> State:
        """The state behind one more layer."""
        return State(count or self.count, width or self.width, self, layer)

    def back_to(self, start: State | None) -> list[Layer] | None:
        """The layers that lead from ``start`` (None: the input) here; None if there is no way."""
        layers: list[Layer] = []
        state = self
        while state is not start:
            if state.parent is None or state.layer is None:
                return layers[::-1] if start is None else None
            layers.append(state.layer)
            state = state.parent
        return layers[::-1]

    def everything(self) -> np.ndarray:
        """All entries in order, (n, e)."""
        return np.arange(self.count * self.width).reshape(self.count, self.width)


@dataclass(frozen=True, eq=False)
class Entries:
    """Entries of a state, each multiplied by ``scale``."""

    state: State
    index: np.ndarray
    scale: Fraction = Fraction(1)

    @property
    def tokens(self) -> np.ndarray:
        """Token of each entry."""
        return self.index // self.state.width

    @property
    def channels(self) -> np.ndarray:
        """Coordinate of each entry."""
        return self.index % self.state.width

    def moved(self, index: np.ndarray) -> Entries:
        """Other entries of the same state."""
        return replace(self, index=index)

    def of(self, state: State) -> Entries:
        """The entries in the same places of another state of the same size."""
        return Entries(state, self.index)

    def need_all(self) -> None:
        """Raise InputError unless every entry of the state stands here once."""
        if not np.array_equal(
            np.sort(self.index, axis=None), np.arange(self.state.everything().size)
        ):
            raise InputError("it takes a part of the tokens or coordinates only")

    def plain(self) -> Entries:
        """The same numbers with scale 1."""
        if self.scale == 1:
            return self
        self.need_all()
        diagonal = [
            [self.scale * (i == k) for k in range(self.state.width)]
            for i in range(self.state.width)
        ]
        return self.of(self.state.then(Affine(diagonal)))

    def rows(self) -> tuple[np.ndarray, np.ndarray]:
        """Token of each row, and the coordinates, which must be the same in all rows."""
        tokens, channels = self.tokens, self.channels
        first = channels.reshape(-1, channels.shape[-1])[0]
        if (tokens != tokens[..., :1]).any() or (channels != first).any():
            raise InputError("its rows are not the same coordinates of one token each")
        if len(set(first.tolist())) != len(first):
            raise InputError("a coordinate stands twice in its rows")
        return tokens[..., 0], first


@dataclass(frozen=True, eq=False)
class Elementwise:
    """x^power · (one + erf · erf(inner·x)) for entries x: parts of a GELU."""

    of: Entries
    inner: float
    power: int = 0
    one: Fraction = Fraction(0)
    erf: Fraction = Fraction(1)

    def times(self, factor: Fraction) -> Elementwise:
        """The product with a number."""
        return replace(self, one=self.one * factor, erf=self.erf * factor)


@dataclass(frozen=True, eq=False)
class Scores:
    """Products of queries and keys, (…, n, n); ``softmax`` says that they are weights already."""

    queries: Entries
    keys: Entries
    beta: Fraction
    causal: bool = False
    softmax: bool = False


def affine(given: Entries, weight: np.ndarray) -> Entries:
    """Entries times a matrix (k, e), row by row."""
    given = given.plain()
    tokens, channels = given.rows()
    state = given.state
    if sorted(tokens.ravel().tolist()) != list(range(state.count)):
        raise InputError("its rows are not all tokens, each once")
    full = np.zeros((weight.shape[1], state.width))
    full[:, channels] = weight.T
    width = weight.shape[1]
    index = tokens[..., None] * width + np.arange(width)
    before, layer = state.parent, state.layer
    if isinstance(layer, _Heads) and before is not None:
        heads = layer.V.shape[0]
        O = full.reshape(width, heads, -1).transpose(1, 0, 2)
        joined = Attention(
            Q=layer.Q, K=layer.K, V=layer.V, O=O, q=layer.q, k=layer.k, v=layer.v,
            weights="softmax", beta=layer.beta, causal=layer.causal,
        )  # fmt: skip
        return Entries(before.then(joined, width), index)
    return Entries(state.then(Affine(full), width), index)


def shifted(given: Entries, constant: np.ndarray) -> Entries:
    """Entries plus a constant: a bias, or positions where it differs between tokens."""
    given = given.plain()
    given.need_all()
    if np.broadcast_shapes(constant.shape, given.index.shape) != given.index.shape:
        raise InputError("the constant that it adds makes the tensor larger")
    state = given.state
    flat = np.empty(given.index.size)
    flat[given.index.ravel()] = np.broadcast_to(constant, given.index.shape).ravel()
    table = flat.reshape(state.count, state.width)
    if (table != table[0]).any():
        return given.of(state.then(Position(table)))
    bias, layer, before = table[0], state.layer, state.parent
    if before is not None and isinstance(layer, Affine) and layer.b is None:
        return given.of(before.then(Affine(layer.W, bias), state.width))
    if before is not None and type(layer) is Attention and layer.o is None:
        return given.of(before.then(replace(layer, o=bias), state.width))
    return given.of(state.then(Affine(np.eye(state.width), bias)))


class _Heads(Attention):
    """Attention whose output matrix is still to come: head h fills coordinates of its own."""


def attended(weights: Scores, values: Entries) -> Entries:
    """Weights times values, (…, n, m): the heads, side by side."""
    start, parts = None, []
    for each, axis in ((weights.queries, -2), (weights.keys, -2), (values, -2)):
        state = each.state
        if not isinstance(state.layer, Affine) or state.parent is None:
            raise InputError("its queries, keys or values are no affine map of the tokens")
        if start is not None and state.parent is not start:
            raise InputError("its queries, keys and values belong to different tokens")
        start = state.parent
        index = each.index.reshape(-1, *each.index.shape[-2:])
        tokens, channels = index // state.width, index % state.width
        expected = np.arange(state.count)[None, :, None]
        if index.shape[axis] != state.count or (tokens != expected).any():
            raise InputError("its rows are not all tokens in their order")
        if (channels != channels[:, :1]).any():
            raise InputError("its rows are not the same coordinates")
        parts.append((state.layer, channels[:, 0]))
    if start is None or values.scale != 1:
        raise InputError("its values are scaled")
    (wq, cq), (wk, ck), (wv, cv) = parts
    if not len(cq) == len(ck) == len(cv):
        raise InputError("queries, keys and values have different numbers of heads")
    heads, m = cv.shape
    layer = _Heads(
        **dict(_taken("Q", "q", wq, cq)), **dict(_taken("K", "k", wk, ck)),
        **dict(_taken("V", "v", wv, cv)),
        O=np.eye(heads * m).reshape(heads * m, heads, m).transpose(1, 0, 2),
        weights="softmax", beta=weights.beta, causal=weights.causal,
    )  # fmt: skip
    state = start.then(layer, heads * m)
    shape = values.index.shape
    index = np.arange(state.count)[:, None] * state.width
    places = np.stack([index + h * m + np.arange(m) for h in range(heads)])
    return Entries(state, places.reshape(shape))


def _taken(matrix: str, vector: str, layer: Affine, channels: np.ndarray) -> Iterator[Any]:
    """Rows of an affine map for each head."""
    yield matrix, layer.W.values[channels]
    if layer.b is not None:
        yield vector, layer.b.values[channels]
