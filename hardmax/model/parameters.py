"""Parameters of a rank-1 transformer, packed as the model file holds them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from ..errors import InputError
from ..exact.array import ExactArray
from .heads import MultiHeadBlock
from .layers import RankOneBlock

NAMES = ("u", "b", "w", "rho", "alpha", "v")
VECTORS = ("u", "w", "v")
HEADED = ("alpha", "v")  # those of which each head has its own

PackedBlock = RankOneBlock | MultiHeadBlock


@dataclass(frozen=True, eq=False)
class Parameters(Sequence[PackedBlock]):
    """Packed blocks: u, w, v of shape (L, d), b, ρ, α of shape (L,); exact.

    With H ≥ 2 heads (4.1) α has the shape (L, H), and v (L, H, d).

    >>> blocks = [RankOneBlock.of(2, alpha="1/3")]
    >>> Parameters.pack(blocks, 2)[0] == blocks[0]
    True
    """

    u: ExactArray
    b: ExactArray
    w: ExactArray
    rho: ExactArray
    alpha: ExactArray
    v: ExactArray

    def __post_init__(self) -> None:
        depth, dimension = self.u.shape
        heads = self.alpha.shape[1:]
        if len(heads) > 1 or heads in ((0,), (1,)):
            raise InputError(
                f"parameter alpha has shape {self.alpha.shape}, expected ({depth},), or "
                f"({depth}, H) for H ≥ 2 heads"
            )
        for name in NAMES:
            expected = (depth, *(heads if name in HEADED else ()))
            if name in VECTORS:
                expected += (dimension,)
            if self.arrays[name].shape != expected:
                raise InputError(
                    f"parameter {name} has shape {self.arrays[name].shape}, expected {expected}"
                )

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle and copy the numbers, not what is remembered of them."""
        return Parameters, tuple(self.arrays.values())

    @classmethod
    def pack(
        cls, blocks: Sequence[PackedBlock], dimension: int, heads: int | None = None
    ) -> Parameters:
        """Pack blocks; raise ResourceLimitError past float64's range.

        All blocks get as many heads as the largest has, or ``heads``; those added have α = 0 and
        v = 0.

        >>> two = Parameters.pack([RankOneBlock.of(1, alpha=3, v=(1,))], 1, heads=2)
        >>> two.alpha.values.tolist(), two.v.shape
        ([[3.0, 0.0]], (1, 2, 1))
        """
        count = len(blocks)
        most = max([heads or 1, *(len(block.heads) for block in blocks)])
        of_heads = (most,) if most > 1 else ()
        none = (Fraction(0), (Fraction(0),) * dimension)
        padded = [[*block.heads, *[none] * (most - len(block.heads))] for block in blocks]
        return cls(
            u=ExactArray.from_rows([x.u for x in blocks], dimension),
            b=ExactArray.from_flat([x.b for x in blocks], (count,)),
            w=ExactArray.from_rows([x.w for x in blocks], dimension),
            rho=ExactArray.from_flat([x.rho for x in blocks], (count,)),
            alpha=ExactArray.from_flat(
                [alpha for row in padded for alpha, _ in row], (count, *of_heads)
            ),
            v=ExactArray.from_flat(
                [x for row in padded for _, v in row for x in v], (count, *of_heads, dimension)
            ),
        )

    def with_heads(self, heads: int) -> Parameters:
        """The same blocks with ``heads`` heads, no fewer than they have; the new ones are zero."""
        if heads == self.heads:
            return self
        (depth, dimension), had = self.u.shape, self.heads
        alpha, v = np.zeros((depth, heads)), np.zeros((depth, heads, dimension))
        alpha[:, :had] = self.alpha.values.reshape(depth, had)
        v[:, :had] = self.v.values.reshape(depth, had, dimension)
        spread = {}
        for name, array, width in (("alpha", self.alpha, 1), ("v", self.v, dimension)):
            places = {k: divmod(k, had * width) for k in array.exact}
            spread[name] = {
                block * heads * width + place: array.exact[k]
                for k, (block, place) in places.items()
            }
        return replace(
            self,
            alpha=ExactArray.owning(alpha, spread["alpha"]),
            v=ExactArray.owning(v, spread["v"]),
        )

    @property
    def arrays(self) -> dict[str, ExactArray]:
        """The arrays by name."""
        return {name: getattr(self, name) for name in NAMES}

    @property
    def dimension(self) -> int:
        """Dimension d of the tokens."""
        return self.u.shape[1]

    @property
    def heads(self) -> int:
        """Number of heads H of every block."""
        return self.alpha.shape[1] if len(self.alpha.shape) > 1 else 1

    def __len__(self) -> int:
        return self.u.shape[0]

    def __getitem__(self, k):  # type: ignore[no-untyped-def]
        if isinstance(k, slice):
            return [self[i] for i in range(*k.indices(len(self)))]
        if not -len(self) <= k < len(self):
            raise IndexError(k)
        k %= len(self)
        u, b, w, rho = self.u.row(k), self.b.entry(k), self.w.row(k), self.rho.entry(k)
        if self.heads == 1:
            return RankOneBlock(u, b, w, rho, self.alpha.entry(k), self.v.row(k))
        rows = range(k * self.heads, (k + 1) * self.heads)
        return MultiHeadBlock(
            u, b, w, rho, tuple((self.alpha.entry(i), self._directions.row(i)) for i in rows)
        )

    @cached_property
    def _directions(self) -> ExactArray:
        """All v, one under the other: shape (L·H, d)."""
        return ExactArray.owning(self.v.values.reshape(-1, self.dimension), self.v.exact)

    def __iter__(self) -> Iterator[PackedBlock]:
        return (self[k] for k in range(len(self)))

    def equal(self, other: Parameters) -> bool:
        """Whether all parameters are exactly equal."""
        return all(
            np.array_equal(mine.values, theirs.values) and dict(mine.exact) == dict(theirs.exact)
            for mine, theirs in zip(self.arrays.values(), other.arrays.values(), strict=True)
        )

    def nonzero(self) -> int:
        """Number of parameters other than zero, P in Theorem 2.4."""
        return sum(array.nonzero() for array in self.arrays.values())

    def bit_lengths(self) -> list[int]:
        """Bits of each parameter other than zero."""
        return [size for array in self.arrays.values() for size in array.bit_lengths()]

    def overrides(self) -> int:
        """Number of parameters that float64 does not hold exactly."""
        return sum(len(array.exact) for array in self.arrays.values())
