"""Enclosures of tokens through many blocks, with radii that grow as slowly as can be shown.

Interval arithmetic forgets that errors are correlated: its radii grow by a factor of thousands a
block. So each stage of a block is evaluated at exact floats near the true tokens, and how far the
true tokens x are from those floats x̄ is carried along as one Euclidean distance δ a token:

LN        z = LN(x): ‖z − z̄‖ ≤ max|γ| δ/√((std x̄ − δ/√d)₊² + ε). The derivative of y/√(‖y‖²/d + ε)
          has norm at most 1/√(‖y‖²/d + ε), and std changes by at most δ/√d on the way.
scores    |s − s̄| ≤ τ = (‖W_q‖δ_i max‖k̄‖ + (‖q̄_i‖ + ‖W_q‖δ_i)‖W_k‖ max δ)/√d_h for query i,
          so every weight changes by a factor in [exp(−2τ), exp(2τ)].
head      Σ_j π_j v_j moves by at most (exp(2τ) − 1) max‖v̄_j − c‖ + ‖W_v‖ max δ, any c.
output    ‖W_o‖ times the root of the sum of squares over the heads.
FFN       ‖W₂‖ L ‖W₁‖ times the distance after LN₂; L is the Lipschitz constant of σ.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from ..layers import Attention, Block, LayerNorm
from .balls import Array, Balls
from .elementary import exp
from .enclose import Pass, attend, feed_forward, layer_norm, project, variance
from .spectral import spectral_norm


@dataclass(frozen=True)
class Near:
    """Tokens within a Euclidean ``distance`` (…, n), balls too, of floats ``mid`` (…, n, d)."""

    mid: Array
    distance: Balls

    @classmethod
    def of(cls, x: Balls, moved: Balls | float = 0.0) -> Near:
        """Tokens that ``moved`` by so much from tokens in the balls x."""
        return cls(x.mid, Balls.exact((Balls.exact(_size(x.rad)) + moved).upper))

    @property
    def exact(self) -> Balls:
        """The floats, as exact numbers."""
        return Balls.exact(self.mid)

    @property
    def balls(self) -> Balls:
        """Balls (…, n, d) that contain the tokens."""
        radius = self.distance.upper[..., None]
        return Balls(self.mid, np.broadcast_to(radius, self.mid.shape))


def propagate(blocks: Iterable[Block], x: Balls, layerwise: bool = False) -> Iterator[Pass]:
    """Each block's input, attention output, stream and output, as balls (…, n, d).

    With ``layerwise`` every block starts afresh from floats near the tokens that enter it.

    >>> from ..examples import random_block
    >>> steps = list(propagate([random_block(0)] * 3, Balls.exact(np.eye(4))))
    >>> bool(steps[-1].out.rad.max() < 1e-3)
    True
    """
    tokens = Near.of(x)
    for block in blocks:
        z = _through_norm(block.norm1, tokens)
        a = Near.of(attend(block.attention, z.exact), _attention_moves(block.attention, z))
        u = Near.of(tokens.exact + a.exact, tokens.distance + a.distance)
        w = _through_norm(block.norm2, u)
        gain = spectral_norm(block.W2) * spectral_norm(block.W1) * block.activation.lipschitz
        f = Near.of(feed_forward(block, w.exact), gain * w.distance)
        out = Near.of(u.exact + f.exact, u.distance + f.distance)
        yield Pass(tokens.balls, a.balls, u.balls, out.balls)
        tokens = Near.of(out.exact) if layerwise else out


def _through_norm(norm: LayerNorm, x: Near) -> Near:
    root = Balls.exact(float(x.mid.shape[-1])).sqrt()
    deviation = (variance(x.exact).sqrt()[..., 0] - x.distance / root).relu()
    largest = float(abs(norm.gamma).max())
    moved = x.distance * largest / (deviation.square() + norm.eps).sqrt()
    return Near.of(layer_norm(norm, x.exact), moved)


def _attention_moves(attention: Attention, z: Near) -> Balls:
    """How far the outputs of attention move: upper bounds (…, n)."""
    near = z.distance[..., None, :]  # (…, 1, n)
    far = near.max(-1)[..., None]
    q, k, v = project(attention, z.exact)  # (…, H, n, d_h)
    to_q, to_k, to_v = (
        _column([spectral_norm(weight) for weight in attention.split(matrix)])
        for matrix in (attention.query, attention.key, attention.value)
    )
    reach = to_q * near
    tau = reach * k.norm().max(-1)[..., None] + (q.norm() + reach) * to_k * far
    twice = tau * 2.0 / Balls.exact(float(attention.head_dimension)).sqrt()
    spread = (v - v.sum(-2)[..., None, :] / float(v.shape[-2])).norm().max(-1)[..., None]
    heads = twice * exp(twice) * spread + to_v * far  # e^t − 1 ≤ t e^t
    return heads.square().sum(-2).sqrt() * spectral_norm(attention.output)


def _size(radii: Array) -> Array:
    """Upper bound of the Euclidean norm of every token of radii; 0 where all are 0."""
    return np.where(radii.any(axis=-1), Balls.exact(radii).norm().upper, 0.0)


def _column(values: list[Balls]) -> Balls:
    """Scalars as balls of shape (len, 1)."""
    return Balls(
        *(np.array([getattr(b, name) for b in values])[:, None] for name in ("mid", "rad"))
    )
