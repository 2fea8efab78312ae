"""Writing a data set in shards, with `labels.json` that counts and hashes each of them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from ..dataset import Dataset, Reading
from ..errors import InputError
from ..formats.data import npz_file, parquet_file
from ..formats.data.sidecar import SIDECAR
from ..formats.files import read_bytes, sha256
from ..formats.npz import write_npz
from ..formats.whole_files import write_text, write_whole
from .listing import SUFFIXES, count_sequences

FORMAT = "hardmax-shards/1"


def save_shards(data: Dataset, path: str | PathLike[str], shards: int) -> None:
    """Write a data set into a new or empty folder, as so many files of about equal size.

    ``path`` is the folder, for .npz files, or "folder/*.parquet". Raises InputError where there
    are fewer sequences than shards, or the folder holds something.
    """
    if isinstance(shards, bool) or not isinstance(shards, int) or not 1 <= shards <= len(data):
        raise InputError(f"{shards!r} shards: allowed are 1 to {len(data)}, one sequence each")
    folder, suffix = Path(path), ".npz"
    if folder.name in ("*.npz", "*.parquet"):
        folder, suffix = folder.parent, folder.suffix
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if any(folder.iterdir()):
            raise InputError(f"{folder}: the folder is not empty; give a new one")
    except OSError as problem:
        raise InputError(f"{folder}: can't be written: {problem.strerror or problem}") from None
    own, written = data.own_sets, data.read_as(Reading())
    for k, rows in enumerate(np.array_split(np.arange(len(data)), shards)):
        part = written.part(rows)
        target = folder / f"part-{k:05d}{suffix}"
        write_whole(target, partial(_write, part, own, parquet=suffix == ".parquet"))
    labels: Any = [*data.given_sets]
    if own:
        labels = {name: label_set.to_json() for name, label_set in data.given_sets.items()}
    write_labels(folder, labels)


def _write(data: Dataset, sets: bool, path: Path, parquet: bool) -> None:
    """One shard, with its label sets where these are not the default ones."""
    if parquet:
        parquet_file.write(path, data, sets=sets)
    else:
        write_npz(path, npz_file.members(data, sets=sets))


def write_labels(folder: str | PathLike[str], labels: Mapping[str, Any] | Iterable[str]) -> None:
    """Write `labels.json` for the shards that lie in a folder: labels, and each file's count and
    SHA-256. ``labels`` are label sets in JSON's form, or a list of labels (default points).
    """
    files = sorted(x for x in Path(folder).iterdir() if x.suffix in SUFFIXES)
    entries = [
        {"file": x.name, "sequences": count_sequences(str(x)), "sha256": sha256(read_bytes(x))}
        for x in files
    ]
    found = dict(labels) if isinstance(labels, Mapping) else [*labels]
    document = {"format": FORMAT, "labels": found, "shards": entries}
    write_text(Path(folder) / SIDECAR, json.dumps(document, ensure_ascii=False, indent=1) + "\n")
