"""The layers that a network is made of, each with exact parameters.

A layer maps a sequence of n tokens, a matrix Z of shape (n, d), to another one; what it computes
stands in its docstring, and `hardmax.network.evaluate` computes it. An array of parameters may be
given as nested lists of exact numbers ("1/3" too), as a NumPy array, or as a PyTorch tensor: a
float means exactly the number that it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from ..errors import InputError
from ..exact.array import ExactArray
from ..exact.numbers import as_fraction, check_size, json_number
from .layer import Layer, rearranged


@dataclass(frozen=True, eq=False)
class Affine(Layer):
    """z ↦ W z + b for each token; W has shape (e, d), b length e (absent: 0).

    >>> Affine([[1, 2]], [3]).width(2)
    1
    """

    W: Any
    b: Any = None
    kind: ClassVar[str] = "affine"
    shapes: ClassVar[Mapping[str, str]] = {"W": "ed", "b": "e"}
    optional: ClassVar[frozenset[str]] = frozenset({"b"})


@dataclass(frozen=True, eq=False)
class Relu(Layer):
    """z ↦ max(0, z), coordinate by coordinate."""

    kind: ClassVar[str] = "relu"


@dataclass(frozen=True, eq=False)
class Gelu(Layer):
    """z ↦ z Φ(z) = z (1 + erf(z/√2))/2, coordinate by coordinate."""

    kind: ClassVar[str] = "gelu"
    rational: ClassVar[bool] = False


@dataclass(frozen=True, eq=False)
class Norm(Layer):
    """Layer norm: z ↦ g ⊙ (z − m)/√(s + ε) + b, where m is the mean of the coordinates of z
    and s the mean of (z_k − m)²; ε > 0 is rational, g and b have length d (absent: 1 and 0).
    """

    eps: Any
    g: Any = None
    b: Any = None
    kind: ClassVar[str] = "norm"
    shapes: ClassVar[Mapping[str, str]] = {"g": "d", "b": "d"}
    optional: ClassVar[frozenset[str]] = frozenset({"g", "b"})
    rational: ClassVar[bool] = False

    def _check(self) -> None:
        object.__setattr__(self, "eps", check_size(as_fraction(self.eps)))
        if self.eps <= 0:
            raise InputError("norm: eps must be positive")


@dataclass(frozen=True, eq=False)
class Attention(Layer):
    """Attention with H heads: z_i ↦ o + Σ_h O^h Σ_l p^h_il (V^h z_l + v^h).

    The score of token l for token i is s^h_il = ⟨Q^h z_i + q^h, K^h z_l + k^h⟩. The weights p^h_i
    are, with ``weights="hardmax"``, equal on the l where s^h_il is largest and 0 elsewhere, as in
    (2.4); with "softmax" they are exp(β s^h_il/√root) / Σ_m exp(β s^h_im/√root). With ``causal``
    only l ≤ i take part.

    Q and K have shape (H, k, d), V (H, m, d), O (H, e, m), q and k (H, k), v (H, m), o (e,).
    Absent K and O are identities (so Q^h is the A^h and V^h the V of the paper), absent vectors 0.

    >>> Attention(Q=[[[1, 0], [0, 1]]], V=[[[1, 0], [0, 1]]]).width(2)
    2
    """

    Q: Any
    V: Any
    K: Any = None
    O: Any = None
    q: Any = None
    k: Any = None
    v: Any = None
    o: Any = None
    weights: str = "hardmax"
    causal: bool = False
    beta: Any = 1
    root: int = 1
    kind: ClassVar[str] = "attention"
    shapes: ClassVar[Mapping[str, str]] = {
        "Q": "Hkd", "K": "Hkd", "V": "Hmd", "O": "Hem", "q": "Hk", "k": "Hk", "v": "Hm", "o": "e",
    }  # fmt: skip
    optional: ClassVar[frozenset[str]] = frozenset("KOqkvo")

    def _check(self) -> None:
        object.__setattr__(self, "beta", check_size(as_fraction(self.beta)))
        sizes: dict[str, int] = self.sizes  # type: ignore[attr-defined]
        if self.weights not in ("hardmax", "softmax"):
            raise InputError(
                f"attention: the weights {self.weights!r} are neither hardmax nor softmax"
            )
        if type(self.causal) is not bool or type(self.root) is not int:
            raise InputError("attention: causal must be true or false, root an integer")
        if not 1 <= self.root <= 1 << 50:
            raise InputError("attention: root must lie between 1 and 2^50")
        if self.beta < 0:
            raise InputError("attention: the inverse temperature beta must not be negative")
        if self.K is None and sizes["k"] != sizes["d"]:
            raise InputError("attention: without K each head of Q must be a square matrix")
        if self.O is None and sizes.setdefault("e", sizes["m"]) != sizes["m"]:
            raise InputError("attention: without O each head of V must have as many rows as o")
        if self.K is None and self.k is not None:
            raise InputError("attention: a vector k needs a matrix K")

    @property
    def heads(self) -> int:
        """Number of heads H."""
        return len(self.Q)

    @property
    def score_width(self) -> int:
        """Length k of queries and keys."""
        return int(self.Q.shape[1])

    @property
    def value_width(self) -> int:
        """Length m of values."""
        return int(self.V.shape[1])

    @cached_property
    def stacked(self) -> dict[str, ExactArray | None]:
        """The arrays with the heads under one another: Q (Hk, d), V (Hm, d), O (e, Hm), …"""
        H, m = self.heads, self.value_width
        O = self.O
        if O is None:
            O = ExactArray(np.tile(np.eye(m), (H, 1)).reshape(H, m, m))
        flat: dict[str, ExactArray | None] = {
            name: None if x is None else rearranged(x, None, (x.values[..., 0].size, x.shape[-1]))
            for name, x in (("Q", self.Q), ("K", self.K), ("V", self.V))
        }
        for name in "qkv":
            x = getattr(self, name)
            flat[name] = None if x is None else rearranged(x, None, (x.values.size,))
        flat["O"] = rearranged(O, (1, 0, 2), (O.shape[1], H * m))
        return {**flat, "o": self.o}

    @property
    def rational(self) -> bool:  # type: ignore[override]
        """Whether the weights are those of hardmax."""
        return self.weights == "hardmax"


@dataclass(frozen=True, eq=False)
class Embedding(Layer):
    """Tokens of one coordinate t ∈ {0, …, T − 1} ↦ row t of the table, of shape (T, e)."""

    table: Any
    kind: ClassVar[str] = "embedding"
    shapes: ClassVar[Mapping[str, str]] = {"table": "Te"}

    def width(self, d: int) -> int:
        if d != 1:
            raise InputError(f"embedding: takes tokens of 1 coordinate, a number, gets {d}")
        return super().width(d)


@dataclass(frozen=True, eq=False)
class Position(Layer):
    """z_i ↦ z_i + row i of the table, of shape (T, d); a sequence has at most T tokens."""

    table: Any
    kind: ClassVar[str] = "position"
    shapes: ClassVar[Mapping[str, str]] = {"table": "Td"}


@dataclass(frozen=True, eq=False)
class Prepend(Layer):
    """Puts the tokens of the table, of shape (T, d), in front: a learned [CLS] token, say."""

    table: Any
    kind: ClassVar[str] = "prepend"
    shapes: ClassVar[Mapping[str, str]] = {"table": "Td"}


@dataclass(frozen=True, eq=False)
class Readout(Layer):
    """A sequence ↦ one token: the mean of its tokens, the first or the last of them."""

    which: str = "mean"
    kind: ClassVar[str] = "readout"

    def _check(self) -> None:
        if self.which not in ("mean", "first", "last"):
            raise InputError(f"readout: {self.which!r} is none of mean, first and last")


@dataclass(frozen=True, eq=False)
class Residual(Layer):
    """Z ↦ ρ Z + F(Z), where F applies ``layers`` one after another."""

    layers: Sequence[Layer]
    rho: Any = 1
    kind: ClassVar[str] = "residual"

    def _check(self) -> None:
        object.__setattr__(self, "layers", tuple(self.layers))
        object.__setattr__(self, "rho", check_size(as_fraction(self.rho)))
        for layer in self.layers:
            if not isinstance(layer, Layer) or isinstance(layer, Prepend | Readout | Embedding):
                raise InputError(f"residual: {layer!r} has no place in a residual branch"[:200])

    @property
    def rational(self) -> bool:  # type: ignore[override]
        """Whether all inner layers are."""
        return all(layer.rational for layer in self.layers)

    @property
    def options(self) -> dict[str, Any]:
        return {"rho": json_number(self.rho)}

    def width(self, d: int) -> int:
        out = d
        for layer in self.layers:
            out = layer.width(out)
        if out != d:
            raise InputError(f"residual: the branch maps {d} coordinates to {out}")
        return d


KINDS: Mapping[str, type[Layer]] = {
    each.kind: each
    for each in (
        Affine, Relu, Gelu, Norm, Attention, Embedding, Position, Prepend, Readout, Residual
    )
}  # fmt: skip


def walk(layers: Sequence[Layer], path: str = "") -> Iterator[tuple[str, Layer]]:
    """Each layer with its path: "2" is the third, "2.0" the first in the branch of that one.

    >>> [path for path, _ in walk([Relu(), Residual([Relu()])])]
    ['0', '1', '1.0']
    """
    for k, layer in enumerate(layers):
        yield f"{path}{k}", layer
        if isinstance(layer, Residual):
            yield from walk(layer.layers, f"{path}{k}.")
