"""Exact linear algebra on python-flint; only this module and `balls` import flint.

Two shapes serve everything: `Matrix`, a rational matrix for the general layers and small
linear systems, and `IntegerRows`, many integer rows for the rank-1 path (theory C2).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from math import lcm
from typing import Any, cast

import flint

from .numbers import as_fraction


def _fmpq(value: object) -> flint.fmpq:
    number = as_fraction(value)
    return flint.fmpq(number.numerator, number.denominator)


def _fraction(value: flint.fmpq) -> Fraction:
    return Fraction(int(value.p), int(value.q))


class Matrix:
    """Rational matrix of shape (n, m); immutable.

    >>> A = Matrix([[1, "1/2"], [0, 2]])
    >>> (A @ A.T)[0, 0]
    Fraction(5, 4)
    """

    __slots__ = ("_mat",)

    def __init__(self, rows: Iterable[Iterable[object]], columns: int | None = None) -> None:
        table = [[_fmpq(entry) for entry in row] for row in rows]
        width = columns if columns is not None else len(table[0]) if table else 0
        if any(len(row) != width for row in table):
            raise ValueError("the rows of a matrix must have equal lengths")
        self._mat = flint.fmpq_mat(len(table), width, [x for row in table for x in row])

    @classmethod
    def _wrap(cls, mat: flint.fmpq_mat) -> Matrix:
        self = cls.__new__(cls)
        self._mat = mat
        return self

    @classmethod
    def identity(cls, size: int) -> Matrix:
        """Identity matrix of shape (size, size)."""
        return cls([[int(i == j) for j in range(size)] for i in range(size)], size)

    @classmethod
    def zeros(cls, rows: int, columns: int) -> Matrix:
        """Zero matrix of shape (rows, columns)."""
        return cls._wrap(flint.fmpq_mat(rows, columns))

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and columns."""
        return self._mat.nrows(), self._mat.ncols()

    @property
    def T(self) -> Matrix:
        """Transpose."""
        return Matrix._wrap(self._mat.transpose())

    def __getitem__(self, index: tuple[int, int]) -> Fraction:
        return _fraction(self._mat[index])

    def rows(self) -> tuple[tuple[Fraction, ...], ...]:
        """All entries, as a tuple of rows of Fractions."""
        return tuple(tuple(_fraction(x) for x in row) for row in self._mat.table())

    def __matmul__(self, other: Matrix) -> Matrix:
        return Matrix._wrap(self._mat * other._mat)

    def __add__(self, other: Matrix) -> Matrix:
        return Matrix._wrap(self._mat + other._mat)

    def __sub__(self, other: Matrix) -> Matrix:
        return Matrix._wrap(self._mat - other._mat)

    def __rmul__(self, factor: object) -> Matrix:
        return Matrix._wrap(self._mat * _fmpq(factor))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Matrix) and self.shape == other.shape and self._mat == other._mat

    def __hash__(self) -> int:
        return hash(self.rows())

    def __repr__(self) -> str:
        return f"Matrix({[[str(x) for x in row] for row in self.rows()]})"

    def relu(self) -> Matrix:
        """Entrywise max(0, x)."""
        zero = flint.fmpq(0)
        entries = [max(x, zero) for x in self._mat.entries()]
        return Matrix._wrap(flint.fmpq_mat(*self.shape, entries))

    def row_maximisers(self) -> list[list[int]]:
        """For every row the columns where its largest entry stands (all ties)."""
        result = []
        for row in self._mat.table():
            top = max(row)
            result.append([j for j, entry in enumerate(row) if entry == top])
        return result

    def rank(self) -> int:
        """Rank over the rationals."""
        return int(self._mat.rank())

    def solve(self, right: Matrix) -> Matrix:
        """Solution X of self @ X = right; raises ZeroDivisionError where self is singular."""
        return Matrix._wrap(self._mat.solve(right._mat))


