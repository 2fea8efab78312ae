"""The label sets of a classifier that answers with its largest output: one open cone a class."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from ..errors import InputError
from .polyhedral import Polyhedron

MAX_ENTRIES = 1 << 24  # of all cones together
_ZERO, _ONE = Fraction(0), Fraction(1)


def argmax_sets(names: Sequence[str]) -> dict[str, Polyhedron]:
    """The cones {x ∈ ℚ^M : x_c > x_e for all e ≠ c} of M classes, c = 1 … M, in order.

    They are disjoint: x_c > x_e and x_e > x_c exclude each other. The rows of a cone are those of
    x_e − x_c < 0, e rising. A single class has all of ℚ¹, written 0 < 1. Raises InputError for
    more classes than `MAX_ENTRIES` allows.

    >>> argmax_sets(["a", "b"])["b"].contains((Fraction(1), Fraction(1)))
    False
    """
    count = len(names)
    check_size(count, count)
    if count == 1:
        return {names[0]: Polyhedron.around(((_ZERO,),), (_ONE,), (_ONE,))}
    found = {}
    for c, name in enumerate(names):
        rows = tuple(_axes(count, e, c) for e in range(count) if e != c)
        witness = tuple(_ONE if e == c else _ZERO for e in range(count))
        found[name] = Polyhedron.around(rows, (_ZERO,) * (count - 1), witness)
    return found


def check_size(count: int, dimension: int) -> None:
    """Refuse cones of so many classes in so many coordinates where they would fill the memory."""
    if count * (count - 1) * dimension > MAX_ENTRIES:
        raise InputError(
            f"argmax label sets of {count} labels in {dimension} coordinates need more than "
            f"{MAX_ENTRIES} numbers; use points"
        )


def _axes(count: int, plus: int, minus: int) -> tuple[Fraction, ...]:
    """The vector e_plus − e_minus."""
    row = [_ZERO] * count
    row[plus], row[minus] = _ONE, -_ONE
    return tuple(row)
