"""Checks that raise: they run under `python -O` as well, unlike `assert`."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from itertools import pairwise

import sympy
from flint import fmpq, fmpq_mat

TRIES = 200  # searches skip finitely many forbidden values and end long before this
EXHAUSTED = "no admissible parameter found, though only finitely many are forbidden"


class Refuted(Exception):
    """A statement that was to be shown does not hold."""


def require(holds: object, what: str) -> None:
    """Raise `Refuted` unless `holds` is exactly true (a sympy relation that stays undecided is
    refused).
    """
    if holds is not True and holds is not sympy.true:
        raise Refuted(f"not shown: {what}")


def require_equal(left: object, right: object, what: str) -> None:
    """Raise `Refuted` unless both sides are equal: exactly for numbers, identically for sympy
    expressions.
    """
    if isinstance(left, sympy.Basic) or isinstance(right, sympy.Basic):
        require(is_zero(sympy.sympify(left) - sympy.sympify(right)), f"{what}: {left} = {right}")
    else:
        require(bool(left == right), f"{what}: {left} = {right}")


def is_zero(expression: sympy.Expr) -> bool:
    """Tell whether an expression vanishes identically (expansion first, then simplification)."""
    return sympy.expand(expression) == 0 or sympy.simplify(expression) == 0


def require_nonnegative(expression: sympy.Expr, what: str) -> None:
    """Raise unless sympy derives `expression >= 0` from the signs of its symbols after
    expansion.
    """
    require(sympy.expand(expression).is_nonnegative, f"{what}: {sympy.expand(expression)} >= 0")


def require_positive(expression: sympy.Expr, what: str) -> None:
    """Raise unless sympy derives `expression > 0` from the signs of its symbols after expansion."""
    require(sympy.expand(expression).is_positive, f"{what}: {sympy.expand(expression)} > 0")


def relu(expression: sympy.Expr) -> sympy.Expr:
    """Evaluate max(0, expression); raise if the sign does not follow from the signs of the symbols.

    >>> p = sympy.Symbol("p", nonnegative=True)
    >>> relu(-p), relu(p + 1)
    (0, p + 1)
    """
    expanded = sympy.expand(expression)
    if expanded.is_nonnegative:
        return expanded
    if (-expanded).is_nonnegative:
        return sympy.Integer(0)
    raise Refuted(f"the sign of {expanded} does not follow from the hypotheses")


def matrix(rows: Iterable[Iterable[Fraction | int]]) -> fmpq_mat:
    """Make an exact rational matrix (flint) from rows of rationals."""
    return fmpq_mat(
        [[fmpq(Fraction(x).numerator, Fraction(x).denominator) for x in row] for row in rows]
    )


def rank(rows: Iterable[Iterable[Fraction | int]]) -> int:
    """Compute the rank over the rationals."""
    return matrix(rows).rank()


def strictly_monotone(values: Iterable[Fraction]) -> bool:
    """Tell whether the values strictly increase or strictly decrease."""
    steps = [b - a for a, b in pairwise(values)]
    return all(s > 0 for s in steps) or all(s < 0 for s in steps)
