"""Writing files whole or not at all, and never over what a command reads."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Sequence
from os import PathLike
from pathlib import Path

from ..errors import InputError
from .files import STANDARD


def keep_apart(inputs: Sequence[str | None], outputs: Sequence[str | None]) -> None:
    """Refuse outputs that would overwrite an input or each other; "-" may come once a side."""
    if "" in (*inputs, *outputs):
        raise InputError("the name of a file is empty")
    if list(inputs).count(STANDARD) > 1:
        raise InputError("standard input, '-', can be read once only; name a file for the other")
    if list(outputs).count(STANDARD) > 1:
        raise InputError("standard output, '-', can be written once only; name a file")
    seen = {Path(path).resolve() for path in inputs if path not in (None, STANDARD)}
    for path in outputs:
        if path is None or path == STANDARD:
            continue
        if Path(path).resolve() in seen:
            raise InputError(f"{path}: the output would overwrite another file of this command")
        seen.add(Path(path).resolve())


def write_whole(path: str | PathLike[str], write: Callable[[Path], None]) -> None:
    """Let ``write`` fill a temporary file beside ``path``, then rename it.

    Whatever happens, ``path`` holds its old content or all of the new one.
    """
    write_together([(path, write)])


def write_text(path: str | PathLike[str], content: str) -> None:
    """As `write_whole`, for a text in UTF-8."""
    write_whole(path, text_writer(content))


def text_writer(content: str) -> Callable[[Path], None]:
    """What `write_whole` and `write_together` call to fill a file with a text in UTF-8."""

    def write(temporary: Path) -> None:
        temporary.write_text(content, encoding="utf-8")

    return write


def bytes_writer(content: bytes) -> Callable[[Path], None]:
    """What `write_whole` and `write_together` call to fill a file with bytes."""

    def write(temporary: Path) -> None:
        temporary.write_bytes(content)

    return write


def write_together(files: Sequence[tuple[str | PathLike[str], Callable[[Path], None]]]) -> None:
    """As `write_whole`, for files that belong together: none gets its name before all are whole.

    The writers run in the order of ``files``, and so do the renamings.
    """
    temporaries: list[Path] = []
    path: str | PathLike[str] = ""
    try:
        for path, _ in files:
            temporaries.append(_temporary(path))
        for place, (path, write) in enumerate(files):  # noqa: B007  (the error names it)
            temporary = temporaries[place]
            write(temporary)
            with open(temporary, "rb+") as file:
                os.fsync(file.fileno())
            mask = os.umask(0)
            os.umask(mask)
            temporary.chmod(0o666 & ~mask)
        for (path, _), temporary in zip(files, temporaries, strict=True):
            if path == STANDARD:
                _to_standard_output(temporary)
            else:
                temporary.replace(path)
    except BrokenPipeError:  # of standard output: its reader has gone
        raise
    except OSError as problem:
        raise InputError(f"{path}: can't be written: {problem.strerror or problem}") from None
    finally:
        for temporary in temporaries:
            temporary.unlink(missing_ok=True)


def _temporary(path: str | PathLike[str]) -> Path:
    """A new empty file beside a path that a file may take."""
    if path == STANDARD:
        handle, name = tempfile.mkstemp(prefix="hardmax.", suffix=".tmp")
        os.close(handle)
        return Path(name)
    target = Path(path)
    if target.is_dir():
        raise InputError(f"{path}: is a directory, not a file to write")
    if target.exists() and not target.is_file():
        raise InputError(f"{path}: is not a regular file, so it can't be replaced whole")
    handle, name = tempfile.mkstemp(
        prefix=f".{target.name}.", suffix=".tmp", dir=target.parent or "."
    )
    os.close(handle)
    return Path(name)


def _to_standard_output(temporary: Path) -> None:
    sys.stdout.flush()
    with open(temporary, "rb") as file:
        shutil.copyfileobj(file, sys.stdout.buffer)
    sys.stdout.buffer.flush()
