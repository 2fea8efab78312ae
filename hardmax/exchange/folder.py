"""A folder of files that appears whole or not at all."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Collection, Mapping
from os import PathLike
from pathlib import Path

from ..errors import InputError


def write_folder(path: str | PathLike[str], files: Mapping[str, bytes], mark: str) -> None:
    """Write files by their names inside the folder ``path``, which gets its name at the end.

    A folder that is there already is replaced only if it is empty, or if its file ``mark`` begins
    as the new one does and it holds nothing else: then hardmax wrote it. Raises InputError
    otherwise, and where nothing can be written; the old folder then stays as it was.
    """
    target = Path(path)
    check_folder(target, mark, files[mark], {name.split("/")[0] for name in files})
    temporary = retired = None
    try:
        parent = target.absolute().parent
        temporary = Path(tempfile.mkdtemp(prefix=f".{target.name}.", suffix=".tmp", dir=parent))
        for name, content in files.items():
            file = temporary / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content)
        mask = os.umask(0)
        os.umask(mask)
        temporary.chmod(0o777 & ~mask)
        if target.exists():
            retired = Path(tempfile.mkdtemp(prefix=f".{target.name}.", suffix=".old", dir=parent))
            target.rename(retired / "old")
        temporary.rename(target)
    except OSError as problem:
        if retired is not None and not target.exists() and (retired / "old").exists():
            (retired / "old").rename(target)
        raise InputError(f"{path}: can't be written: {problem.strerror or problem}") from None
    finally:
        for rest in (temporary, retired):
            if rest is not None:
                shutil.rmtree(rest, ignore_errors=True)


def check_folder(
    path: str | PathLike[str], mark: str, content: bytes, names: Collection[str]
) -> None:
    """Refuse a path that holds anything but an empty folder, or one of our own.

    In one of our own there is nothing besides ``names``.
    """
    target = Path(path)
    first = content.split(b"\n")[0]
    try:
        if not target.exists() or (target.is_dir() and not any(target.iterdir())):
            return
        known = target.is_dir() and {each.name for each in target.iterdir()} <= {*names}
        if known and (target / mark).is_file():
            with open(target / mark, "rb") as file:
                if file.read(len(first)) == first:
                    return
    except OSError as problem:
        raise InputError(f"{path}: {problem.strerror or problem}") from None
    raise InputError(
        f"{path}: is there already and holds what hardmax did not write; give another name"
    )
