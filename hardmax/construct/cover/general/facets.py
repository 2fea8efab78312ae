"""Exact facets, and the shells through them (docs/theory.md, Theorems 6a and 6c)."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from ....exact.matrix import Matrix
from ....exact.numbers import power_of_two_below
from ....exact.rows import Row, row_of
from ....model.layers import RankOneBlock
from .hyperplanes import DegenerateError, products, turned


def facet(rows: Sequence[Row], places: Sequence[int], axis: int) -> tuple[list[int], Row]:
    """The points on a facet of the convex hull, by place, and its hyperplane h; no point has h > 0.

    The hyperplane is parallel to the ``axis``, u_axis = 0. It starts at infinity and turns about
    the points that it touches until it touches one more, d − 1 times. Raises DegenerateError where
    it holds more than d − 1 points at last, or all of them on the way.

    >>> facet([[0, 0, 5, 1], [2, 0, 5, 1], [0, 2, 5, 1], [1, 1, 5, 2]], [0, 1, 2, 3], 2)
    ([1, 2], [1, 1, 0, -2])
    """
    d = len(rows[0]) - 1
    plane = [0] * d + [-1]
    ways = [[int(i == j) for j in range(d + 1)] for i in range(d) if i != axis]
    while ways:
        way, *ways = ways
        gaps, paces = products(rows, plane), products(rows, way)
        if not any(pace > 0 for pace in paces):
            way, paces = [-x for x in way], [-pace for pace in paces]
        first = -1
        for j, (gap, pace) in enumerate(zip(gaps, paces, strict=True)):
            # the plane meets point j where it has gone −gap/pace of the way
            if pace > 0 and (first < 0 or -gap * paces[first] < -gaps[first] * pace):
                first = j
        if first < 0:
            raise DegenerateError(places)
        plane = turned(plane, way, rows[first])
        ways = [turned(h, way, rows[first]) for h in ways]
    own = [j for j, value in zip(places, products(rows, plane), strict=True) if not value]
    if len(own) > d - 1:
        raise DegenerateError(own)
    return own, plane


def park_all(
    rows: Sequence[Row], axis: int, height: Fraction, aims: Sequence[Fraction]
) -> list[RankOneBlock]:
    """Blocks that raise point j from this height by exactly ``aims[j]`` > 0, facet by facet.

    They are max(1, ⌈(n − 1)/(d − 1)⌉ for n points of ℚ^d. Raises DegenerateError where some d of
    the points, of any one height, turn out to be affinely dependent.

    >>> points = [(Fraction(x), Fraction(9)) for x in (0, 1, 3, 4)]
    >>> len(park_all([row_of(x) for x in points], 1, Fraction(9), [Fraction(1)] * 4))
    3
    """
    d = len(rows[0]) - 1
    standing = list(range(len(rows)))
    blocks = []
    while standing:
        own, plane = standing, [0] * (d + 1)
        if len(standing) > d:
            own, plane = facet([rows[j] for j in standing], standing, axis)
        left = sorted(set(standing) - set(own))
        t = _tilted(rows, own, left, plane, axis, aims)
        # what was raised before is kept by a gate: there t − gate·(height above the start) ≤ 0
        parked = [rows[j] for j in sorted(set(range(len(rows))) - set(standing))]
        *whole, scale = row_of(t)
        values = zip(products(parked, whole), parked, strict=True)
        top = max((Fraction(int(value), scale * row[-1]) for value, row in values), default=0)
        if top > 0:
            gate = 2 * power_of_two_below(top / min(aims))
            t[axis], t[-1] = -gate, t[-1] + gate * height
        w = [int(i == axis) for i in range(d)]
        blocks.append(RankOneBlock.of(d, u=t[:-1], b=t[-1], w=w))
        standing = left
    return blocks


def _tilted(
    rows: Sequence[Row],
    own: Sequence[int],
    left: Sequence[int],
    plane: Row,
    axis: int,
    aims: Sequence[Fraction],
) -> list[Fraction]:
    """The affine function t = [u, β], u_axis = 0, that is aims[j] at the points of a facet and
    negative at those that are left."""
    tilt = _affine([rows[j] for j in own], [aims[j] for j in own], plane, axis, own)
    *whole, scale = row_of(tilt)
    rest = [rows[j] for j in left]
    step = Fraction(1)
    for gap, rising in zip(products(rest, plane), products(rest, whole), strict=True):
        if rising > 0:
            step = min(step, power_of_two_below(Fraction(-int(gap) * scale, int(rising))) / 2)
    return [a / step + b for a, b in zip(plane, tilt, strict=True)]


def _affine(
    rows: list[Row], values: list[Fraction], plane: Row, axis: int, places: Sequence[int]
) -> list[Fraction]:
    """An affine function [u, β], u_axis = 0, with these values at the points; orthogonal to the
    plane, where there is one. Raises DegenerateError where the points are dependent."""
    kept = [i for i in range(len(plane)) if i != axis]
    system = [[row[i] for i in kept] for row in rows]
    right = [[value * row[-1]] for value, row in zip(values, rows, strict=True)]
    if any(plane):
        system.append([plane[i] for i in kept])
        right.append([Fraction(0)])
    A = Matrix(system)
    try:  # independent points are independent rows, whose Gram matrix is regular
        found = A.T @ (A @ A.T).solve(Matrix(right))
    except ZeroDivisionError:
        raise DegenerateError(places) from None
    entries = [x for (x,) in found.rows()]
    entries.insert(axis, Fraction(0))
    return entries
