"""Which sequences share which tokens: the graph G of the separation stage (Lemma 3.5)."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from itertools import pairwise
from random import Random

import numpy as np

from ...dataset.grouping import token_keys
from ...dataset.hashes import Hashes, token_hashes
from ...exact.array import Array, ExactArray


class Sharing:
    """G joins two of N sequences that share a token.

    ``owner`` (T,) gives the sequence of every token, ``token`` (T,) a number that is the same
    for equal tokens.

    >>> sharing = Sharing(np.array([0, 0, 1, 2]), np.array([0, 1, 1, 2]))
    >>> sharing.any, sharing.components(), sharing.components(np.array([5, 6, 5]))
    (True, 2, 3)
    """

    def __init__(self, owner: Array, token: Array) -> None:
        self.owner, self.token = owner, token
        self.count = int(owner[-1]) + 1
        self.kinds = int(token.max()) + 1
        keys = np.unique(token * self.count + owner)
        self._owners, self._tokens = keys % self.count, keys // self.count  # each pair once

    @property
    def any(self) -> bool:
        """Whether any token is shared."""
        return len(self._tokens) > self.kinds

    def components(self, focus: Array | None = None) -> int:
        """Connected components of G; with ``focus`` (N,), after a block that pulls sequence j
        towards focus[j] and so parts sequences of different focus."""
        from scipy.sparse import coo_array
        from scipy.sparse.csgraph import connected_components

        # a token of one sequence only is joined to that sequence, so it adds no component
        ends = self._tokens
        if focus is not None:
            pairs = self._tokens * (int(focus.max()) + 1) + focus[self._owners]
            _, ends = np.unique(pairs, return_inverse=True)
        size = self.count + int(ends.max()) + 1
        edges = self._owners, self.count + ends
        graph = coo_array((np.ones(len(ends), dtype=bool), edges), shape=(size, size))
        return int(connected_components(graph, directed=False, return_labels=False))

    def pairs(self, rng: Random) -> Iterator[tuple[int, int]]:
        """Pairs of sequences that share a token, at random."""
        owners: dict[int, list[int]] = {}
        starts = np.searchsorted(self.owner, np.arange(self.count + 1)).tolist()
        numbers = self.token.tolist()
        for j, (a, b) in enumerate(pairwise(starts)):
            for token in set(numbers[a:b]):
                owners.setdefault(token, []).append(j)
        shared = [owned for owned in owners.values() if len(owned) > 1]
        while True:
            first, second = rng.sample(rng.choice(shared), 2)
            yield min(first, second), max(first, second)


def numbered(keys: Iterable[Hashable]) -> Array:
    """Numbers 0, 1, 2, … of keys, by first appearance.

    >>> numbered("abca")
    array([0, 1, 2, 0])
    """
    known: dict[Hashable, int] = {}
    return np.array([known.setdefault(key, len(known)) for key in keys])


def token_numbers(tokens: ExactArray, rows: Array, hashes: Hashes = token_hashes) -> Array:
    """Numbers of the tokens in some rows, by first appearance; equal tokens have equal numbers.

    Equal tokens have equal ``hashes``; what they decide is only how long this takes.

    >>> token_numbers(ExactArray(np.array([[1.0], [2.0], [1.0]])), np.arange(3))
    array([0, 1, 0])
    """
    scaled = tokens.scaled() if tokens.exact else None
    if scaled is not None or not tokens.exact:
        X = (tokens.values if scaled is None else scaled[0])[rows]
        _, first, place = np.unique(hashes(X), return_index=True, return_inverse=True)
        if (X[first[place]] == X).all():  # no two different tokens share a hash
            return by_appearance(first)[place]
    return numbered(token_keys(tokens, rows.tolist()))


def by_appearance(first: Array) -> Array:
    """Each kind's rank in the order of first appearance, given where each appears first.

    >>> by_appearance(np.array([5, 0, 2]))
    array([2, 0, 1])
    """
    rank = np.empty(len(first), dtype=np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    return rank
