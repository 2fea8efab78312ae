"""Exact tents through d − 1 points each (docs/theory.md, section 8 and Theorem 6b)."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from ....exact.numbers import Vector, power_of_two_below
from ....exact.rows import Row, row_of
from ....model.layers import RankOneBlock
from .hyperplanes import missing, through


def tents(
    rows: Sequence[Row],
    members: Sequence[int],
    avoid: Sequence[int],
    p: Vector,
    *,
    alone: bool,
) -> list[RankOneBlock]:
    """Three blocks for every d − 1 members: they add p to these, nothing to those to be avoided.

    With ``alone`` nothing is added to the other members either; otherwise a non-negative multiple
    of p. Groups follow the given order. Raises DegenerateError where a hyperplane through a group
    along p holds a point that it should miss.

    >>> points = [row_of((Fraction(x), Fraction(0))) for x in (0, 1, 3)]
    >>> blocks = tents(points, [1], [0, 2], (Fraction(0), Fraction(5)), alone=True)
    >>> [str(block.b) for block in blocks], [str(block.w[1]) for block in blocks]
    (['2', '1', '0'], ['5', '-10', '5'])
    """
    d = len(p)
    blocks = []
    unit = [[int(i == j) for j in range(d + 1)] for i in range(d + 1)]
    along = through(unit, [[*row_of(p)[:-1], 0]], [])
    for start in range(0, len(members), d - 1):
        group = members[start : start + d - 1]
        places = [*avoid, *(j for j in members if alone and j not in group)]
        basis = through(along, [rows[j] for j in group], group)
        h, values = missing(basis, group, [rows[j] for j in places], places)
        least = min(
            (Fraction(abs(t), int(rows[j][-1])) for t, j in zip(values, places, strict=True)),
            default=Fraction(1),
        )
        half = power_of_two_below(least)
        for side, weight in ((1, 1), (0, -2), (-1, 1)):
            w = [weight * x / half for x in p]
            blocks.append(RankOneBlock.of(d, u=h[:-1], b=h[-1] + side * half, w=w))
    return blocks
