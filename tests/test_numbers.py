from __future__ import annotations

import math
import sys
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from hardmax.errors import InputError
from hardmax.exact.numbers import (
    as_fraction,
    as_vector,
    bits,
    check_size,
    dot,
    exact_text,
    is_binary64,
    json_number,
    nearest_float,
    parse_number,
    power_of_two_below,
    short_between,
    show,
    show_vector,
)

fractions = st.fractions(max_denominator=10**6)
positive = st.builds(Fraction, st.integers(1, 2**200), st.integers(1, 2**200))


@given(
    st.sampled_from(["", "+", "-"]),
    st.text("0123456789", max_size=30),
    st.none() | st.text("0123456789", max_size=30),
    st.none() | st.integers(-200, 200),
)
def test_decimals_mean_what_is_written(sign, whole, part, exponent):
    text = sign + whole + ("" if part is None else "." + part)
    text += "" if exponent is None else f"e{exponent}"
    if not whole and not part:
        with pytest.raises(InputError):
            parse_number(text)
        return
    scale = 10 ** len(part or "")
    value = Fraction(int(whole + (part or "")), scale) * Fraction(10) ** (exponent or 0)
    assert parse_number(text) == (-value if sign == "-" else value)


@given(st.integers(), st.integers(1))
def test_quotients_mean_what_is_written(p, q):
    assert parse_number(f"{p}/{q}") == Fraction(p, q)
    assert parse_number(f" {p}/{q}\n") == Fraction(p, q)


@pytest.mark.parametrize(
    "text",
    ["", " ", ".", "-", "e5", "1e", "1e+", "1..2", "1/", "/2", "1/-2", "1.5/2", "1/2/3", "0x10",
     "1_000", "1,5", "NaN", "nan", "inf", "Infinity", "-Infinity", "1 /2", "1/ 2", "--1", "+-1",
     "१", "½", "1e1.5", "true", "1e99999999999"],
)  # fmt: skip
def test_what_is_no_number_is_refused(text):
    with pytest.raises(InputError):
        parse_number(text)


def test_division_by_zero_is_refused():
    for text in ("1/0", "0/0", "-3/000"):
        with pytest.raises(InputError, match="divides by zero"):
            parse_number(text)


def test_limits_of_length():
    assert parse_number("0." + "3" * 9999) == Fraction(int("3" * 4000) * 10**5999
        + int("3" * 4000) * 10**1999 + int("3" * 1999), 10**9999)  # fmt: skip
    for text in ("0." + "3" * 10_000, "1e999999999", "1e-999999999", "1/" + "7" * 10_001):
        with pytest.raises(InputError, match="10000 digits"):
            parse_number(text)


def test_limit_of_size():
    assert parse_number(str(2**1000 - 1)) == 2**1000 - 1
    assert check_size(Fraction(-(2**1001) + 1, 2)) == Fraction(-(2**1001) + 1, 2)
    for text in (str(2**1000), str(-(2**1000)), f"{2**1001}/2", "1e302"):
        with pytest.raises(InputError, match="2\\^1000"):
            parse_number(text)


def test_errors_stay_short():
    with pytest.raises(InputError) as found:
        parse_number("x" * 100_000)
    assert len(str(found.value)) < 100


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_floats_are_taken_at_their_word(x):
    assert as_fraction(x) == Fraction(*x.as_integer_ratio())
    assert as_fraction(np.float64(x)) == as_fraction(x)
    assert is_binary64(as_fraction(x))


def test_numpy_scalars_and_integers():
    assert as_fraction(np.float32(0.1)) == Fraction(float(np.float32(0.1)))
    assert as_fraction(np.int8(-3)) == -3
    assert as_fraction(np.uint64(2**64 - 1)) == 2**64 - 1
    assert as_fraction(10**5000) == 10**5000
    assert as_vector(np.array([1.5, 2])) == (Fraction(3, 2), Fraction(2))


@pytest.mark.parametrize(
    "value",
    [True, np.True_, None, 1j, [1], Decimal("NaN"), math.nan, math.inf, -math.inf,
     np.float64("nan"), np.float32("inf"), np.array([1]), b"1", object()],
    ids=lambda value: type(value).__name__,
)  # fmt: skip
def test_what_is_no_real_number_is_refused(value):
    with pytest.raises(InputError):
        as_fraction(value)


