"""Data sets in .npz, for large N: tokens, offsets, label, labels."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from ...dataset import Dataset, Reading
from ...dataset.arrays import check_finite
from ...errors import InputError
from ...exact.array import ExactArray
from ...exact.numbers import MAX_EXPONENT
from ..npz import read_npz, text
from ..written import NumberReader, parse
from .label_sets import read_label_sets, sets_json


def read(content: bytes | memoryview, numbers: str, source: Mapping[str, Any]) -> Dataset:
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
            f"'tokens' has shape {tokens.shape} and type {tokens.dtype}, expected (T, d) of "
            f"float32, float64 or integers, with d ≥ 1"
        )
    if offsets.ndim != 1 or offsets.dtype.kind not in "iu" or len(offsets) < 2:
        raise InputError(
            f"'offsets' has shape {offsets.shape} and type {offsets.dtype}, expected (N+1,) "
            f"integers, with N ≥ 1"
        )
    steps = offsets.astype(np.int64)
    wrapped = offsets.dtype.kind == "u" and (steps < 0).any()
    if wrapped or steps[0] != 0 or steps[-1] != len(tokens) or (steps[1:] < steps[:-1]).any():
        raise InputError(f"'offsets' must rise from 0 to the number of tokens, {len(tokens)}")
    offsets = steps
    what = f"NaN, an infinity or a number of 2^{MAX_EXPONENT} or more"
    check_finite(tokens, offsets, 2.0**MAX_EXPONENT, what)
    labels = _labels(arrays.get("label"), len(offsets) - 1)
    sets = None
    if "labels" in arrays:
        document = parse(text(arrays, "labels").encode())
        sets = read_label_sets(document, NumberReader(numbers), tokens.shape[1])
    return Dataset.from_arrays(
        ExactArray.from_numpy(tokens, own=True), offsets, labels, sets,
        source=source,
    )  # fmt: skip


def _labels(array: np.ndarray | None, count: int) -> list[Any] | None:
    if array is None:
        return None
    if array.shape != (count,) or array.dtype.kind not in "iuU":
        raise InputError(
            f"'label' has shape {array.shape} and type {array.dtype}, expected ({count},) text "
            f"or integers"
        )
    try:
        given = array.tolist()
        known = {label: label for label in given}  # one object for each label
        return list(map(known.__getitem__, given))
    except (ValueError, UnicodeError):
        raise InputError("'label' holds broken text") from None


def members(data: Dataset, sets: bool = True) -> dict[str, np.ndarray]:
    """The members of the .npz file of a data set; InputError where it can't hold it exactly.

    Without ``sets`` the label sets are left out.
    """
    own, data = sets_json(data) if sets else {}, data.read_as(Reading())
    tokens = data.tokens.values
    if len(data.tokens.exact):
        k = next(iter(data.tokens.exact)) // data.dimension
        j = int(np.searchsorted(data.offsets, k, side="right")) - 1
        raise InputError(
            f"{data.name(j)} has numbers that float64 does not hold exactly; save as .json"
        )
    if data.given_outputs is not None:
        raise InputError("an .npz file holds labels, no outputs; save as .json")
    if not (np.abs(tokens) < 2.0**MAX_EXPONENT).all():
        raise InputError(f"a token is 2^{MAX_EXPONENT} or more, too large for a data file")
    found = {"tokens": tokens, "offsets": data.offsets}
    if None not in data.labels:
        whole = all(type(label) is int and abs(label) < 1 << 63 for label in data.labels)
        found["label"] = np.array(data.labels if whole else data.names)
        if not whole and found["label"].tolist() != data.names:
            raise InputError("a label ends in the character 0, which npz loses; save as .json")
    elif any(label is not None for label in data.labels):
        raise InputError("some sequences have no label, others have one; save as .json")
    if own:
        found["labels"] = np.array(json.dumps(own, ensure_ascii=False))
    return found
