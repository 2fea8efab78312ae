"""Blocks with several heads (4.1) whose matrices are those of Remark 2.7."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain

from ..errors import InputError
from ..exact.numbers import Vector, as_fraction, as_vector
from .layers import Block, Head, MultiHeadAttention, NarrowBlock, RankOneBlock, narrow, rank_one


@dataclass(frozen=True)
class MultiHeadBlock(NarrowBlock):
    """Block with hidden width 1 and heads V^h = α_h I, A^h = v_h v_hᵀ (4.1).

    FF(z) = z + w·max(0, ⟨u,z⟩ + b), then SA_i(Z) = ρ z_i + Σ_h α_h · mean of the leaders of v_h.
    u, w and all v_h have length d; ``heads`` are the pairs (α_h, v_h), at least one. Raises
    InputError where their dimensions differ.

    >>> block = MultiHeadBlock.of(1, rho=0, heads=[(1, (0,)), (1, (1,))])
    >>> import hardmax as hm
    >>> hm.Transformer([block]).output([(1,), (4,)])
    (Fraction(13, 2),)
    """

    u: Vector
    b: Fraction
    w: Vector
    rho: Fraction
    heads: tuple[Head, ...]

    def __post_init__(self) -> None:
        if not self.heads or {len(v) for _, v in self.heads} != {len(self.u)}:
            raise InputError("a block needs at least one head (α, v), each v with d entries")

    @classmethod
    def of(
        cls,
        dimension: int,
        *,
        u: Iterable[object] | None = None,
        b: object = 0,
        w: Iterable[object] | None = None,
        rho: object = 1,
        heads: Iterable[tuple[object, Iterable[object]]],
    ) -> MultiHeadBlock:
        """Block of the given parts; what is left out is zero, and ρ is one."""
        plain = RankOneBlock.of(dimension, u=u, b=b, w=w, rho=rho)
        given = tuple((as_fraction(alpha), as_vector(v)) for alpha, v in heads)
        return cls(plain.u, plain.b, plain.w, plain.rho, given)

    @property
    def entries(self) -> Iterable[Fraction]:
        """All parameters: u, b, w, ρ, every α, every v."""
        alphas = (alpha for alpha, _ in self.heads)
        directions = chain.from_iterable(v for _, v in self.heads)
        return chain(self.u, (self.b,), self.w, (self.rho,), alphas, directions)

    def general(self) -> Block:
        """The same block as general layers."""
        heads = tuple(rank_one(Fraction(0), alpha, v) for alpha, v in self.heads)
        return Block(narrow(self.u, self.b, self.w), MultiHeadAttention(self.rho, heads))
