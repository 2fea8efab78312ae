"""Strict reading and deterministic writing of .npz archives; nothing is ever unpickled."""

from __future__ import annotations

import io
import struct
import warnings
import zipfile
import zlib
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import InputError
from .files import unpacked_limit

_EPOCH = (1980, 1, 1, 0, 0, 0)  # no time in a file: equal content gives equal bytes
_HEADER = 1 << 16
_PART = 1 << 20  # bytes unpacked at a time


class _Memory(io.RawIOBase):
    """A file that is a piece of memory, without a copy of it."""

    def __init__(self, content: memoryview) -> None:
        self._content, self._at = content, 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        part = self._content[self._at : self._at + len(buffer)]
        buffer[: len(part)] = part
        self._at += len(part)
        return len(part)

    def seek(self, offset: int, whence: int = io.SEEK_SET, /) -> int:
        start = {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: len(self._content)}[whence]
        if start + offset < 0:
            raise OSError("a place before the beginning")
        self._at = start + offset
        return self._at

    def tell(self) -> int:
        return self._at


def read_npz(content: bytes | memoryview, allowed: set[str] | None) -> dict[str, np.ndarray]:
    """Arrays of an archive by name; they can be written to, and are aligned.

    The arrays take over a memoryview that can be written to: members that are not compressed stay
    where they are in it, so that nothing large is in memory twice.
    Raises InputError where the archive is broken, holds Python objects, unpacks past the
    limit, or has members other than ``allowed`` (None: any).
    """
    view = memoryview(content)
    limit = unpacked_limit(len(view), 1 << 28)
    try:
        with zipfile.ZipFile(io.BufferedReader(_Memory(view))) as archive:
            members = archive.infolist()
            if sum(member.file_size for member in members) > limit:
                raise InputError(f"the archive unpacks to more than {limit} bytes")
            names: list[str] = []
            for member in members:
                name = member.filename.removesuffix(".npy")
                if (allowed is not None and name not in allowed) or name in names:
                    raise InputError(f"the archive has an unexpected member {member.filename!r}")
                if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                    raise InputError(f"member {name!r} is neither stored nor deflated")
                stored = member.compress_type == zipfile.ZIP_STORED
                if stored and member.compress_size != member.file_size:
                    raise zipfile.BadZipFile(f"{member.filename!r} is stored in two sizes")
                names.append(name)
            places = [_place(member, view) for member in members]
            keep = not view.readonly and _apart(places)
            raw = [
                _unpacked(archive, member, view[place] if keep else None)
                for member, place in zip(members, places, strict=True)
            ]
    except (InputError, MemoryError):
        raise
    except Exception as problem:  # a wrong byte in a zip file can raise almost anything
        raise InputError(f"broken npz archive: {type(problem).__name__} {problem}") from None
    return {name: _array(name, each) for name, each in zip(names, raw, strict=True)}


def _place(member: zipfile.ZipInfo, view: memoryview) -> slice:
    """Where the bytes of a member stand, behind its local header."""
    start = member.header_offset
    name, extra = struct.unpack("<HH", view[start + 26 : start + 30])
    return slice(start + 30 + name + extra, start + 30 + name + extra + member.compress_size)


def _apart(places: list[slice]) -> bool:
    """Whether no bytes belong to two members: then a change of one leaves the others alone."""
    ordered = sorted(places, key=lambda place: (place.start, place.stop))
    return all(before.stop <= after.start for before, after in pairwise(ordered))


def _unpacked(
    archive: zipfile.ZipFile, member: zipfile.ZipInfo, packed: memoryview | None
) -> memoryview:
    """The bytes of a member, which can be written to: ``packed`` itself where that will do."""
    with archive.open(member) as file:  # checks the local header
        if packed is not None and member.compress_type == zipfile.ZIP_STORED:
            if len(packed) != member.file_size or zlib.crc32(packed) != member.CRC:
                raise zipfile.BadZipFile(f"Bad CRC-32 for file {member.filename!r}")
            return packed
        raw = np.empty(member.file_size, np.uint8).data
        filled = 0
        while filled < len(raw) and (part := file.read(min(_PART, len(raw) - filled))):
            raw[filled : filled + len(part)] = part
            filled += len(part)
        return raw[:filled]


