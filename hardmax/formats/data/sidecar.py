"""`labels.json`, the file that holds the label sets of all the CSV files beside it."""

from __future__ import annotations

from os import PathLike
from pathlib import Path

from ...dataset import Dataset
from ...errors import InputError
from ...labels import LabelSet, default_points, in_order
from ..files import STANDARD, read_bytes
from ..written import NumberReader, parse
from .label_sets import read_label_sets

SIDECAR = "labels.json"


def sidecar(path: str | PathLike[str]) -> Path | None:
    """The file `labels.json` beside a data file; None where there is no such file."""
    if path == STANDARD:
        return None
    beside = Path(path).with_name(SIDECAR)
    return beside if beside.is_file() else None


def read_sidecar(path: Path, numbers: str, data: Dataset) -> dict[str, LabelSet]:
    """The label sets in such a file; a list of labels stands for their default points.

    ``numbers`` says how numbers are read, as in `hardmax.load`. Raises InputError that names the
    file.
    """
    try:
        found = parse(read_bytes(path))
        if isinstance(found, dict) and set(found) <= {"format", "labels", "shards"}:
            found = found.get("labels", found)
        if isinstance(found, list) and {*map(type, found)} == {str}:
            return default_points(in_order({*found}), data.dimension)
        return read_label_sets(found, NumberReader(numbers), data.dimension)
    except InputError as problem:
        raise InputError(
            f"{path}: {problem}; this file gives the label sets of the CSV files beside it"
        ) from None
