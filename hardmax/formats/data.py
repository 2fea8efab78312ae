"""Loading a data set in any of its forms, told apart by content."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Mapping
from os import PathLike
from pathlib import Path
from typing import Any

from ..dataset import Dataset, Reading
from ..errors import InputError
from ..labels import LabelSet, default_points, in_order
from ..model.transformer import Transformer
from ..words import kind
from . import data_csv, data_json, data_npz, data_parquet, data_ts
from .contents import instead
from .files import (
    STANDARD,
    bytes_writer,
    gunzip,
    read_bytes,
    read_content,
    sha256,
    shown_name,
    write_whole,
)
from .npz import write_npz
from .written import NumberReader, parse

SIDECAR = "labels.json"
Reader = Callable[[bytes, str, Mapping[str, Any]], Dataset]
_UNCHECKED = (data_parquet.read, data_ts.read)  # forms that the checker does not read


def load(
    path: str | PathLike[str],
    *,
    numbers: str = "exact",
    positional: bool = False,
    label_sets: str = "points",
    reading: Reading | None = None,
    sets: Mapping[Any, Any] | Dataset | None = None,
) -> Dataset:
    """Read a data set: JSON, .npz, CSV, Parquet or .ts, told apart by content; .gz of all too.

    Decimals mean exactly what is written, or with ``numbers="binary64"`` the nearest
    float64. ``reading`` says how tokens become those of a model (`Reading`); ``positional``
    and ``label_sets`` are short for Reading(positional=True) and Reading(label_sets="argmax").
    ``sets`` are label sets to use instead of the file's, as in `Dataset`; of a test set those
    of the training data, ``sets=train``. A CSV file has the sets of a file `labels.json`
    beside it, where there is one. "-" is standard input.

    Raises InputError with one line that names the file and the place.
    """
    if not isinstance(path, str | PathLike):
        raise InputError(f"{kind(path)} is not the name of a data file")
    if path != STANDARD and Path(path).is_dir():
        raise InputError(
            f"{path}: a folder holds a data set in shards, not in one file; build, verify and run "
            f"read it, and in Python hardmax.Shards.open"
        )
    content = read_content(path)
    reading = Reading.of(reading, positional, label_sets)
    source: dict[str, str | None] = {"sha256": sha256(content), "numbers": numbers}
    try:
        if isinstance(content, memoryview):
            read: Callable[..., Dataset] = data_npz.read
        else:
            content = gunzip(content) if content[:2] == b"\x1f\x8b" else content
            read = _reader(content)
            if read in _UNCHECKED:  # a certificate would name a file that nobody can check
                source["sha256"] = None
        data = read(content, numbers, source)
        if sets is not None:
            return data.read_as(reading).with_sets(sets)
    except InputError as problem:
        reason = instead(content, "data") or problem
        raise InputError(f"{shown_name(path)}: {reason}") from None
    except MemoryError:
        raise InputError(f"{shown_name(path)}: too large for this machine's memory") from None
    beside = Path(path).with_name(SIDECAR)
    if read is data_csv.read and path != STANDARD and beside.is_file():
        data = data.with_sets(_sidecar(beside, numbers, data), str(beside))
    try:
        return data.read_as(reading)
    except InputError as problem:
        raise InputError(f"{shown_name(path)}: {problem}") from None


def load_for(
    model: Transformer,
    path: str | PathLike[str],
    *,
    sets: Mapping[Any, Any] | Dataset | None = None,
) -> Dataset:
    """Read a data set the way the model's was read: its meta says numbers and `Reading`."""
    numbers = model.meta.get("numbers", "exact")
    if numbers not in ("exact", "binary64"):
        raise InputError("the model's meta does not say how numbers are read: exact or binary64")
    data = load(path, numbers=numbers, reading=Reading.from_meta(model.meta), sets=sets)
    if data.dimension != model.dimension:
        raise InputError(
            f"{shown_name(path)}: the data set has dimension {data.dimension}, "
            f"the model {model.dimension}"
        )
    return data


def _sidecar(path: Path, numbers: str, data: Dataset) -> dict[str, LabelSet]:
    """The label sets in the file beside a CSV file, which says them for all CSV files there."""
    try:
        found = parse(read_bytes(path))
        if isinstance(found, dict) and set(found) <= {"format", "labels", "shards"}:
            found = found.get("labels", found)
        if isinstance(found, list) and {*map(type, found)} == {str}:
            return default_points(in_order({*found}), data.dimension)
        return data_json.read_label_sets(found, NumberReader(numbers), data.dimension)
    except InputError as problem:
        raise InputError(
            f"{path}: {problem}; this file gives the label sets of the CSV files beside it"
        ) from None


def save(data: Dataset, path: str | PathLike[str]) -> None:
    """Write a data set with its label sets; the form follows the name: see `Dataset.save`."""
    if not isinstance(path, str | PathLike):
        raise InputError(f"{kind(path)} is not the name of a file")
    name = Path(path).name.lower()
    if name.endswith((".json", ".json.gz")):
        content = (json.dumps(data_json.document(data), ensure_ascii=False) + "\n").encode()
        if name.endswith(".gz"):
            content = gzip.compress(content, mtime=0)
        write_whole(path, bytes_writer(content))
    elif name.endswith(".npz"):
        arrays = data_npz.members(data)
        write_whole(path, lambda temporary: write_npz(temporary, arrays))
    elif name.endswith((".csv", ".parquet")) and data.given_outputs is not None:
        raise InputError(f"{path}: this form holds labels only; save outputs as .json or .json.gz")
    elif name.endswith(".csv"):
        _check_default_sets(data, path)
        write_whole(path, bytes_writer(data_csv.text(data).encode()))
    elif name.endswith(".parquet"):
        write_whole(path, lambda temporary: data_parquet.write(temporary, data))
    else:
        raise InputError(f"{path}: the name must end in .json, .json.gz, .npz, .csv or .parquet")


def _check_default_sets(data: Dataset, path: str | PathLike[str]) -> None:
    """Refuse label sets that a CSV file at this place would not be read with."""
    beside = Path(path).with_name(SIDECAR)
    if data.reading.label_sets == "argmax" and not beside.is_file():
        data_json.sets_json(data)  # refuses labels that do not occur
        return
    names = in_order({name for name in data.names if name is not None})
    read: Mapping[str, LabelSet] = default_points(names, data.written_dimension)
    if beside.is_file():
        read = _sidecar(beside, "exact", data.read_as(Reading()))
    if dict(data.given_sets) != dict(read):
        said = f"{beside} holds others" if beside.is_file() else "these are not the default points"
        raise InputError(
            f"{path}: CSV holds no label sets, and {said}; save as .json, .npz or .parquet"
        )


def _reader(content: bytes) -> Reader:
    if content[:4] in (b"PK\x03\x04", b"PK\x05\x06"):
        return data_npz.read
    if content[:4] == b"PAR1":
        return data_parquet.read
    start = content.lstrip(b"\xef\xbb\xbf \t\r\n")[:1]
    if not start:
        raise InputError("the file is empty")
    if start in b"{[":
        return data_json.read
    if start in b"@#":
        return data_ts.read
    if b"sequence" in content[:100].lower():
        return data_csv.read
    raise InputError(
        "not a data set: expected JSON (begins with '{'), npz, Parquet, CSV (begins with "
        "'sequence'), or .ts (begins with '@' or '#')"
    )
