"""Files that a URL names, such as s3://bucket/part.npz: read through fsspec, never written."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any

from ..errors import HardmaxError, InputError, MissingExtraError


def opened(url: str) -> IO[bytes]:
    """Open what a URL names, for reading; InputError where it can't be opened."""
    with _one_line_errors(url):
        files, place = _system(url)
        found: IO[bytes] = files.open(place, "rb")
    return found


def fetched(url: str, limit: int) -> bytes:
    """What a URL names, at most ``limit`` bytes of it; InputError where it can't be read."""
    with _one_line_errors(url):
        return _content(url, limit)


def fetched_if_there(url: str, limit: int) -> bytes | None:
    """As `fetched`, but None where there is no such file. The server is asked once."""
    with _one_line_errors(url):
        try:
            return _content(url, limit)
        except FileNotFoundError:
            return None


def files_at(url: str) -> tuple[list[str], bool]:
    """URLs of the files that the URL of a folder, glob or file means; whether it is a folder."""
    with _one_line_errors(url):
        files, place = _system(url)
        folder = bool(files.isdir(place))
        names = files.ls(place, detail=False) if folder else files.glob(place)
        found = [str(files.unstrip_protocol(name)) for name in names if files.isfile(name)]
    return found, folder


def _content(url: str, limit: int) -> bytes:
    files, place = _system(url)
    with files.open(place, "rb") as file:
        content: bytes = file.read(limit + 1)
    if len(content) > limit:
        raise InputError(f"{url}: larger than {limit >> 30} GiB")
    return content


@contextmanager
def _one_line_errors(url: str) -> Iterator[None]:
    """Turn whatever a file system raises into an InputError of one line that names the URL."""
    try:
        yield
    except HardmaxError:
        raise
    except Exception as problem:  # a file system can raise almost anything
        reason = " ".join(str(problem).split()) or type(problem).__name__
        raise InputError(f"{url}: can't be read: {reason[:200]}") from None


def _system(url: str) -> tuple[Any, str]:
    """The file system of a URL, and the file's name there."""
    if "::" in url:
        raise InputError(f"{url}: a URL with '::' is not supported; unpack what it names first")
    try:
        from fsspec.core import url_to_fs
    except ImportError:
        raise MissingExtraError(
            f"{url} is a URL, which needs fsspec: pip install 'hardmax[remote]'"
        ) from None
    try:
        files, place = url_to_fs(url)
    except ImportError as problem:  # s3fs, gcsfs, aiohttp, …
        raise MissingExtraError(f"{url}: {problem}") from None
    return files, str(place)
