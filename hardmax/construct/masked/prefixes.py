"""The prefixes of the sequences: what the last token of a masked transformer can depend on."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...dataset import Dataset
from ...dataset.grouping import token_keys
from ...model.tokens import Tokens


@dataclass
class Prefixes:
    """All prefixes that masked transformers can tell apart (Theorem 8), numbered from 0.

    ``paths[j]`` are the prefixes of sequence ``chosen[j]``, one for each position; a prefix that
    repeats one token is the same as this token alone. ``tokens`` are the sequences that are not
    the beginning of others, and ``rows`` (P,) says at which of their tokens a prefix ends.
    """

    chosen: list[int]
    paths: list[list[int]]
    tokens: Tokens
    rows: list[int]

    @classmethod
    def of(cls, data: Dataset, chosen: list[int]) -> Prefixes:
        """The prefixes of some sequences.

        >>> data = Dataset([[(1,), (1,), (2,)], [(1,), (2,)], [(1,), (2,), (1,)]])
        >>> prefixes = Prefixes.of(data, [0, 1, 2])
        >>> prefixes.paths, prefixes.rows
        ([[0, 0, 1], [0, 2], [0, 2, 3]], [3, 2, 4, 5])
        """
        keys = token_keys(data.tokens, range(len(data.tokens)))
        known: dict[object, int] = {}
        paths = []
        for j in chosen:
            path: list[int] = []
            own = keys[data.offsets[j] : data.offsets[j + 1]]
            for i, key in enumerate(own):
                if own.count(own[0]) > i and own[: i + 1].count(own[0]) == i + 1:
                    place: object = key  # the beginning repeats one token
                else:  # behind such a beginning its length counts
                    place = path[-1], key, i if path[-1] == path[0] else 0
                path.append(known.setdefault(place, len(known)))
            paths.append(path)
        rows, picked, done = [-1] * len(known), [], 0
        for j in sorted(range(len(chosen)), key=lambda j: -len(paths[j])):
            if rows[paths[j][-1]] < 0:
                for i, prefix in enumerate(paths[j]):
                    rows[prefix] = done + i
                picked.append(chosen[j])
                done += len(paths[j])
        return cls(
            list(chosen),
            paths,
            Tokens.of_sequences(data.tokens, data.offsets, np.array(picked, dtype=np.int64)),
            rows,
        )

    def __len__(self) -> int:
        return len(self.rows)
