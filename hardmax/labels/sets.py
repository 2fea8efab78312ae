"""Label sets in exact numbers: what every kind answers, points, balls; more in `polyhedral`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

from ..errors import InputError
from ..exact.numbers import (
    Vector,
    as_fraction,
    as_vector,
    json_number,
    json_vector,
)
from ..exact.rows import row_of
from .distance import Distance


def square_distance(x: Vector, y: Vector) -> Fraction:
    """|x − y|²."""
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

    def lifted(self, more: int) -> LabelSet:
        """The set with ``more`` coordinates: 0 for points, unconstrained otherwise.

        >>> Point((1,)).lifted(1)
        Point(point=(Fraction(1, 1), Fraction(0, 1)))
        """
        return self._beside((Fraction(0),) * more) if more else self

    @abstractmethod
    def _beside(self, zeros: Vector) -> LabelSet:
        """`lifted`, by as many coordinates as there are zeros."""


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
        return Distance(square_distance(x, self.point))

    def to_json(self) -> dict[str, Any]:
        return {"kind": "point", "point": json_vector(self.point)}

    def _beside(self, zeros: Vector) -> Point:
        return Point((*self.point, *zeros))


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
        return square_distance(self._bound(x), self.center) < self.radius**2

    def witness(self) -> Vector:
        return (*self.center, *(Fraction(0) for _ in range(self.free)))

    def distance(self, x: Vector) -> Distance:
        square = square_distance(self._bound(x), self.center)
        if square <= self.radius**2:
            return Distance(Fraction(0))
        return Distance(square, self.radius)

    def to_json(self) -> dict[str, Any]:
        return {
            "kind": "ball",
            "center": json_vector(self.center),
            "radius": json_number(self.radius),
        }

    def _beside(self, zeros: Vector) -> Ball:
        return Ball(self.center, self.radius, self.free + len(zeros))


def default_points(names: Sequence[str], dimension: int) -> dict[str, LabelSet]:
    """Label sets of data without any: the points 0·e₁, 1·e₁, 2·e₁, … in order.

    >>> default_points(["a", "b"], 2)["b"]
    Point(point=(Fraction(1, 1), Fraction(0, 1)))
    """
    rest = (Fraction(0),) * (dimension - 1)
    return {name: Point((Fraction(k), *rest)) for k, name in enumerate(names)}
