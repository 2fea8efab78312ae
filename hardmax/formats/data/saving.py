"""Saving a data set in the form that the file's name asks for."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from pathlib import Path

from ...dataset import Dataset, Reading
from ...errors import InputError
from ...labels import LabelSet, default_points, in_order
from ...words import kind
from ..whole_files import bytes_writer, write_whole
from .sidecar import read_sidecar, sidecar


def save(data: Dataset, path: str | PathLike[str]) -> None:
    """Write a data set with its label sets; the form follows the name: see `Dataset.save`."""
    if not isinstance(path, str | PathLike):
        raise InputError(f"{kind(path)} is not the name of a file")
    name = Path(path).name.lower()
    if name.endswith((".json", ".json.gz")):
        from .json_file import file_content

        write_whole(path, bytes_writer(file_content(data, packed=name.endswith(".gz"))))
    elif name.endswith(".npz"):
        from ..npz import write_npz
        from .npz_file import members

        arrays = members(data)
        write_whole(path, lambda temporary: write_npz(temporary, arrays))
    elif name.endswith((".csv", ".parquet")) and data.given_outputs is not None:
        raise InputError(f"{path}: this form holds labels only; save outputs as .json or .json.gz")
    elif name.endswith(".csv"):
        from .csv_file import text

        _check_csv_sets(data, path)
        write_whole(path, bytes_writer(text(data).encode()))
    elif name.endswith(".parquet"):
        from .parquet_file import write

        write_whole(path, lambda temporary: write(temporary, data))
    else:
        raise InputError(f"{path}: the name must end in .json, .json.gz, .npz, .csv or .parquet")


def _check_csv_sets(data: Dataset, path: str | PathLike[str]) -> None:
    """Refuse label sets with which a CSV file at this place would not be read again."""
    beside = sidecar(path)
    if data.reading.label_sets == "argmax" and beside is None:
        from .label_sets import sets_json

        sets_json(data)  # refuses labels that do not occur
        return
    names = in_order({name for name in data.names if name is not None})
    read: Mapping[str, LabelSet] = default_points(names, data.written_dimension)
    if beside is not None:
        read = read_sidecar(beside, "exact", data.read_as(Reading()))
    if dict(data.given_sets) != dict(read):
        said = f"{beside} holds others" if beside else "these are not the default points"
        raise InputError(
            f"{path}: CSV holds no label sets, and {said}; save as .json, .npz or .parquet"
        )
