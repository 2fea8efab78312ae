"""JSON documents whose numbers are read to the digit."""

from __future__ import annotations

import json
from collections.abc import Sequence
from fractions import Fraction
from itertools import islice, pairwise
from typing import Any

import numpy as np

from ..errors import InputError
from ..exact.array import ExactArray
from ..exact.numbers import Vector, nearest_float, parse_number

_DIGITS = 15  # decimals with so many come back from float64
_MARKS = frozenset("0123456789.-+eE")
_SHORT = 100  # characters of a number that need no look at its limits
_ENTRIES = 20  # of a list or object in a message, which shows 40 characters
_KNOWN = 1 << 20  # numbers that a reader remembers


class Written(str):
    """A number as it stands in the file."""

    __slots__ = ()


def parse(content: bytes) -> Any:
    """JSON document with every number left as it is written.

    Raises InputError on anything but one UTF-8 JSON value without repeated keys.
    """
    try:
        return json.loads(
            content.decode("utf-8-sig"),
            parse_float=Written,
            parse_int=Written,
            parse_constant=Written,  # NaN and Infinity fail where a number is read
            object_pairs_hook=_object,
        )
    except UnicodeDecodeError as problem:
        raise InputError(f"not UTF-8 text: byte {problem.start} can't be read") from None
    except json.JSONDecodeError as problem:
        raise InputError(
            f"broken JSON at line {problem.lineno}, column {problem.colno}: {problem.msg}"
        ) from None
    except RecursionError:
        raise InputError("the JSON is nested too deeply") from None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) != len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise InputError(f"the key {shown(twice)} stands twice in one object")
    return result


def shown(value: object) -> str:
    """The beginning of a value, for messages."""
    try:
        text = _as_written(value)
    except RecursionError:
        raise InputError("the JSON is nested too deeply") from None
    return text if len(text) <= 40 else text[:36] + "…"


def _as_written(value: object) -> str:
    """The beginning of a value as JSON, with numbers as they stand in the file."""
    if isinstance(value, list):
        return f"[{', '.join(map(_as_written, value[:_ENTRIES]))}]"
    if isinstance(value, dict):
        pairs = islice(value.items(), _ENTRIES)
        return f"{{{', '.join(f'{json.dumps(key)}: {_as_written(x)}' for key, x in pairs)}}}"
    return str(value) if isinstance(value, Written) else json.dumps(value)


def _plain(text: str) -> Fraction | None:
    """The number that a short JSON integer or decimal is; None for any other text.

    >>> _plain("-0.25"), _plain("1e3")
    (Fraction(-1, 4), None)
    """
    whole, _, places = text.partition(".")
    try:
        if len(text) <= _SHORT:
            return Fraction(int(whole + places), 10 ** len(places))
    except ValueError:  # an exponent, NaN or Infinity
        pass
    return None


class NumberReader:
    """Reads numbers exactly, or ("binary64") those with a point or exponent as nearest floats."""

    def __init__(self, numbers: str) -> None:
        if numbers not in ("exact", "binary64"):
            raise InputError(f"numbers are read 'exact' or as 'binary64', not as {numbers!r}")
        self.binary64 = numbers == "binary64"
        self._known: dict[object, Fraction] = {}  # by their text: numbers come again

    def number(self, value: object, place: str) -> Fraction:
        """One number; raises InputError that begins with ``place``."""
        try:
            if not isinstance(value, str):
                raise InputError(f"{shown(value)} is not a number")
            if isinstance(value, Written) and value.lstrip("-") in ("NaN", "Infinity"):
                raise InputError(f"{value} is not a number; leave the sequence out, or fill one in")
            return self.text(value)
        except InputError as problem:
            raise InputError(f"{place}: {problem}") from None

    def text(self, value: str) -> Fraction:
        """The number that a text is; one with a point or exponent, perhaps, the nearest float64."""
        exact = _plain(value) if isinstance(value, Written) else None
        if exact is None:
            exact = parse_number(value)
        if self.binary64 and any(mark in value for mark in ".eE"):
            return Fraction(nearest_float(exact))
        return exact

    def numbers(self, values: Sequence[object], place: str) -> Vector:
        """Numbers one by one; raises InputError that begins with ``place``."""
        known, found = self._known, []
        for value in values:
            number = known.get(value) if isinstance(value, str) else None
            if number is None:
                number = self.number(value, place)
                if len(known) < _KNOWN:
                    known[value] = number
            found.append(number)
        return tuple(found)

    def tokens(
        self,
        rows: Sequence[object],
        offsets: Sequence[int],
        places: Sequence[str],
        dimension: int,
    ) -> ExactArray:
        """The tokens of all sequences, (T, d): sequence j is rows offsets[j] … offsets[j+1]−1.

        ``places[j]`` is what an InputError about sequence j begins with.
        """
        array = self._decimals(rows, dimension)
        if array is not None:
            return array
        exact = [
            self.vector(rows[i], f"{place}, token {i - a + 1}", dimension)
            for place, (a, b) in zip(places, pairwise(offsets), strict=True)
            for i in range(a, b)
        ]
        return ExactArray.from_rows(exact, dimension)

    def _decimals(self, rows: Sequence[object], dimension: int) -> ExactArray | None:
        """Rows of short JSON numbers; None where one of them is anything else.

        Where all numbers have at most 15 digits once they have the same number of places, the
        nearest floats, scaled, are within 1/4 of the integers that they stand for.
        """
        lists = [row for row in rows if isinstance(row, list) and len(row) == dimension]
        flat = [value for row in lists for value in row]
        if not rows or len(lists) < len(rows) or {*map(type, flat)} != {Written}:
            return None
        if max(map(len, flat)) > _DIGITS + 1 or not {*"".join(flat)} <= _MARKS:
            return None  # longer, or NaN or Infinity
        places = max(len(text.partition(".")[2]) for text in flat)
        for text in flat:
            if "e" in text or "E" in text:
                mantissa, _, exponent = text.lower().partition("e")
                places = max(places, len(mantissa.partition(".")[2]) - int(exponent))
        if places > _DIGITS:
            return None
        floats = np.array([*map(float, flat)]).reshape(len(rows), dimension)
        with np.errstate(over="ignore"):
            whole = np.rint(floats * 10.0**places)
        if np.abs(whole).max() >= 10.0**_DIGITS:
            return None
        if self.binary64:
            return ExactArray.from_numpy(floats, own=True)
        return ExactArray.of_quotients(whole.astype(np.int64), 10**places)

    def vector(self, value: object, place: str, dimension: int | None = None) -> Vector:
        """A list of numbers, of the given length where there is one."""
        if not isinstance(value, list):
            raise InputError(f"{place}: {shown(value)} is not a list of numbers")
        if dimension is not None and len(value) != dimension:
            raise InputError(f"{place} has {len(value)} coordinates, expected {dimension}")
        try:
            return self.numbers(value, place)
        except InputError:
            return tuple(
                self.number(x, f"{place}, coordinate {i + 1}") for i, x in enumerate(value)
            )
