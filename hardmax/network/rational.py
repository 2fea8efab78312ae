"""Exact numbers for the evaluator: layers that are piecewise rational, over ℚ."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import chain
from typing import NoReturn

from ..errors import InputError
from ..exact.array import ExactArray
from ..exact.matrix import Matrix
from ..exact.numbers import Vector
from .evaluate import Values


class Rationals(Values):
    """A matrix of rational numbers.

    >>> Z = Rationals(Matrix([[1, -2]]))
    >>> Z.relu().table()
    ((Fraction(1, 1), Fraction(0, 1)),)
    """

    def __init__(self, matrix: Matrix) -> None:
        self.matrix = matrix

    @classmethod
    def read(cls, array: ExactArray) -> Rationals:
        """Exact parameters or tokens; a vector becomes one row."""
        width = array.shape[-1]
        flat = list(array.numbers())
        return cls(Matrix([flat[k : k + width] for k in range(0, len(flat), width)], width))

    def table(self) -> tuple[Vector, ...]:
        """All rows."""
        return self.matrix.rows()

    @property
    def length(self) -> int:
        return self.matrix.shape[0]

    def affine(self, W: Rationals, b: Rationals | None) -> Rationals:
        product = Rationals(self.matrix @ W.matrix.T)
        return product if b is None else product + b.rows([0] * self.length)

    def scores(self, other: Rationals) -> Rationals:
        return Rationals(self.matrix @ other.matrix.T)

    def mixed(self, other: Rationals) -> Rationals:
        return Rationals(self.matrix @ other.matrix)

    def __add__(self, other: Rationals) -> Rationals:
        return Rationals(self.matrix + other.matrix)

    def times(self, factor: Fraction) -> Rationals:
        return Rationals(factor * self.matrix)

    def relu(self) -> Rationals:
        return Rationals(self.matrix.relu())

    def hardmax(self, causal: bool) -> Rationals:
        weights = []
        for i, row in enumerate(self.table()):
            seen = row[: i + 1] if causal else row
            top = max(seen)
            share = Fraction(1, seen.count(top))
            weights.append([share if l < len(seen) and x == top else 0 for l, x in enumerate(row)])
        return Rationals(Matrix(weights))

    def mean(self) -> Rationals:
        count = self.length
        return Rationals(Matrix([[Fraction(1, count)] * count]) @ self.matrix)

    def rows(self, places: Sequence[int]) -> Rationals:
        table = self.table()
        return Rationals(Matrix([table[i] for i in places], self.matrix.shape[1]))

    def columns(self, start: int, stop: int) -> Rationals:
        return Rationals(Matrix([row[start:stop] for row in self.table()], stop - start))

    def above(self, other: Rationals) -> Rationals:
        return Rationals(Matrix([*self.table(), *other.table()]))

    def beside(self, others: Sequence[Rationals]) -> Rationals:
        if not others:
            return self
        tables = [self.table(), *(other.table() for other in others)]
        return Rationals(Matrix([[*chain(*rows)] for rows in zip(*tables, strict=True)]))

    def looked_up(self, table: Rationals) -> Rationals:
        return table.rows(numbered([row[0] for row in self.table()], table.length))

    def _not_rational(self, *given: object) -> NoReturn:
        raise InputError("softmax, norms and GELU have no rational outputs; ask for enclosures")

    gelu = norm = softmax = _not_rational  # type: ignore[assignment]


def numbered(tokens: Sequence[Fraction], count: int) -> list[int]:
    """Tokens as rows of a table with so many; raises InputError where one names no row."""
    for i, x in enumerate(tokens, 1):
        if x.denominator != 1 or not 0 <= x < count:
            raise InputError(f"token {i} is {x}, not a number 0, …, {count - 1} of the embedding")
    return [int(x) for x in tokens]
