"""Exact facets, and the shells through them (docs/theory.md, Theorems 6a and 6c)."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from ....exact.matrix import IntegerRows, Matrix
from ....exact.numbers import power_of_two_below
from ....exact.rows import Row, row_of
from ....model.layers import RankOneBlock
from .hyperplanes import DegenerateError, products, turned


def shell(rows: Sequence[Row], places: Sequence[int], axis: int) -> tuple[list[int], Row]:
    """The points on a facet of the lower hull, by place, and its hyperplane h; no point has h > 0.

    Below is where the coordinate ``axis`` is less, and h_axis < 0. The hyperplane starts at minus
    infinity and turns about the points that it touches until it touches one more, d times; it
    touches all points if they are fewer than d. Where it holds more than d, it is turned
    a little more, about d − 1 of them. Raises DegenerateError where d of the points, or all if they
    are fewer, are affinely dependent in the coordinates other than ``axis``.

    >>> shell([[0, 2, 1], [1, 0, 1], [3, 1, 1], [1, 5, 1]], [0, 1, 2, 3], 1)
    ([1, 2], [1, -2, -1])
    """
    d = len(rows[0]) - 1
    ways = [[int(i == j) for j in range(d + 1)] for i in range(d) if i != axis]
    infinity = [0] * d + [1]
    plane = _touching(rows, [-int(i == axis) for i in range(d + 1)], [infinity, *ways])
    gaps = products(rows, plane)
    own = [j for j, gap in zip(places, gaps, strict=True) if not gap]
    if len(own) < min(d, len(rows)):
        raise DegenerateError(places)
    if len(own) <= d:
        return own, plane
    held = [row for row, gap in zip(rows, gaps, strict=True) if not gap]
    side = _touching(held, [0] * d + [-1], ways)
    edge = [j for j, gap in zip(own, products(held, side), strict=True) if not gap]
    if len(edge) != d - 1:  # too many on one hyperplane along the axis: these, or all of them
        raise DegenerateError(edge if len(edge) >= d else own)
    times = 1
    for gap, pace in zip(gaps, products(rows, side), strict=True):
        while gap and times * gap + pace >= 0:
            times *= 2
    return edge, [times * a + b for a, b in zip(plane, side, strict=True)]


def _touching(rows: Sequence[Row], plane: Row, ways: list[Row]) -> Row:
    """Move a hyperplane, below which all points lie, along each way until it touches a point; the
    ways that follow are changed so that the hyperplane turns about this point. A way on which it
    meets no point, to either side, is left out."""
    points = IntegerRows(rows)
    while ways:
        way, *ways = ways
        gaps, paces = points.dot(plane), points.dot(way)
        if not any(pace > 0 for pace in paces):
            way, paces = [-x for x in way], [-pace for pace in paces]
        first = -1
        for j, (gap, pace) in enumerate(zip(gaps, paces, strict=True)):
            # the plane meets point j where it has gone −gap/pace of the way
            if pace > 0 and (first < 0 or -gap * paces[first] < -gaps[first] * pace):
                first = j
        if first >= 0:
            plane = turned(plane, way, rows[first])
            ways = [turned(h, way, rows[first]) for h in ways]
    return plane


def park_all(
    rows: Sequence[Row], axis: int, height: Fraction, aims: Sequence[Fraction]
) -> tuple[list[RankOneBlock], Fraction]:
    """Blocks that raise point j to ``height`` + aims[j], aims > 0, shell by shell; and a share ε.

    The points x lie below the height. The blocks expect them flattened all but for the share: at
    height − ε·(height − x_axis), with the other coordinates as they are. For n points of ℚ^d of
    which any d are affinely independent in the coordinates other than ``axis``, there are at most
    max(1, ⌈(n − 1)/(d − 1)⌉) blocks, and ⌈n/d⌉ if any d + 1 are affinely independent. Raises
    DegenerateError where some d are not.

    >>> points = [row_of((Fraction(x), Fraction(y))) for x, y in ((0, 2), (1, 0), (3, 1), (4, 7))]
    >>> blocks, share = park_all(points, 1, Fraction(9), [Fraction(1)] * 4)
    >>> len(blocks), share
    (2, Fraction(1, 16))
    """
    d = len(rows[0]) - 1
    depths = [height - Fraction(int(row[axis]), int(row[-1])) for row in rows]
    found, standing = [], list(range(len(rows)))
    while standing:
        own, plane = shell([rows[j] for j in standing], standing, axis)
        standing = sorted(set(standing) - set(own))
        found.append((own, plane, standing))
    *rises, unit = row_of([aims[j] * int(row[-1]) for j, row in enumerate(rows)])
    share, parked = Fraction(1, 2), list[int]()
    for own, plane, _ in found:  # what is parked has to lie above the hyperplanes that follow
        values = products([rows[j] for j in parked], plane)
        least = _least([rises[j] for j in parked], values)
        if least is not None:
            share = min(share, power_of_two_below(least * -plane[axis] / int(unit)) / 2)
        parked += own
    blocks, raised = [], list[Row]()
    for own, plane, left in found:
        held = [rows[j] for j in own]
        tilt = _affine(held, [aims[j] + share * depths[j] for j in own], axis, own)
        t = _tilted(plane, tilt, [*(rows[j] for j in left), *raised])
        fall = t[axis]
        t[axis], t[-1] = fall / share, t[-1] + fall * height * (1 - 1 / share)
        w = [int(i == axis) for i in range(d)]
        blocks.append(RankOneBlock.of(d, u=t[:-1], b=t[-1], w=w))
        raised += (
            _at(row, axis, height + aims[j] / share) for j, row in zip(own, held, strict=True)
        )
    return blocks, share


def _at(row: Row, axis: int, value: Fraction) -> Row:
    """A point with another coordinate."""
    place = [Fraction(int(x), int(row[-1])) for x in row[:-1]]
    place[axis] = value
    return row_of(place)


def _tilted(plane: Row, tilt: list[Fraction], others: list[Row]) -> list[Fraction]:
    """A multiple of the plane plus an affine function ``tilt``, negative at the others, where the
    plane is negative. The multiple is about as large as the tilt, or as large as it has to be."""
    *whole, scale = row_of(tilt)
    step = power_of_two_below(max(map(abs, plane)) / max(map(abs, tilt)))
    if others:
        points = IntegerRows(others)
        least = _least([-gap for gap in points.dot(plane)], points.dot(whole))
        if least is not None:
            step = min(step, power_of_two_below(least * int(scale)) / 2)
    return [a / step + b for a, b in zip(plane, tilt, strict=True)]


def _least(tops: Sequence[int], bottoms: Sequence[int]) -> Fraction | None:
    """The least quotient with a positive denominator; None where there is none.

    >>> _least([1, 2, 1], [3, 9, -1])
    Fraction(2, 9)
    """
    best: tuple[int, int] | None = None
    for top, bottom in zip(tops, bottoms, strict=True):
        if bottom > 0 and (best is None or top * best[1] < best[0] * bottom):
            best = top, bottom
    return None if best is None else Fraction(int(best[0]), int(best[1]))


def _affine(
    rows: list[Row], values: list[Fraction], axis: int, places: Sequence[int]
) -> list[Fraction]:
    """The shortest affine function [u, β], u_axis = 0, with these values at the points. Raises
    DegenerateError where the points are dependent."""
    kept = [i for i in range(len(rows[0])) if i != axis]
    A = Matrix([[row[i] for i in kept] for row in rows])
    right = Matrix([[value * row[-1]] for value, row in zip(values, rows, strict=True)])
    try:  # independent points are independent rows, whose Gram matrix is regular
        found = A.T @ (A @ A.T).solve(right)
    except ZeroDivisionError:
        raise DegenerateError(places) from None
    entries = [x for (x,) in found.rows()]
    entries.insert(axis, Fraction(0))
    return entries
