"""What a block does to real numbers, enclosed in balls.

Tokens are balls of shape (…, n, d): leading axes are sequences of equal length n.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..layers import Attention, Block, LayerNorm
from .balls import Array, Balls
from .elementary import exp


@dataclass(frozen=True)
class Pass:
    """One block at work: input x, attention output a, stream u = x + a, output; (…, n, d) each."""

    x: Balls
    a: Balls
    u: Balls
    out: Balls


def centre(x: Balls) -> Balls:
    """X minus the mean of its last axis."""
    return x - x.sum(-1, keepdims=True) / float(x.shape[-1])


def variance(x: Balls) -> Balls:
    """Population variance of the last axis, which is kept with length 1."""
    return centre(x).square().sum(-1, keepdims=True) / float(x.shape[-1])


def layer_norm(norm: LayerNorm, x: Balls) -> Balls:
    """LN of every token (equation 19), with the shift β."""
    return centre(x) / (variance(x) + norm.eps).sqrt() * norm.gamma + norm.beta


def softmax(scores: Balls, causal: bool = False) -> Balls:
    """Softmax over the last axis; with ``causal`` of the keys j ≤ i.

    Every score loses the same float, near the largest, which changes no weight.
    """
    n = scores.shape[-1]
    seen = np.tri(n, dtype=bool) if causal else np.ones((n, n), dtype=bool)
    top = np.where(seen, scores.mid, -np.inf).max(axis=-1, keepdims=True)
    shifted = scores - top
    shifted = Balls(np.where(seen, shifted.mid, 0.0), np.where(seen, shifted.rad, 0.0))
    powers = exp(shifted)
    powers = Balls(np.where(seen, powers.mid, 0.0), np.where(seen, powers.rad, 0.0))
    weights = powers / powers.sum(-1, keepdims=True)
    clipped = Balls.between(np.maximum(weights.lower, 0.0), np.minimum(weights.upper, 1.0))
    return Balls(np.where(seen, clipped.mid, 0.0), np.where(seen, clipped.rad, 0.0))


def project(attention: Attention, z: Balls) -> tuple[Balls, Balls, Balls]:
    """Queries, keys and values of tokens z (…, n, D), by head: (…, H, n, d_h) each."""
    heads, width = attention.heads, attention.head_dimension

    def by_head(weight: Array, bias: Array) -> Balls:
        rows = z @ Balls.exact(weight.T) + bias
        return rows.reform(
            lambda array: array.reshape(*array.shape[:-1], heads, width).swapaxes(-2, -3)
        )

    return (
        by_head(attention.query, attention.query_bias),
        by_head(attention.key, attention.key_bias),
        by_head(attention.value, attention.value_bias),
    )


def attend(attention: Attention, z: Balls) -> Balls:
    """Multi-head attention of tokens z (…, n, D), biases included."""
    q, k, v = project(attention, z)
    scores = q @ k.reform(lambda array: array.swapaxes(-1, -2))
    scores = scores / Balls.exact(float(attention.head_dimension)).sqrt()
    mixed = softmax(scores, attention.causal) @ v
    joined = mixed.reform(lambda array: array.swapaxes(-2, -3).reshape(z.shape))
    return joined @ Balls.exact(attention.output.T) + attention.output_bias


def feed_forward(block: Block, z: Balls) -> Balls:
    """W₂ σ(W₁ z + b₁) + b₂ of every token."""
    hidden = block.activation.enclose(z @ Balls.exact(block.W1.T) + block.b1)
    return hidden @ Balls.exact(block.W2.T) + block.b2


def run_block(block: Block, x: Balls) -> Pass:
    """One block on tokens (…, n, d)."""
    a = attend(block.attention, layer_norm(block.norm1, x))
    u = x + a
    return Pass(x, a, u, u + feed_forward(block, layer_norm(block.norm2, u)))
