"""Loading a data set in any of its forms, told apart by content."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from os import PathLike
from typing import Any

from ..dataset import Dataset
from ..errors import InputError
from . import data_csv, data_json, data_npz
from .files import gunzip, read_content, sha256

Reader = Callable[[bytes, str, bool, Mapping[str, Any]], Dataset]


def load(path: str | PathLike[str], *, numbers: str = "exact", positional: bool = False) -> Dataset:
    """Read a data set: JSON, .json.gz, .npz or CSV.

    Decimals mean exactly what is written, or with ``numbers="binary64"`` the nearest
    float64. ``positional`` appends to each token its position 1, 2, 3, …

    Raises InputError with one line that names the file and the place.
    """
    content = read_content(path)
    source = {"sha256": sha256(content), "numbers": numbers}
    try:
        if isinstance(content, memoryview):
            return data_npz.read(content, numbers, positional, source)
        if content[:2] == b"\x1f\x8b":
            content = gunzip(content)
        read = _reader(content)
        return read(content, numbers, positional, source)
    except InputError as problem:
        raise InputError(f"{path}: {problem}") from None
    except MemoryError:
        raise InputError(f"{path}: too large for this machine's memory") from None


def _reader(content: bytes) -> Reader:
    if content[:4] in (b"PK\x03\x04", b"PK\x05\x06"):
        return data_npz.read
    start = content.lstrip(b"\xef\xbb\xbf \t\r\n")[:1]
    if not start:
        raise InputError("the file is empty")
    if start in b"{[":
        return data_json.read
    if b"sequence" in content[:100].lower():
        return data_csv.read
    raise InputError(
        "not a data set: expected JSON (begins with '{'), npz, or CSV (begins with 'sequence')"
    )
