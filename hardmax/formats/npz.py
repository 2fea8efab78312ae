"""Strict reading and deterministic writing of .npz archives; nothing is ever unpickled."""

from __future__ import annotations

import io
import lzma
import struct
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from ..errors import InputError
from .files import MAX_BYTES

_EPOCH = (1980, 1, 1, 0, 0, 0)  # no time in a file: equal content gives equal bytes
_HEADER = 1 << 16


def read_npz(content: bytes, allowed: set[str]) -> dict[str, np.ndarray]:
    """Arrays of an archive by name.

    Raises InputError where the archive is broken, holds Python objects, unpacks past the
    limit, or has members other than ``allowed``.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            members = archive.infolist()
            if sum(member.file_size for member in members) > MAX_BYTES:
                raise InputError("the archive unpacks past the size limit")
            arrays: dict[str, np.ndarray] = {}
            for member in members:
                name = member.filename.removesuffix(".npy")
                if name not in allowed or name in arrays:
                    raise InputError(f"the archive has an unexpected member {member.filename!r}")
                with archive.open(member) as file:
                    raw = file.read(member.file_size + 1)
                arrays[name] = _array(name, raw)
            return arrays
    except InputError:
        raise
    except (
        zipfile.BadZipFile,
        zlib.error,
        EOFError,
        OSError,
        NotImplementedError,
        RuntimeError,
        KeyError,
        ValueError,
        struct.error,
        lzma.LZMAError,
    ) as problem:
        raise InputError(f"broken npz archive: {problem}") from None


def _array(name: str, raw: bytes) -> np.ndarray:
    stream = io.BytesIO(raw)
    try:
        version = np.lib.format.read_magic(stream)
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
    if dtype.kind not in "iufU" or dtype.hasobject:
        raise InputError(f"member {name!r} has the type {dtype}; numbers and text are allowed")
    count = 1
    for length in shape:
        if length < 0:
            raise InputError(f"member {name!r} has the impossible shape {shape}")
        count *= length
    body = raw[stream.tell() :]
    if count * dtype.itemsize != len(body):
        raise InputError(
            f"member {name!r} holds {len(body)} bytes, its shape {shape} needs "
            f"{count * dtype.itemsize}"
        )
    if dtype.itemsize == 0:
        array = np.full(shape, "", dtype=dtype)
    else:
        array = np.frombuffer(body, dtype=dtype).reshape(shape, order="F" if fortran else "C")
    return np.ascontiguousarray(array).reshape(shape)


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
            if array.dtype.kind == "U" and array.size == 1:
                return str(array.reshape(-1)[0])
            if array.dtype == np.uint8 and array.ndim == 1:
                return array.tobytes().decode()
        except (ValueError, UnicodeError):
            raise InputError(f"member {name!r} holds broken text") from None
    raise InputError(f"member {name!r} must hold one text")
