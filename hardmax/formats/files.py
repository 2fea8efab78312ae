"""Reading bytes within limits, and writing files whole or not at all."""

from __future__ import annotations

import gzip
import hashlib
import io
import os
import shutil
import sys
import tempfile
import zlib
from collections.abc import Callable, Sequence
from os import PathLike
from pathlib import Path
from stat import S_ISREG

import numpy as np

from ..errors import InputError
from .remote import fetched, is_url

MAX_BYTES = 8 << 30  # of a file, unpacked
STANDARD = "-"  # standard input or output
_MAX_STREAM = 1 << 30  # of what is no regular file, and so may have no end
_ZIP = b"PK\x03\x04"  # how a zip archive begins
_PACKED = 100  # unpacked bytes a packed one may give, once they are many: no bomb fills the memory


def unpacked_limit(packed: int, always: int) -> int:
    """Bytes that so many packed bytes may unpack to; ``always`` is allowed in any case.

    >>> unpacked_limit(10, 1000), unpacked_limit(1000, 1000)
    (1000, 100000)
    """
    return min(MAX_BYTES, max(always, _PACKED * packed))


def read_bytes(path: str | PathLike[str]) -> bytes:
    """Content of a file, of a URL, or of standard input for "-".

    Raises InputError where it can't be read.
    """
    if path == STANDARD:
        return _standard_input()
    if is_url(path):
        return fetched(str(path), MAX_BYTES)
    try:
        with open(path, "rb") as file:
            found = os.fstat(file.fileno())
            if found.st_size > MAX_BYTES:
                raise InputError(f"{path}: larger than {MAX_BYTES >> 30} GiB")
            if S_ISREG(found.st_mode):
                return file.read()
            content = file.read(_MAX_STREAM + 1)
            if len(content) > _MAX_STREAM:
                raise InputError(
                    f"{path}: no regular file and over {_MAX_STREAM >> 30} GiB; store it first"
                )
            return content
    except OSError as problem:
        raise InputError(f"{path}: {problem.strerror or problem}") from None


def read_content(path: str | PathLike[str]) -> bytes | memoryview:
    """As `read_bytes`; but a zip archive comes as memory that its reader may keep and change."""
    if path == STANDARD:
        return _standard_input()
    if is_url(path):
        content = fetched(str(path), MAX_BYTES)
        return np.frombuffer(bytearray(content), np.uint8).data if content[:4] == _ZIP else content
    try:
        with open(path, "rb") as file:
            found = os.fstat(file.fileno())
            if S_ISREG(found.st_mode) and file.peek(4)[:4] == _ZIP:
                if found.st_size > MAX_BYTES:
                    raise InputError(f"{path}: larger than {MAX_BYTES >> 30} GiB")
                view = np.empty(found.st_size, np.uint8).data
                filled = 0
                while filled < len(view) and (count := file.readinto(view[filled:])):
                    filled += count
                return view[:filled]
    except OSError as problem:
        raise InputError(f"{path}: {problem.strerror or problem}") from None
    return read_bytes(path)


def _standard_input() -> bytes:
    content = sys.stdin.buffer.read(_MAX_STREAM + 1) if sys.stdin is not None else b""
    if len(content) > _MAX_STREAM:
        raise InputError(f"standard input: more than {_MAX_STREAM >> 30} GiB; store it first")
    return content


def shown_name(path: str | PathLike[str]) -> str:
    """How messages call a file."""
    return "standard input" if path == STANDARD else str(path)


def gunzip(content: bytes) -> bytes:
    """Unpack gzip; raise InputError where it is broken or unpacks past the limit."""
    parts, size, limit = [], 0, unpacked_limit(len(content), 1 << 26)
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(content)) as file:
            while part := file.read(1 << 24):
                size += len(part)
                if size > limit:
                    raise InputError(f"the gzip content unpacks to more than {limit} bytes")
                parts.append(part)
    except (OSError, EOFError, zlib.error) as problem:
        raise InputError(f"broken gzip content: {problem}") from None
    return b"".join(parts)


def sha256(content: bytes | memoryview) -> str:
    """SHA-256 of bytes, hexadecimal."""
    return hashlib.sha256(content).hexdigest()


def keep_apart(inputs: Sequence[str | None], outputs: Sequence[str | None]) -> None:
    """Refuse outputs that would overwrite an input or each other; "-" may come once a side."""
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
