from __future__ import annotations

from fractions import Fraction
from fractions import Fraction as F
from math import lcm

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from hardmax.errors import InputError, ResourceLimitError
from hardmax.exact.array import ExactArray
from hardmax.exact.numbers import bits

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


def test_a_gift_is_kept():
    source = np.array([[1.5, -0.0]])
    array = ExactArray.from_numpy(source, own=True)
    assert np.shares_memory(array.values, source)
    assert not np.signbit(source).any()
    for other in (
        source.astype(">f8"),
        source.astype("f4"),
        np.asfortranarray(np.eye(2)),
        *broken(),
    ):
        assert not np.shares_memory(ExactArray.from_numpy(other, own=True).values, other)


def broken():
    """Arrays that can't be kept: read-only, not aligned."""
    fixed = np.eye(2)
    fixed.flags.writeable = False
    return fixed, np.zeros(33, np.uint8)[1:].view(np.float64)


@given(st.lists(numbers, min_size=1, max_size=8))
@example([F(0), F(1, 3**700), F(5), F(1, 3)])  # an override whose float is zero comes last
def test_bits_one_by_one(flat):
    array = ExactArray.from_flat(flat, (len(flat),))
    shown = [x for x, value in zip(flat, array.values, strict=True) if value]
    hidden = [x for x, value in zip(flat, array.values, strict=True) if x and not value]
    assert array.bit_lengths() == [bits(x) for x in shown + hidden]
    assert array.nonzero() == len(shown) + len(hidden)


def test_bits_of_extreme_floats():
    values = np.array([5e-324, 2.0**-1022, 2.0**1023, np.finfo(float).max, 1.0, -1.5, 2.0**53])
    assert ExactArray(values).bit_lengths() == [bits(F(x)) for x in values.tolist()]
    many = np.random.default_rng(0).normal(size=200_000).astype(np.float32).astype(np.float64)
    many[::7] = 0
    expected = [bits(F(x)) for x in many.tolist() if x]
    assert ExactArray(many).bit_lengths() == expected


decimals = st.builds(lambda p, k: F(p, 10**k), st.integers(-(10**7), 10**7), st.integers(0, 7))
dyadics = st.builds(lambda p, k: F(p, 2**k), st.integers(-(2**20), 2**20), st.integers(0, 20))


@given(
    st.lists(decimals, max_size=9)
    | st.lists(dyadics, max_size=9)
    | st.lists(decimals | dyadics | st.just(F(0)), max_size=9)
    | st.lists(numbers, max_size=4)
)
@example([F(2**53 - 1), F(0)])
@example([F(2**53)])
@example([F(2**53 - 1), F(1, 2)])
@example([F(2**52 - 1), F(1, 2)])
@example([F(1, 3**700)])
@example([F(1, 3**700), F(1)])
@example([F(1, 3**40), F(1, 5**40), F(1, 7**40)])
@example([F(2**52, 3), F(2**53 - 1, 3)])
@example([F(2**53, 3)])
@example([F(1, 2**1074), F(3, 2**1073)])
def test_one_denominator(flat):
    found = ExactArray.from_flat(flat, (len(flat),)).scaled()
    common = lcm(*(x.denominator for x in flat))
    if any(abs(x * common) >= 2**53 for x in flat):
        assert found is None
        return
    Z, q = found
    assert (Z.dtype, Z.shape, q) == (np.int64, (len(flat),), common)
    assert [F(p, q) for p in Z.tolist()] == flat


def test_one_denominator_is_kept_and_large_arrays_have_one():
    values = np.random.default_rng(0).integers(-9, 9, size=(1000, 200)) / 8
    array = ExactArray(values)
    Z, q = array.scaled()
    assert q == 8
    assert (Z / q == values).all()
    assert array.scaled()[0] is Z
    values[-1, -1] = 2.0**-60
    assert ExactArray(values).scaled() is None
    assert "scaled" not in repr(array)


def test_a_denominator_that_would_explode_is_not_worked_out():
    flat = [F(1), *(F(1, p) for p in range(2**40 + 1, 2**40 + 40_001, 2))]
    assert ExactArray.from_flat(flat, (len(flat),)).scaled() is None


@given(
    st.lists(st.integers(-(2**53) + 1, 2**53 - 1) | st.integers(-9, 9), max_size=9),
    st.integers(1, 2**53 - 1) | st.integers(1, 12).map(lambda p: 10**p),
)
@example([0, 0], 10)
@example([5, 10, 1], 10)
@example([2**53 - 1, 1 - 2**53], 2**53 - 1)
def test_quotients_are_the_same_numbers(Z, q):
    """As if each had been stored by itself; what is asked of the overrides is answered alike."""
    found = ExactArray.of_quotients(np.array(Z, dtype=np.int64).reshape(-1, 1), q)
    flat = [F(z, q) for z in Z]
    plain = ExactArray.from_flat(flat, (len(flat), 1))
    assert (found.values == plain.values).all()
    assert not np.signbit(found.values[found.values == 0]).any()
    assert dict(found.exact) == plain.exact
    assert [k in found.exact for k in range(-1, len(Z) + 1)] == [
        k in plain.exact for k in range(-1, len(Z) + 1)
    ]
    assert list(found.numbers()) == flat
    if flat:
        assert found.scaled()[1] == plain.scaled()[1]
        assert (found.scaled()[0] == plain.scaled()[0]).all()
        rows = np.arange(len(Z))[::-2]
        assert list(found.take(rows).numbers()) == [flat[k] for k in rows]
        assert found.take(rows).scaled()[1] == plain.take(rows).scaled()[1]
    assert found.bit_lengths() == plain.bit_lengths()
    assert found.integer_rows() == plain.integer_rows()


@given(st.lists(st.tuples(decimals | dyadics, decimals), min_size=1, max_size=5))
@example([(F(1, 3**40), F(1)), (F(1, 3), F(1, 6))])
@example([(F(1, 3**40), F(0)), (F(0), F(2, 3**40))])  # between 2^63 and 2^64
@example([(F(2**53 - 1, 2**52), F(1, 10)), (F(0), F(0))])
def test_integer_rows_are_least(rows):
    found = ExactArray.from_rows(rows, 2).integer_rows()
    for row, (*Z, q) in zip(rows, found, strict=True):
        assert q == lcm(*(x.denominator for x in row))
        assert [F(p, q) for p in Z] == list(row)
        assert all(type(p) is int for p in (*Z, q))
