"""The label sets of a classifier that answers with its largest output: one open cone a class."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from ..errors import InputError
from ..exact.numbers import Vector
from .distance import Distance
from .polyhedral import Polyhedron

MAX_ENTRIES = 1 << 24  # of an array of a model, as docs/certificate.md has it
_ZERO, _ONE = Fraction(0), Fraction(1)


class ArgmaxCone(Polyhedron):
    """The cone {x ∈ ℚ^d : x_c > x_e for all e ≠ c, e < M}, with c = ``place``, M = ``classes``.

    It knows these three numbers only: its M − 1 rows, those of x_e − x_c < 0 with e rising, are
    written out when somebody asks for A. Two cones of the same classes are disjoint, for x_c > x_e
    and x_e > x_c exclude each other.

    >>> cone = ArgmaxCone(0, 3, 4)
    >>> cone.contains((Fraction(2), Fraction(1), Fraction(0), Fraction(9)))
    True
    >>> [[int(a) for a in row] for row in cone.A]
    [[-1, 1, 0, 0], [-1, 0, 1, 0]]
    """

    place: int
    classes: int

    def __init__(self, place: int, classes: int, dimension: int) -> None:
        # the attributes of a label set never change, so only this way sets them
        self.__dict__.update(place=place, classes=classes, _width=dimension)

    @property
    def dimension(self) -> int:
        return int(self.__dict__["_width"])

    @property
    def A(self) -> tuple[Vector, ...]:
        """All rows, (M − 1, d)."""
        return tuple(self._row(e) for e in range(self.classes) if e != self.place)

    @property
    def b(self) -> Vector:
        """Zeros, (M − 1,)."""
        return (_ZERO,) * (self.classes - 1)

    def _row(self, other: int) -> Vector:
        row = [_ZERO] * self.dimension
        row[other], row[self.place] = _ONE, -_ONE
        return tuple(row)

    def contains(self, x: Vector) -> bool:
        largest = x[self.place]
        return all(x[e] < largest for e in range(self.classes) if e != self.place)

    def witness(self) -> Vector:
        return tuple(_ONE if e == self.place else _ZERO for e in range(self.dimension))

    def distance(self, x: Vector) -> Distance:
        """Distance to the closure. The nearest point has one mean in place of x_c and of the
        largest other entries: from the largest on these join while they exceed the mean so far."""
        others = (x[e] for e in range(self.classes) if e != self.place)
        chosen, total = [x[self.place]], x[self.place]
        for value in sorted((y for y in others if y > x[self.place]), reverse=True):
            if value * len(chosen) <= total:
                break
            chosen.append(value)
            total += value
        mean = total / len(chosen)
        return Distance(sum(((value - mean) ** 2 for value in chosen), _ZERO))

    def _beside(self, zeros: Vector) -> ArgmaxCone:
        return ArgmaxCone(self.place, self.classes, self.dimension + len(zeros))

    def __eq__(self, other: object) -> bool:
        if isinstance(other, ArgmaxCone):
            return self.__dict__ == other.__dict__
        return isinstance(other, Polyhedron) and (self.A, self.b) == (other.A, other.b)

    __hash__ = Polyhedron.__hash__  # by A and b, as it may equal a polyhedron with these rows

    def __repr__(self) -> str:
        return f"ArgmaxCone({self.place}, {self.classes}, {self.dimension})"


def argmax_sets(names: Sequence[str]) -> dict[str, Polyhedron]:
    """The cones {x ∈ ℚ^M : x_c > x_e for all e ≠ c} of M classes, c = 1 … M, in order.

    A single class has all of ℚ¹, written 0 < 1. Raises InputError for more classes than
    `check_size` allows.

    >>> argmax_sets(["a", "b"])["b"].contains((Fraction(1), Fraction(1)))
    False
    """
    count = len(names)
    check_size(count, count)
    if count == 1:
        return {names[0]: Polyhedron.around(((_ZERO,),), (_ONE,), (_ONE,))}
    return {name: ArgmaxCone(c, count, count) for c, name in enumerate(names)}


def check_size(count: int, dimension: int, blocks: int = 0) -> None:
    """Refuse label sets for which a model would not fit into a file; InputError.

    It has a block for each of ``count`` classes and ``blocks`` more, so arrays of that many rows
    and ``dimension`` columns."""
    if (count + blocks) * dimension > MAX_ENTRIES:
        raise InputError(
            f"argmax label sets of {count} labels need a model with arrays of "
            f"{count + blocks} × {dimension} numbers, and a file holds at most {MAX_ENTRIES}; "
            f"use points"
        )
