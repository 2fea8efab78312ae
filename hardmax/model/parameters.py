"""Parameters of a rank-1 transformer, packed as the model file holds them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import InputError
from ..exact.array import ExactArray
from .layers import RankOneBlock

NAMES = ("u", "b", "w", "rho", "alpha", "v")
VECTORS = ("u", "w", "v")


@dataclass(frozen=True, eq=False)
class Parameters(Sequence[RankOneBlock]):
    """Packed blocks: u, w, v of shape (L, d), b, ρ, α of shape (L,); exact.

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
        for name in NAMES:
            expected = (depth, dimension) if name in VECTORS else (depth,)
            if self.arrays[name].shape != expected:
                raise InputError(
                    f"parameter {name} has shape {self.arrays[name].shape}, expected {expected}"
                )

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle and copy the numbers, not what is remembered of them."""
        return Parameters, tuple(self.arrays.values())

    @classmethod
    def pack(cls, blocks: Sequence[RankOneBlock], dimension: int) -> Parameters:
        """Pack blocks; raise ResourceLimitError past float64's range."""
        packed = {}
        for name in NAMES:
            if name in VECTORS:
                packed[name] = ExactArray.from_rows([getattr(x, name) for x in blocks], dimension)
            else:
                packed[name] = ExactArray.from_flat(
                    [getattr(x, name) for x in blocks], (len(blocks),)
                )
        return cls(**packed)

    @property
    def arrays(self) -> dict[str, ExactArray]:
        """The arrays by name."""
        return {name: getattr(self, name) for name in NAMES}

    @property
    def dimension(self) -> int:
        """Dimension d of the tokens."""
        return self.u.shape[1]

    def __len__(self) -> int:
        return self.u.shape[0]

    def __getitem__(self, k):  # type: ignore[no-untyped-def]
        if isinstance(k, slice):
            return [self[i] for i in range(*k.indices(len(self)))]
        if not -len(self) <= k < len(self):
            raise IndexError(k)
        k %= len(self)
        return RankOneBlock(
            self.u.row(k), self.b.entry(k), self.w.row(k),
            self.rho.entry(k), self.alpha.entry(k), self.v.row(k),
        )  # fmt: skip

    def __iter__(self) -> Iterator[RankOneBlock]:
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
