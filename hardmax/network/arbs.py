"""Balls of any precision for the evaluator: python-flint's `arb`, whose results are proven.

An `arb` is a midpoint with a radius; each operation returns a ball that contains the exact result
for all numbers of the balls it is given (F. Johansson, "Arb", IEEE Trans. Computers 66, 2017).
This module and `hardmax.exact.matrix` are the only ones that import flint.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from fractions import Fraction
from functools import reduce
from itertools import chain
from typing import Any

import flint

from ..exact.array import ExactArray
from .evaluate import Values
from .rational import numbered

arb, power_series = flint.arb, flint.arb_series


@contextmanager
def precision(bits: int, terms: int = 10) -> Iterator[None]:
    """Compute with so many bits inside, and with so many terms of a power series."""
    before = flint.ctx.prec, flint.ctx.cap
    flint.ctx.prec, flint.ctx.cap = bits, terms
    try:
        yield
    finally:
        flint.ctx.prec, flint.ctx.cap = before


def ball(x: Fraction) -> Any:
    """A ball around a rational number, of the precision of the moment."""
    return arb(flint.fmpq(x.numerator, x.denominator))


def ends(x: Any) -> tuple[Fraction, Fraction] | None:
    """Two numbers between which a ball lies; None where it is not finite, or past 2^65536."""
    if not x.is_finite():
        return None
    middle, radius = _dyadic(x.mid()), _dyadic(x.rad())
    if middle is None or radius is None:
        return None
    reach = radius[0] + radius[1] + middle[1]
    return middle[0] - reach, middle[0] + reach


_FARTHEST = 1 << 16  # exponents beyond are cut off: an arb may hold 2^(2^1000)


def _dyadic(x: Any) -> tuple[Fraction, Fraction] | None:
    """A number and how much of it may be missing; None where it is too large."""
    mantissa, exponent = (int(part) for part in x.man_exp())
    if mantissa.bit_length() + exponent > _FARTHEST:
        return None
    if mantissa.bit_length() + exponent < -_FARTHEST:
        return Fraction(0), Fraction(1, 1 << _FARTHEST)
    return mantissa * Fraction(2) ** exponent, Fraction(0)


class Arbs(Values):
    """A matrix of balls."""

    def __init__(self, matrix: Any) -> None:
        self.matrix = matrix

    @classmethod
    def _of(cls, table: Sequence[Sequence[Any]]) -> Arbs:
        flat = [x for row in table for x in row]
        return cls(flint.arb_mat(len(table), len(table[0]), flat))

    @classmethod
    def read(cls, array: ExactArray) -> Arbs:
        """Exact parameters or tokens; a vector becomes one row."""
        width = array.shape[-1]
        flat = [arb(x) for x in array.values.ravel().tolist()]
        for k, x in array.exact.items():
            flat[k] = ball(x)
        return cls(flint.arb_mat(len(flat) // width, width, flat))

    def table(self) -> list[list[Any]]:
        """All rows."""
        return self.matrix.table()  # type: ignore[no-any-return]

    def _map(self, function: Callable[[Any], Any]) -> Arbs:
        return Arbs(flint.arb_mat(*self._shape, [function(x) for x in self.matrix.entries()]))

    @property
    def _shape(self) -> tuple[int, int]:
        return self.matrix.nrows(), self.matrix.ncols()

    @property
    def length(self) -> int:
        return int(self.matrix.nrows())

    def affine(self, W: Arbs, b: Arbs | None) -> Arbs:
        product = Arbs(self.matrix * W.matrix.transpose())
        return product if b is None else product + b.rows([0] * self.length)

    def scores(self, other: Arbs) -> Arbs:
        return Arbs(self.matrix * other.matrix.transpose())

    def mixed(self, other: Arbs) -> Arbs:
        return Arbs(self.matrix * other.matrix)

    def __add__(self, other: Arbs) -> Arbs:
        return Arbs(self.matrix + other.matrix)

    def times(self, factor: Fraction) -> Arbs:
        return Arbs(self.matrix * ball(factor))

    def relu(self) -> Arbs:
        zero = arb(0)
        return self._map(lambda x: x.max(zero))

    def gelu(self) -> Arbs:
        scale = arb(2).rsqrt()
        return self._map(lambda x: x * (1 + (x * scale).erf()) / 2)

    def norm(self, eps: Fraction, g: Arbs | None, b: Arbs | None) -> Arbs:
        table, least = [], ball(eps)
        for row in self.table():
            mean = sum(row) / len(row)
            centred = [x - mean for x in row]
            spread = sum((x * x).nonnegative_part() for x in centred) / len(row)
            scale = (spread + least).rsqrt()
            table.append([x * scale for x in centred])
        if g is not None:
            table = [[x * y for x, y in zip(row, *g.table(), strict=True)] for row in table]
        if b is not None:
            table = [[x + y for x, y in zip(row, *b.table(), strict=True)] for row in table]
        return self._of(table)

    def hardmax(self, causal: bool) -> Arbs:
        table = []
        for i, row in enumerate(self.table()):
            seen = row[: i + 1] if causal else row
            first = [x for x in seen if not any(y > x for y in seen)]
            tie = all(x.is_exact() and x == first[0] for x in first)
            share = arb(1) / len(first) if tie or len(first) == 1 else arb(0.5, 0.5)
            among = [l < len(seen) and not any(y > x for y in seen) for l, x in enumerate(row)]
            table.append([share if leads else arb(0) for leads in among])
        return self._of(table)

    def softmax(self, beta: Fraction, root: int, causal: bool) -> Arbs:
        factor, table = ball(beta) * arb(root).rsqrt(), []
        for i, row in enumerate(self.table()):
            seen = [x * factor for x in (row[: i + 1] if causal else row)]
            highest = reduce(lambda a, b: b if b > a else a, (x.mid() for x in seen))
            powers = [(x - highest).exp() for x in seen]
            total = sum(powers)
            table.append([x / total for x in powers] + [arb(0)] * (len(row) - len(seen)))
        return self._of(table)

    def mean(self) -> Arbs:
        return self._of([[sum(column) / self.length for column in zip(*self.table(), strict=True)]])

    def rows(self, places: Sequence[int]) -> Arbs:
        table = self.table()
        return self._of([table[i] for i in places])

    def columns(self, start: int, stop: int) -> Arbs:
        return self._of([row[start:stop] for row in self.table()])

    def above(self, other: Arbs) -> Arbs:
        return self._of([*self.table(), *other.table()])

    def beside(self, others: Sequence[Arbs]) -> Arbs:
        if not others:
            return self
        tables = [self.table(), *(other.table() for other in others)]
        return self._of([[*chain(*rows)] for rows in zip(*tables, strict=True)])

    def looked_up(self, table: Arbs) -> Arbs:
        names = [ends(row[0]) for row in self.table()]
        return table.rows(numbered([x[0] for x in names if x is not None], table.length))