def _array(name: str, raw: memoryview) -> np.ndarray:
    stream = _Memory(raw)
    try:
        version = np.lib.format.read_magic(stream)
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # a header that NumPy has to mend is none
            if version == (1, 0):
                header = np.lib.format.read_array_header_1_0(stream, max_header_size=_HEADER)
            elif version in ((2, 0), (3, 0)):  # they differ in the names of fields alone
                header = np.lib.format.read_array_header_2_0(stream, max_header_size=_HEADER)
            else:
                raise InputError(f"member {name!r} has the unknown npy version {version}")
    except InputError:
        raise
    except Exception as problem:  # the header parser evaluates a literal: anything can come
        raise InputError(f"member {name!r} is no array: {type(problem).__name__}") from None
    shape, fortran, dtype = header
    if dtype.kind not in "iufU" or dtype.hasobject or dtype.itemsize == 0:
        raise InputError(
            f"member {name!r} has the type {dtype}; floats, integers and text are allowed"
        )
    count = 1
    for length in shape:
        if isinstance(length, bool) or length < 0:
            raise InputError(f"member {name!r} has the impossible shape {shape}")
        count *= length
    body = _aligned(raw, stream.tell(), dtype.alignment)
    if count * dtype.itemsize != len(body):
        raise InputError(
            f"member {name!r} holds {len(body)} bytes, its shape {shape} needs "
            f"{count * dtype.itemsize}"
        )
    if dtype.kind == "U":
        _check_text(name, np.frombuffer(body, dtype=np.dtype(f"{dtype.str[0]}u4")))
    try:
        flat = np.frombuffer(body, dtype=dtype) if body else np.empty(0, dtype)
        array = flat.reshape(shape, order="F" if fortran else "C")
    except (ValueError, OverflowError):
        raise InputError(f"member {name!r} has the impossible shape {shape}") from None
    return np.ascontiguousarray(array).reshape(shape)


def _aligned(raw: memoryview, start: int, alignment: int) -> memoryview:
    """What follows the header of an array, moved over the header's end where it must be."""
    body = raw[start:]
    if body:
        shift = np.frombuffer(body, np.uint8).ctypes.data % alignment
        if shift:
            moved = raw[start - shift : len(raw) - shift]
            moved[:] = body
            return moved
    return body


def _check_text(name: str, codes: np.ndarray) -> None:
    """Refuse what is no character: NumPy itself would crash on it, or print would later."""
    if ((codes > 0x10FFFF) | ((codes >= 0xD800) & (codes <= 0xDFFF))).any():
        raise InputError(f"member {name!r} holds broken text")


def write_npz(path: Path, arrays: Mapping[str, np.ndarray]) -> None:
    """Write arrays so that equal arrays give equal bytes."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        for name, array in arrays.items():
            member = zipfile.ZipInfo(f"{name}.npy", _EPOCH)
            with archive.open(member, "w", force_zip64=True) as file:
                np.lib.format.write_array(file, np.asanyarray(array), allow_pickle=False)


def text(arrays: Mapping[str, np.ndarray], name: str) -> str:
    """The text of a member: a single string, or UTF-8 bytes as uint8."""
    array = arrays.get(name)
    if array is not None:
        try:
            if array.dtype.kind == "U" and array.ndim == 0:
                return str(array[()])
            if array.dtype == np.uint8 and array.ndim == 1:
                return array.tobytes().decode()
        except (ValueError, UnicodeError):
            raise InputError(f"member {name!r} holds broken text") from None
    raise InputError(f"member {name!r} must hold one text")
