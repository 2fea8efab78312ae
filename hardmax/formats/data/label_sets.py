"""Label sets as data files hold them: one JSON object, with an entry for each label."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ...dataset import Dataset
from ...errors import InputError
from ...exact.numbers import Vector
from ...labels import Ball, Box, Halfspace, LabelSet, Point, Polyhedron
from ..written import NumberReader, shown

_SET_FIELDS = {
    "point": ("point",),
    "ball": ("center", "radius"),
    "box": ("lower", "upper"),
    "halfspace": ("normal", "offset"),
    "polyhedron": ("A", "b"),
}


def read_label_sets(value: object, reader: NumberReader, dimension: int) -> dict[str, LabelSet]:
    """Label sets from their JSON object, by name in the order of the file."""
    if not isinstance(value, dict):
        raise InputError(f"'labels': {shown(value)} is not an object")
    if not value:
        raise InputError("'labels' is empty; leave it out to get the default points")
    return {
        writable(name, "'labels'"): _label_set(entry, f"label {name!r}", reader, dimension)
        for name, entry in value.items()
    }


def _label_set(value: object, place: str, reader: NumberReader, dimension: int) -> LabelSet:
    if not isinstance(value, dict):
        raise InputError(f"{place}: {shown(value)} is not an object")
    kind = value.get("kind")
    if not isinstance(kind, str) or kind not in _SET_FIELDS:
        raise InputError(
            f"{place}: the kind {shown(kind)} is unknown; known are {', '.join(_SET_FIELDS)}"
        )
    entry = fields_of(value, place, ["kind", *_SET_FIELDS[kind]])

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
                    raise InputError(f"{place}, A: {shown(rows)} is not a list of rows")
                A = tuple(
                    reader.vector(row, f"{place}, A, row {i + 1}", dimension)
                    for i, row in enumerate(rows)
                )
                return Polyhedron(A, reader.vector(entry["b"], f"{place}, b"))
    except InputError as problem:
        message = str(problem)
        raise InputError(message if message.startswith(place) else f"{place}: {message}") from None


def sets_json(data: Dataset) -> dict[str, Any]:
    """Label sets as data files hold them, which leave out those of argmax."""
    if data.reading.label_sets == "argmax":
        names = {name for name in data.names if name is not None}
        if names != {*data.given_sets}:
            missing = next(name for name in data.given_sets if name not in names)
            raise InputError(
                f"the label sets argmax are those of the labels that occur, and no sequence has "
                f"{missing!r}; save the whole, or data.read_as(hardmax.Reading())"
            )
        return {}
    return {name: label_set.to_json() for name, label_set in data.given_sets.items()}


def fields_of(
    value: object, place: str, required: Iterable[str], optional: Iterable[str] = ()
) -> Any:
    """The object ``value``; InputError where it lacks a required key or has an unknown one."""
    if not isinstance(value, dict):
        raise InputError(f"{place}: {shown(value)} is not an object")
    required, optional = list(required), list(optional)
    for key in required:
        if key not in value:
            raise InputError(f"{place} has no {key!r}")
    for key in value:
        if key not in required and key not in optional:
            raise InputError(
                f"{place} has the unknown key {shown(key)}; known are "
                f"{', '.join([*required, *optional])}"
            )
    return value


def writable(text: str, place: str) -> str:
    """The text, which UTF-8 must be able to write: an escape can name half a character."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise InputError(f"{place}: {shown(text)} holds half a surrogate pair") from None
    return text
