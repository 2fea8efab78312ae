"""Parameters of a pre-layer-norm transformer block, as float64 arrays.

    a = Attention(LN₁(x)),   u = x + a,   x' = u + W₂ σ(W₁ LN₂(u) + b₁) + b₂

A row of an array is a token, as in PyTorch. The floats mean exactly what they are; what a block
does to real numbers is thereby fixed, and `enclose` computes it with proven error bounds.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

from ...errors import InputError
from .activations import Activation
from .enclosures.balls import Array


def _finite(owner: object) -> None:
    for field in fields(owner):  # type: ignore[arg-type]
        value = getattr(owner, field.name)
        if isinstance(value, np.ndarray) and not np.isfinite(value).all():
            raise InputError(f"{type(owner).__name__}.{field.name} has an entry that is not finite")


def _shape(name: str, array: Array, shape: tuple[int, ...]) -> None:
    if array.shape != shape:
        raise InputError(f"{name} has shape {array.shape}, expected {shape}")


@dataclass(frozen=True)
class LayerNorm:
    """γ ⊙ (x − mean)/√(variance + ε) + β with γ, β of shape (d,) (equation 19); ε > 0."""

    gamma: Array
    beta: Array
    eps: float

    def __post_init__(self) -> None:
        _finite(self)
        _shape("β of a layer norm", self.beta, self.gamma.shape)
        if not 0 < self.eps < float("inf"):
            raise InputError(f"ε = {self.eps} of a layer norm must be positive")


@dataclass(frozen=True)
class Attention:
    """Multi-head softmax attention: W_q, W_k, W_v, W_o of shape (D, D) as (out, in), biases (D,).

    Head h owns the rows h·D/H to (h+1)·D/H of W_q, W_k, W_v and the same columns of W_o. With
    ``causal`` a token attends to itself and those before it.
    """

    query: Array
    key: Array
    value: Array
    output: Array
    query_bias: Array
    key_bias: Array
    value_bias: Array
    output_bias: Array
    heads: int
    causal: bool = False

    def __post_init__(self) -> None:
        _finite(self)
        D = self.query.shape[0]
        for name in ("query", "key", "value", "output"):
            _shape(f"{name} of an attention layer", getattr(self, name), (D, D))
            _shape(f"{name}_bias of an attention layer", getattr(self, f"{name}_bias"), (D,))
        if self.heads < 1 or D % self.heads:
            raise InputError(f"{self.heads} heads do not divide the dimension {D}")

    @property
    def head_dimension(self) -> int:
        """d_h = D/H."""
        return int(self.query.shape[0]) // self.heads

    def split(self, array: Array) -> Array:
        """Rows (D, …) of a projection, by head: (H, d_h, …)."""
        return array.reshape(self.heads, self.head_dimension, *array.shape[1:])

    def output_by_head(self) -> Array:
        """W_{o,h}: shape (H, D, d_h)."""
        D = self.output.shape[0]
        return self.output.reshape(D, self.heads, self.head_dimension).transpose(1, 0, 2)


@dataclass(frozen=True)
class Block:
    """A pre-layer-norm block: LN₁, attention, LN₂, W₁ (h, d), b₁ (h,), W₂ (d, h), b₂ (d,), σ."""

    norm1: LayerNorm
    attention: Attention
    norm2: LayerNorm
    W1: Array
    b1: Array
    W2: Array
    b2: Array
    activation: Activation

    def __post_init__(self) -> None:
        _finite(self)
        d, h = self.attention.query.shape[0], self.W1.shape[0]
        _shape("W₁", self.W1, (h, d))
        _shape("b₁", self.b1, (h,))
        _shape("W₂", self.W2, (d, h))
        _shape("b₂", self.b2, (d,))
        for norm in (self.norm1, self.norm2):
            _shape("γ of a layer norm", norm.gamma, (d,))

    @property
    def dimension(self) -> int:
        """Dimension d of the tokens."""
        return int(self.W1.shape[1])
