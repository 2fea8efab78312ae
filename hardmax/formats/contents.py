"""What a file is, by its content: to say what was given instead, and what may be overwritten."""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import Callable, Mapping
from contextlib import suppress
from os import PathLike
from pathlib import Path

from ..errors import InputError
from .files import STANDARD

_HEAD = 1 << 12
_ADVICE = {
    "model": "this is a model, not a data set; the order is MODEL DATA",
    "network": "this is a network (hardmax-network/1); hardmax.Network.load and `verify` read it",
    "data": "this is a data set, not a model; the order is MODEL DATA",
    "certificate": "this is a certificate; it belongs behind --certificate",
    "results": "these are results of `hardmax run`",
}


def instead(content: bytes | memoryview, expected: str) -> str | None:
    """What a file is instead of what was ``expected`` ("model" or "data"), and what to do then."""
    kind, members = kind_of(content)
    if kind in _ADVICE and kind != expected:
        return _ADVICE[kind]
    if expected == "data" and {"X", "y"} & set(members):
        return (
            f"the npz holds {', '.join(members)}; a data set has 'tokens', 'offsets' and 'label'. "
            f"In Python: f = numpy.load(...); hardmax.Dataset(f['X'], f['y']).save('data.npz')"
        )
    if expected == "data" and members and "tokens" not in members:
        found = ", ".join(members)[:60]
        return f"the npz holds {found}; a data set has 'tokens', 'offsets' and 'label'"
    return None


def kind_of(content: bytes | memoryview) -> tuple[str | None, list[str]]:
    """Kind of a file (None if unknown), and the members of an npz."""
    if bytes(content[:4]) == b"PK\x03\x04":
        try:
            with zipfile.ZipFile(io.BytesIO(content)) as archive:
                members = [name.removesuffix(".npy") for name in archive.namelist()]
        except Exception:  # a broken archive can raise almost anything
            return None, []
        if {"format", "stage", "u"} <= {*members}:
            return "model", members
        if {"format", "architecture"} <= {*members}:
            return "network", members
        return ("data" if {"tokens", "offsets"} <= {*members} else None), members
    head = bytes(content[:_HEAD])
    if head[:2] == b"\x1f\x8b":
        with suppress(zlib.error):
            head = zlib.decompressobj(wbits=31).decompress(head, _HEAD)
    if head[:4] == b"PAR1":
        return "data", []
    start = head.lstrip(b"\xef\xbb\xbf \t\r\n")
    if start[:1] != b"{":
        named = start[:20].lower().startswith((b"sequence", b"@"))
        commented = start[:1] == b"#" and b"\n@" in start  # the header of a .ts file
        return ("data" if named or commented else None), []
    for mark, kind in _MARKS.items():
        if mark in head:
            return kind, []
    return None, []


_MARKS = {
    b'"hardmax-certificate/': "certificate",
    b'"results":': "results",
    b'"hardmax-dataset/': "data",
    b'"sequences"': "data",
}
_KNOWN: Mapping[str, Callable[[bytes], bool]] = {
    ".html": lambda head: b"<title>hardmax" in head or b"hardmax" in head,
    ".gif": lambda head: head[:4] == b"GIF8",
    ".mp4": lambda head: head[4:8] == b"ftyp",
    "smt2": lambda head: head.startswith(b"(set-logic QF_LRA)"),
    "rocq": lambda head: b"Hardmax" in head or b"hardmax" in head,
    "onnx": lambda head: b"\x12\x07hardmax" in head[:40],  # the producer's name
    "safetensors": lambda head: b"hardmax-export/" in head,
}


def check_overwrite(path: str | PathLike[str] | None, kind: str, force: bool) -> None:
    """Refuse to overwrite a file that hardmax did not write, unless ``force``.

    ``kind`` is what will be written: "model", "certificate", "results", or a key of other kinds.
    """
    if path is None or path == STANDARD or force:
        return
    target = Path(path)
    try:
        if not target.is_file() or target.stat().st_size == 0:
            return
        with open(target, "rb") as file:
            known = _KNOWN.get(kind)
            if known is not None:
                ours = known(file.read(_HEAD))
            else:
                ours = kind_of(file.read())[0] == kind
    except OSError as problem:
        raise InputError(f"{path}: {problem.strerror or problem}") from None
    if not ours:
        raise InputError(
            f"{path}: this file exists and was not written by hardmax as {_WORDS.get(kind, kind)}; "
            f"give another name, or --force to overwrite it"
        )


_WORDS = {
    "model": "a model", "network": "a network", "certificate": "a certificate",
    "results": "results", "rocq": "a proof", "smt2": "a script", "onnx": "a graph",
    "safetensors": "tensors",
    ".html": "a page", ".gif": "an animation", ".mp4": "an animation",
}  # fmt: skip
