"""Open sets bounded by hyperplanes: half-spaces, boxes, polyhedra."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
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
from .distance import Distance
from .sets import LabelSet, square_distance


class Polyhedral(LabelSet):
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
        return Distance(square_distance(x, point))

    def _beside(self, zeros: Vector) -> Polyhedral:
        A, b = self.rows
        wider = tuple((*row, *zeros) for row in A)
        return Polyhedron.around(wider, b, (*self.witness(), *zeros))


@dataclass(frozen=True)
class Halfspace(Polyhedral):
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

    def _beside(self, zeros: Vector) -> Halfspace:
        return Halfspace((*self.normal, *zeros), self.offset)


@dataclass(frozen=True)
class Box(Polyhedral):
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
        return Distance(square_distance(x, nearest))

    def to_json(self) -> dict[str, Any]:
        return {"kind": "box", "lower": json_vector(self.lower), "upper": json_vector(self.upper)}


@dataclass(frozen=True)
class Polyhedron(Polyhedral):
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

    def to_json(self) -> dict[str, Any]:
        return {
            "kind": "polyhedron",
            "A": [json_vector(row) for row in self.A],
            "b": json_vector(self.b),
        }
