"""The files of a folder or glob, what `labels.json` promises of them, and how long they are."""

from __future__ import annotations

import zipfile
from collections.abc import Sequence
from glob import glob, has_magic
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import InputError
from ..formats.data import load
from ..formats.data.sidecar import SIDECAR
from ..formats.files import MAX_BYTES, is_url, open_binary, read_bytes
from ..formats.written import parse

SUFFIXES = (".npz", ".parquet")  # of the shards in a folder; a glob may name files of any form


def is_sharded(path: str) -> bool:
    """Whether a name is that of a folder, a URL, or a glob that no file has as its name."""
    return is_url(path) or Path(path).is_dir() or (has_magic(path) and not Path(path).exists())


def listed(path: str | PathLike[str]) -> tuple[list[str], str]:
    """The files of the shards in their order, and where `labels.json` is or would be."""
    name = str(path)
    if is_url(name):
        from ..formats.remote import files_at

        files, folder = files_at(name)
    else:
        folder = Path(name).is_dir()
        names = map(str, Path(name).iterdir()) if folder else glob(name)
        files = [each for each in names if Path(each).is_file()]
    kept = sorted(each for each in files if _is_shard(each.rpartition("/")[2], folder))
    if not kept:
        what = "the folder holds no .npz or .parquet file" if folder else "no such file"
        raise InputError(f"{name}: {what}")
    first = kept[0]
    if is_url(first):
        return kept, f"{first.rpartition('/')[0]}/{SIDECAR}"
    return kept, str(Path(first).with_name(SIDECAR))


def _is_shard(name: str, in_folder: bool) -> bool:
    if in_folder:
        return name.endswith(SUFFIXES) and not name.startswith(".")
    return name != SIDECAR


def described(beside: str) -> dict[str, Any]:
    """The object in `labels.json`, with at least one of the keys labels and shards; empty where
    there is no such file."""
    content = _content(beside)
    if content is None:
        return {}
    try:
        said = parse(content)
    except InputError as problem:
        raise InputError(f"{beside}: {problem}") from None
    if not isinstance(said, dict):
        raise InputError(f"{beside}: expected an object with the key 'labels'")
    if "labels" in said and set(said) <= {"format", "labels", "shards"}:
        return said
    return {"labels": said}  # an object of label sets alone


def _content(beside: str) -> bytes | None:
    """The bytes of `labels.json`; None where there is no such file."""
    if is_url(beside):
        from ..formats.remote import fetched_if_there

        return fetched_if_there(beside, MAX_BYTES)
    return read_bytes(beside) if Path(beside).is_file() else None


def promised_of(entries: Any, paths: Sequence[str], beside: str) -> list[tuple[int, str] | None]:
    """Count and SHA-256 of each file, as `labels.json` says them; None where it does not."""
    if entries is None:
        return [None] * len(paths)
    known: dict[str, tuple[int, str]] = {}
    try:
        for entry in entries:
            known[entry["file"]] = int(entry["sequences"]), str(entry["sha256"])
    except (TypeError, KeyError, ValueError):
        raise InputError(
            f"{beside}: 'shards' is a list of objects with file, sequences and sha256"
        ) from None
    names = {Path(path).name for path in paths}
    missing = next((name for name in known if name not in names), None)
    if missing is not None:
        raise InputError(
            f"{beside}: the shard {missing} is missing; restore it, or take it out of the key "
            f"'shards'"
        )
    more = next((name for name in sorted(names) if name not in known), None)
    if more is not None:
        raise InputError(f"{beside}: the key 'shards' does not name {more}, which lies beside it")
    return [known[Path(path).name] for path in paths]


def count_sequences(path: str) -> int:
    """The number of sequences of a file, from its head where that says it."""
    try:
        if path.endswith(".npz"):
            with (
                open_binary(path) as whole,
                zipfile.ZipFile(whole) as archive,
                archive.open("offsets.npy") as file,
            ):
                version = np.lib.format.read_magic(file)
                read = {
                    (1, 0): np.lib.format.read_array_header_1_0,
                    (2, 0): np.lib.format.read_array_header_2_0,
                }[version]
                return int(read(file)[0][0]) - 1
        if path.endswith(".parquet"):
            from ..formats.data.parquet_file import count_rows

            with open_binary(path) as whole:
                rows = count_rows(whole)
            if rows is not None:
                return rows
    except Exception:  # a broken file can raise almost anything; reading it says what is wrong
        return len(load(path))
    return len(load(path))
