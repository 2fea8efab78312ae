"""Reading the bytes of files, of URLs and of standard input, within limits."""

from __future__ import annotations

import gzip
import hashlib
import io
import os
import sys
import zlib
from os import PathLike
from stat import S_ISREG
from typing import IO

import numpy as np

from ..errors import InputError

MAX_BYTES = 8 << 30  # of a file, unpacked
STANDARD = "-"  # standard input or output
_MAX_STREAM = 1 << 30  # bytes from what is no regular file: a pipe may never end
_ZIP = b"PK\x03\x04"  # how a zip archive begins
_PACKED = 100  # bytes that a packed byte may become in large files: no zip bomb fills the memory


def unpacked_limit(packed: int, always: int) -> int:
    """Bytes that so many packed bytes may unpack to; ``always`` is allowed in any case.

    >>> unpacked_limit(10, 1000), unpacked_limit(1000, 1000)
    (1000, 100000)
    """
    return min(MAX_BYTES, max(always, _PACKED * packed))


def is_url(path: object) -> bool:
    """Whether a name is a URL: a scheme, then ://.

    >>> is_url("s3://bucket/part.npz"), is_url("folder/part.npz")
    (True, False)
    """
    return isinstance(path, str) and "://" in path


def open_binary(path: str | PathLike[str]) -> IO[bytes]:
    """Open a file, or what a URL names, for reading; raises OSError or InputError."""
    if is_url(path):
        from .remote import opened

        return opened(str(path))
    return open(path, "rb")


def read_bytes(path: str | PathLike[str]) -> bytes:
    """Content of a file, of a URL, or of standard input for "-".

    Raises InputError where it can't be read.
    """
    if path == STANDARD:
        return _standard_input()
    if is_url(path):
        from .remote import fetched

        return fetched(str(path), MAX_BYTES)
    try:
        with open(path, "rb") as file:
            return _rest(path, file)
    except OSError as problem:
        raise InputError(f"{path}: {problem.strerror or problem}") from None


def _rest(path: str | PathLike[str], file: IO[bytes]) -> bytes:
    """Content of an open file, within limits."""
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


def read_content(path: str | PathLike[str]) -> bytes | memoryview:
    """As `read_bytes`; but a zip archive comes as memory that its reader may keep and change."""
    if path == STANDARD:
        return _standard_input()
    if is_url(path):
        content = read_bytes(path)
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
            return _rest(path, file)  # a pipe can't be opened twice
    except OSError as problem:
        raise InputError(f"{path}: {problem.strerror or problem}") from None


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
