"""Attention as an expansion over dual operators (equations 9 and 27), in float64.

    f̃*(x_i) = Σ_h Σ_j c̃_{j,h} π_{i,j,h},   c̃_{j,h} = W_{o,h} W_{v,h} x_j,   π the softmax weights

Biases, which the paper leaves out, add the constant Σ_h W_{o,h} b_{v,h} + b_o, because the
weights of a query sum to 1. With a causal mask the sum runs over j ≤ i. Only the exponential in
the numerator of π is a pairing of two tokens; its denominator depends on the whole sequence.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ....errors import InputError
from ..enclosures.balls import Array
from ..layers import Attention


@dataclass(frozen=True)
class DualExpansion:
    """Coefficients c̃ (H, n, D), pairings π (H, n, n) with rows that sum to 1, a constant (D,)."""

    coefficients: Array
    pairings: Array
    constant: Array

    def evaluate(self) -> Array:
        """Σ_h Σ_j c̃_{j,h} π_{i,j,h} plus the constant: shape (n, D)."""
        return np.asarray((self.pairings @ self.coefficients).sum(axis=0) + self.constant)


def dual_expansion(attention: Attention, X: Array) -> DualExpansion:
    """Expansion (27) of an attention layer at the tokens X (n, D); (9) is the case of one head.

    >>> one, zero = np.eye(2), np.zeros(2)
    >>> layer = Attention(0 * one, 0 * one, one, one, zero, zero, zero, zero, heads=1)
    >>> dual_expansion(layer, np.array([[0.0, 2.0], [4.0, 0.0]])).evaluate()
    array([[2., 1.],
           [2., 1.]])
    """
    if X.ndim != 2 or X.shape[1] != attention.query.shape[0]:
        raise InputError(f"tokens of shape {X.shape} do not fit W_q of {attention.query.shape}")
    q = X @ attention.split(attention.query).transpose(0, 2, 1)
    q = q + attention.split(attention.query_bias)[:, None, :]
    k = X @ attention.split(attention.key).transpose(0, 2, 1)
    k = k + attention.split(attention.key_bias)[:, None, :]
    scores = q @ k.transpose(0, 2, 1) / np.sqrt(attention.head_dimension)
    outputs = attention.output_by_head()
    values = X @ attention.split(attention.value).transpose(0, 2, 1)
    constant = attention.output @ attention.value_bias + attention.output_bias
    return DualExpansion(
        values @ outputs.transpose(0, 2, 1), softmax(scores, attention.causal), constant
    )


def softmax(scores: Array, causal: bool = False) -> Array:
    """Softmax over the last axis of scores (…, n, n), of keys j ≤ i only where ``causal``."""
    if causal:
        n = scores.shape[-1]
        scores = np.where(np.tri(n, dtype=bool), scores, -np.inf)
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return np.asarray(weights / weights.sum(axis=-1, keepdims=True))
