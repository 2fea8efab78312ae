"""Which sequences and tokens of a data set a picture shows: all, or as many as can be seen."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import zip_longest

from ..dataset import Dataset

MAX_TOKENS = 900  # drawn at once
MAX_NUMBERS = 30_000  # tokens drawn times dimension


@dataclass(frozen=True)
class Sample:
    """The sequences shown, and of each the positions shown."""

    sequences: tuple[int, ...]
    positions: tuple[tuple[int, ...], ...]

    @property
    def tokens(self) -> int:
        """Number of tokens shown."""
        return sum(map(len, self.positions))


def sample(data: Dataset) -> Sample:
    """Choose what to show: all labels in turn, whole sequences while there is room.

    >>> sample(Dataset([[(0,)], [(1,), (2,)]], ["a", "b"])).positions
    ((0,), (0, 1))
    """
    room = min(MAX_TOKENS, max(MAX_NUMBERS // data.dimension, 40))
    by_label: dict[str | None, list[int]] = {}
    for j, label in enumerate(data.names):
        by_label.setdefault(label, []).append(j)
    turns = [j for turn in zip_longest(*by_label.values()) for j in turn if j is not None]
    longest = max(room // 8, 4)  # positions of one sequence
    chosen: dict[int, tuple[int, ...]] = {}
    for j in turns:
        length = int(data.offsets[j + 1] - data.offsets[j])
        shown = evenly(length, longest)
        if room < len(shown):
            break
        room -= len(shown)
        chosen[j] = tuple(shown)
    order = tuple(sorted(chosen))
    return Sample(order, tuple(chosen[j] for j in order))


def evenly(count: int, most: int) -> list[int]:
    """At most ``most`` of the numbers 0 … count − 1, both ends among them."""
    if count <= most:
        return list(range(count))
    return sorted({round(k * (count - 1) / (most - 1)) for k in range(most)})