@pytest.mark.skipif(np.finfo(np.longdouble).nmant == 52, reason="long double is float64 here")
def test_long_doubles_are_refused():
    with pytest.raises(InputError, match="longdouble"):
        as_fraction(np.longdouble(1))


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_numbers_between_floats_are_no_floats(x):
    assert not is_binary64(Fraction(x) + Fraction(1, 3 * 2**1100))
    assert not is_binary64(Fraction(x) + Fraction(1, 2**1100))


def test_range_of_float64():
    largest = Fraction(sys.float_info.max)
    assert is_binary64(largest)
    assert not is_binary64(Fraction(2) ** 1024)
    assert is_binary64(Fraction(1, 2**1074))
    assert not is_binary64(Fraction(1, 2**1075))
    with pytest.raises(OverflowError):
        nearest_float(Fraction(2) ** 1024)


@given(fractions)
def test_nearest_float_is_nearest(x):
    y = nearest_float(x)
    error = abs(Fraction(y) - x)
    assert error <= abs(Fraction(math.nextafter(y, math.inf)) - x)
    assert error <= abs(Fraction(math.nextafter(y, -math.inf)) - x)


@given(st.integers(), st.integers(1))
def test_bits_counts_binary_digits(p, q):
    x = Fraction(p, q)
    digits = bin(abs(x.numerator)).removeprefix("0b").lstrip("0")
    more = "" if x.denominator == 1 else bin(x.denominator).removeprefix("0b")
    assert bits(x) == len(digits) + len(more)


@given(positive)
def test_power_of_two_below(x):
    power = power_of_two_below(x)
    assert power <= x < 2 * power
    assert is_power_of_two(power)


def is_power_of_two(x: Fraction) -> bool:
    return (x.numerator & (x.numerator - 1)) == 0 == (x.denominator & (x.denominator - 1))


@given(fractions, positive)
@example(Fraction(0), Fraction(1))
@example(Fraction(-1), Fraction(1))
@example(Fraction(1, 3), Fraction(1, 2**200))
def test_short_between(low, width):
    high = low + width
    x = short_between(low, high)
    assert low < x < high
    # its denominator is a power of two, and no larger than the interval makes necessary
    assert x.denominator & (x.denominator - 1) == 0
    assert x.denominator <= max(1, 4 / width)


@pytest.mark.parametrize(("low", "high"), [(0, 0), (1, 0)])
def test_nothing_lies_between(low, high):
    with pytest.raises(ValueError, match="empty"):
        short_between(Fraction(low), Fraction(high))


@pytest.mark.parametrize("value", [0, -1])
def test_powers_of_two_need_a_positive_number(value):
    with pytest.raises(ValueError, match="positive"):
        power_of_two_below(Fraction(value))


@given(st.integers(0, 40_000), st.integers(-5, 5), st.integers(1, 3), st.sampled_from([1, -1]))
def test_long_numbers_are_written_to_the_digit(exponent, offset, divisor, sign):
    p = sign * 10**exponent + offset
    value = Fraction(p, divisor)
    limit = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(0)
    try:
        expected = str(value)
    finally:
        sys.set_int_max_str_digits(limit)
    assert exact_text(value) == expected


def test_json_numbers():
    assert json_number(Fraction(-7)) == -7
    assert json_number(Fraction(1, 7)) == "1/7"
    assert json_number(Fraction(10) ** 5000) == "1" + "0" * 5000


@given(st.builds(Fraction, st.integers(), st.integers(1, 2**3000)))
def test_shown_numbers_are_short_and_honest(x):
    text = show(x)
    assert len(text) <= 80
    if not text.startswith("about"):
        assert Fraction(text) == x


def test_shown_numbers_past_float64():
    assert show(Fraction(-(2**5000))) == "about -2^5000 (5001 bits)"
    assert show_vector([Fraction(1)] * 10, limit=2) == "(1, 1, … 8 more)"


@given(st.lists(st.tuples(fractions, fractions), max_size=5))
def test_dot(pairs):
    left, right = [a for a, _ in pairs], [b for _, b in pairs]
    assert dot(left, right) == sum(a * b for a, b in pairs)
    with pytest.raises(ValueError, match="zip"):
        dot([*left, Fraction(1)], right)
