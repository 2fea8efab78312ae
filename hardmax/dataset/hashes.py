"""64 bits for each token, and for each sequence: what differs in them differs for certain.

Equal tokens have equal hashes, and so have sequences with equal empirical measures. Different ones
seldom have: whoever uses a hash compares exactly where two are equal.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..exact.array import ExactArray

Hashes = Callable[[np.ndarray], np.ndarray]  # of rows (T, d) to 64 bits each, (T,)
_BLOCK = 1 << 17  # numbers hashed at a time
_ODD = np.uint64(0x9E3779B97F4A7C15)


def token_hashes(values: np.ndarray) -> np.ndarray:
    """64 bits for each row of floats (T, d): Σ k_i·x_i mod 2^64 of folded bit patterns x."""
    width = values.shape[1]
    keys = _mixed(np.arange(1, width + 1, dtype=np.uint64) * _ODD) | np.uint64(1)
    hashes = np.empty(len(values), np.uint64)
    step = max(1, _BLOCK // width)
    for start in range(0, len(values), step):
        bits = np.ascontiguousarray(values[start : start + step]).view(np.uint64)
        folded = bits >> np.uint64(32)  # few-bit floats end in zeros, which a product keeps
        folded ^= bits
        hashes[start : start + step] = folded @ keys
    return hashes


def _mixed(x: np.ndarray) -> np.ndarray:
    """A bijection of 64 bits in which every bit depends on all (the finisher of SplitMix64)."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    x ^= x >> np.uint64(31)
    return x


def measure_hashes(tokens: ExactArray, offsets: np.ndarray) -> np.ndarray:
    """64 bits for each sequence, (N,): equal where the measures are, and seldom elsewhere.

    >>> tokens = ExactArray(np.array([[1.0], [2.0], [2.0], [1.0]]))
    >>> a, b = measure_hashes(tokens, np.array([0, 2, 4]))
    >>> bool(a == b)
    True
    """
    return sequence_hashes(token_hashes(tokens.values), offsets)


def sequence_hashes(hashes: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    """64 bits for each sequence, (N,): Σ (count/gcd)·mixed(hash) over its distinct tokens.

    It forgets order and common multiplicity, as the measure does. Sequences of one length
    are worked out together.
    """
    lengths = np.diff(offsets)
    found = np.empty(len(lengths), np.uint64)
    order = np.argsort(lengths, kind="stable")
    ends = np.flatnonzero(np.diff(lengths[order], append=-1)) + 1
    for start, end in zip([0, *ends[:-1].tolist()], ends.tolist(), strict=True):
        length = int(lengths[order[start]])
        step = max(1, _BLOCK // length)
        for at in range(start, end, step):
            some = order[at : min(at + step, end)]
            found[some] = _row_hashes(hashes[offsets[some, None] + np.arange(length)])
    return found


def _row_hashes(rows: np.ndarray) -> np.ndarray:
    rows.sort(axis=1)
    new = np.ones(rows.shape, bool)
    new[:, 1:] = rows[:, 1:] != rows[:, :-1]
    found: np.ndarray = _mixed(rows).sum(axis=1, dtype=np.uint64)
    repeats = np.flatnonzero(~new.all(axis=1))
    if len(repeats):
        starts = np.flatnonzero(new[repeats])
        first = np.flatnonzero(starts % rows.shape[1] == 0)  # among the starts, of each row
        counts = reduced(np.diff(starts, append=len(repeats) * rows.shape[1]), first)
        terms = _mixed(rows[repeats].reshape(-1)[starts]) * counts.astype(np.uint64)
        found[repeats] = np.add.reduceat(terms, first)
    return found


def reduced(counts: np.ndarray, first: np.ndarray) -> np.ndarray:
    """Counts divided by their greatest common divisor, sequence by sequence."""
    common = np.gcd.reduceat(counts, first)
    reduced: np.ndarray = counts // np.repeat(common, np.diff(first, append=len(counts)))
    return reduced
