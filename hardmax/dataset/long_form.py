"""Tables in long form, one row a token: frames of pandas and polars, tables of Arrow.

The columns are sequence, label (it may be left out) and x1, x2, …. No library is imported: what
has named columns is a table.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from ..errors import InputError
from ..exact.array import ExactArray
from ..exact.numbers import as_fraction
from ..words import kind
from .arrays import check_finite

_MACHINE = re.compile(r"(u?int|float)\d+|halffloat|float|double", re.IGNORECASE)
Number = Callable[[object], Fraction]
_WHOLE = 1 << 53  # integers up to it are float64 numbers


def read_table(
    table: Any, number: Number = as_fraction
) -> tuple[ExactArray, np.ndarray, list[Any] | None, list[str]]:
    """Tokens (T, d), offsets (N+1,), labels and ids of a table in long form.

    Sequences come in the order in which their names first appear, tokens in the order of the
    rows. Empty labels are None. ``number`` reads what is no machine number. Raises InputError that
    names the columns, the row, or the sequence and the token.
    """
    names = list(getattr(table, "column_names", None) or table.columns)
    coordinates = [f"x{i + 1}" for i in range(len({*names} - {"sequence", "label"}))]
    expected = {"sequence", *coordinates}
    if not coordinates or {*names} - {"label"} != expected or len({*names}) < len(names):
        found = ", ".join(map(str, names[:6]))[:80]
        raise InputError(
            f"{kind(table)} in long form has the columns sequence, label, x1, x2, …, one row a "
            f"token; found {found!r}"
        )
    ids, codes = _codes(column_values(table["sequence"]))
    labels = _labels(column_values(table["label"]), ids, codes) if "label" in names else None
    order = np.argsort(codes, kind="stable")
    offsets = np.concatenate([[0], np.cumsum(np.bincount(codes, minlength=len(ids)))])
    columns = [column_values(table[name])[order] for name in coordinates]
    return exact_tokens(columns, offsets, number), offsets, labels, ids


def column_values(column: Any) -> np.ndarray:
    """An array of machine numbers, or of Python objects: nothing is rounded."""
    if _MACHINE.fullmatch(str(getattr(column, "dtype", getattr(column, "type", "")))):
        array = column.to_numpy()
        if isinstance(array, np.ndarray) and array.dtype.kind in "iuf" and array.itemsize <= 8:
            return array
    listed = column.to_pylist() if hasattr(column, "to_pylist") else list(column)
    found = np.empty(len(listed), dtype=object)
    found[:] = listed
    return found


def _empty(value: Any) -> bool:
    """Whether a cell holds nothing: None, NaN, or the NA of pandas, which equals nothing."""
    try:
        return value is None or not bool(value == value)
    except TypeError:  # NA has no truth value
        return True
    except ValueError:  # nor has an array
        return False


def _codes(values: np.ndarray) -> tuple[list[str], np.ndarray]:
    """Names by first appearance, and the number of each row's name."""
    known: dict[Hashable, int] = {}
    try:
        codes = [known.setdefault(value, len(known)) for value in values.tolist()]
    except TypeError:
        raise InputError("the names of the sequences are neither text nor numbers") from None
    nameless = next((code for value, code in known.items() if _empty(value)), None)
    if nameless is not None:
        raise InputError(f"row {codes.index(nameless) + 1} names no sequence")
    return [str(value) for value in known], np.array(codes, dtype=np.int64)


def _labels(values: np.ndarray, ids: Sequence[str], codes: np.ndarray) -> list[Any]:
    """The label of each sequence, which all its rows give."""
    found: list[Any] = [None] * len(ids)
    seen = [False] * len(ids)
    for row, (code, value) in enumerate(zip(codes.tolist(), values.tolist(), strict=True)):
        label = None if _empty(value) else value
        if not seen[code]:
            found[code], seen[code] = label, True
        elif found[code] != label:
            both = " and ".join(
                "none" if each is None else repr(each) for each in (found[code], label)
            )
            raise InputError(f"row {row + 1}: sequence {ids[code]!r} has the labels {both}")
    return found


def exact_tokens(columns: Sequence[np.ndarray], offsets: np.ndarray, number: Number) -> ExactArray:
    """Tokens (T, d) of d columns: machine numbers, or objects that ``number`` reads."""
    arrays = _alike(columns)
    if arrays is not None:
        tokens = np.stack(arrays, axis=1)
        check_finite(tokens, offsets, np.inf, "NaN, an infinity or nothing")
        return ExactArray.from_numpy(tokens, own=True)
    rows = []
    for i, row in enumerate(zip(*(column.tolist() for column in columns), strict=True)):
        try:
            rows.append(tuple(map(number, row)))
        except InputError as problem:
            j = int(np.searchsorted(offsets, i, side="right")) - 1
            place = f"sequence {j + 1}, token {i - int(offsets[j]) + 1}"
            raise InputError(f"{place}: {problem}") from None
    return ExactArray.from_rows(rows, len(columns))


def _alike(columns: Sequence[np.ndarray]) -> Sequence[np.ndarray] | None:
    """The columns as arrays of one type that holds all numbers; None where there is none."""
    if any(column.dtype.kind not in "iuf" for column in columns):
        return None
    if len({column.dtype for column in columns}) == 1:
        return columns
    for column in columns:
        whole = column.dtype.kind in "iu" and column.size
        if whole and max(-int(column.min()), int(column.max())) > _WHOLE:
            return None
    return [column.astype(np.float64) for column in columns]
