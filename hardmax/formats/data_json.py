"""Data sets in JSON, "hardmax-dataset/1", read to the digit."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from ..dataset import Dataset
from ..errors import InputError
from ..exact_array import ExactArray
from ..labels import Ball, Box, Halfspace, LabelSet, Point, Polyhedron
from ..numbers import MAX_DIGITS, Vector, nearest_float, parse_number

FORMAT = "hardmax-dataset/1"
MAX_DIMENSION = 1 << 20
_DIGITS = 15  # decimals with so many come back from float64
_MARKS = frozenset("0123456789.-+eE")
_SHORT = 100  # characters of a number that need no look at its limits
_KNOWN = 1 << 20  # numbers that a reader remembers
_SET_FIELDS = {
    "point": ("point",),
    "ball": ("center", "radius"),
    "box": ("lower", "upper"),
    "halfspace": ("normal", "offset"),
    "polyhedron": ("A", "b"),
}


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
        raise InputError(f"the key {_show(twice)} stands twice in one object")
    return result


def _show(value: object) -> str:
    try:
        text = str(value) if isinstance(value, Written) else json.dumps(value)
    except RecursionError:
        raise InputError("the JSON is nested too deeply") from None
    return text if len(text) <= 40 else text[:36] + "…"


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
    """Reads numbers exactly, or what has a point or exponent as the nearest float64."""

    def __init__(self, numbers: str) -> None:
        if numbers not in ("exact", "binary64"):
            raise InputError(f"numbers are read 'exact' or as 'binary64', not as {numbers!r}")
        self.binary64 = numbers == "binary64"
        self._known: dict[object, Fraction] = {}  # by their text: numbers come again

    def number(self, value: object, place: str) -> Fraction:
        """One number; raises InputError that begins with ``place``."""
        try:
            if not isinstance(value, str):
                raise InputError(f"{_show(value)} is not a number")
            exact = _plain(value) if isinstance(value, Written) else None
            if exact is None:
                exact = parse_number(value)
            if self.binary64 and any(mark in value for mark in ".eE"):
                return Fraction(nearest_float(exact))
            return exact
        except InputError as problem:
            raise InputError(f"{place}: {problem}") from None

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

    def decimals(self, rows: Sequence[object], dimension: int) -> ExactArray | None:
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
        whole = np.rint(floats * 10.0**places)
        if np.abs(whole).max() >= 10.0**_DIGITS:
            return None
        if self.binary64:
            return ExactArray.from_numpy(floats, own=True)
        return ExactArray.of_quotients(whole.astype(np.int64), 10**places)

    def vector(self, value: object, place: str, dimension: int | None = None) -> Vector:
        """A list of numbers, of the given length where there is one."""
        if not isinstance(value, list):
            raise InputError(f"{place}: {_show(value)} is not a list of numbers")
        if dimension is not None and len(value) != dimension:
            raise InputError(f"{place} has {len(value)} coordinates, expected {dimension}")
        try:
            return self.numbers(value, place)
        except InputError:
            return tuple(
                self.number(x, f"{place}, coordinate {i + 1}") for i, x in enumerate(value)
            )


def _fields(
    value: object, place: str, required: Iterable[str], optional: Iterable[str] = ()
) -> Any:
    if not isinstance(value, dict):
        raise InputError(f"{place}: {_show(value)} is not an object")
    required, optional = list(required), list(optional)
    for key in required:
        if key not in value:
            raise InputError(f"{place} has no {key!r}")
    for key in value:
        if key not in required and key not in optional:
            raise InputError(
                f"{place} has the unknown key {_show(key)}; known are "
                f"{', '.join([*required, *optional])}"
            )
    return value


def read_label_sets(value: object, reader: NumberReader, dimension: int) -> dict[str, LabelSet]:
    """Label sets from their JSON object, by name in the order of the file."""
    if not isinstance(value, dict):
        raise InputError(f"'labels': {_show(value)} is not an object")
    if not value:
        raise InputError("'labels' is empty; leave it out to get the default points")
    return {
        _writable(name, "'labels'"): _label_set(entry, f"label {name!r}", reader, dimension)
        for name, entry in value.items()
    }


def _label_set(value: object, place: str, reader: NumberReader, dimension: int) -> LabelSet:
    if not isinstance(value, dict):
        raise InputError(f"{place}: {_show(value)} is not an object")
    kind = value.get("kind")
    if not isinstance(kind, str) or kind not in _SET_FIELDS:
        raise InputError(
            f"{place}: the kind {_show(kind)} is unknown; known are {', '.join(_SET_FIELDS)}"
        )
    entry = _fields(value, place, ["kind", *_SET_FIELDS[kind]])

    def vector(key: str) -> Vector:
        return reader.vector(entry[key], f"{place}, {key}", dimension)

    try:
        match kind:
            case "point":
                return Point(vector("point"))
            case "ball":
                return Ball(vector("center"), reader.number(entry["radius"], f"{place}, radius"))
            case "box":
                return Box(vector("lower"), vector("upper"))
            case "halfspace":
                return Halfspace(
                    vector("normal"), reader.number(entry["offset"], f"{place}, offset")
                )
            case _:
                rows = entry["A"]
                if not isinstance(rows, list):
                    raise InputError(f"{place}, A: {_show(rows)} is not a list of rows")
                A = tuple(
                    reader.vector(row, f"{place}, A, row {i + 1}", dimension)
                    for i, row in enumerate(rows)
                )
                return Polyhedron(A, reader.vector(entry["b"], f"{place}, b"))
    except InputError as problem:
        message = str(problem)
        raise InputError(message if message.startswith(place) else f"{place}: {message}") from None


def read(content: bytes, numbers: str, positional: bool, source: Mapping[str, Any]) -> Dataset:
    """Data set from the bytes of a JSON file."""
    document = parse(content)
    fields = _fields(document, "the data set", ["dimension", "sequences"], ["format", "labels"])
    if fields.get("format", FORMAT) != FORMAT:
        raise InputError(f"the format is {_show(fields['format'])}, expected {FORMAT!r}")
    written = fields["dimension"]
    if not isinstance(written, Written) or not written.isdecimal() or len(written) > 9:
        raise InputError(f"'dimension': {_show(written)} is not a positive integer")
    dimension = int(written)
    if not 1 <= dimension <= MAX_DIMENSION:
        raise InputError(f"'dimension' is {dimension}, allowed are 1 to {MAX_DIMENSION}")
    reader = NumberReader(numbers)
    sets = None
    if "labels" in fields:
        sets = read_label_sets(fields["labels"], reader, dimension)
    if not isinstance(fields["sequences"], list):
        raise InputError(f"'sequences': {_show(fields['sequences'])} is not a list")
    tokens: list[object] = []
    places: list[str] = []
    offsets, labels, ids = [0], [], []
    for j, entry in enumerate(fields["sequences"]):
        place = f"sequence {j + 1}"
        entry = _fields(entry, place, ["tokens"], ["label", "id"])
        ids.append(_name(entry.get("id"), f"{place}, id"))
        labels.append(_name(entry.get("label"), f"{place}, label"))
        if ids[-1] is not None:
            place += f" (id {ids[-1]!r})"
        if not isinstance(entry["tokens"], list):
            raise InputError(f"{place}: {_show(entry['tokens'])} is not a list of tokens")
        if not entry["tokens"]:
            raise InputError(f"{place} has no tokens; leave empty sequences out")
        tokens += entry["tokens"]
        offsets.append(len(tokens))
        places.append(place)
    array = reader.decimals(tokens, dimension)
    if array is None:
        rows = [
            reader.vector(tokens[i], f"{place}, token {i - a + 1}", dimension)
            for place, a, b in zip(places, offsets, offsets[1:], strict=False)
            for i in range(a, b)
        ]
        array = ExactArray.from_rows(rows, dimension)
    return Dataset.from_arrays(
        array, np.array(offsets), labels, sets, ids=ids, positional=positional, source=source
    )


def _name(value: object, place: str) -> str | None:
    """A label or id: text, or an integer, which stands for its digits."""
    if value is None:
        return None
    if isinstance(value, str) and not isinstance(value, Written):
        return _writable(value, place)
    if isinstance(value, Written) and len(value) <= MAX_DIGITS and value.lstrip("-").isdecimal():
        return "0" if value == "-0" else str(value)
    raise InputError(f"{place}: {_show(value)} is neither text nor an integer")


def _writable(text: str, place: str) -> str:
    """The text, which UTF-8 must be able to write: an escape can name half a character."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise InputError(f"{place}: {_show(text)} holds half a surrogate pair") from None
    return text
