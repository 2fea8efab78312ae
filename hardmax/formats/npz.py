"""Strict reading and deterministic writing of .npz archives; nothing is ever unpickled."""

from __future__ import annotations

import io
import warnings
import zipfile
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from ..errors import InputError
from .files import unpacked_limit

_EPOCH = (1980, 1, 1, 0, 0, 0)  # no time in a file: equal content gives equal bytes
_HEADER = 1 << 16


def read_npz(content: bytes, allowed: set[str]) -> dict[str, np.ndarray]:
    """Arrays of an archive by name.

    Raises InputError where the archive is broken, holds Python objects, unpacks past the
    limit, or has members other than ``allowed``.
    """
    limit = unpacked_limit(len(content), 1 << 28)
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            members = archive.infolist()
            if sum(member.file_size for member in members) > limit:
                raise InputError(f"the archive unpacks to more than {limit} bytes")
            arrays: dict[str, np.ndarray] = {}
            for member in members:
                name = member.filename.removesuffix(".npy")
                if name not in allowed or name in arrays:
                    raise InputError(f"the archive has an unexpected member {member.filename!r}")
                if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                    raise InputError(f"member {name!r} is neither stored nor deflated")
                with archive.open(member) as file:
                    raw = file.read(member.file_size + 1)
                arrays[name] = _array(name, raw)
            return arrays
    except (InputError, MemoryError):
        raise
    except Exception as problem:  # a wrong byte in a zip file can raise almost anything
        raise InputError(f"broken npz archive: {type(problem).__name__} {problem}") from None


def _array(name: str, raw: bytes) -> np.ndarray:
    stream = io.BytesIO(raw)
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
    if dtype.kind == "U":
        _check_text(name, np.frombuffer(body, dtype=np.dtype(f"{dtype.str[0]}u4")))
    try:
        flat = np.frombuffer(body, dtype=dtype) if body else np.empty(0, dtype)
        array = flat.reshape(shape, order="F" if fortran else "C")
    except (ValueError, OverflowError):
        raise InputError(f"member {name!r} has the impossible shape {shape}") from None
    return np.ascontiguousarray(array).reshape(shape)


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
