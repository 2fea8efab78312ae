"""Data sets in CSV: columns sequence, label, x1 … xd, one row a token."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from typing import Any

import numpy as np

from ...dataset import Dataset, Reading
from ...errors import InputError
from ...exact.array import ExactArray
from ...exact.numbers import Vector, exact_text
from ..written import NumberReader


def read(content: bytes, numbers: str, source: Mapping[str, Any]) -> Dataset:
    """Data set from the bytes of a CSV file.

    Sequences come in the order in which their names first appear, tokens in the order of
    the rows. An empty label is no label.
    """
    try:
        lines = csv.reader(io.StringIO(content.decode("utf-8-sig"), newline=""), strict=True)
    except UnicodeDecodeError as problem:
        raise InputError(f"not UTF-8 text: byte {problem.start} can't be read") from None
    try:
        table = list(lines)
    except csv.Error as problem:
        raise InputError(f"broken CSV at line {lines.line_num}: {problem}") from None
    header = [name.strip() for name in table[0]] if table else []
    dimension = len(header) - 2
    if dimension < 1 or header != ["sequence", "label", *(f"x{i + 1}" for i in range(dimension))]:
        found = ", ".join(header[:6])[:80]
        raise InputError(f"the CSV header must be sequence, label, x1, x2, …, found {found!r}")
    reader = NumberReader(numbers)
    sequences: dict[str, list[Vector]] = {}
    labels: dict[str, str | None] = {}
    for number, line in enumerate(table[1:], start=2):
        if not line:
            continue
        if len(line) != len(header):
            raise InputError(f"line {number} has {len(line)} fields, expected {len(header)}")
        name, label = line[0].strip(), line[1].strip() or None
        if labels.setdefault(name, label) != label:
            both = " and ".join(repr(each) if each else "none" for each in (labels[name], label))
            raise InputError(f"line {number}: sequence {name!r} has the labels {both}")
        tokens = sequences.setdefault(name, [])
        place = f"line {number} (sequence {name!r}, token {len(tokens) + 1})"
        tokens.append(reader.vector([field.strip() for field in line[2:]], place))
    rows = [token for tokens in sequences.values() for token in tokens]
    offsets = np.cumsum([0, *(len(tokens) for tokens in sequences.values())])
    return Dataset.from_arrays(
        ExactArray.from_rows(rows, dimension), offsets, list(labels.values()),
        ids=list(sequences), source=source,
    )  # fmt: skip


def text(data: Dataset) -> str:
    """The CSV file of a data set, without its label sets; it reads as the same data.

    A sequence without an id is named by its number. Raises InputError for names and labels that
    CSV does not hold.
    """
    data = data.read_as(Reading())
    names = [str(j + 1) if name is None else name for j, name in enumerate(data.ids)]
    if len({*names}) < len(names):
        raise InputError("two sequences have one name, which CSV can't keep apart; save as .json")
    for j, words in enumerate(zip(names, data.names, strict=True)):
        if any(word is not None and (not word or word != word.strip()) for word in words):
            raise InputError(
                f"{data.name(j)} has an empty name or label, or one with spaces at its ends, which "
                f"CSV does not keep; save as .json"
            )
    file = io.StringIO(newline="")
    writer = csv.writer(file)
    writer.writerow(["sequence", "label", *(f"x{i + 1}" for i in range(data.dimension))])
    for j, (name, label) in enumerate(zip(names, data.names, strict=True)):
        for token in data.sequence(j):
            writer.writerow([name, label or "", *map(exact_text, token)])
    return file.getvalue()
