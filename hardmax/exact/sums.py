"""Exact tokens, and sums of the tokens of every sequence, in limbs that int64 holds."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from math import lcm

import numpy as np

from .array import Array, ExactArray

_LIMB_BITS = 32  # a Python integer is cut into limbs of this length
_LONGEST_LIMB_BITS = 62  # an integer up to this length is a single limb
_MOST_LIMBS = 32  # floats that need more limbs are added as Python integers
_MOST_ADDED_NUMBERS = 1 << 9  # so many numbers below 2^53 have a sum that int64 holds
_SPARSE_FROM = 1 << 17  # from so many numbers on a sparse matrix product is faster


@dataclass(frozen=True)
class Limbs:
    """Rationals Σ parts[i]·2^(width·i) / denominator, parts of int64, |part| < 2^62.

    >>> x = Limbs((np.array([1]), np.array([3])), 40, 2)
    >>> x.integers(), x.denominator
    (array([3298534883329], dtype=object), 2)
    """

    parts: tuple[Array, ...]
    width: int
    denominator: int

    @classmethod
    def of(cls, integers: Array, denominator: int = 1) -> Limbs:
        """Limbs of an array of Python integers."""
        flat = integers.reshape(-1).tolist()
        longest = max(map(int.bit_length, flat), default=0)
        if longest < _LONGEST_LIMB_BITS:
            return cls((integers.astype(np.int64),), _LIMB_BITS, denominator)
        size = longest // _LIMB_BITS + 1
        raw = b"".join(x.to_bytes(_LIMB_BITS // 8 * size, "little", signed=True) for x in flat)
        words = np.frombuffer(raw, dtype="<u4").reshape(*integers.shape, size)
        parts = [words[..., i].astype(np.int64) for i in range(size - 1)]
        parts.append(words[..., -1].view("<i4").astype(np.int64))  # the sign is in the last
        return cls(tuple(parts), _LIMB_BITS, denominator)

    def integers(self) -> Array:
        """The numerators, as an array of Python integers."""
        total = self.parts[-1].astype(object)
        for part in self.parts[-2::-1]:
            total = (total << self.width) + part
        return np.asarray(total)


def single_tokens(tokens: ExactArray, rows: Array) -> Limbs:
    """Some tokens over one denominator.

    >>> x = single_tokens(ExactArray(np.array([[0.5, 3.0]])), np.array([0]))
    >>> x.integers(), x.denominator
    (array([[1, 6]], dtype=object), 2)
    """
    return sums_of_tokens(tokens, rows, np.arange(len(rows) + 1))


def sums_of_tokens(tokens: ExactArray, rows: Array, bounds: Array) -> Limbs:
    """Sums of the tokens ``rows[bounds[j]:bounds[j+1]]`` over one denominator.

    >>> x = sums_of_tokens(ExactArray(np.array([[0.5], [3.0]])), np.arange(2), np.array([0, 2]))
    >>> x.integers(), x.denominator
    (array([[7]], dtype=object), 2)
    """
    found = quick_sums(tokens, rows, bounds)
    return found if found is not None else _slowly(tokens, rows, bounds)


def quick_sums(tokens: ExactArray, rows: Array, bounds: Array) -> Limbs | None:
    """`sums_of_tokens` where int64 or float64 can add them exactly, None elsewhere."""
    longest = int(np.diff(bounds).max(initial=1))
    scaled = tokens.scaled()
    if scaled is not None and longest < _MOST_ADDED_NUMBERS:
        numerators, denominator = scaled
        return Limbs((totals(_rows(numerators, rows), bounds),), 0, denominator)
    d = tokens.shape[1]
    overridden = bool(tokens.exact) and not {k // d for k in tokens.exact}.isdisjoint(rows.tolist())
    return None if overridden else _dyadic(tokens, rows, bounds, 50 - longest.bit_length())


def totals(x: Array, bounds: Array) -> Array:
    """Sums of the rows bounds[j] … bounds[j+1] − 1 of x (T, d), (n, d).

    They are added one by one, in some order.

    >>> totals(np.array([[1.0], [2.0], [4.0]]), np.array([0, 1, 3]))
    array([[1.],
           [6.]])
    """
    sparse = sys.modules.get("scipy.sparse")  # thrice as quick, but takes 0.1 s to import
    if sparse is None or x.size < _SPARSE_FROM:
        return np.asarray(np.add.reduceat(x, bounds[:-1], axis=0))
    ones = np.ones(len(x), dtype=x.dtype)
    shape = (len(bounds) - 1, len(x))
    return np.asarray(sparse.csr_array((ones, np.arange(len(x)), bounds), shape=shape) @ x)


def _rows(x: Array, rows: Array) -> Array:
    """Some rows; a view where they follow each other."""
    first, end = (int(rows[0]), int(rows[-1]) + 1) if len(rows) else (0, 0)
    whole = end - first == len(rows) and bool((np.diff(rows) == 1).all())
    return x[first:end] if whole else x[rows]


def _dyadic(tokens: ExactArray, rows: Array, bounds: Array, width: int) -> Limbs | None:
    """Sums of floats, cut into pieces of about ``width`` bits so that float64 adds them exactly;
    None where they differ too much in size, or are near the ends of its range."""
    low, high = tokens.span
    low = min(low, 0)
    if width < 1 or high - low > width * _MOST_LIMBS or low < -900 or high > 960:
        return None
    rest = _rows(tokens.values, rows)
    alone = len(bounds) == len(rows) + 1
    parts: list[Array] = []
    for place in range(low + (max(high - low, 1) - 1) // width * width, low - 1, -width):
        piece = rest
        if place > low:  # rounded to a multiple of 2^place, exactly
            large = 1.5 * 2.0 ** (place + 52)
            piece = rest + large
            piece -= large
            rest = rest - piece
        sums = piece if alone else totals(piece, bounds)
        parts.append(np.ldexp(sums, -place).astype(np.int64))
    return Limbs(tuple(parts[::-1]), width, 1 << -low)


def _slowly(tokens: ExactArray, rows: Array, bounds: Array) -> Limbs:
    given = tokens.take(rows).integer_rows()
    common = lcm(*(q for *_, q in given))
    scaled = [[common // q * x for x in row] for *row, q in given]
    sums = np.add.reduceat(np.array(scaled, dtype=object), bounds[:-1], axis=0)
    return Limbs.of(sums, common)
