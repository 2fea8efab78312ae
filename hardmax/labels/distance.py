"""Distances √s − r that are compared exactly, without a square root."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import total_ordering
from math import sqrt


@total_ordering
@dataclass(frozen=True, eq=False)
class Distance:
    """The real number √square − offset, with square ≥ 0 and offset rational.

    >>> Distance(Fraction(2)) < Distance(Fraction(9), offset=Fraction(1))
    True
    >>> Distance(Fraction(4)) == Distance(Fraction(9), offset=Fraction(1))
    True
    """

    square: Fraction
    offset: Fraction = Fraction(0)

    def _below(self, other: Distance, strict: bool) -> bool:
        # √a < √b + c (or ≤), with c the difference of the offsets, by squaring twice
        a, b, c = self.square, other.square, self.offset - other.offset
        if c >= 0:
            excess = a - b - c * c  # compare with 2c√b
            if excess < 0:
                return True
            left, right = excess * excess, 4 * c * c * b
        else:
            room = b - a - c * c  # 2|c|√a compared with this
            if room < 0:
                return False
            left, right = 4 * c * c * a, room * room
        return left < right if strict else left <= right

    def __lt__(self, other: Distance) -> bool:
        return self._below(other, strict=True)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Distance)
            and self._below(other, strict=False)
            and other._below(self, strict=False)
        )

    def __hash__(self) -> int:
        raise TypeError("distances are compared, not hashed")

    def __float__(self) -> float:
        return sqrt(self.square) - float(self.offset)
