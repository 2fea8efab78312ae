"""Random blocks for examples, tests and figures."""

from __future__ import annotations

import numpy as np

from .activations import activation
from .enclosures.balls import Array
from .layers import Attention, Block, LayerNorm


def random_block(
    seed: int,
    dimension: int = 4,
    hidden: int = 8,
    heads: int = 2,
    *,
    sigma: str = "relu",
    biases: bool = True,
    causal: bool = False,
) -> Block:
    """A block with Gaussian parameters; without ``biases``, b₁, b₂ and β are 0.

    >>> random_block(0).dimension
    4
    """
    rng = np.random.default_rng(seed)
    d = dimension

    def matrix(rows: int, columns: int) -> Array:
        return np.asarray(rng.normal(size=(rows, columns)) / np.sqrt(columns))

    def vector(size: int) -> Array:
        return np.asarray(rng.normal(size=size) * 0.3)

    def norm() -> LayerNorm:
        gamma = 1 + vector(d)
        return LayerNorm(gamma, vector(d) if biases else np.zeros(d), 1e-5)

    q, k, v, out = (matrix(d, d) for _ in range(4))
    b_q, b_k, b_v, b_out = (vector(d) for _ in range(4))
    attention = Attention(q, k, v, out, b_q, b_k, b_v, b_out, heads, causal)
    b1, b2 = vector(hidden), vector(d)
    return Block(
        norm(), attention, norm(), matrix(hidden, d), b1 if biases else 0 * b1,
        matrix(d, hidden), b2 if biases else 0 * b2, activation(sigma),
    )  # fmt: skip
