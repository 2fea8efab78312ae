"""Exact means of sequences: sums in int64, as many at a time as its bits hold (theory C2)."""

from __future__ import annotations

from math import lcm

import numpy as np

from ..exact_array import ExactArray, ranges
from .filtered import Array
from .integer_points import IntegerPoints, Row, lowest_terms

_LIMB = 40  # bits of a part of a float: sums of fewer than 2^20 of them are far inside int64
_MOST = 32  # parts
_LONG = 1000  # bits of a common denominator up to which it serves all points
_TOKENS = 2**15  # tokens at a time


def exact_means(tokens: ExactArray, offsets: Array, chosen: Array) -> IntegerPoints:
    """Means of some of the packed sequences ``tokens[offsets[j]:offsets[j+1]]``.

    >>> tokens = ExactArray(np.array([[1.0], [2.0], [0.5]]))
    >>> exact_means(tokens, np.array([0, 1, 3]), np.array([1])).vectors()
    [(Fraction(5, 4),)]
    """
    rows: list[list[int]] = []
    per_chunk = max(1, _TOKENS * (len(offsets) - 1) // int(offsets[-1]))
    for start in range(0, len(chosen), per_chunk):
        some = chosen[start : start + per_chunk]
        lengths = np.diff(offsets)[some]
        which, bounds = ranges(offsets[some], lengths), np.concatenate([[0], np.cumsum(lengths)])
        found = _sums(tokens, which, bounds[:-1])
        if found is None:
            points = IntegerPoints(tokens.take(which).integer_rows())
            rows += means_of_points(points, np.arange(len(which)), bounds).rows
        else:
            sums, q = found
            rows += [[*row, q * n] for row, n in zip(sums.tolist(), lengths.tolist(), strict=True)]
    return IntegerPoints(rows)


def _sums(tokens: ExactArray, rows: Array, starts: Array) -> tuple[Array, int] | None:
    """Sums of the tokens ``rows[starts[j]:starts[j+1]]`` as integers over one denominator."""
    scaled = tokens.scaled()
    longest = int(np.diff(starts, append=len(rows)).max())
    if scaled is not None and longest < 2**9:
        return np.add.reduceat(scaled[0][rows], starts, axis=0), scaled[1]
    if tokens.exact or longest >= 2**20:
        return None
    rest = tokens.values[rows]
    exponents = np.frexp(rest[rest != 0])[1]
    low = int(exponents.min(initial=0)) - 53
    count = -(-(int(exponents.max(initial=0)) - low) // _LIMB)
    if count > _MOST:
        return None
    total = np.zeros((len(starts), tokens.shape[1]), dtype=object)
    for i in range(count - 1, -1, -1):
        # every step is exact: a multiple of 2^low, cut at a power of two above it
        part = np.trunc(np.ldexp(rest, -(low + _LIMB * i)))
        rest = rest - np.ldexp(part, low + _LIMB * i)
        total = (total << _LIMB) + np.add.reduceat(part.astype(np.int64), starts, axis=0)
    return (total << low if low > 0 else total), 1 << max(-low, 0)


def means_of_points(points: IntegerPoints, which: Array, starts: Array) -> IntegerPoints:
    """Means of the points ``which[starts[j]:starts[j+1]]``, in lowest terms.

    >>> points = IntegerPoints([[1, 2], [3, 1]])
    >>> means_of_points(points, np.array([0, 0, 1]), np.array([0, 1, 3])).vectors()
    [(Fraction(1, 2),), (Fraction(7, 4),)]
    """
    lengths = np.diff(starts)
    common = lcm(*(row[-1] for row in points.rows))
    if common.bit_length() > _LONG:
        runs = np.split(which, starts[1:-1])
        return IntegerPoints([_mean(points.select(run).rows) for run in runs])
    scaled = [[common // row[-1] * p for p in row[:-1]] for row in points.rows]
    largest = max(max(max(row), -min(row)) for row in scaled)
    short = largest * int(lengths.max()) < 2**62
    numerators = np.array(scaled, dtype=np.int64 if short else object)
    sums = np.add.reduceat(numerators[which], starts[:-1], axis=0).tolist()
    rows = [[*row, common * n] for row, n in zip(sums, lengths.tolist(), strict=True)]
    return IntegerPoints(rows).reduced()


def _mean(rows: list[Row]) -> Row:
    common = lcm(*(row[-1] for row in rows))
    scaled = ([common // row[-1] * x for x in row] for row in rows)
    *sums, _ = map(sum, zip(*scaled, strict=True))
    return lowest_terms([*sums, common * len(rows)])
