"""Which sequences have equal empirical measures: hashes of whole arrays propose, bits decide.

Equal measures always have equal hashes, so only sequences whose hashes coincide are compared,
and those exactly. A hash decides nothing but how long this takes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from math import gcd

import numpy as np

from ..exact.array import ExactArray, ranges
from .hashes import Hashes, reduced, sequence_hashes, token_hashes

_BLOCK = 1 << 17  # numbers compared at a time

Measure = frozenset[tuple[Hashable, int]]


@dataclass(frozen=True)
class Merged:
    """Data with equal sequences merged: ``representatives`` lists one index for each measure,
    ``group`` (N,) the place in that list of every sequence."""

    representatives: list[int]
    group: list[int]

    def __len__(self) -> int:
        """Number of distinct measures."""
        return len(self.representatives)


def group_measures(
    tokens: ExactArray,
    offsets: np.ndarray,
    hash_tokens: Hashes = token_hashes,
    hash_sequences: Callable[[np.ndarray, np.ndarray], np.ndarray] = sequence_hashes,
) -> Merged:
    """Group sequences by empirical measure; the first of each group represents it.

    Tokens (T, d) are packed: sequence j is ``tokens[offsets[j]:offsets[j+1]]``. Equal tokens must
    have equal hashes by ``hash_tokens``, equal measures by ``hash_sequences``; the groups are right
    whatever else they do.

    >>> tokens = ExactArray(np.array([[1.0], [2.0], [2.0], [1.0], [2.0]]))
    >>> group_measures(tokens, np.array([0, 2, 4, 5]))
    Merged(representatives=[0, 2], group=[0, 0, 1])
    """
    count = len(offsets) - 1
    hashes = hash_tokens(tokens.values)
    found = hash_sequences(hashes, offsets)
    ordered = np.sort(found)
    if (ordered[1:] != ordered[:-1]).all():
        everyone = list(range(count))
        return Merged(everyone, everyone)
    _, first, place, sizes = np.unique(
        found, return_index=True, return_inverse=True, return_counts=True
    )
    leaders = first[place]  # of each sequence: the first with its hash
    members = np.flatnonzero(sizes[place] > 1)
    numbers = _override_numbers(tokens)
    proved = _seen_equal(tokens, numbers, hashes, offsets, members, leaders[members])
    for doubtful in np.unique(leaders[members[~proved]]).tolist():
        seen: dict[Measure, int] = {}
        for j in np.flatnonzero(leaders == doubtful).tolist():
            keys = token_keys(tokens, range(offsets[j], offsets[j + 1]), numbers)
            leaders[j] = seen.setdefault(measure(keys), j)
    representatives = np.flatnonzero(leaders == np.arange(count))
    return Merged(representatives.tolist(), np.searchsorted(representatives, leaders).tolist())


# ------------------------------------------------------------------------------ exact keys


def measure(keys: Sequence[Hashable]) -> Measure:
    """Empirical measure of a sequence given by the keys of its tokens, up to total mass.

    >>> measure(["a", "b"]) == measure(["b", "a", "b", "a"])
    True
    """
    counts = Counter(keys)
    divisor = gcd(*counts.values())
    return frozenset((key, count // divisor) for key, count in counts.items())


def token_keys(
    tokens: ExactArray, rows: Sequence[int], numbers: np.ndarray | None = None
) -> list[Hashable]:
    """A hashable key for each of some tokens; keys are equal exactly where the tokens are."""
    if numbers is None:
        numbers = _override_numbers(tokens)
    # equal numbers have equal nearest floats, so overrides only refine the bytes
    return [(tokens.values[i].tobytes(), int(numbers[i])) for i in rows]


def _override_numbers(tokens: ExactArray) -> np.ndarray:
    """Number the different lists of entries that no float holds, (T,); 0 is a token without any."""
    width = tokens.shape[1]
    overrides: dict[int, list[tuple[int, int, int]]] = {}
    for k in sorted(tokens.exact):
        entry = tokens.exact[k]
        overrides.setdefault(k // width, []).append((k % width, *entry.as_integer_ratio()))
    numbers = np.zeros(len(tokens), np.int64)
    known: dict[tuple[tuple[int, int, int], ...], int] = {}
    for i, entries in overrides.items():
        numbers[i] = known.setdefault(tuple(entries), len(known) + 1)
    return numbers


# ------------------------------------------------------------------------- exact comparison


@dataclass(frozen=True)
class _Supports:
    """Distinct tokens of sequences, one sequence after another, in the order of their hashes.

    ``rows`` are their indices, ``counts`` their reduced multiplicities; those of sequence i
    are ``first[i] : first[i] + sizes[i]``. ``sure`` tells where tokens with equal hashes
    are equal.
    """

    rows: np.ndarray
    counts: np.ndarray
    first: np.ndarray
    sizes: np.ndarray
    sure: np.ndarray


def _seen_equal(
    tokens: ExactArray,
    numbers: np.ndarray,
    hashes: np.ndarray,
    offsets: np.ndarray,
    members: np.ndarray,
    leaders: np.ndarray,
) -> np.ndarray:
    """For which sequences it is proved that they have the measure of their leader, (m,) of bool.

    Where it is false the measures may be equal all the same: equal hashes of different tokens hide
    it. The leaders are among the ``members``.
    """
    supports = _supports(tokens, numbers, hashes, offsets, members)
    leader = np.searchsorted(members, leaders)
    seen: np.ndarray = supports.sure & supports.sure[leader]
    seen &= supports.sizes == supports.sizes[leader]
    pairs = np.flatnonzero(seen)
    if len(pairs):
        left = ranges(supports.first[pairs], supports.sizes[pairs])
        right = ranges(supports.first[leader[pairs]], supports.sizes[pairs])
        same = supports.counts[left] == supports.counts[right]
        same &= _same(tokens, numbers, supports.rows[left], supports.rows[right])
        starts = np.cumsum(supports.sizes[pairs]) - supports.sizes[pairs]
        seen[pairs] = np.logical_and.reduceat(same, starts)
    return seen


def _supports(
    tokens: ExactArray,
    numbers: np.ndarray,
    hashes: np.ndarray,
    offsets: np.ndarray,
    members: np.ndarray,
) -> _Supports:
    lengths = offsets[members + 1] - offsets[members]
    rows = ranges(offsets[members], lengths)
    owner = np.repeat(np.arange(len(members)), lengths)
    rows = rows[np.lexsort((hashes[rows], owner))]
    found = hashes[rows]
    new = np.ones(len(rows), bool)
    new[1:] = (found[1:] != found[:-1]) | (owner[1:] != owner[:-1])
    starts = np.flatnonzero(new)
    repeats = np.flatnonzero(~new)
    earlier = rows[starts[np.searchsorted(starts, repeats, side="right") - 1]]
    sure = np.ones(len(members), bool)
    sure[owner[repeats[~_same(tokens, numbers, rows[repeats], earlier)]]] = False
    first = np.searchsorted(owner[starts], np.arange(len(members)))
    counts = reduced(np.diff(starts, append=len(rows)), first)
    return _Supports(rows[starts], counts, first, np.diff(first, append=len(starts)), sure)


def _same(
    tokens: ExactArray, numbers: np.ndarray, left: np.ndarray, right: np.ndarray
) -> np.ndarray:
    """Whether tokens are equal, exactly, pair by pair of rows."""
    same: np.ndarray = numbers[left] == numbers[right]
    step = max(1, _BLOCK // tokens.shape[1])
    for start in range(0, len(left), step):
        a, b = (tokens.values[rows[start : start + step]] for rows in (left, right))
        same[start : start + step] &= (a == b).all(axis=1)
    return same
