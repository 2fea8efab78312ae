"""Exact sums of the tokens of every sequence, as Python integers over one denominator."""

from __future__ import annotations

from math import lcm
from typing import Any

import numpy as np

from ..exact_array import ExactArray

Array = np.ndarray[Any, np.dtype[Any]]

_LIMB = 40  # bits of a limb: sums of up to 2^22 limbs stay far inside int64
_MOST = 32  # limbs


def rows_as_integers(tokens: ExactArray, rows: Array) -> tuple[Array, int]:
    """Some tokens as integers over one denominator.

    >>> rows_as_integers(ExactArray(np.array([[0.5, 3.0]])), np.array([0]))
    (array([[1, 6]]), 2)
    """
    return sums_as_integers(tokens, rows, np.arange(len(rows)))


def sums_as_integers(tokens: ExactArray, rows: Array, starts: Array) -> tuple[Array, int]:
    """Sums of the tokens ``rows[starts[j]:starts[j+1]]``, as integers over one denominator; in
    int64 or, where they are longer, Python's.

    >>> sums_as_integers(ExactArray(np.array([[0.5], [3.0]])), np.arange(2), np.array([0]))
    (array([[7]]), 2)
    """
    scaled = tokens.scaled()
    longest = int(np.diff(starts, append=len(rows)).max(initial=0))
    if scaled is not None and longest < 2**9:
        numerators, denominator = scaled
        return np.add.reduceat(numerators[rows], starts, axis=0), denominator
    width = tokens.shape[1]
    overridden = bool(tokens.exact) and not {k // width for k in tokens.exact}.isdisjoint(
        rows.tolist()
    )
    values = tokens.values[rows]
    limbs = None if overridden or longest >= 2**20 else _limbs(values)
    if limbs is None:
        return _slowly(tokens, rows, starts)
    parts, shift = limbs
    sums = [np.add.reduceat(part, starts, axis=0) for part in parts]
    total = sums[-1].astype(object)
    for part in sums[-2::-1]:
        total = (total << _LIMB) + part
    return (total << shift if shift > 0 else total), 1 << max(-shift, 0)


def _limbs(values: Array) -> tuple[list[Array], int] | None:
    """Int64 limbs, lowest first, with values = Σ limb_i 2^(shift + 40 i), or None."""
    _, exponents = np.frexp(values)
    used = values != 0
    if not used.any():
        return [np.zeros(values.shape, dtype=np.int64)], 0
    low, high = int(exponents[used].min()) - 53, int(exponents[used].max())
    count = -(-(high - low) // _LIMB)
    if count > _MOST:
        return None
    rest = values
    parts: list[Array] = []
    for i in range(count - 1, -1, -1):
        # every step is exact: a multiple of 2^low, cut at a power of two above it
        part = np.trunc(np.ldexp(rest, -(low + _LIMB * i)))
        rest = rest - np.ldexp(part, low + _LIMB * i)
        parts.append(part.astype(np.int64))
    return parts[::-1], low


def _slowly(tokens: ExactArray, rows: Array, starts: Array) -> tuple[Array, int]:
    exact = [tokens.row(int(i)) for i in rows]
    common = lcm(*(x.denominator for row in exact for x in row))
    ends = [*starts[1:].tolist(), len(rows)]
    sums = [
        [
            sum(x.numerator * (common // x.denominator) for x in column)
            for column in zip(*exact[a:b], strict=True)
        ]
        for a, b in zip(starts.tolist(), ends, strict=True)
    ]
    return np.array(sums, dtype=object).reshape(len(starts), -1), common
