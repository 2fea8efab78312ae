"""Arrays that float64 can show and that are exact nevertheless.

Model parameters and tokens share this form: a float64 array, each entry of which means
exactly that number, except where ``exact`` overrides it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from math import gcd, lcm
from types import MappingProxyType
from typing import Any

import numpy as np

from ..errors import InputError, ResourceLimitError
from ..float_mode import check_float_mode
from .dyadic import chunks, float_bits, least_shift
from .integer_rows import integer_rows
from .numbers import bits
from .quotients import Quotients, frozen

Array = np.ndarray[Any, np.dtype[Any]]  # of floats, integers or truth values

_FLOAT_BITS = 53  # integers of so many bits are exact in float64 and in int64


@dataclass(frozen=True, eq=False)
class ExactArray:
    """Float64 array ``values`` of any shape, with exact overrides by flat index (C order).

    Both are copied, and can't be changed: what is remembered of them stays true. Raises
    FloatModeError where float arithmetic breaks IEEE 754, so that no float can be trusted.

    >>> a = ExactArray.from_rows([[Fraction(1, 3), Fraction(2)]], 2)
    >>> a.row(0), dict(a.exact)
    ((Fraction(1, 3), Fraction(2, 1)), {0: Fraction(1, 3)})
    """

    values: np.ndarray
    exact: Mapping[int, Fraction] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._keep(np.array(self.values, dtype=np.float64, order="C"), dict(self.exact))

    def _keep(self, values: np.ndarray, exact: Mapping[int, Fraction]) -> None:
        check_float_mode()
        if not isinstance(exact, MappingProxyType | Quotients):
            exact = MappingProxyType(exact)
        object.__setattr__(self, "values", frozen(values))
        object.__setattr__(self, "exact", exact)

    @classmethod
    def owning(
        cls, values: np.ndarray, exact: Mapping[int, Fraction] = MappingProxyType({})
    ) -> ExactArray:
        """The same without a copy: nobody else may keep the arguments, unless they are frozen."""
        self = cls.__new__(cls)
        self._keep(values, exact)
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle and copy the numbers alone."""
        return ExactArray, (self.values, dict(self.exact))

    @classmethod
    def from_flat(cls, numbers: Iterable[Fraction], shape: tuple[int, ...]) -> ExactArray:
        """Store exact numbers given in C order; raise ResourceLimitError past float64's range."""
        floats: list[float] = []
        exact: dict[int, Fraction] = {}
        for index, number in enumerate(numbers):
            numerator, denominator = number.as_integer_ratio()
            try:
                nearest = numerator / denominator
            except OverflowError:
                raise ResourceLimitError(
                    f"entry {index} of an array is 2^1024 or more, past the range of float64"
                ) from None
            floats.append(nearest + 0.0)  # no negative zeros
            if denominator & (denominator - 1) or (
                (numerator.bit_length() > _FLOAT_BITS or denominator.bit_length() > 1000)
                and Fraction(nearest) != number
            ):
                exact[index] = number
        return cls.owning(np.array(floats, dtype=np.float64).reshape(shape), exact)

    @classmethod
    def from_rows(cls, rows: Sequence[Sequence[Fraction]], width: int) -> ExactArray:
        """Store exact rows of equal width; shape (len(rows), width)."""
        return cls.from_flat((x for row in rows for x in row), (len(rows), width))

    @classmethod
    def of_quotients(cls, numerators: np.ndarray, denominator: int) -> ExactArray:
        """Store numerators/denominator: an int64 array below 2^53, and 0 < denominator < 2^53.

        >>> a = ExactArray.of_quotients(np.array([5, 1]), 10)
        >>> a.values, dict(a.exact)
        (array([0.5, 0.1]), {1: Fraction(1, 10)})
        """
        flat = numerators.reshape(-1)
        common = gcd(int(np.gcd.reduce(flat)), denominator)
        flat, denominator = flat // common, denominator // common
        odd = denominator // (denominator & -denominator)
        places = np.flatnonzero(flat % odd)
        array = cls.owning(
            (flat / denominator).reshape(numerators.shape),  # the nearest: one rounding
            Quotients(flat, denominator, places) if len(places) else {},
        )
        array.__dict__["_scaled"] = frozen(flat.reshape(numerators.shape)), denominator
        return array

    @classmethod
    def from_numpy(cls, array: np.ndarray, *, own: bool = False) -> ExactArray:
        """Take a float or integer array at its word; raise InputError on NaN and infinities.

        With ``own`` the array is the caller's gift: where it can be, it is kept, not copied,
        and its negative zeros become zeros in place.
        """
        if array.dtype.kind not in "iuf" or array.dtype.itemsize > 8:
            raise InputError(f"an array of {array.dtype} does not hold float or integer numbers")
        if own and array.dtype == np.float64 and array.flags.carray:
            values = array
        else:
            with np.errstate(invalid="ignore"):  # NaN is refused below
                values = np.array(array, dtype=np.float64, order="C")
        flat = values.reshape(-1)
        for part in chunks(len(flat)):
            if not np.isfinite(flat[part]).all():
                raise InputError("an array holds NaN or an infinity")
            flat[part] += 0.0  # no negative zeros
        if array.dtype.kind == "f" or array.dtype.itemsize <= 4:
            return cls.owning(values)
        return cls.owning(values, _rounded(array.ravel(order="C"), flat))

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the array."""
        return self.values.shape

    def __len__(self) -> int:
        return len(self.values)

    @cached_property
    def largest(self) -> float:
        """Largest absolute value of the floats; 0 for an empty array."""
        return float(max(self.values.max(initial=0.0), -self.values.min(initial=0.0)))

    @cached_property
    def span(self) -> tuple[int, int]:
        """Exponents (low, high): the floats are multiples of 2^low and less than 2^high.

        >>> ExactArray(np.array([3.0, 0.0])).span
        (-51, 2)
        """
        low, flat = np.inf, self.values.reshape(-1)
        for part in chunks(len(flat)):
            sizes = np.abs(flat[part])
            low = min(low, sizes.min(where=sizes > 0, initial=np.inf))
        if not np.isfinite(low):
            return 0, 0
        return int(np.frexp(low)[1]) - 53, int(np.frexp(self.largest)[1])

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
        whole = self.scaled() if self.exact else None
        if whole is not None and whole[1] < 1 << 63:
            table = np.c_[whole[0], np.full(len(self), whole[1])]
            reduced: list[list[int]] = (table // np.gcd.reduce(table, axis=1)[:, None]).tolist()
            return reduced
        return integer_rows(self.values, self.exact)

    def take(self, rows: np.ndarray) -> ExactArray:
        """Some rows of an array, in the given order.

        >>> ExactArray.from_rows([[Fraction(1)], [Fraction(1, 3)]], 1).take(np.array([1])).entry(0)
        Fraction(1, 3)
        """
        if isinstance(self.exact, Quotients):
            numerators = self.exact.numerators.reshape(self.shape)
            return ExactArray.of_quotients(numerators[rows], self.exact.denominator)
        width = self.values[0].size if len(self) else 1
        exact: dict[int, Fraction] = {}
        for i, row in enumerate(rows.tolist() if self.exact else ()):
            found = map(self.exact.get, range(row * width, (row + 1) * width))
            exact.update((i * width + k, x) for k, x in enumerate(found) if x is not None)
        return ExactArray.owning(self.values[rows], exact)

    def numbers(self) -> Iterable[Fraction]:
        """All entries in C order."""
        return (self.entry(index) for index in range(self.values.size))

    def nonzero(self) -> int:
        """Number of entries other than zero (an override can differ from its float 0)."""
        return int(np.count_nonzero(self.values)) + len(self._hidden())

    def bit_lengths(self) -> list[int]:
        """Bits of each entry other than zero, as `hardmax.numbers.bits` counts them."""
        flat = self.values.reshape(-1)
        sizes: list[int] = []
        for part in chunks(len(flat)):
            sizes += float_bits(flat[part]).tolist()
        for k, number in self.exact.items():
            sizes[k] = bits(number)
        if np.count_nonzero(flat) == len(flat):
            return sizes
        return [sizes[k] for k in np.flatnonzero(flat).tolist()] + [
            bits(number) for number in self._hidden()
        ]

    def _hidden(self) -> list[Fraction]:
        """Overrides other than zero of floats that are zero."""
        at = np.fromiter(self.exact, np.int64, len(self.exact))
        zeros = at[self.values.reshape(-1)[at] == 0]
        return [self.exact[k] for k in zeros.tolist() if self.exact[k]]

    def scaled(self) -> tuple[np.ndarray, int] | None:
        """All entries over one denominator: (Z, q) with entry = Z/q exactly and q > 0 least.

        Z is an int64 array of the same shape, |Z| < 2^53, so that float64 holds it as well;
        it is kept, and can't be changed. None where there is no such Z.

        >>> ExactArray.from_rows([[Fraction(1, 10), Fraction(3, 4)]], 2).scaled()
        (array([[ 2, 15]]), 20)
        """
        return self._scaled

    @cached_property
    def _scaled(self) -> tuple[np.ndarray, int] | None:
        plain = self.values.reshape(-1)
        if self.exact:
            plain = plain.copy()
            plain[np.fromiter(self.exact, np.int64, len(self.exact))] = 0
        shift = least_shift(plain, _FLOAT_BITS)
        if shift is None:
            return None
        common = self._common_denominator(1 << shift)
        if common is None:
            return None
        numerators = np.empty(plain.size, np.int64)
        for part in chunks(len(plain)):
            numerators[part] = np.ldexp(plain[part], shift)
        factor = common >> shift
        largest = max(int(numerators.max(initial=0)), -int(numerators.min(initial=0)))
        if largest * factor >= 1 << _FLOAT_BITS:
            return None
        if largest and factor > 1:
            numerators *= factor
        factors = {q: common // q for q in {x.denominator for x in self.exact.values()}}
        exact = [x.numerator * factors[x.denominator] for x in self.exact.values()]
        if max(max(exact, default=0), -min(exact, default=0)) >= 1 << _FLOAT_BITS:
            return None
        if exact:
            numerators[np.fromiter(self.exact, np.int64, len(self.exact))] = exact
        return frozen(numerators.reshape(self.shape)), common

    def _common_denominator(self, start: int) -> int | None:
        """The least common multiple of ``start`` and the denominators of the overrides.

        None where the largest entry would then need too many bits, found before anything
        huge is worked out.
        """
        flat = self.values.reshape(-1)
        largest = Fraction(max(float(flat.max(initial=0)), -float(flat.min(initial=0))))
        if not largest:
            largest = max((abs(x) for x in self._hidden()), default=Fraction(0))
        common = start
        for denominator in {x.denominator for x in self.exact.values()}:
            common = lcm(common, denominator)
            if largest * common > 2 << _FLOAT_BITS:  # twice: the largest float may be rounded up
                return None
        return common


def _rounded(integers: np.ndarray, floats: np.ndarray) -> dict[int, Fraction]:
    """The integers that their floats are not, by index."""
    exact: dict[int, Fraction] = {}
    for part in chunks(len(floats)):
        # float64 values from 2^63 (2^64) on would overflow the way back, so ask in Python
        for k in np.flatnonzero(np.abs(floats[part]) >= 2.0**_FLOAT_BITS).tolist():
            integer = int(integers[part.start + k])
            if int(floats[part.start + k]) != integer:
                exact[part.start + k] = Fraction(integer)
    return exact


def ranges(starts: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """The ranges that begin at ``starts``, one after another.

    >>> ranges(np.array([5, 0]), np.array([2, 3])), ranges(np.array([5, 7]), np.array([2, 1]))
    (array([5, 6, 0, 1, 2]), array([5, 6, 7]))
    """
    ends = starts + lengths
    if len(starts) and (starts[1:] == ends[:-1]).all():
        return np.arange(int(starts[0]), int(ends[-1]))
    shifts = starts - (np.cumsum(lengths) - lengths)
    return np.asarray(np.repeat(shifts, lengths) + np.arange(int(lengths.sum())))
