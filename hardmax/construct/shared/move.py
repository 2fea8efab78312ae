"""The block that moves one point and leaves all others in place."""

from __future__ import annotations

from fractions import Fraction

from ...errors import ResourceLimitError
from ...exact.numbers import Vector, dot, nearest_float, power_of_two_below
from ...model.layers import RankOneBlock


def move(x: Vector, y: Vector, u: Vector, below: Fraction) -> RankOneBlock:
    """Block that takes x to y exactly and leaves every z with ⟨u,z⟩ ≤ ``below`` in place.

    Needs ``below`` < ⟨u,x⟩. With h a power of two at most half the gap, b = h − ⟨u,x⟩ and
    w = (y − x)/h: only x is active, with the value h (as in (3.4)–(3.5); theory B3).
    Dividing by a power of two keeps the numbers as short as the points.

    >>> block = move((Fraction(3),), (Fraction(0),), (Fraction(1),), Fraction(1))
    >>> block.b, block.w
    (Fraction(-2, 1), (Fraction(-3, 1),))
    """
    value = dot(u, x)
    h = power_of_two_below((value - below) / 2)
    w = tuple((target - start) / h for start, target in zip(x, y, strict=True))
    return RankOneBlock.of(len(x), u=u, b=h - value, w=w)


def rounded(block: RankOneBlock) -> RankOneBlock:
    """The block with b and w rounded to float64, for targets that leave room.

    Raises ResourceLimitError where one of them is past the range of float64.
    """
    try:
        b, *w = (Fraction(nearest_float(x)) for x in (block.b, *block.w))
    except OverflowError:
        raise ResourceLimitError(
            "a parameter is 2^1024 or more, past float64's range: sequences lie too close together "
            "for their labels; multiply the coordinates that tell them apart by a large number"
        ) from None
    return RankOneBlock.of(block.dimension, u=block.u, b=b, w=w)
