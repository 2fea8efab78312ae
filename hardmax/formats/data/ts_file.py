"""Data sets in the .ts format of aeon and sktime: one series a line, channel by channel."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from ...dataset import Dataset
from ...errors import InputError
from ..written import NumberReader, Written

_PLAIN = re.compile(r"-?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?")
_KNOWN = {  # what a header may say; what stands behind "data" is the data
    "problemname", "timestamps", "missing", "univariate", "dimension", "dimensions",
    "equallength", "serieslength", "classlabel", "targetlabel", "data",
}  # fmt: skip


def read(content: bytes, numbers: str, source: Mapping[str, Any]) -> Dataset:
    """Data set from the bytes of a .ts file: a token a point in time, a coordinate a channel.

    Numbers mean exactly what is written. The labels are those that @classLabel declares, so that
    training and test files of one problem have the same label sets.
    """
    try:
        lines = content.decode("utf-8-sig").splitlines()
    except UnicodeDecodeError as problem:
        raise InputError(f"not UTF-8 text: byte {problem.start} can't be read") from None
    start, header = _header(lines)
    labelled, classes = _classes(header)
    rows: list[list[str]] = []
    places: list[str] = []
    offsets = [0]
    labels: list[str | None] = []
    for number, line in enumerate(lines[start:], start=start + 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        place = f"line {number} (sequence {len(labels) + 1})"
        channels, label = _line(line, labelled, place)
        if classes and label not in classes:
            raise InputError(f"{place} has the label {label!r}, which @classLabel does not declare")
        rows += map(list, zip(*channels, strict=True))
        if len(rows[-1]) != len(rows[0]):
            raise InputError(f"{place} has {len(rows[-1])} channels, expected {len(rows[0])}")
        offsets.append(len(rows))
        labels.append(label)
        places.append(place)
    if not rows:
        raise InputError("the file has no series behind @data")
    tokens = NumberReader(numbers).tokens(rows, offsets, places, len(rows[0]))
    return Dataset.from_arrays(tokens, np.array(offsets), labels, source=source, classes=classes)


def _header(lines: list[str]) -> tuple[int, dict[str, str]]:
    """Number of the first line of data, and the values of the header by their names."""
    found: dict[str, str] = {}
    for number, line in enumerate(lines, start=1):
        text = line.strip()
        if not text or text.startswith("#"):
            continue
        name, _, value = text.removeprefix("@").partition(" ")
        if not text.startswith("@") or name.lower() not in _KNOWN:
            raise InputError(f"line {number}: {text[:40]!r} is no line of a .ts header")
        found[name.lower()] = value.strip()
        if name.lower() == "data":
            return number, found
    raise InputError("the .ts header has no line @data")


def _classes(header: Mapping[str, str]) -> tuple[bool, list[str]]:
    """Whether series carry labels, and the labels that the header declares."""
    if header.get("timestamps", "false").lower() == "true":
        raise InputError("@timeStamps true: store the values alone, one for each point in time")
    if header.get("targetlabel", "false").lower().startswith("true"):
        raise InputError("@targetLabel true: the file holds numbers to predict, not labels")
    words = header.get("classlabel", "false").split()
    labelled = bool(words) and words[0].lower() == "true"
    return labelled, list(dict.fromkeys(words[1:])) if labelled else []


def _number(text: str) -> str:
    """The text of a value; one that JSON would take for a number is read faster."""
    return Written(text) if _PLAIN.fullmatch(text) else text


def _line(line: str, labelled: bool, place: str) -> tuple[list[list[str]], str | None]:
    """The channels of a series, and its label."""
    parts = line.split(":")
    label = parts.pop().strip() if labelled else None
    if not parts or label == "":
        raise InputError(f"{place} has no label behind its last ':'")
    channels = [[_number(value.strip()) for value in part.split(",")] for part in parts]
    for k, channel in enumerate(channels):
        if len(channel) != len(channels[0]):
            raise InputError(
                f"{place}: channel {k + 1} has {len(channel)} values, channel 1 has "
                f"{len(channels[0])}"
            )
        if "?" in channel or "" in channel:
            i = next(i for i, value in enumerate(channel) if value in ("?", ""))
            raise InputError(
                f"{place}, token {i + 1} misses its value in channel {k + 1}; leave such series "
                f"out, or fill numbers in"
            )
    return channels, label
