"""Norm bounds of a pre-layer-norm block, as balls (Proposition 4.1 and its repairs).

‖·‖ is the Euclidean norm of a token and the spectral (or Frobenius) norm of a matrix. Theorems,
with proofs in docs/dual_banach.md; |σ(z)| ≤ s|z| + o is `Activation.slope` and ``offset``:

printed   (12), pointwise, α = 1: ‖f + FFN(LN(f))‖ ≤ (1 + K/std f)‖f‖, K = ‖W₂‖‖W₁‖ max|γ|, if
          s ≤ 1, o = 0, b₁ = b₂ = β = 0. `missing_hypotheses` says which of these a block breaks.
R1        ‖u + FFN(LN(u))‖ ≤ ‖u‖ + F(u) for every block, where F(u) is
          ‖W₂‖(s(‖W₁‖(max|γ|√d std u/√(std² u + ε) + ‖β‖) + ‖b₁‖) + o√h) + ‖b₂‖.
R2        ‖x_l − x_0‖ ≤ Σ_k (‖a_k‖ + F_k(u_k)) for every stack of blocks; and, under the
          hypotheses of (12), ‖x_l − x_0‖² ≤ l Σ_k (1 + K_k/std a_k)²‖a_k‖², l² times the sum
          that (13) adds to the loss.
all inputs  ‖x_l − x_0‖ ≤ Σ_k (A_k + F_k), the largest values of ‖a_k‖ and F_k over all inputs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ...errors import InputError
from .enclosures.balls import Balls
from .enclosures.enclose import variance
from .enclosures.spectral import frobenius_norm, spectral_norm
from .layers import Block, LayerNorm

MATRIX_NORMS: dict[str, Callable[[np.ndarray], Balls]] = {
    "spectral": spectral_norm,
    "frobenius": frobenius_norm,
}


def missing_hypotheses(block: Block) -> tuple[str, ...]:
    """Hypotheses of the printed bound (12) that a block breaks, in words; the paper states none."""
    checks = (
        (block.b1.any(), "bias b₁ of the first layer is not 0"),
        (block.b2.any(), "bias b₂ of the second layer is not 0"),
        (block.norm2.beta.any(), "shift β of the layer norm is not 0"),
        (
            block.activation.slope > 1 or block.activation.offset != 0,
            f"|σ(z)| ≤ |z| does not hold for {block.activation.name}",
        ),
    )
    return tuple(words for broken, words in checks if broken)


@dataclass(frozen=True)
class BlockBounds:
    """The bounds of one block; ``matrix_norm`` is "spectral" or "frobenius"."""

    block: Block
    matrix_norm: str = "spectral"

    def __post_init__(self) -> None:
        if self.matrix_norm not in MATRIX_NORMS:
            raise InputError(
                f"the matrix norm {self.matrix_norm!r} is unknown; "
                f"known are {', '.join(MATRIX_NORMS)}"
            )

    @cached_property
    def _norms(self) -> tuple[Balls, Balls]:
        norm = MATRIX_NORMS[self.matrix_norm]
        return norm(self.block.W1), norm(self.block.W2)

    @cached_property
    def factor(self) -> Balls:
        """K = ‖W₂‖‖W₁‖ max|γ|."""
        first, second = self._norms
        return second * first * float(abs(self.block.norm2.gamma).max())

    def printed(self, f: Balls) -> Balls:
        """(1 + K/std f)‖f‖ of every token f (…, d): the right side of (12) with α = 1."""
        deviation = variance(f).sqrt()[..., 0]
        return (self.factor / deviation + 1.0) * f.norm()

    def feed_forward(self, u: Balls) -> Balls:
        """F(u) of every token u (…, d): an upper bound of ‖FFN(LN(u))‖ (R1)."""
        spread = variance(u)
        share = (spread / (spread + self.block.norm2.eps)).sqrt()[..., 0]
        return self._feed_forward(_largest(self.block.norm2) * share)

    def r1(self, u: Balls) -> Balls:
        """‖u‖ + F(u), an upper bound of ‖u + FFN(LN(u))‖."""
        return u.norm() + self.feed_forward(u)

    @cached_property
    def feed_forward_of_all(self) -> Balls:
        """F, an upper bound of ‖FFN(LN(u))‖ over all u."""
        return self._feed_forward(_largest(self.block.norm2))

    @cached_property
    def attention_of_all(self) -> Balls:
        """A = ‖W_o‖ √Σ_h (‖W_{v,h}‖ r + ‖b_{v,h}‖)² + ‖b_o‖, r = max|γ₁|√d + ‖β₁‖."""
        norm, layer = MATRIX_NORMS[self.matrix_norm], self.block.attention
        reach = _largest(self.block.norm1) + Balls.exact(self.block.norm1.beta).norm()
        total = Balls.exact(0.0)
        for weight, bias in zip(
            layer.split(layer.value), layer.split(layer.value_bias), strict=True
        ):
            total = total + (norm(weight) * reach + Balls.exact(bias).norm()).square()
        return norm(layer.output) * total.sqrt() + Balls.exact(layer.output_bias).norm()

    def _feed_forward(self, normalised: Balls) -> Balls:
        """R1's F from a bound of ‖γ ⊙ normalised u‖."""
        first, second = self._norms
        block, activation = self.block, self.block.activation
        argument = first * (normalised + Balls.exact(block.norm2.beta).norm())
        argument = argument + Balls.exact(block.b1).norm()
        offset = Balls.exact(float(len(block.b1))).sqrt() * activation.offset
        hidden = argument * activation.slope + offset
        return second * hidden + Balls.exact(block.b2).norm()


def _largest(norm: LayerNorm) -> Balls:
    """max|γ|√d, the largest norm that γ ⊙ normalised tokens can have."""
    return Balls.exact(float(len(norm.gamma))).sqrt() * float(abs(norm.gamma).max())
