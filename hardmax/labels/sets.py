"""The five kinds of label sets, all exact."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import floor
from typing import Any, ClassVar

from ..errors import InputError
from ..exact.alternatives import Refutation, project, strict_system
from ..exact.numbers import (
    Vector,
    as_fraction,
    as_vector,
    dot,
    json_number,
    json_vector,
    short_between,
)
from ..exact.rows import row_of
from .distance import Distance


def _square_distance(x: Vector, y: Vector) -> Fraction:
    return sum(((a - b) ** 2 for a, b in zip(x, y, strict=True)), Fraction(0))


class LabelSet(ABC):
    """A non-empty subset of ℚ^d: a single point, or an open convex set."""

    kind: ClassVar[str]

    @property
    @abstractmethod
    def dimension(self) -> int:
        """Dimension d of the space."""

    @abstractmethod
    def contains(self, x: Vector) -> bool:
        """Whether x lies in the set."""

    @abstractmethod
    def witness(self) -> Vector:
        """A point of the set, with few bits."""

    @abstractmethod
    def distance(self, x: Vector) -> Distance:
        """Euclidean distance of x from the closure of the set."""

    @abstractmethod
    def to_json(self) -> dict[str, Any]:
        """The set as the data format writes it."""


@dataclass(frozen=True)
class Point(LabelSet):
    """The set {point}.

    >>> Point((1, "1/2")).contains((Fraction(1), Fraction(1, 2)))
    True
    """

    point: Vector
    kind: ClassVar[str] = "point"

    def __post_init__(self) -> None:
        object.__setattr__(self, "point", as_vector(self.point))

    @cached_property
    def row(self) -> tuple[int, ...]:
        """The point in integers, in lowest terms (`rows`)."""
        return tuple(row_of(self.point))

    @property
    def dimension(self) -> int:
        return len(self.point)

    def contains(self, x: Vector) -> bool:
        return tuple(x) == self.point

    def witness(self) -> Vector:
        return self.point

    def distance(self, x: Vector) -> Distance:
        return Distance(_square_distance(x, self.point))

    def to_json(self) -> dict[str, Any]:
        return {"kind": "point", "point": json_vector(self.point)}


class _Polyhedral(LabelSet):
    """An open set {A x < b}; ``rows`` are its inequalities."""

    @property
    @abstractmethod
    def rows(self) -> tuple[Sequence[Vector], Vector]:
        """A, of shape (m, d), and b, of length m."""

    def contains(self, x: Vector) -> bool:
        A, b = self.rows
        return all(dot(row, x) < bound for row, bound in zip(A, b, strict=True))

    def distance(self, x: Vector) -> Distance:
        A, b = self.rows
        point, _ = project(x, A, b)
        return Distance(_square_distance(x, point))


@dataclass(frozen=True)
class Halfspace(_Polyhedral):
    """The open half-space {⟨normal, x⟩ > offset}.

    >>> Halfspace((0, 1), 0).witness()
    (Fraction(0, 1), Fraction(1, 1))
    """

    normal: Vector
    offset: Fraction
    kind: ClassVar[str] = "halfspace"

    def __post_init__(self) -> None:
        object.__setattr__(self, "normal", as_vector(self.normal))
        object.__setattr__(self, "offset", as_fraction(self.offset))
        if not any(self.normal):
            raise InputError("the normal of a half-space is zero")

    @property
    def dimension(self) -> int:
        return len(self.normal)

    @property
    def rows(self) -> tuple[Sequence[Vector], Vector]:
        return [tuple(-x for x in self.normal)], (-self.offset,)

    def witness(self) -> Vector:
        # along the axis of the largest entry, at least one unit beyond the boundary
        axis = max(range(self.dimension), key=lambda i: abs(self.normal[i]))
        entry = self.normal[axis]
        crossing = self.offset / abs(entry)
        reach = Fraction(floor(crossing) + 1)
        if reach - crossing < 1 and crossing != floor(crossing):
            reach += 1
        value = reach if entry > 0 else -reach
        return tuple(value if i == axis else Fraction(0) for i in range(self.dimension))

    def distance(self, x: Vector) -> Distance:
        excess = max(self.offset - dot(self.normal, x), Fraction(0))
        return Distance(excess * excess / dot(self.normal, self.normal))

    def to_json(self) -> dict[str, Any]:
        return {
            "kind": "halfspace",
            "normal": json_vector(self.normal),
            "offset": json_number(self.offset),
        }


@dataclass(frozen=True)
class Box(_Polyhedral):
    """The open box {lower < x < upper}.

    >>> Box((0, 0), (1, "1/3")).witness()
    (Fraction(1, 2), Fraction(1, 8))
    """

    lower: Vector
    upper: Vector
    kind: ClassVar[str] = "box"

    def __post_init__(self) -> None:
        object.__setattr__(self, "lower", as_vector(self.lower))
        object.__setattr__(self, "upper", as_vector(self.upper))
        if len(self.lower) != len(self.upper):
            raise InputError("the corners of a box have different dimensions")
        for axis, (low, high) in enumerate(zip(self.lower, self.upper, strict=True)):
            if not low < high:
                raise InputError(
                    f"the box is empty: its lower corner is not below its upper "
                    f"corner in coordinate {axis + 1}"
                )

    @property
    def dimension(self) -> int:
        return len(self.lower)

    @property
    def rows(self) -> tuple[Sequence[Vector], Vector]:
        d = self.dimension
        unit = [tuple(Fraction(int(i == j)) for j in range(d)) for i in range(d)]
        minus = [tuple(-x for x in row) for row in unit]
        return [*unit, *minus], (*self.upper, *(-x for x in self.lower))

    def contains(self, x: Vector) -> bool:
        return all(a < t < b for a, t, b in zip(self.lower, x, self.upper, strict=True))

    def witness(self) -> Vector:
        # the middle half of each side, so that the witness keeps away from the boundary
        return tuple(
            short_between(a + (b - a) / 4, b - (b - a) / 4)
            for a, b in zip(self.lower, self.upper, strict=True)
        )

    def distance(self, x: Vector) -> Distance:
        nearest = tuple(
            min(max(t, a), b) for a, t, b in zip(self.lower, x, self.upper, strict=True)
        )
        return Distance(_square_distance(x, nearest))

    def to_json(self) -> dict[str, Any]:
        return {"kind": "box", "lower": json_vector(self.lower), "upper": json_vector(self.upper)}


@dataclass(frozen=True)
class Polyhedron(_Polyhedral):
    """The open polyhedron {A x < b}, row by row; A has shape (m, d), b length m.

    Raises InputError where it is empty, with multipliers that prove it.

    >>> Polyhedron([[1], [-1]], [1, 0]).contains((Fraction(1, 2),))
    True
    """

    A: tuple[Vector, ...]
    b: Vector
    kind: ClassVar[str] = "polyhedron"

    def __post_init__(self) -> None:
        object.__setattr__(self, "A", tuple(as_vector(row) for row in self.A))
        object.__setattr__(self, "b", as_vector(self.b))
        if not self.A or len(self.A) != len(self.b):
            raise InputError(
                f"a polyhedron needs as many rows in A as in b, and at least one; "
                f"found {len(self.A)} and {len(self.b)}"
            )
        if len({len(row) for row in self.A}) != 1:
            raise InputError("the rows of a polyhedron's A have different lengths")
        solved = strict_system(self.A, self.b)
        if isinstance(solved, Refutation):
            used = [str(i + 1) for i, weight in enumerate(solved.y) if weight]
            raise InputError(
                f"the polyhedron is empty: its rows {', '.join(used)} exclude each other"
            )
        object.__setattr__(self, "_witness", solved.x)

    @classmethod
    def around(cls, A: tuple[Vector, ...], b: Vector, witness: Vector) -> Polyhedron:
        """The polyhedron of which a point inside is known, and so that it is not empty."""
        self = object.__new__(cls)
        for name, value in (("A", A), ("b", b), ("_witness", witness)):
            object.__setattr__(self, name, value)
        return self

    @property
    def dimension(self) -> int:
        return len(self.A[0])

    @property
    def rows(self) -> tuple[Sequence[Vector], Vector]:
        return self.A, self.b

    def witness(self) -> Vector:
        return self._witness  # type: ignore[attr-defined, no-any-return]

    def lifted(self, more: int) -> Polyhedron:
        """The set with ``more`` coordinates, which are unconstrained."""
        return _wider(self, more)

    def to_json(self) -> dict[str, Any]:
        return {
            "kind": "polyhedron",
            "A": [json_vector(row) for row in self.A],
            "b": json_vector(self.b),
        }


@dataclass(frozen=True)
class Ball(LabelSet):
    """The open ball {|x − center| < radius}; ``free`` more coordinates are unconstrained.

    >>> Ball((0, 0), 1).contains((Fraction(3, 5), Fraction(4, 5)))
    False
    """

    center: Vector
    radius: Fraction
    free: int = 0
    kind: ClassVar[str] = "ball"

    def __post_init__(self) -> None:
        object.__setattr__(self, "center", as_vector(self.center))
        object.__setattr__(self, "radius", as_fraction(self.radius))
        if self.radius <= 0:
            raise InputError("the ball is empty: its radius is not positive")

    @property
    def dimension(self) -> int:
        return len(self.center) + self.free

    def _bound(self, x: Vector) -> Vector:
        return tuple(x[: len(self.center)])

    def contains(self, x: Vector) -> bool:
        return _square_distance(self._bound(x), self.center) < self.radius**2

    def witness(self) -> Vector:
        return (*self.center, *(Fraction(0) for _ in range(self.free)))

    def distance(self, x: Vector) -> Distance:
        square = _square_distance(self._bound(x), self.center)
        if square <= self.radius**2:
            return Distance(Fraction(0))
        return Distance(square, self.radius)

    def to_json(self) -> dict[str, Any]:
        return {
            "kind": "ball",
            "center": json_vector(self.center),
            "radius": json_number(self.radius),
        }


def default_points(names: Sequence[str], dimension: int) -> dict[str, LabelSet]:
    """Label sets of data without any: the points 0·e₁, 1·e₁, 2·e₁, … in order.

    >>> default_points(["a", "b"], 2)["b"]
    Point(point=(Fraction(1, 1), Fraction(0, 1)))
    """
    rest = (Fraction(0),) * (dimension - 1)
    return {name: Point((Fraction(k), *rest)) for k, name in enumerate(names)}


def lift(label_set: LabelSet, more: int = 1) -> LabelSet:
    """The set with ``more`` coordinates: 0 for points, unconstrained otherwise.

    >>> lift(Point((1,)))
    Point(point=(Fraction(1, 1), Fraction(0, 1)))
    """
    if not more:
        return label_set
    zeros = (Fraction(0),) * more
    if isinstance(label_set, Point):
        return Point((*label_set.point, *zeros))
    if isinstance(label_set, Halfspace):
        return Halfspace((*label_set.normal, *zeros), label_set.offset)
    if isinstance(label_set, Ball):
        return Ball(label_set.center, label_set.radius, label_set.free + more)
    if isinstance(label_set, Polyhedron):
        return label_set.lifted(more)
    if isinstance(label_set, _Polyhedral):
        return _wider(label_set, more)
    raise TypeError(f"{type(label_set).__name__} is no label set")


def _wider(label_set: _Polyhedral, more: int) -> Polyhedron:
    A, b = label_set.rows
    zeros = (Fraction(0),) * more
    rows = tuple((*row, *zeros) for row in A)
    return Polyhedron.around(rows, b, (*label_set.witness(), *zeros))
