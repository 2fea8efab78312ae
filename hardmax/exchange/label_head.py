"""The label of an output, computed in floats: inside a set, else the nearest set.

Where all label sets are points p, the label is that of the largest ⟨p,y⟩ − |p|²/2; where they are
the cones {y_c > y_e for all e ≠ c}, that of the largest coordinate. In general each set has a key:
−1 where it holds y, else its distance from y; the least key wins, the first of equal ones. The
distance from a polyhedron of several rows is a quadratic program, which no exported file
contains: where there is such a polyhedron and no set holds y, the label is −1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from ..errors import InputError
from ..exact.numbers import Vector, dot
from ..labels import ArgmaxCone, Ball, Box, Halfspace, LabelSet, Point, Polyhedron

Array = np.ndarray


@dataclass(frozen=True)
class Part:
    """One label set as floats: its kind, and the arrays that the kind needs."""

    kind: str
    arrays: tuple[Array, ...]


@dataclass(frozen=True)
class Head:
    """All label sets in the order of their ids.

    ``weight`` (M, d) and ``bias`` (M,) where all sets are points, or all cones of the largest
    coordinate; otherwise one part a set.
    """

    names: Sequence[str]
    weight: Array | None
    bias: Array | None
    parts: Sequence[Part]

    @property
    def partial(self) -> bool:
        """Whether some outputs get no label (−1): a distance from a polyhedron is missing."""
        return any(part.kind == "rows" for part in self.parts)

    def of_torch(self, torch: Any, y: Any) -> Any:
        """Label ids (N,) of outputs (N, d), tensors."""

        def tensor(array: Array) -> Any:
            return torch.from_numpy(array.copy()).to(y.device)

        if not self.names:
            return torch.full((len(y),), -1, dtype=torch.int64, device=y.device)
        if self.weight is not None and self.bias is not None:
            return (y @ tensor(self.weight).T + tensor(self.bias)).argmax(dim=1)
        keys = []
        for part in self.parts:
            first, second = map(tensor, part.arrays)
            if part.kind == "rows":
                inside = (y @ first.T < second).all(dim=1)
                distance = torch.full_like(y[:, 0], torch.inf)
            elif part.kind == "ball":
                length = ((y - first) ** 2).sum(dim=1).sqrt()
                inside, distance = length < second, torch.relu(length - second)
            elif part.kind == "halfspace":
                excess = y @ first - second  # positive outside
                inside, distance = excess < 0, torch.relu(excess)
            else:  # a point is a box whose corners are equal, and closed
                here = (y == first) if part.kind == "point" else (first < y) & (y < second)
                inside = here.all(dim=1)
                beyond = torch.relu(first - y) + torch.relu(y - second)
                distance = (beyond**2).sum(dim=1).sqrt()
            keys.append(torch.where(inside, torch.full_like(distance, -1), distance))
        least, chosen = torch.stack(keys, dim=1).min(dim=1)
        lost = (least >= 0) if self.partial else torch.zeros_like(least, dtype=torch.bool)
        return torch.where(lost, -1, chosen)


def head_of(sets: Mapping[str, LabelSet], dtype: str) -> Head:
    """The label sets as float arrays.

    >>> head = head_of({"a": Point((0, 1)), "b": Point((2, 0))}, "float64")
    >>> head.weight.tolist(), head.bias.tolist()
    ([[0.0, 1.0], [2.0, 0.0]], [-0.5, -2.0])
    """
    names = list(sets)
    points = [each for each in sets.values() if isinstance(each, Point)]
    if not names:
        return Head(names, None, None, [])
    if len(points) == len(names):
        weight = _floats([each.point for each in points], dtype)
        bias = _floats([-dot(each.point, each.point) / 2 for each in points], dtype)
        return Head(names, weight, bias, [])
    if _are_cones(list(sets.values())):
        some = next(iter(sets.values()))
        return Head(
            names,
            np.eye(len(names), some.dimension).astype(dtype),
            _floats([0] * len(names), dtype),
            [],
        )
    return Head(names, None, None, [_part(each, dtype) for each in sets.values()])


def _are_cones(sets: Sequence[LabelSet]) -> bool:
    """Whether set c is {x_c > x_e for all e ≠ c}: then the largest coordinate names the label."""
    for c, label_set in enumerate(sets):
        if isinstance(label_set, ArgmaxCone):
            if (label_set.place, label_set.classes) != (c, len(sets)):
                return False
            continue
        if not isinstance(label_set, Polyhedron) or len(sets) < 2 or any(label_set.b):
            return False
        others = [e for e in range(len(sets)) if e != c]
        if len(label_set.A) != len(others) or label_set.dimension < len(sets):
            return False
        for row, e in zip(label_set.A, others, strict=True):
            if row[c] != -1 or row[e] != 1 or sum(map(bool, row)) != 2:
                return False
    return True


def _part(label_set: LabelSet, dtype: str) -> Part:
    if isinstance(label_set, Point):
        corner = _floats(label_set.point, dtype)
        return Part("point", (corner, corner))
    if isinstance(label_set, Box):
        return Part("box", (_floats(label_set.lower, dtype), _floats(label_set.upper, dtype)))
    if isinstance(label_set, Ball):
        return Part("ball", (_floats(label_set.center, dtype), _floats(label_set.radius, dtype)))
    if not isinstance(label_set, Halfspace | Polyhedron):
        raise TypeError(f"{type(label_set).__name__} is no label set")
    rows, bounds = label_set.rows
    if len(rows) > 1 or not any(rows[0]):
        return Part("rows", (_floats(rows, dtype), _floats(bounds, dtype)))
    # of length 1, up to rounding: then the excess is the distance
    largest = max(map(abs, rows[0]))
    row: Vector = tuple(x / largest for x in rows[0])
    length = Fraction(float(dot(row, row)) ** 0.5)
    unit = _floats([x / length for x in row], dtype)
    return Part("halfspace", (unit, _floats(bounds[0] / largest / length, dtype)))


def _floats(values: Any, dtype: str) -> Array:
    try:
        with np.errstate(over="ignore"):
            found = np.array(values, dtype=object).astype(np.float64).astype(dtype)
    except OverflowError:
        found = np.array(np.inf)
    if not np.isfinite(found).all():
        raise InputError(f"a label set has numbers past the range of {dtype}")
    return found
