"""Which outputs lie in their label sets: by floats where those are certain, else exactly."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ..dataset import Dataset
from ..enclosure.rounding import LEAST, MOST, SLACK, TINY, error
from ..engine.forward.points import EnclosedPoints
from ..exact.array import Array
from ..exact.numbers import Vector, nearest_float
from ..exact.rows import vector_of
from ..labels import ArgmaxCone, Ball, Box, LabelSet, Point


def surely_inside(label_set: LabelSet, points: EnclosedPoints) -> Array:
    """Points that lie in an open set for certain, (n,) of bool.

    All that may be claimed of a point x is |x − values| ≤ radius, coordinate by coordinate.

    >>> box = Box((0,), (1,))
    >>> surely_inside(box, EnclosedPoints(np.array([[0.5], [0.9]]), np.array([[0.1], [0.2]])))
    array([ True, False])
    """
    nothing = np.zeros(len(points), dtype=bool)
    if isinstance(label_set, Point):
        return nothing
    x, r = points.values, points.radius
    d = x.shape[1]
    if isinstance(label_set, Ball):
        center = _floats(label_set.center)
        if center is None or (size := _floats((label_set.radius,))) is None:
            return nothing
        bound = len(center)
        reach = np.abs(x[:, :bound] - center) + r[:, :bound]
        reach = error(4, np.abs(x[:, :bound]) + np.abs(center), reach)
        square = (reach * reach).sum(axis=1) * SLACK + TINY
        return np.asarray(square < size[0] * size[0] / SLACK)
    if isinstance(label_set, Box):
        low, high = _floats(label_set.lower), _floats(label_set.upper)
        if low is None or high is None:
            return nothing
        reach = error(4, np.abs(x), r)
        above = x - reach > low + error(4, np.abs(low))
        below = x + reach < high - error(4, np.abs(high))
        return np.asarray((above & below).all(axis=1))
    if isinstance(label_set, ArgmaxCone):
        return _surely_largest(x, r, label_set)
    A, b = label_set.rows  # type: ignore[attr-defined]
    rows, bounds = [_floats(row) for row in A], _floats(b)
    if bounds is None or any(row is None for row in rows):
        return nothing
    matrix = np.array(rows)
    value = x @ matrix.T
    size = np.abs(matrix).T
    most = error(d + 8, np.abs(x) @ size + np.abs(bounds), r @ size)
    return np.asarray((value + most < bounds).all(axis=1))


def _surely_largest(x: Array, r: Array, cone: ArgmaxCone) -> Array:
    """Points x ± r whose coordinate ``place`` is the largest of the classes, for certain."""
    c, others = cone.place, np.delete(np.arange(cone.classes), cone.place)
    largest, rest = x[:, [c]], x[:, others]
    reach = error(4, np.abs(largest) + np.abs(rest), r[:, [c]] + r[:, others])
    return np.asarray((rest - largest + reach < 0).all(axis=1))


def _floats(vector: Vector) -> Array | None:
    """Nearest floats of numbers of moderate size; None where one is not."""
    sizes = [abs(x) for x in vector if x]
    if any(not LEAST < size < MOST for size in sizes):
        return None
    return np.array([nearest_float(x) for x in vector])


def outside(
    data: Dataset,
    start: int,
    number: Array,
    constants: Sequence[tuple[int, ...]],
    points: Mapping[int, tuple[int, ...]],
) -> list[int]:
    """Sequences whose exact output does not lie in the set of their label.

    The arguments are those of `Outputs`, about the sequences start, start + 1, …
    """
    codes, names = data.label_codes
    sets = [data.sets[name] for name in names]
    found: list[int] = []
    ready = np.flatnonzero(number >= 0)
    pairs = number[ready] * len(sets) + codes[start + ready]
    wrong = [
        pair
        for pair in np.unique(pairs).tolist()
        if not _holds(sets[pair % len(sets)], constants[pair // len(sets)])
    ]
    if wrong:
        found = (start + ready[np.isin(pairs, wrong)]).tolist()
    found += [start + j for j, row in points.items() if not _holds(sets[codes[start + j]], row)]
    return sorted(found)


def _holds(label_set: LabelSet, row: tuple[int, ...]) -> bool:
    if isinstance(label_set, Point):  # the rows of equal points are equal
        return row == label_set.row
    return label_set.contains(vector_of(row))
