"""Operation counts of Appendix E.2: one operation for a multiply-add, one sequence."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from ...errors import InputError


@dataclass(frozen=True)
class Shape:
    """T tokens, dimension C, H heads, ``layers`` blocks, feed-forward width r·C.

    >>> tiny = Shape(tokens=197, dimension=192, heads=3, layers=12)
    >>> round(float(tiny.overhead), 4)  # the paper prints 0.104
    0.0525
    """

    tokens: int
    dimension: int
    heads: int
    layers: int
    ratio: int = 4

    def __post_init__(self) -> None:
        if min(self.tokens, self.dimension, self.heads, self.layers, self.ratio) < 1:
            raise InputError("all sizes of a transformer must be at least 1")
        if self.dimension % self.heads:
            raise InputError(f"{self.heads} heads do not divide the dimension {self.dimension}")

    @property
    def baseline(self) -> int:
        """2T²C + 4TC² + 2rTC² operations a block, all blocks."""
        T, C = self.tokens, self.dimension
        return self.layers * (2 * T * T * C + (4 + 2 * self.ratio) * T * C * C)

    @property
    def attention_norm(self) -> int:
        """First term: HD²C + THD² + THD + TC a block."""
        T, C, H = self.tokens, self.dimension, self.heads
        D = C // H
        return self.layers * (H * D * D * C + T * H * D * D + T * H * D + T * C)

    @property
    def weight_norms(self) -> Fraction:
        """Second term: 3/2 TC + 3rC² + 3/2 (r + 2)C a block."""
        T, C, r = self.tokens, self.dimension, self.ratio
        return self.layers * (Fraction(3, 2) * (T * C + (r + 2) * C) + 3 * r * C * C)

    @property
    def overhead(self) -> Fraction:
        """Operations of the regulariser over those of the model."""
        return (self.attention_norm + self.weight_norms) / self.baseline
