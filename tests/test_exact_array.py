from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from hardmax.errors import InputError, ResourceLimitError
from hardmax.exact_array import ExactArray

numbers = (
    st.floats(allow_nan=False, allow_infinity=False).map(Fraction)
    | st.builds(Fraction, st.integers(-(2**80), 2**80), st.integers(1, 2**80))
    | st.builds(lambda p, e: p * Fraction(2) ** e, st.integers(-9, 9), st.integers(-1200, 900))
)  # fmt: skip


@given(st.lists(st.tuples(numbers, numbers, numbers), min_size=1, max_size=4))
def test_rows_come_back_exactly(rows):
    array = ExactArray.from_rows(rows, 3)
    assert array.shape == (len(rows), 3)
    assert [array.row(i) for i in range(len(rows))] == rows
    assert list(array.numbers()) == [x for row in rows for x in row]
    assert [array.entry(k) for k in range(3 * len(rows))] == list(array.numbers())


@given(st.lists(numbers, min_size=1, max_size=6))
@example([Fraction(2**53 - 1), Fraction(2**53), Fraction(2**53 + 1), Fraction(2**54 + 2)])
@example([Fraction(2**53 + 1, 2**1074), Fraction(1, 2**1075), Fraction(3, 2**1075)])
def test_values_are_nearest_floats_and_overrides_are_needed(flat):
    array = ExactArray.from_flat(flat, (len(flat),))
    for k, x in enumerate(flat):
        assert float(array.values[k]) == x.numerator / x.denominator
        assert (k in array.exact) == (Fraction(float(array.values[k])) != x)
    assert not np.signbit(array.values[array.values == 0]).any()


@given(st.lists(numbers, min_size=1, max_size=6))
def test_counts(flat):
    array = ExactArray.from_flat(flat, (len(flat),))
    assert array.nonzero() == sum(1 for x in flat if x)
    plain = [
        abs(x.numerator).bit_length() + (x.denominator.bit_length() if x.denominator > 1 else 0)
        for x in flat
        if x
    ]
    assert sorted(array.bit_lengths()) == sorted(plain)


def test_numbers_past_float64_are_undecided():
    with pytest.raises(ResourceLimitError, match="entry 1"):
        ExactArray.from_flat([Fraction(1), Fraction(2) ** 1024], (2,))


@pytest.mark.parametrize("dtype", ["i1", "u1", "i4", "u4", "i8", "u8", ">i8", ">u8"])
def test_integers_are_exact(dtype):
    info = np.iinfo(dtype)
    values = [int(info.min), int(info.max), 0, 1]
    if info.bits == 64:
        values += [2**53 - 1, 2**53, 2**53 + 1, int(info.max) - 1]
    array = ExactArray.from_numpy(np.array(values, dtype=dtype))
    assert list(array.numbers()) == values


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", ">f8"])
def test_floats_are_exact(dtype):
    values = np.array([0.1, -0.0, 1e-5, 3], dtype=dtype)
    assert list(ExactArray.from_numpy(values).numbers()) == [Fraction(float(x)) for x in values]


def test_both_orders_of_memory():
    array = np.asfortranarray(np.arange(6, dtype=np.int64).reshape(2, 3) + 2**60)
    assert ExactArray.from_numpy(array).row(1) == (2**60 + 3, 2**60 + 4, 2**60 + 5)


@pytest.mark.parametrize(
    "array",
    [np.array([np.nan]), np.array([np.inf]), np.array([1j]), np.array([True]), np.array(["1"]),
     np.array([1], dtype=object)],
    ids=lambda a: str(a.dtype),
)  # fmt: skip
def test_other_arrays_are_refused(array):
    with pytest.raises(InputError):
        ExactArray.from_numpy(array)


def test_the_array_does_not_change_with_its_source():
    source = np.zeros((1, 2))
    array = ExactArray.from_numpy(source)
    source[0, 0] = 5
    assert array.row(0) == (0, 0)