def clear_denominators(vector: Sequence[Fraction]) -> tuple[list[int], int]:
    """Integers p and the least D > 0 with vector = p / D.

    >>> clear_denominators([Fraction(1, 2), Fraction(1, 3)])
    ([3, 2], 6)
    """
    common = lcm(*(x.denominator for x in vector))
    return [x.numerator * (common // x.denominator) for x in vector], common


def primitive(row: Sequence[int]) -> list[int]:
    """The integer row divided by the greatest common divisor of its entries.

    >>> [int(x) for x in primitive([4, -6, 8])]
    [2, -3, 4]
    """
    divisor: Any = flint.fmpz(0)
    for entry in reversed(row):
        divisor = divisor.gcd(entry) if entry else divisor
        if divisor == 1:
            return list(row)
    return [entry // divisor for entry in row] if divisor > 1 else list(row)


class IntegerRows:
    """Integer matrix of shape (n, m) whose rows are read and replaced one by one.

    Entries come back as flint integers: they compare, add and multiply as Python's do.

    >>> rows = IntegerRows([[1, 2], [3, 4]])
    >>> [int(x) for x in rows.dot([10, 1])]
    [12, 34]
    """

    __slots__ = ("_mat",)

    def __init__(self, rows: Sequence[Sequence[int]]) -> None:
        width = len(rows[0])
        self._mat = flint.fmpz_mat(len(rows), width, [x for row in rows for x in row])

    def __len__(self) -> int:
        return int(self._mat.nrows())

    @property
    def width(self) -> int:
        """Number of columns."""
        return int(self._mat.ncols())

    def copy(self) -> IntegerRows:
        """A second matrix with the same entries."""
        twin = IntegerRows.__new__(IntegerRows)
        twin._mat = flint.fmpz_mat(self._mat)
        return twin

    def dot(self, column: Sequence[int]) -> list[int]:
        """Inner product of every row with one integer vector."""
        product = self._mat * flint.fmpz_mat(self.width, 1, list(column))
        return cast("list[int]", product.entries())

    def dot_row(self, index: int, column: Sequence[int]) -> int:
        """Inner product of one row with an integer vector."""
        total = flint.fmpz(0)
        for j, weight in enumerate(column):
            if weight:
                total += self._mat[index, j] * weight
        return cast("int", total)

    def row(self, index: int) -> list[int]:
        """Entries of one row."""
        return [cast("int", self._mat[index, j]) for j in range(self.width)]

    def set_row(self, index: int, row: Sequence[int]) -> None:
        """Replace one row."""
        for j, entry in enumerate(row):
            self._mat[index, j] = entry

    def table(self) -> list[list[int]]:
        """All rows."""
        return cast("list[list[int]]", self._mat.table())

    def plus_outer(self, factor: int, column: Sequence[int], row: Sequence[int]) -> IntegerRows:
        """``factor`` times this matrix plus the outer product of a column and a row.

        >>> IntegerRows([[1, 0], [0, 1]]).plus_outer(2, [1, 1], [0, 3]).table()
        [[2, 3], [0, 5]]
        """
        outer = flint.fmpz_mat(len(self), 1, list(column)) * flint.fmpz_mat(
            1, self.width, list(row)
        )
        return self._wrapped(self._mat * factor + outer)

    def combined(self, factor: int, other: IntegerRows, times: int) -> IntegerRows:
        """``factor`` times this matrix plus ``times`` another.

        >>> IntegerRows([[1, 0]]).combined(2, IntegerRows([[1, 1]]), -1).table()
        [[1, -1]]
        """
        return self._wrapped(self._mat * factor + other._mat * times)

    def primitive(self) -> tuple[IntegerRows, int]:
        """The matrix divided by the greatest common divisor of its entries, and that divisor.

        The divisor of a zero matrix is 0.

        >>> rows, divisor = IntegerRows([[4, -6], [8, 0]]).primitive()
        >>> rows.table(), int(divisor)
        ([[2, -3], [4, 0]], 2)
        """
        entries = self._mat.entries()
        divisor = flint.fmpz(0)
        for entry in entries:
            divisor = divisor.gcd(entry)
            if divisor == 1:
                return self, 1
        if divisor == 0:
            return self, 0
        shape = self._mat.nrows(), self._mat.ncols()
        return self._wrapped(flint.fmpz_mat(*shape, [x // divisor for x in entries])), int(divisor)

    def key(self) -> tuple[object, ...]:
        """A hashable key: all entries."""
        return tuple(self._mat.entries())

    @classmethod
    def _wrapped(cls, mat: flint.fmpz_mat) -> IntegerRows:
        self = cls.__new__(cls)
        self._mat = mat
        return self
