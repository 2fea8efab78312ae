"""Files that a URL names, such as s3://bucket/part.npz: read through fsspec, never written."""

from __future__ import annotations

from os import PathLike
from typing import IO, Any

from ..errors import InputError, MissingExtraError


def is_url(path: object) -> bool:
    """Whether a name is a URL: a scheme, then ://.

    >>> is_url("s3://bucket/part.npz"), is_url("folder/part.npz")
    (True, False)
    """
    return isinstance(path, str) and "://" in path


def open_binary(path: str | PathLike[str]) -> IO[bytes]:
    """Open a file, or what a URL names, for reading; raises OSError or InputError."""
    if not is_url(path):
        return open(path, "rb")
    files, place = _system(str(path))
    try:
        opened: IO[bytes] = files.open(place, "rb")
    except OSError:
        raise
    except Exception as problem:  # a file system can raise almost anything
        raise _failed(path, problem) from None
    return opened


def fetched(path: str, limit: int) -> bytes:
    """What a URL names, at most ``limit`` bytes of it; InputError where it can't be read."""
    try:
        with open_binary(path) as file:
            content = file.read(limit + 1)
    except InputError:
        raise
    except Exception as problem:
        raise _failed(path, problem) from None
    if len(content) > limit:
        raise InputError(f"{path}: larger than {limit >> 30} GiB")
    return content


def found(path: str) -> tuple[list[str], bool]:
    """URLs of the files that the URL of a folder, glob or file means; whether it is a folder."""
    files, place = _system(path)
    try:
        folder = bool(files.isdir(place))
        names = files.ls(place, detail=False) if folder else files.glob(place)
        return [str(files.unstrip_protocol(name)) for name in names if files.isfile(name)], folder
    except Exception as problem:
        raise _failed(path, problem) from None


def exists(path: str) -> bool:
    """Whether a URL names a file."""
    files, place = _system(path)
    try:
        return bool(files.isfile(place))
    except Exception as problem:
        raise _failed(path, problem) from None


def _system(path: str) -> tuple[Any, str]:
    """The file system of a URL, and the file's name there."""
    if "::" in path:
        raise InputError(f"{path}: a URL with '::' is not supported; unpack what it names first")
    try:
        from fsspec.core import url_to_fs
    except ImportError:
        raise MissingExtraError(
            f"{path} is a URL, which needs fsspec: pip install 'hardmax[remote]'"
        ) from None
    try:
        files, place = url_to_fs(path)
    except ImportError as problem:  # s3fs, gcsfs, aiohttp, …
        raise MissingExtraError(f"{path}: {problem}") from None
    except Exception as problem:
        raise _failed(path, problem) from None
    return files, str(place)


def _failed(path: str | PathLike[str], problem: Exception) -> InputError:
    reason = " ".join(str(problem).split()) or type(problem).__name__
    return InputError(f"{path}: can't be read: {reason[:200]}")
