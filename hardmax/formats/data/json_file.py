"""Data sets in JSON, "hardmax-dataset/1", read to the digit."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable, Mapping
from itertools import pairwise
from typing import Any

import numpy as np

from ...dataset import Dataset, Reading
from ...errors import InputError
from ...exact.array import ExactArray
from ...exact.numbers import MAX_DIGITS, Vector, json_vector
from ...labels import Ball, Box, Halfspace, LabelSet, Point, Polyhedron
from ..written import NumberReader, Written, parse, shown

FORMAT = "hardmax-dataset/1"
MAX_DIMENSION = 1 << 20
_SHORT = 4000  # digits of an integer label that is kept as one
_SET_FIELDS = {
    "point": ("point",),
    "ball": ("center", "radius"),
    "box": ("lower", "upper"),
    "halfspace": ("normal", "offset"),
    "polyhedron": ("A", "b"),
}


def _fields(
    value: object, place: str, required: Iterable[str], optional: Iterable[str] = ()
) -> Any:
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


def read_label_sets(value: object, reader: NumberReader, dimension: int) -> dict[str, LabelSet]:
    """Label sets from their JSON object, by name in the order of the file."""
    if not isinstance(value, dict):
        raise InputError(f"'labels': {shown(value)} is not an object")
    if not value:
        raise InputError("'labels' is empty; leave it out to get the default points")
    return {
        _writable(name, "'labels'"): _label_set(entry, f"label {name!r}", reader, dimension)
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
                    raise InputError(f"{place}, A: {shown(rows)} is not a list of rows")
                A = tuple(
                    reader.vector(row, f"{place}, A, row {i + 1}", dimension)
                    for i, row in enumerate(rows)
                )
                return Polyhedron(A, reader.vector(entry["b"], f"{place}, b"))
    except InputError as problem:
        message = str(problem)
        raise InputError(message if message.startswith(place) else f"{place}: {message}") from None


def read(content: bytes, numbers: str, source: Mapping[str, Any]) -> Dataset:
    """Data set from the bytes of a JSON file."""
    document = parse(content)
    if not isinstance(document, dict):
        raise InputError(
            f"the data set: {shown(document)} is not an object; it is written "
            f'{{"sequences": [{{"tokens": [[0, 1], …], "label": "a"}}, …]}}'
        )
    fields = _fields(document, "the data set", ["sequences"], ["dimension", "format", "labels"])
    if fields.get("format", FORMAT) != FORMAT:
        raise InputError(f"the format is {shown(fields['format'])}, expected {FORMAT!r}")
    written = fields.get("dimension", _dimension(fields["sequences"]))
    if not isinstance(written, Written) or not written.isdecimal() or len(written) > 9:
        raise InputError(f"'dimension': {shown(written)} is not a positive integer")
    dimension = int(written)
    if not 1 <= dimension <= MAX_DIMENSION:
        raise InputError(f"'dimension' is {dimension}, allowed are 1 to {MAX_DIMENSION}")
    reader = NumberReader(numbers)
    sets = None
    if "labels" in fields:
        sets = read_label_sets(fields["labels"], reader, dimension)
    if not isinstance(fields["sequences"], list):
        raise InputError(f"'sequences': {shown(fields['sequences'])} is not a list")
    tokens: list[object] = []
    places: list[str] = []
    labels: list[str | int | None] = []
    outputs: list[list[object]] = []
    offsets, ids = [0], []
    for j, entry in enumerate(fields["sequences"]):
        place = f"sequence {j + 1}"
        entry = _fields(entry, place, ["tokens"], ["label", "outputs", "id"])
        ids.append(_name(entry.get("id"), f"{place}, id"))
        labels.append(_label(entry.get("label"), f"{place}, label"))
        if ids[-1] is not None:
            place += f" (id {ids[-1]!r})"
        if not isinstance(entry["tokens"], list):
            raise InputError(f"{place}: {shown(entry['tokens'])} is not a list of tokens")
        if not entry["tokens"]:
            raise InputError(f"{place} has no tokens; leave empty sequences out")
        asks = "outputs" in entry
        if asks and "label" in entry:
            raise InputError(f"{place} has a label and outputs; one of the two is possible")
        if asks:
            outputs.append(_outputs(entry["outputs"], place, reader, dimension))
        if outputs and len(outputs) != j + 1:
            raise InputError(
                f"{place} has {'' if asks else 'no '}outputs, unlike those before it; a data set "
                f"has outputs in all sequences, or in none"
            )
        tokens += entry["tokens"]
        offsets.append(len(tokens))
        places.append(place)
    array = reader.decimals(tokens, dimension)
    if array is None:
        rows = [
            reader.vector(tokens[i], f"{place}, token {i - a + 1}", dimension)
            for place, (a, b) in zip(places, pairwise(offsets), strict=True)
            for i in range(a, b)
        ]
        array = ExactArray.from_rows(rows, dimension)
    return Dataset.from_arrays(
        array, np.array(offsets), labels, sets, ids=ids, source=source, outputs=outputs or None
    )


def _outputs(value: object, place: str, reader: NumberReader, dimension: int) -> list[object]:
    """Outputs of one sequence: points as vectors, labels as their names."""
    if not isinstance(value, list):
        raise InputError(f"{place}, outputs: {shown(value)} is not a list of points and labels")
    found: list[object] = []
    for i, entry in enumerate(value):
        where = f"{place}, output {i + 1}"
        is_point = isinstance(entry, list)
        found.append(reader.vector(entry, where, dimension) if is_point else _name(entry, where))
    return found


def _dimension(sequences: object) -> Written | None:
    """The number of coordinates of the first token, where the file does not say it."""
    try:
        return Written(len(sequences[0]["tokens"][0]))  # type: ignore[index]
    except (TypeError, KeyError, IndexError):
        return None


def _label(value: object, place: str) -> str | int | None:
    """A label: text, or an integer."""
    name = _name(value, place)
    whole = name is not None and isinstance(value, Written) and len(name) <= _SHORT
    return int(name) if whole and name is not None else name


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


def document(data: Dataset) -> dict[str, Any]:
    """The JSON file of a data set, exact: it reads as the same data."""
    found: dict[str, Any] = {"format": FORMAT, "dimension": data.written_dimension}
    if sets := sets_json(data):
        found["labels"] = sets
    written = data.read_as(Reading())
    sequences = []
    for j, (label, name) in enumerate(zip(data.labels, data.names, strict=True)):
        entry: dict[str, Any] = {"tokens": [json_vector(z) for z in written.sequence(j)]}
        if name is not None:
            entry["label"] = label if type(label) is int and len(name) <= _SHORT else name
        if data.given_outputs is not None:
            asked = data.given_outputs[j]
            entry["outputs"] = [x if isinstance(x, str) else json_vector(x) for x in asked]
        if data.ids[j] is not None:
            entry["id"] = data.ids[j]
        sequences.append(entry)
    return {**found, "sequences": sequences}


def file_content(data: Dataset, packed: bool = False) -> bytes:
    """The bytes of the JSON file of a data set, or with ``packed`` of its gzip file."""
    content = (json.dumps(document(data), ensure_ascii=False) + "\n").encode()
    return gzip.compress(content, mtime=0) if packed else content


def _name(value: object, place: str) -> str | None:
    """A label or id: text, or an integer, which stands for its digits."""
    if value is None:
        return None
    if isinstance(value, str) and not isinstance(value, Written):
        return _writable(value, place)
    if isinstance(value, Written) and len(value) <= MAX_DIGITS and value.lstrip("-").isdecimal():
        return "0" if value == "-0" else str(value)
    raise InputError(f"{place}: {shown(value)} is neither text nor an integer")


def _writable(text: str, place: str) -> str:
    """The text, which UTF-8 must be able to write: an escape can name half a character."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise InputError(f"{place}: {shown(text)} holds half a surrogate pair") from None
    return text
