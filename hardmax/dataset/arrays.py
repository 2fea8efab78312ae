"""Sequences as users hold them, packed: arrays as a whole, lists token by token."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from os import PathLike
from typing import Any

import numpy as np

from ..errors import InputError
from ..exact.array import ExactArray
from ..exact.dyadic import chunks
from ..exact.numbers import MAX_DIGITS, MAX_EXPONENT, Vector, as_vector, check_size
from ..exact.quotients import Quotients
from ..words import kind

_EXPECTED = "sequences are a list of arrays (n_j, d), lists of tokens, or one array (N, n, d)"


def packed(sequences: Any) -> tuple[ExactArray, np.ndarray]:
    """Tokens (T, d) and offsets (N+1,) of an array (N, n, d), or of N sequences.

    Raises InputError that names the sequence and the token.

    >>> packed(np.zeros((2, 3, 4)))[1]
    array([0, 3, 6])
    """
    _check_type(sequences)
    whole = _array(sequences)
    if whole is not None:
        if whole.ndim != 3:
            advice = "; with one token each, give X[:, None, :]" if whole.ndim == 2 else ""
            raise InputError(f"an array of shape {whole.shape}: {_EXPECTED}{advice}")
        count, length, dimension = whole.shape
        offsets = np.arange(count + 1) * length
        return _taken(whole.reshape(count * length, dimension), offsets), offsets
    given = list(sequences)
    arrays = [_array(sequence, f"sequence {j}: ") for j, sequence in enumerate(given, 1)]
    if given and all(_alike(array, arrays[0]) for array in arrays):
        offsets = np.cumsum([0, *map(len, arrays)])  # type: ignore[arg-type]
        return _taken(np.concatenate(arrays), offsets), offsets  # type: ignore[arg-type]
    return _token_by_token(given)


def is_table(value: Any) -> bool:
    """Whether a value has named columns, as frames of pandas and polars have."""
    return hasattr(value, "columns") and hasattr(value, "__getitem__")


def _check_type(sequences: Any) -> None:
    if isinstance(sequences, str | bytes | PathLike):
        raise InputError(
            f"{str(sequences)[:60]!r} is not a list of sequences; hardmax.load reads files"
        )
    if is_table(sequences):
        raise InputError(f"{kind(sequences)} is a table; give hardmax.Dataset(table)")
    if isinstance(sequences, Mapping) or hasattr(sequences, "iloc"):  # a column of pandas
        raise InputError(f"{kind(sequences)} is not a list of sequences; {_EXPECTED}")
    if isinstance(sequences, AbstractSet):
        raise InputError(f"{kind(sequences)} has no order; {_EXPECTED}")
    if not isinstance(sequences, Iterable):
        raise InputError(f"{kind(sequences)} is no data; {_EXPECTED}")


def _array(values: Any, place: str = "") -> np.ndarray | None:
    """A NumPy array of an array or a tensor of numbers; None for anything else."""
    refuse_masked(values, place)
    if not isinstance(values, np.ndarray):
        if not hasattr(values, "__array__") and not hasattr(values, "__dlpack__"):
            return None
        if hasattr(values, "detach"):  # PyTorch, whose bfloat16 NumPy does not have
            values = values.detach().cpu()
            values = values.float() if "bfloat16" in str(values.dtype) else values
        elif hasattr(values, "get"):  # CuPy
            values = values.get()
        values = np.asarray(values)
    return values if values.dtype.kind in "iuf" else None


def refuse_masked(values: Any, place: str = "") -> None:
    """Refuse an array of which entries are masked: what stands below a mask is no number."""
    if isinstance(values, np.ma.MaskedArray) and (masked := int(np.ma.getmaskarray(values).sum())):
        raise InputError(
            f"{place}{masked} of {values.size} entries are masked; leave such sequences out, or "
            f"fill numbers in"
        )


def _alike(array: np.ndarray | None, first: np.ndarray | None) -> bool:
    """Whether arrays can be concatenated as they are, without a change of any number."""
    return (
        array is not None
        and first is not None
        and array.ndim == first.ndim == 2
        and array.dtype == first.dtype
        and array.shape[1] == first.shape[1]
    )


def _taken(tokens: np.ndarray, offsets: np.ndarray) -> ExactArray:
    check_finite(tokens, offsets, np.inf, "NaN or an infinity")
    return ExactArray.from_numpy(tokens)


def check_finite(tokens: np.ndarray, offsets: np.ndarray, limit: float, what: str) -> None:
    """Refuse numbers that are not less than ``limit``, and NaN, naming the first place."""
    if tokens.dtype.kind != "f":
        return
    flat = tokens.reshape(-1)
    for part in chunks(len(flat)):
        with np.errstate(invalid="ignore"):
            some = flat[part].astype(np.float64, copy=False)
            if -limit < some.min() and some.max() < limit:  # false where NaN is among them
                continue
            place = part.start + int(np.argmin(np.abs(some) < limit))
        row, k = divmod(place, tokens.shape[1])
        j = int(np.searchsorted(offsets, row, side="right")) - 1
        token = row - int(offsets[j]) + 1
        raise InputError(
            f"sequence {j + 1}, token {token} holds {what} (coordinate {k + 1}); leave such "
            f"sequences out, or fill numbers in"
        )


def check_limits(tokens: ExactArray, offsets: np.ndarray) -> None:
    """Refuse packed tokens that no data file could give back, naming the first.

    Numbers satisfy |x| < 2^1000 and have at most 10 000 digits.
    """
    width = max(tokens.shape[1], 1)
    flat = tokens.values.reshape(-1)
    for part in chunks(len(flat)):
        large = np.flatnonzero(np.abs(flat[part]) >= 2.0**MAX_EXPONENT) + part.start
        if len(large):
            _check_entries(tokens, offsets, large.tolist(), width)
    if not isinstance(tokens.exact, Quotients):  # those are short
        _check_entries(tokens, offsets, tokens.exact, width)


def _check_entries(
    tokens: ExactArray, offsets: np.ndarray, entries: Iterable[int], width: int
) -> None:
    for place in entries:
        try:
            number = check_size(tokens.entry(place))
            longest = max(abs(number.numerator), number.denominator)
            if longest.bit_length() > 3 * MAX_DIGITS and longest >= 10**MAX_DIGITS:
                raise InputError(f"a number has more than {MAX_DIGITS} digits")
        except InputError as problem:
            row, k = divmod(place, width)
            j = int(np.searchsorted(offsets, row, side="right")) - 1
            token = row - int(offsets[j]) + 1
            raise InputError(
                f"sequence {j + 1}, token {token}, coordinate {k + 1}: {problem}"
            ) from None


def _token_by_token(given: Sequence[Any]) -> tuple[ExactArray, np.ndarray]:
    rows: list[Any] = []
    offsets = [0]
    for j, sequence in enumerate(given):
        if isinstance(sequence, str) or not isinstance(sequence, Iterable):
            raise InputError(f"sequence {j + 1}: {sequence!r} is not a list of tokens; {_EXPECTED}")
        rows += list(sequence)
        offsets.append(len(rows))
    found = _floats(rows)
    if found is None:
        found = ExactArray.from_rows(*_exact(rows, np.array(offsets)))
    return found, np.array(offsets)


def _floats(rows: Sequence[Any]) -> ExactArray | None:
    """Lists of Python floats, or of small integers, all at once; None for anything else."""
    if not rows or not {*map(type, rows)} <= {list, tuple} or len({*map(len, rows)}) != 1:
        return None
    kinds = {type(x) for row in rows for x in row}
    try:
        if kinds == {float} and np.isfinite(array := np.array(rows)).all():
            return ExactArray.from_numpy(array, own=True)
        if kinds == {int}:
            return ExactArray.from_numpy(np.array(rows, dtype=np.int64))
    except OverflowError:
        pass
    return None


def _exact(rows: Sequence[Any], offsets: np.ndarray) -> tuple[list[Vector], int]:
    found: list[Vector] = []
    for i, token in enumerate(rows):
        try:
            if isinstance(token, str) or not isinstance(token, Iterable):
                raise InputError(f"{str(token)[:40]!r} is not a list of numbers; {_EXPECTED}")
            found.append(as_vector(token))
            if len(found[-1]) != len(found[0]):
                raise InputError(f"has {len(found[-1])} coordinates, expected {len(found[0])}")
        except InputError as problem:
            j = int(np.searchsorted(offsets, i, side="right")) - 1
            joint = "" if str(problem).startswith("has ") else ":"
            raise InputError(
                f"sequence {j + 1}, token {i - int(offsets[j]) + 1}{joint} {problem}"
            ) from None
    return found, len(found[0]) if found else 0
