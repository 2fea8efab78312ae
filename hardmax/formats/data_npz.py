"""Data sets in .npz, for large N: tokens, offsets, label, labels."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..dataset import Dataset
from ..errors import InputError
from ..exact.array import ExactArray
from ..exact.dyadic import chunks
from ..exact.numbers import MAX_EXPONENT
from .data_json import read_label_sets
from .npz import read_npz, text
from .written import NumberReader, parse


def read(
    content: bytes | memoryview, numbers: str, positional: bool, source: Mapping[str, Any]
) -> Dataset:
    """Data set from the bytes of an .npz file; what can be written to is the data set's then."""
    arrays = read_npz(content, {"tokens", "offsets", "label", "labels"})
    for name in ("tokens", "offsets"):
        if name not in arrays:
            raise InputError(f"the archive has no member {name!r}")
    tokens, offsets = arrays["tokens"], arrays["offsets"]
    kind, size = tokens.dtype.kind, tokens.dtype.itemsize
    numeric = kind in "iu" or (kind == "f" and size in (4, 8))
    if tokens.ndim != 2 or tokens.shape[1] < 1 or not numeric:
        raise InputError(
            f"'tokens' has shape {tokens.shape} and type {tokens.dtype}, expected (T, d) numbers"
        )
    if offsets.ndim != 1 or offsets.dtype.kind not in "iu" or len(offsets) < 2:
        raise InputError(
            f"'offsets' has shape {offsets.shape} and type {offsets.dtype}, expected (N+1,) "
            f"integers"
        )
    steps = offsets.astype(np.int64)
    wrapped = offsets.dtype.kind == "u" and (steps < 0).any()
    if wrapped or steps[0] != 0 or steps[-1] != len(tokens) or (steps[1:] < steps[:-1]).any():
        raise InputError(f"'offsets' must rise from 0 to the number of tokens, {len(tokens)}")
    offsets = steps
    _check_tokens(tokens, offsets)
    labels = _labels(arrays.get("label"), len(offsets) - 1)
    sets = None
    if "labels" in arrays:
        document = parse(text(arrays, "labels").encode())
        sets = read_label_sets(document, NumberReader(numbers), tokens.shape[1])
    return Dataset.from_arrays(
        ExactArray.from_numpy(tokens, own=True), offsets, labels, sets,
        positional=positional, source=source,
    )  # fmt: skip


def _check_tokens(tokens: np.ndarray, offsets: np.ndarray) -> None:
    """Refuse NaN, infinities and |x| ≥ 2^1000, naming the first place."""
    if tokens.dtype.kind != "f":
        return
    flat, limit = tokens.reshape(-1), 2.0**MAX_EXPONENT
    for part in chunks(len(flat)):
        with np.errstate(invalid="ignore"):
            some = flat[part].astype(np.float64, copy=False)
            if -limit < some.min() and some.max() < limit:  # false where NaN is among them
                continue
            row = (part.start + int(np.argmin(np.abs(some) < limit))) // tokens.shape[1]
        j = int(np.searchsorted(offsets, row, side="right")) - 1
        raise InputError(
            f"sequence {j + 1}, token {row - int(offsets[j]) + 1} holds NaN, an infinity or a "
            f"number of 2^{MAX_EXPONENT} or more"
        )


def _labels(array: np.ndarray | None, count: int) -> list[str] | None:
    if array is None:
        return None
    if array.shape != (count,) or array.dtype.kind not in "iuU":
        raise InputError(
            f"'label' has shape {array.shape} and type {array.dtype}, expected ({count},) text "
            f"or integers"
        )
    try:
        given = array.tolist()
        names = {label: str(label) for label in set(given)}  # one object for each name
        return list(map(names.__getitem__, given))
    except (ValueError, UnicodeError):
        raise InputError("'label' holds broken text") from None
