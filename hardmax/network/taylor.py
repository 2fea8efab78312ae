"""Functions in float64 with a proven error: Taylor polynomials on short intervals.

An interval of the line is cut into cells of equal width. In a cell with centre c and half width h,
f(x) = Σ_{i≤p} a_i (x − c)^i + R with |R| ≤ |a| h^{p+1}, where a encloses the Taylor coefficient
of order p + 1 at all points of the cell (Lagrange). Ball arithmetic computes the a_i and a once;
float64 adds at most Σ γ_{3i+1} |a_i| h^i in Horner's scheme (Higham, section 5.1; i of the
roundings are those of x − c). So no library's exp or erf has to be trusted.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np

from ..enclosure.rounding import SLACK, TINY, UNIT, gamma
from ..exact.numbers import nearest_float
from .arbs import arb, ends, power_series, precision

_BITS = 160


@dataclass(frozen=True)
class Table:
    """Coefficients (p + 1, cells) and the error bound of each cell, from ``low`` on."""

    low: float
    width: float  # of a cell: a power of two
    coefficients: np.ndarray
    error: np.ndarray

    def __call__(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Values at x, and bounds on their errors; x must lie in the interval of the table."""
        cell = np.clip(((x - self.low) / self.width).astype(np.int64), 0, len(self.error) - 1)
        # a neighbouring cell, which rounding may choose, is allowed for in the bounds
        step = x - (self.low + (cell + 0.5) * self.width)
        value = self.coefficients[-1][cell]
        for row in self.coefficients[-2::-1]:
            value = value * step + row[cell]
        return value, self.error[cell]


def _table(series: Callable[[Any], Any], low: int, cells: int, width: float, degree: int) -> Table:
    half = Fraction(width) * Fraction(9, 16)  # a little more than half: see Table.__call__
    rows, errors = [], []
    with precision(_BITS, degree + 2):
        for k in range(cells):
            centre = low + (k + Fraction(1, 2)) * Fraction(width)
            point = arb(float(centre))
            wide = arb(float(centre), float(half))
            exact = series(power_series([point, 1], prec=degree + 1))
            bound = series(power_series([wide, 1], prec=degree + 2))
            if (exact.prec, bound.prec) != (degree + 1, degree + 2):
                raise AssertionError("a power series lacks terms")
            spans = [_ends(exact[i]) for i in range(degree + 1)]
            floats = [nearest_float((a + b) / 2) for a, b in spans]
            lost = sum(
                max(abs(a - Fraction(x)), abs(b - Fraction(x))) * half**i
                for i, (x, (a, b)) in enumerate(zip(floats, spans, strict=True))
            )
            lost += max(map(abs, _ends(bound[degree + 1]))) * half ** (degree + 1)
            lost += sum(
                Fraction(gamma(3 * i + 1)) * abs(Fraction(x)) * half**i
                for i, x in enumerate(floats)
            )
            rows.append(floats)
            errors.append(nearest_float(lost) * SLACK + TINY)
    return Table(float(low), width, np.array(rows).T.copy(), np.array(errors))


def _ends(x: Any) -> tuple[Fraction, Fraction]:
    found = ends(x)
    if found is None:
        raise AssertionError("a Taylor coefficient has no bound")
    return found


@cache
def _exp_table() -> tuple[np.ndarray, Table, float]:
    with precision(_BITS):
        whole = [_ends(arb(-k).exp())[0] for k in range(_LOWEST + 1)]
    table = _table(lambda x: (-x).exp(), 0, 64, 2.0**-6, 7)
    least = table.coefficients[0] * (1 - 2.0**-5)  # of e^-f in a cell
    return np.array([nearest_float(x) for x in whole]), table, float((table.error / least).max())


_LOWEST = 600  # e^-600 < 2^-700


def exp(t: np.ndarray) -> np.ndarray:
    """e^t for t ≤ 0, with a relative error of at most `EXP_ERROR`; 0 below −600.

    t = −(k + f) with an integer k and 0 ≤ f < 1, and k + f is exact; e^-k comes from a table of
    nearest floats, e^-f from the Taylor polynomials, whose relative error is below 2^-52.

    >>> import numpy as np
    >>> bool(abs(exp(np.array([-1.0]))[0] - 0.36787944117144233) < 1e-15)
    True
    """
    whole, table, error = _exp_table()
    if error > 2.0**-52:
        raise AssertionError("the table of exp is too coarse")
    inside = t >= -_LOWEST
    place = np.where(inside, -t, 0.0)
    k = np.floor(place)
    value, _ = table(place - k)
    return np.asarray(np.where(inside, whole[k.astype(np.int64)] * value, 0.0))


EXP_ERROR = 2.0**-50  # 2^-52 of e^-f, 2^-53 of e^-k, 2^-53 of the product, and some slack


@cache
def _tail_table() -> Table:
    return _table(lambda y: y * (y * arb(2).rsqrt()).erfc() / 2, 0, 16 * _FLAT, 2.0**-4, 10)


_FLAT = 12  # y (1 − Φ(y)) ≤ φ(y) < 2^-100 for y ≥ 12 (Mills' ratio)


def gelu(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The map x ↦ x Φ(x) = max(0, x) − |x| (1 − Φ(|x|)) in float64, and bounds on the errors.

    >>> import numpy as np
    >>> value, error = gelu(np.array([1.0]))
    >>> bool(0.84134474606854 < value[0] < 0.84134474606855), bool(error[0] < 2.0**-50)
    (True, True)
    """
    y = np.abs(x)
    inside = y < _FLAT
    tail, error = _tail_table()(np.where(inside, y, 0.0))
    value = np.maximum(x, 0.0) - np.where(inside, tail, 0.0)
    return value, (np.where(inside, error, 2.0**-100) + UNIT * np.abs(value)) * SLACK


GELU_SLOPE = 1.13  # |d/dx x Φ(x)| ≤ Φ(√2) + √2 φ(√2) < 1.1290: its largest slope, at √2
