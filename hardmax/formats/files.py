"""Reading bytes within limits, and writing files whole or not at all."""

from __future__ import annotations

import gzip
import hashlib
import io
import os
import tempfile
import zlib
from collections.abc import Callable, Sequence
from os import PathLike
from pathlib import Path

from ..errors import InputError

MAX_BYTES = 8 << 30  # of a file, unpacked


def read_bytes(path: str | PathLike[str]) -> bytes:
    """Content of a file; raise InputError with one line where it can't be read."""
    try:
        with open(path, "rb") as file:
            if os.fstat(file.fileno()).st_size > MAX_BYTES:
                raise InputError(f"{path}: larger than {MAX_BYTES >> 30} GiB")
            return file.read()
    except OSError as problem:
        raise InputError(f"{path}: {problem.strerror or problem}") from None


def gunzip(content: bytes) -> bytes:
    """Unpack gzip; raise InputError where it is broken or unpacks past the limit."""
    parts, size = [], 0
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(content)) as file:
            while part := file.read(1 << 24):
                size += len(part)
                if size > min(MAX_BYTES, 1000 * len(content) + (1 << 24)):
                    raise InputError("the gzip content unpacks past the size limit")
                parts.append(part)
    except (OSError, EOFError, zlib.error) as problem:
        raise InputError(f"broken gzip content: {problem}") from None
    return b"".join(parts)


def sha256(content: bytes) -> str:
    """SHA-256 of bytes, hexadecimal."""
    return hashlib.sha256(content).hexdigest()


def keep_apart(inputs: Sequence[str | None], outputs: Sequence[str | None]) -> None:
    """Refuse outputs that would overwrite an input or each other."""
    seen = {Path(path).resolve() for path in inputs if path is not None}
    for path in outputs:
        if path is None:
            continue
        if Path(path).resolve() in seen:
            raise InputError(f"{path}: the output would overwrite another file of this command")
        seen.add(Path(path).resolve())


def write_whole(path: str | PathLike[str], write: Callable[[Path], None]) -> None:
    """Let ``write`` fill a temporary file beside ``path``, then rename it.

    Whatever happens, ``path`` holds its old content or all of the new one.
    """
    target = Path(path)
    if target.is_dir():
        raise InputError(f"{path}: is a directory, not a file to write")
    if target.exists() and not target.is_file():
        raise InputError(f"{path}: is not a regular file, so it can't be replaced whole")
    try:
        handle, name = tempfile.mkstemp(
            prefix=f".{target.name}.", suffix=".tmp", dir=target.parent or "."
        )
    except OSError as problem:
        raise InputError(f"{path}: can't be written: {problem.strerror}") from None
    temporary = Path(name)
    try:
        os.close(handle)
        write(temporary)
        with open(temporary, "rb+") as file:
            os.fsync(file.fileno())
        mask = os.umask(0)
        os.umask(mask)
        temporary.chmod(0o666 & ~mask)
        temporary.replace(target)
    except OSError as problem:
        raise InputError(f"{path}: can't be written: {problem.strerror or problem}") from None
    finally:
        temporary.unlink(missing_ok=True)
