"""Loading a data set in any of its forms, told apart by content."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from os import PathLike
from pathlib import Path
from typing import Any

from ...dataset import Dataset, Reading
from ...errors import InputError
from ...model.transformer import Transformer
from ...words import kind
from ..files import STANDARD, gunzip, read_content, sha256, shown_name

_UNCHECKED = ("parquet", "ts")  # forms that the checker does not read


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
        if content[:2] == b"\x1f\x8b":
            content = gunzip(bytes(content))
        form = _form(content)
        if form in _UNCHECKED:  # a certificate would name a file that nobody can check
            source["sha256"] = None
        # json_file, npz_file, csv_file, parquet_file or ts_file; no other is imported
        reader = import_module(f".{form}_file", __package__)
        data: Dataset = reader.read(content, numbers, source)
        if sets is not None:
            return data.read_as(reading).with_sets(sets)
    except InputError as problem:
        from ..contents import instead

        reason = instead(content, "data") or problem
        raise InputError(f"{shown_name(path)}: {reason}") from None
    except MemoryError:
        raise InputError(f"{shown_name(path)}: too large for this machine's memory") from None
    if form == "csv":
        from .sidecar import read_sidecar, sidecar

        beside = sidecar(path)
        if beside is not None:
            data = data.with_sets(read_sidecar(beside, numbers, data), str(beside))
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


def _form(content: bytes | memoryview) -> str:
    """The form of a data file, by how its content begins; `read_content` gives zip archives only
    as a memoryview."""
    if isinstance(content, memoryview) or content[:4] in (b"PK\x03\x04", b"PK\x05\x06"):
        return "npz"
    if content[:4] == b"PAR1":
        return "parquet"
    start = content.lstrip(b"\xef\xbb\xbf \t\r\n")[:1]
    if not start:
        raise InputError("the file is empty")
    if start in b"{[":
        return "json"
    if start in b"@#":
        return "ts"
    if b"sequence" in content[:100].lower():
        return "csv"
    raise InputError(
        "not a data set: expected JSON (begins with '{'), npz, Parquet, CSV (begins with "
        "'sequence'), or .ts (begins with '@' or '#')"
    )
