"""Exact numbers: reading them, asking whether float64 holds them, counting their bits."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from decimal import Decimal
from fractions import Fraction
from math import isqrt

from ..errors import InputError
from ..float_mode import check_float_mode

Vector = tuple[Fraction, ...]

MAX_DIGITS = 10_000  # digits of a written number; its exponent is smaller, too
MAX_EXPONENT = 1000  # numbers read from outside satisfy |x| < 2^1000
_PLAIN_BITS = 2000  # of integers that str() writes, whatever the limit on digits
_LEAST_NORMAL = 2.0**-1022  # of float64
_CHUNK = 600  # digits of one conversion, below the least limit that CPython can be given

_NUMBER = re.compile(r"([+-]?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d+))?", re.ASCII)


def integer(digits: str) -> int:
    """Value of a string of decimal digits, of any length; a sign may stand in front of them.

    >>> integer("-0012"), integer("9" * 5000) == 10**5000 - 1
    (-12, True)
    """
    first, value = digits[:1] in ("-", "+"), 0
    for start in range(first, len(digits), _CHUNK):
        part = digits[start : start + _CHUNK]
        value = value * 10 ** len(part) + int(part)
    return -value if digits[:1] == "-" else value


@contextmanager
def any_digits() -> Iterator[None]:
    """Let str() and int() take integers of any length for a while."""
    limit = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(0)
    try:
        yield
    finally:
        sys.set_int_max_str_digits(limit)


def _decimal(text: str) -> Fraction:
    match = _NUMBER.fullmatch(text)
    if match is None or not (digits := match[2] + (match[3] or "")):
        raise InputError(f"{_short(text)} is not a number")
    sign, _, fraction, exponent = match.groups()
    size = (exponent or "").lstrip("+-0")
    if len(digits) > MAX_DIGITS or len(size) > 9 or int(size or 0) >= MAX_DIGITS:
        raise InputError(f"{_short(text)} has more than {MAX_DIGITS} digits")
    shift = int(exponent or 0) - len(fraction or "")
    if not digits.strip("0"):
        return Fraction(0)
    value = Fraction(integer(digits))
    value *= Fraction(10) ** shift
    return -value if sign == "-" else value


def _short(text: str) -> str:
    return repr(text if len(text) <= 40 else text[:32] + "…" + text[-4:])


def parse_number(text: str) -> Fraction:
    """Read a decimal or a quotient "p/q" of integers exactly.

    Raises InputError where the text is no number, has more than 10 000 digits, divides
    by zero, or is 2^1000 or more in absolute value.

    >>> parse_number("0.1"), parse_number("-2/6"), parse_number("1e3")
    (Fraction(1, 10), Fraction(-1, 3), Fraction(1000, 1))
    """
    text = text.strip()
    numerator, slash, denominator = text.partition("/")
    if slash:
        if not re.fullmatch(r"[+-]?\d+", numerator, re.ASCII) or not re.fullmatch(
            r"\d+", denominator, re.ASCII
        ):
            raise InputError(f"{_short(text)} is not a quotient p/q of integers")
        divisor = _decimal(denominator)
        if divisor == 0:
            raise InputError(f"{_short(text)} divides by zero")
        value = _decimal(numerator) / divisor
    else:
        value = _decimal(text)
    return check_size(value)


def check_size(value: Fraction) -> Fraction:
    """Return ``value``; raise InputError where it is 2^1000 or more in absolute value."""
    if abs(value.numerator) >= value.denominator << MAX_EXPONENT:
        raise InputError("a number is 2^1000 or more in absolute value")
    return value


def as_fraction(value: object) -> Fraction:
    """Turn a Python or NumPy number, or the text of one, into exactly the number it is.

    >>> as_fraction(0.5), as_fraction("1/3"), as_fraction(Decimal("0.1"))
    (Fraction(1, 2), Fraction(1, 3), Fraction(1, 10))
    """
    if isinstance(value, Fraction):
        return value
    if isinstance(value, bool):
        raise InputError(f"{value!r} is not a number")
    if isinstance(value, int):
        return Fraction(value)
    if isinstance(value, str | Decimal):
        return parse_number(str(value))
    # of a NumPy scalar; what stands below a mask is no number
    item = None if getattr(value, "mask", False) else getattr(value, "item", None)
    if item is not None and not isinstance(value, float) and getattr(value, "ndim", 0) == 0:
        plain = item()
        if not isinstance(plain, type(value)):  # a long double's item is itself
            return as_fraction(plain)
    if isinstance(value, float):
        if abs(value) < _LEAST_NORMAL:
            check_float_mode()  # Fraction would read a flushed number as zero
        try:
            return Fraction(value)
        except (ValueError, OverflowError):
            raise InputError(f"{value!r} is not a finite number") from None
    raise InputError(f"{type(value).__name__} {_short(str(value))} is not a number")


def as_vector(values: Iterable[object]) -> Vector:
    """Turn numbers into a tuple of Fractions.

    >>> as_vector([1, "1/2"])
    (Fraction(1, 1), Fraction(1, 2))
    """
    if not isinstance(values, Iterable):
        raise InputError(f"{_short(str(values))} is not a list of numbers")
    return tuple(as_fraction(value) for value in values)


def nearest_float(value: Fraction) -> float:
    """Nearest float64 (ties to even); raises OverflowError from 2^1024 on."""
    return value.numerator / value.denominator


def is_binary64(value: Fraction) -> bool:
    """Whether float64 holds this number exactly.

    >>> is_binary64(Fraction(3, 8)), is_binary64(Fraction(1, 10))
    (True, False)
    """
    if value.denominator & (value.denominator - 1):
        return False
    try:
        return Fraction(nearest_float(value)) == value
    except OverflowError:
        return False


def bits(value: Fraction) -> int:
    """Bits needed to write the number: |p|, and q where it is not 1 (lowest terms).

    >>> bits(Fraction(5)), bits(Fraction(-3, 8)), bits(Fraction(0))
    (3, 6, 0)
    """
    size = value.numerator.bit_length()
    return size if value.denominator == 1 else size + value.denominator.bit_length()


def exact_text(value: Fraction) -> str:
    """The number as "p" or "p/q", of any length (str() of Python stops at 4300 digits).

    >>> exact_text(Fraction(-1, 3)), len(exact_text(Fraction(10) ** 9999))
    ('-1/3', 10000)
    """
    text = _digits(value.numerator)
    return text if value.denominator == 1 else f"{text}/{_digits(value.denominator)}"


def _digits(value: int) -> str:
    if value < 0:
        return "-" + _digits(-value)
    if value.bit_length() <= _PLAIN_BITS:
        return str(value)
    places = value.bit_length() * 3 // 20  # about half of the digits
    high, low = divmod(value, 10**places)
    return _digits(high) + _digits(low).zfill(places)


def json_number(value: Fraction) -> int | str:
    """The number for a JSON file: an integer where it is one, otherwise text.

    >>> json_number(Fraction(2)), json_number(Fraction(1, 3))
    (2, '1/3')
    """
    plain = value.denominator == 1 and value.numerator.bit_length() <= _PLAIN_BITS
    return value.numerator if plain else exact_text(value)


def json_vector(vector: Iterable[Fraction]) -> list[int | str]:
    """An exact vector as JSON writes it.

    >>> json_vector((Fraction(1), Fraction(1, 2)))
    [1, '1/2']
    """
    return [json_number(x) for x in vector]


def show(value: Fraction, width: int = 60) -> str:
    """Text of an exact number, shortened in the middle where it is long.

    >>> show(Fraction(1, 3))
    '1/3'
    """
    short = max(value.numerator.bit_length(), value.denominator.bit_length()) <= 4 * width
    if short and len(text := str(value)) <= width:
        return text
    return f"about {_approximate(value)} ({bits(value)} bits)"


def _approximate(value: Fraction) -> str:
    try:
        return f"{nearest_float(value):.6g}"
    except OverflowError:
        sign = "-" if value < 0 else ""
        exponent = value.numerator.bit_length() - value.denominator.bit_length()
        return f"{sign}2^{exponent}"


def show_vector(vector: Iterable[Fraction], limit: int = 8) -> str:
    """Text of an exact vector, with at most ``limit`` entries written out.

    >>> show_vector((Fraction(1), Fraction(1, 2)))
    '(1, 1/2)'
    """
    entries = list(vector)
    texts = [show(entry) for entry in entries[:limit]]
    if len(entries) > limit:
        texts.append(f"… {len(entries) - limit} more")
    return "(" + ", ".join(texts) + ")"


def dot(left: Iterable[Fraction], right: Iterable[Fraction]) -> Fraction:
    """Inner product of two exact vectors of equal length.

    >>> dot((Fraction(1), Fraction(2)), (Fraction(3), Fraction(4)))
    Fraction(11, 1)
    """
    return sum((a * b for a, b in zip(left, right, strict=True)), Fraction(0))


def power_of_two_below(value: Fraction) -> Fraction:
    """Largest power of two not above a positive number.

    >>> power_of_two_below(Fraction(5)), power_of_two_below(Fraction(1, 3))
    (Fraction(4, 1), Fraction(1, 4))
    """
    if value <= 0:
        raise ValueError("the number must be positive")
    p, q = value.as_integer_ratio()
    exponent = p.bit_length() - q.bit_length()
    exponent -= p << max(-exponent, 0) < q << max(exponent, 0)
    return Fraction(1 << exponent) if exponent >= 0 else Fraction(1, 1 << -exponent)


def root(x: Fraction, precision: int = 64, *, up: bool) -> Fraction:
    """A rational number just above or below √x, about ``precision`` bits long; √x itself where
    that is rational.

    >>> root(Fraction(9, 4), up=True), root(Fraction(9, 4), up=False)
    (Fraction(3, 2), Fraction(3, 2))
    >>> root(Fraction(2), up=False) ** 2 < 2 < root(Fraction(2), up=True) ** 2
    True
    """
    p, q = x.numerator * x.denominator, x.denominator  # √x = √p / q
    shift = max(0, precision - p.bit_length() // 2)
    low = isqrt(p << 2 * shift)
    exact = low * low == p << 2 * shift
    return Fraction(low + (up and not exact), q << shift)


def short_between(low: Fraction, high: Fraction) -> Fraction:
    """A number with few bits strictly between two numbers: a coarse dyadic one.

    >>> short_between(Fraction(1, 3), Fraction(2, 3)), short_between(Fraction(-1), Fraction(9))
    (Fraction(1, 2), Fraction(0, 1))
    """
    if not low < high:
        raise ValueError("the interval is empty")
    if low < 0 < high:
        return Fraction(0)
    step = power_of_two_below(high - low)
    while True:
        candidate = (low // step + 1) * step
        if candidate < high:
            return candidate
        step /= 2
