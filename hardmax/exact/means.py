"""Exact means of sequences (theory C2)."""

from __future__ import annotations

from collections.abc import Hashable
from math import lcm

import numpy as np

from .array import Array, ExactArray, ranges
from .points import IntegerPoints
from .rows import Row, lowest_terms
from .sums import quick_sums

_DENOMINATOR_BITS = 1000  # a longer common denominator of all points is not formed
_CHUNK_TOKENS = 2**15  # tokens that are processed at once


def exact_means(tokens: ExactArray, offsets: Array, chosen: Array) -> IntegerPoints:
    """Means of some of the packed sequences ``tokens[offsets[j]:offsets[j+1]]``.

    >>> tokens = ExactArray(np.array([[1.0], [2.0], [0.5]]))
    >>> exact_means(tokens, np.array([0, 1, 3]), np.array([1])).vectors()
    [(Fraction(5, 4),)]
    """
    rows: list[list[int]] = []
    per_chunk = max(1, _CHUNK_TOKENS * (len(offsets) - 1) // int(offsets[-1]))
    for start in range(0, len(chosen), per_chunk):
        some = chosen[start : start + per_chunk]
        lengths = np.diff(offsets)[some]
        which, bounds = ranges(offsets[some], lengths), np.concatenate([[0], np.cumsum(lengths)])
        found = quick_sums(tokens, which, bounds)
        if found is None:
            points = IntegerPoints(tokens.take(which).integer_rows())
            rows += means_of_points(points, np.arange(len(which)), bounds).rows
        else:
            sums, q = found.integers().tolist(), found.denominator
            rows += [[*row, q * n] for row, n in zip(sums, lengths.tolist(), strict=True)]
    return IntegerPoints(rows)


def means_of_points(points: IntegerPoints, which: Array, starts: Array) -> IntegerPoints:
    """Means of the points ``which[starts[j]:starts[j+1]]``, in lowest terms.

    >>> points = IntegerPoints([[1, 2], [3, 1]])
    >>> means_of_points(points, np.array([0, 0, 1]), np.array([0, 1, 3])).vectors()
    [(Fraction(1, 2),), (Fraction(7, 4),)]
    """
    table = _mean_table(points, which, starts)
    if table is not None:
        return IntegerPoints(table.tolist())
    runs = np.split(which, starts[1:-1])
    return IntegerPoints([_mean(points.select(run).rows) for run in runs])


def mean_keys(points: IntegerPoints, which: Array, starts: Array) -> list[Hashable]:
    """Hashable keys of the means of `means_of_points`, equal where these are.

    >>> points = IntegerPoints([[1, 2], [3, 2], [1, 1]])
    >>> first, second = mean_keys(points, np.array([0, 1, 2]), np.array([0, 2, 3]))
    >>> first == second
    True
    """
    table = _mean_table(points, which, starts)
    if table is None or table.dtype == object:
        return [tuple(row) for row in means_of_points(points, which, starts).rows]
    whole, width = table.tobytes(), table.shape[1] * table.itemsize
    return [whole[at : at + width] for at in range(0, len(whole), width)]


def _mean_table(points: IntegerPoints, which: Array, starts: Array) -> Array | None:
    """Rows of the means in lowest terms, of int64 where they fit; None where the common
    denominator is too long to serve."""
    lengths = np.diff(starts)
    common = lcm(*(row[-1] for row in points.rows))
    if common.bit_length() > _DENOMINATOR_BITS:
        return None
    scaled = [[common // row[-1] * p for p in row[:-1]] for row in points.rows]
    largest = max(common, *(max(max(row), -min(row)) for row in scaled))
    short = largest * int(lengths.max()) < 2**62
    numerators = np.array(scaled, dtype=np.int64 if short else object)
    sums = np.add.reduceat(numerators[which], starts[:-1], axis=0)
    table = np.c_[sums, common * (lengths if short else lengths.astype(object))]
    return np.asarray(table // np.gcd.reduce(table, axis=1)[:, None])


def _mean(rows: list[Row]) -> Row:
    common = lcm(*(row[-1] for row in rows))
    scaled = ([common // row[-1] * x for x in row] for row in rows)
    *sums, _ = map(sum, zip(*scaled, strict=True))
    return lowest_terms([*sums, common * len(rows)])
