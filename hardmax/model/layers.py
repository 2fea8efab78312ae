"""The layers of Section 2.2 over the rationals, to the letter and without restrictions.

This is the general evaluator: any hidden width, any W, U, b, ρ, V, A. The rank-1 form that
the constructions use (`RankOneBlock`, `MultiHeadBlock`) has a fast path in `hardmax.model.tokens`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain

from ..errors import InputError
from ..exact.matrix import Matrix
from ..exact.numbers import Vector, as_fraction, as_vector

Head = tuple[Fraction, Vector]  # α and v of a head with V = αI, A = v vᵀ


@dataclass(frozen=True)
class FeedForward:
    """Feed-forward layer FF(z) = z + W σ(U z + b), σ = ReLU (2.3).

    U has shape (d', d), b length d', W shape (d, d').

    >>> layer = FeedForward(U=Matrix([[1, 0]]), b=(Fraction(-1),), W=Matrix([[0], [2]]))
    >>> layer(Matrix([[3, 5], [0, 5]])).rows()[0]
    (Fraction(3, 1), Fraction(9, 1))
    """

    U: Matrix
    b: Vector
    W: Matrix

    def __post_init__(self) -> None:
        object.__setattr__(self, "b", as_vector(self.b))
        hidden, dimension = self.U.shape
        if self.W.shape != (dimension, hidden) or len(self.b) != hidden:
            raise InputError(
                f"feed-forward shapes do not fit: U {self.U.shape}, b ({len(self.b)},), "
                f"W {self.W.shape}; expected (d', d), (d',), (d, d')"
            )

    @property
    def hidden_width(self) -> int:
        """Hidden dimension d'."""
        return self.U.shape[0]

    def __call__(self, tokens: Matrix) -> Matrix:
        """Apply the layer to a sequence of shape (n, d)."""
        count = tokens.shape[0]
        offsets = Matrix([self.b] * count, self.hidden_width)
        return tokens + (tokens @ self.U.T + offsets).relu() @ self.W.T


@dataclass(frozen=True)
class SelfAttention:
    """Hardmax self-attention SA_i(Z) = ρ z_i + V mean{z_l : ⟨A z_i, z_l⟩ maximal} (2.4).

    V and A have shape (d, d). Ties are averaged over positions, as in (2.4b), so a repeated
    token counts as often as it occurs (Remark 2.6).

    >>> I = Matrix.identity(1)
    >>> SelfAttention(rho=Fraction(0), V=I, A=I)(Matrix([[1], [4]])).rows()
    ((Fraction(4, 1),), (Fraction(4, 1),))
    """

    rho: Fraction
    V: Matrix
    A: Matrix

    @property
    def heads(self) -> tuple[SelfAttention, ...]:
        """Its one head: itself."""
        return (self,)

    def __post_init__(self) -> None:
        object.__setattr__(self, "rho", as_fraction(self.rho))
        if self.V.shape != self.A.shape or self.V.shape[0] != self.V.shape[1]:
            raise InputError(
                f"attention shapes do not fit: V {self.V.shape}, A {self.A.shape}; expected (d, d)"
            )

    def leaders(self, tokens: Matrix, masked: bool = False) -> list[list[int]]:
        """C_i(Z, A) of (2.4a) for every position i; ``masked``: among the positions up to i (4.2).

        >>> attention = SelfAttention(rho=Fraction(0), V=Matrix([[1]]), A=Matrix([[1]]))
        >>> attention.leaders(Matrix([[1], [4], [2]]), masked=True)
        [[0], [1], [1]]
        """
        scores = tokens @ self.A.T @ tokens.T
        if not masked:
            return scores.row_maximisers()
        return [
            [l for l, score in enumerate(row[: i + 1]) if score == max(row[: i + 1])]
            for i, row in enumerate(scores.rows())
        ]

    def __call__(self, tokens: Matrix, masked: bool = False) -> Matrix:
        """Apply the layer to a sequence of shape (n, d): (2.4), or (4.2) where ``masked``."""
        count = tokens.shape[0]
        weights = [[Fraction(0)] * count for _ in range(count)]
        for row, maximisers in zip(weights, self.leaders(tokens, masked), strict=True):
            for index in maximisers:
                row[index] = Fraction(1, len(maximisers))
        return self.rho * tokens + Matrix(weights) @ tokens @ self.V.T


@dataclass(frozen=True)
class MultiHeadAttention:
    """Attention with several heads, SA_i(Z) = ρ z_i + Σ_h V^h Σ_l Λ_il(Z, A^h) z_l (4.1).

    Each of the ``heads`` is a `SelfAttention` with ρ = 0.

    >>> I = Matrix.identity(1)
    >>> mean = SelfAttention(rho=Fraction(0), V=I, A=0 * I)
    >>> top = SelfAttention(rho=Fraction(0), V=I, A=I)
    >>> MultiHeadAttention(Fraction(0), (mean, top))(Matrix([[1], [4]])).rows()
    ((Fraction(13, 2),), (Fraction(13, 2),))
    """

    rho: Fraction
    heads: tuple[SelfAttention, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "rho", as_fraction(self.rho))
        object.__setattr__(self, "heads", tuple(self.heads))
        if len({head.V.shape for head in self.heads}) != 1 or any(x.rho for x in self.heads):
            raise InputError("attention needs at least one head, of one dimension, each with ρ = 0")

    def __call__(self, tokens: Matrix, masked: bool = False) -> Matrix:
        """Apply the layer to a sequence of shape (n, d): (4.1), under (4.2) where ``masked``."""
        total = self.rho * tokens
        for head in self.heads:
            total = total + head(tokens, masked)
        return total


@dataclass(frozen=True)
class Block:
    """Transformer block TB = SA ∘ FF (2.5)."""

    feed_forward: FeedForward
    attention: SelfAttention | MultiHeadAttention

    @property
    def dimension(self) -> int:
        """Dimension d of the tokens."""
        return self.attention.heads[0].V.shape[0]

    def __call__(self, tokens: Matrix, masked: bool = False) -> Matrix:
        """Apply the block to a sequence of shape (n, d)."""
        return self.attention(self.feed_forward(tokens), masked)


class NarrowBlock:
    """What blocks of hidden width 1 share, whatever their heads."""

    u: Vector
    rho: Fraction
    heads: tuple[Head, ...]

    @property
    def dimension(self) -> int:
        """Dimension d of the tokens."""
        return len(self.u)

    @property
    def mixes(self) -> bool:
        """Whether the attention layer is not the identity, ρ = 1 and α = 0."""
        return self.rho != 1 or any(alpha for alpha, _ in self.heads)

    @property
    def chooses(self) -> bool:
        """Whether some head chooses leaders: α ≠ 0 and v ≠ 0."""
        return any(alpha and any(v) for alpha, v in self.heads)

    def general(self) -> Block:
        """The same block as general layers."""
        raise NotImplementedError

    def __call__(self, tokens: Matrix, masked: bool = False) -> Matrix:
        """Apply the block to a sequence of shape (n, d), by the general layers."""
        return self.general()(tokens, masked)


@dataclass(frozen=True)
class RankOneBlock(NarrowBlock):
    """Block with hidden width 1, V = αI and A = v vᵀ (Remark 2.7).

    FF(z) = z + w·max(0, ⟨u,z⟩ + b); u, w, v have length d.

    >>> block = RankOneBlock.translation((1, 0))
    >>> block.general()(Matrix([[0, 0]])).rows()
    ((Fraction(1, 1), Fraction(0, 1)),)
    """

    u: Vector
    b: Fraction
    w: Vector
    rho: Fraction
    alpha: Fraction
    v: Vector

    @classmethod
    def of(
        cls,
        dimension: int,
        *,
        u: Iterable[object] | None = None,
        b: object = 0,
        w: Iterable[object] | None = None,
        rho: object = 1,
        alpha: object = 0,
        v: Iterable[object] | None = None,
    ) -> RankOneBlock:
        """Block of the given parts; what is left out is an identity layer."""
        zero = (Fraction(0),) * dimension
        return cls(
            zero if u is None else as_vector(u),
            as_fraction(b),
            zero if w is None else as_vector(w),
            as_fraction(rho),
            as_fraction(alpha),
            zero if v is None else as_vector(v),
        )

    @classmethod
    def translation(
        cls,
        shift: Sequence[object],
        *,
        rho: object = 1,
        alpha: object = 0,
        v: Iterable[object] | None = None,
    ) -> RankOneBlock:
        """Feed-forward translation by ``shift`` (u = 0, b = 1, w = shift), then attention."""
        shift = as_vector(shift)
        moves = any(shift)
        return cls.of(len(shift), b=int(moves), w=shift, rho=rho, alpha=alpha, v=v)

    @property
    def heads(self) -> tuple[Head, ...]:  # type: ignore[override]
        """Its one head (α, v)."""
        return ((self.alpha, self.v),)

    @property
    def entries(self) -> Iterable[Fraction]:
        """All parameters: u, b, w, ρ, α, v."""
        return chain(self.u, (self.b,), self.w, (self.rho, self.alpha), self.v)

    def general(self) -> Block:
        """The same block as general layers."""
        return Block(narrow(self.u, self.b, self.w), rank_one(self.rho, self.alpha, self.v))


def narrow(u: Vector, b: Fraction, w: Vector) -> FeedForward:
    """The feed-forward layer of hidden width 1."""
    return FeedForward(Matrix([u], len(u)), (b,), Matrix([[x] for x in w], 1))


def rank_one(rho: Fraction, alpha: Fraction, v: Vector) -> SelfAttention:
    """The attention layer with V = αI and A = v vᵀ."""
    column = Matrix([[x] for x in v], 1)
    return SelfAttention(rho, alpha * Matrix.identity(len(v)), column @ column.T)


def readout(tokens: Matrix) -> Vector:
    """Readout R(Z), the mean of the tokens (2.2).

    >>> readout(Matrix([[0, 1], [1, 1]]))
    (Fraction(1, 2), Fraction(1, 1))
    """
    count = tokens.shape[0]
    return (Matrix([[Fraction(1, count)] * count]) @ tokens).rows()[0]
