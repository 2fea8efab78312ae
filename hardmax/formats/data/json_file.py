"""Data sets in JSON, "hardmax-dataset/1", read to the digit."""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from ...dataset import Dataset, Reading
from ...errors import InputError
from ...exact.numbers import MAX_DIGITS, json_vector
from ..written import NumberReader, Written, parse, shown
from .label_sets import fields_of, read_label_sets, sets_json, writable

FORMAT = "hardmax-dataset/1"
MAX_DIMENSION = 1 << 20
_SHORT = 4000  # digits of an integer label that is kept as one


def read(content: bytes, numbers: str, source: Mapping[str, Any]) -> Dataset:
    """Data set from the bytes of a JSON file."""
    document = parse(content)
    if not isinstance(document, dict):
        raise InputError(
            f"the data set: {shown(document)} is not an object; it is written "
            f'{{"sequences": [{{"tokens": [[0, 1], …], "label": "a"}}, …]}}'
        )
    fields = fields_of(document, "the data set", ["sequences"], ["dimension", "format", "labels"])
    if fields.get("format", FORMAT) != FORMAT:
        raise InputError(f"the format is {shown(fields['format'])}, expected {FORMAT!r}")
    if not isinstance(fields["sequences"], list):
        raise InputError(f"'sequences': {shown(fields['sequences'])} is not a list")
    if not fields["sequences"]:
        raise InputError("the data set has no sequences")
    first = fields["sequences"][0]
    written = fields["dimension"] if "dimension" in fields else _dimension(first)
    if not isinstance(written, Written) or not written.isdecimal() or len(written) > 9:
        raise InputError(f"'dimension': {shown(written)} is not a positive integer")
    dimension = int(written)
    if not 1 <= dimension <= MAX_DIMENSION:
        raise InputError(f"'dimension' is {dimension}, allowed are 1 to {MAX_DIMENSION}")
    reader = NumberReader(numbers)
    sets = None
    if "labels" in fields:
        sets = read_label_sets(fields["labels"], reader, dimension)
    tokens: list[object] = []
    places: list[str] = []
    labels: list[str | int | None] = []
    outputs: list[list[object]] = []
    offsets, ids = [0], []
    for j, entry in enumerate(fields["sequences"]):
        place = f"sequence {j + 1}"
        entry = fields_of(entry, place, ["tokens"], ["label", "outputs", "id"])
        ids.append(_name(entry.get("id"), f"{place}, id"))
        labels.append(_label(entry.get("label"), f"{place}, label"))
        if ids[-1] is not None:
            place += f" (id {ids[-1]!r})"
        own = _tokens(entry["tokens"], place)
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
        tokens += own
        offsets.append(len(tokens))
        places.append(place)
    array = reader.tokens(tokens, offsets, places, dimension)
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


def _tokens(value: object, place: str) -> list[object]:
    """The tokens of one sequence, each of them still to be read."""
    if not isinstance(value, list):
        raise InputError(f"{place}: {shown(value)} is not a list of tokens")
    if not value:
        raise InputError(f"{place} has no tokens; leave empty sequences out")
    return value


def _dimension(first: object) -> Written:
    """The number of coordinates of the first token, where the file does not say it."""
    entry = fields_of(first, "sequence 1", ["tokens"], ["label", "outputs", "id"])
    token = _tokens(entry["tokens"], "sequence 1")[0]
    if not isinstance(token, list):
        raise InputError(f"sequence 1, token 1: {shown(token)} is not a list of numbers")
    if not token:
        raise InputError("sequence 1, token 1 has no coordinates")
    return Written(len(token))


def _label(value: object, place: str) -> str | int | None:
    """A label: text, or an integer."""
    name = _name(value, place)
    whole = name is not None and isinstance(value, Written) and len(name) <= _SHORT
    return int(name) if whole and name is not None else name


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
        return writable(value, place)
    if isinstance(value, Written) and len(value) <= MAX_DIGITS and value.lstrip("-").isdecimal():
        return "0" if value == "-0" else str(value)
    raise InputError(f"{place}: {shown(value)} is neither text nor an integer")
