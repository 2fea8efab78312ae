"""Thousands of blocks that move one point each, kept as integers until they are packed."""

from __future__ import annotations

from fractions import Fraction
from math import lcm

import numpy as np

from ...errors import ResourceLimitError
from ...exact.array import ExactArray
from ...exact.numbers import power_of_two_below
from ...exact.points import inner
from ...exact.rows import Row, row_of
from ...model.layers import RankOneBlock
from ...model.parameters import Parameters

_SHORT = 2**53  # p/q is a float64 number for |p| and q up to this, q a power of two


class Moves:
    """Feed-forward blocks of dimension d, each of which moves one point.

    >>> from .move import move
    >>> moves, (zero, one, three) = Moves(1), [(Fraction(k),) for k in (0, 1, 3)]
    >>> moves.add([3, 1], [0, 1], [1, 1], Fraction(2))
    >>> moves.packed()[0] == move(three, zero, one, Fraction(1))
    True
    """

    def __init__(self, dimension: int) -> None:
        self.dimension = dimension
        self._u: list[Row] = []
        self._b: list[Row] = []
        self._w: list[Row] = []

    def add(self, x: Row, y: Row, u: Row, gap: Fraction) -> None:
        """The block of `move` that takes x to y and leaves every z with ⟨u,z⟩ ≤ ⟨u,x⟩ − gap."""
        h = power_of_two_below(gap / 2)
        up, down = h.as_integer_ratio()
        common = lcm(x[-1], y[-1])
        a, b = common // x[-1] * down, common // y[-1] * down
        w = [b * t - a * s for s, t in zip(x, y, strict=True)]
        w[-1] = common * up
        scale = u[-1] * x[-1]
        self._u.append(u)
        self._b.append([up * scale - down * inner(u, x), down * scale])
        self._w.append(w)

    def add_block(self, block: RankOneBlock) -> None:
        """Add a block that exists already; its attention is an identity."""
        self._u.append(row_of(block.u))
        self._b.append(row_of((block.b,)))
        self._w.append(row_of(block.w))

    def packed(self) -> Parameters:
        """All blocks; raises ResourceLimitError past float64's range."""
        count, d = len(self._u), self.dimension
        u, b, w = (pack(rows, width) for rows, width in ((self._u, d), (self._b, 1), (self._w, d)))
        return Parameters(
            u=u, b=ExactArray.owning(b.values.reshape(count), b.exact), w=w,
            rho=ExactArray.owning(np.ones(count)), alpha=ExactArray.owning(np.zeros(count)),
            v=ExactArray.owning(np.zeros((count, d))),
        )  # fmt: skip


def pack(rows: list[Row], width: int) -> ExactArray:
    """Points as an array (n, d), d = ``width``; raises ResourceLimitError past float64's range.

    >>> pack([[3, 2, 6]], 2).exact[1]
    Fraction(1, 3)
    """
    floats: list[float] = []
    exact: dict[int, Fraction] = {}
    for *numbers, q in rows:
        try:
            nearest = [p / q + 0.0 for p in numbers]  # no negative zeros
        except OverflowError:
            raise ResourceLimitError(
                "a number is 2^1024 or more, past the range of float64"
            ) from None
        if q & (q - 1) or q > _SHORT or max(numbers) > _SHORT or -min(numbers) > _SHORT:
            for i, (p, t) in enumerate(zip(numbers, nearest, strict=True), len(floats)):
                a, b = t.as_integer_ratio()
                if a * q != p * b:
                    exact[i] = Fraction(p, q)
        floats += nearest
    return ExactArray.owning(np.array(floats, dtype=np.float64).reshape(len(rows), width), exact)
