"""Parts of a data set: by number, by slice, at random."""

from __future__ import annotations

from numbers import Rational
from operator import index
from typing import Any

import numpy as np

from ..errors import InputError
from ..exact.array import ExactArray, ranges
from ..exact.quotients import frozen

_ADVICE = "give a number, a slice, a list of numbers, or one bool for each sequence"


def chosen(count: int, which: Any) -> int | np.ndarray:
    """The number, or the numbers, of the sequences that ``data[which]`` asks for, of ``count``.

    >>> chosen(4, -1), chosen(4, slice(1, 3)), chosen(2, [False, True])
    (3, array([1, 2]), array([1]))
    """
    if isinstance(which, slice):
        return np.arange(count)[which]
    rows = np.asarray(which)
    if rows.dtype == bool and rows.shape == (count,):
        return np.flatnonzero(rows)
    if rows.dtype.kind not in "iu" or rows.ndim > 1:
        raise InputError(f"data[{repr(which)[:40]}] is nothing; {_ADVICE}")
    if ((rows < -count) | (rows >= count)).any():
        raise IndexError(f"there are {count} sequences, numbered from 0")
    rows = rows % count
    return rows if rows.ndim else int(rows)


def halves(count: int, fraction: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Numbers 0 … count−1 in two parts, at random, each rising and not empty.

    >>> [part.tolist() for part in halves(4, 0.5, 0)]
    [[0, 2], [1, 3]]
    """
    number = isinstance(fraction, float | Rational) and not isinstance(fraction, bool)
    if not number or not 0 < fraction < 1:
        raise InputError(f"the fraction is {fraction!r}, allowed are numbers between 0 and 1")
    if count < 2:
        raise InputError("one sequence can't be split")
    size = min(max(round(fraction * count), 1), count - 1)
    order = np.random.default_rng(read_seed(seed)).permutation(count)
    return np.sort(order[:size]), np.sort(order[size:])


def is_integer(value: Any) -> bool:
    """Whether a value is an integer of Python or NumPy, and no truth value."""
    try:
        index(value)
    except TypeError:
        return False
    return not isinstance(value, bool)


def read_seed(seed: Any) -> int:
    """A seed as an integer of Python; InputError for what is no integer, and below 0.

    >>> read_seed(np.int64(3))
    3
    """
    if not is_integer(seed) or index(seed) < 0:
        raise InputError(f"the seed is {seed!r}, expected an integer that is not negative")
    return index(seed)


def taken(
    tokens: ExactArray, offsets: np.ndarray, rows: np.ndarray
) -> tuple[ExactArray, np.ndarray]:
    """Packed tokens and offsets of some sequences, in the given order."""
    lengths = np.diff(offsets)[rows]
    part = tokens.take(ranges(offsets[rows], lengths))
    return part, frozen(np.concatenate([[0], np.cumsum(lengths)]))
