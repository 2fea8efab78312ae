"""Arrays that float64 can show and that are exact nevertheless.

Model parameters and tokens share this form: a float64 array, each entry of which means
exactly that number, except where ``exact`` overrides it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import lcm

import numpy as np

from .errors import InputError, ResourceLimitError
from .numbers import bits, nearest_float


@dataclass(frozen=True, eq=False)
class ExactArray:
    """Float64 array ``values`` of any shape, with exact overrides by flat index (C order).

    >>> a = ExactArray.from_rows([[Fraction(1, 3), Fraction(2)]], 2)
    >>> a.row(0), a.exact
    ((Fraction(1, 3), Fraction(2, 1)), {0: Fraction(1, 3)})
    """

    values: np.ndarray
    exact: Mapping[int, Fraction] = field(default_factory=dict)

    @classmethod
    def from_flat(cls, numbers: Iterable[Fraction], shape: tuple[int, ...]) -> ExactArray:
        """Store exact numbers given in C order; raise ResourceLimitError past float64's range."""
        floats: list[float] = []
        exact: dict[int, Fraction] = {}
        for index, number in enumerate(numbers):
            try:
                nearest = nearest_float(number)
            except OverflowError:
                raise ResourceLimitError(
                    f"entry {index} of an array is 2^1024 or more, past the range of float64"
                ) from None
            floats.append(nearest + 0.0)  # no negative zeros
            denominator = number.denominator
            if (
                denominator & (denominator - 1)
                or number.numerator.bit_length() > 53
                or denominator.bit_length() > 1000
            ) and Fraction(nearest) != number:
                exact[index] = number
        return cls(np.array(floats, dtype=np.float64).reshape(shape), exact)

    @classmethod
    def from_rows(cls, rows: Sequence[Sequence[Fraction]], width: int) -> ExactArray:
        """Store exact rows of equal width; shape (len(rows), width)."""
        return cls.from_flat((x for row in rows for x in row), (len(rows), width))

    @classmethod
    def from_numpy(cls, array: np.ndarray) -> ExactArray:
        """Take a float or integer array at its word; raise InputError on NaN and infinities."""
        if array.dtype.kind not in "iuf" or array.dtype.itemsize > 8:
            raise InputError(f"an array of {array.dtype} does not hold float or integer numbers")
        values = np.array(array, dtype=np.float64, order="C") + 0.0  # no negative zeros
        if not np.isfinite(values).all():
            raise InputError("an array holds NaN or an infinity")
        if array.dtype.kind == "f" or array.dtype.itemsize <= 4:
            return cls(values)
        flat = array.ravel(order="C")
        # float64 values from 2^63 (2^64) on would overflow the way back, so ask in Python
        large = np.flatnonzero(np.abs(values.ravel()) >= 2.0**53)
        exact = {
            int(k): Fraction(int(flat[k])) for k in large if int(values.flat[k]) != int(flat[k])
        }
        return cls(values, exact)

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the array."""
        return self.values.shape

    def __len__(self) -> int:
        return len(self.values)

    def entry(self, index: int) -> Fraction:
        """Exact value of one entry, by flat index (C order)."""
        found = self.exact.get(index)
        return found if found is not None else Fraction(float(self.values.flat[index]))

    def row(self, index: int) -> tuple[Fraction, ...]:
        """Exact row of a two-dimensional array."""
        width = self.values.shape[1]
        row = [Fraction(x) for x in self.values[index].tolist()]
        if self.exact:
            for j in range(width):
                found = self.exact.get(index * width + j)
                if found is not None:
                    row[j] = found
        return tuple(row)

    def integer_rows(self) -> list[list[int]]:
        """Rows (Z, q) of integers, q > 0 least, with row = Z/q, of a two-dimensional array.

        >>> ExactArray(np.array([[0.5, 3.0]])).integer_rows()
        [[1, 6, 2]]
        """
        width = self.values.shape[1]
        mantissas, exponents = np.frexp(self.values)
        integers = (mantissas * 2.0**53).astype(np.int64)  # exact: 53 bits each
        lowest = integers & -integers  # the last bit that is set
        trailing = np.where(integers == 0, 0, np.frexp(lowest.astype(np.float64))[1] - 1)
        powers = np.where(integers == 0, 0, exponents - 53 + trailing)
        odd = integers >> trailing
        shifts = np.minimum(powers.min(axis=1, initial=0), 0)
        rows = [
            [*(x << p for x, p in zip(row, power, strict=True)), 1 << -shift]
            for row, power, shift in zip(
                odd.tolist(), (powers - shifts[:, None]).tolist(), shifts.tolist(), strict=True
            )
        ]
        for i in {k // width for k in self.exact}:
            exact = self.row(i)
            common = lcm(*(x.denominator for x in exact))
            rows[i] = [*(x.numerator * (common // x.denominator) for x in exact), common]
        return rows

    def numbers(self) -> Iterable[Fraction]:
        """All entries in C order."""
        return (self.entry(index) for index in range(self.values.size))

    def nonzero(self) -> int:
        """Number of entries other than zero (an override can differ from its float 0)."""
        hidden = sum(1 for k, q in self.exact.items() if q and not self.values.flat[k])
        return int(np.count_nonzero(self.values)) + hidden

    def bit_lengths(self) -> list[int]:
        """Bits of each entry other than zero, as `hardmax.numbers.bits` counts them."""
        flat = self.values.ravel()
        nonzero = np.flatnonzero(flat)
        return [
            bits(self.exact[k]) if k in self.exact else bits(Fraction(x))
            for k, x in zip(nonzero.tolist(), flat[nonzero].tolist(), strict=True)
        ] + [bits(q) for k, q in self.exact.items() if q and not flat[k]]
