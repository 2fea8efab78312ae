"""What a masked transformer can see of a sequence: all of it, but not how often a constant repeats.

Two sequences have equal outputs under every masked transformer exactly if they are equal, or both
repeat one and the same token (theory, Theorem 8).
"""

from __future__ import annotations

from collections.abc import Hashable

from .dataset import Dataset
from .grouping import Merged, token_keys
from .measures import check_labels


def merge_ordered(data: Dataset) -> Merged:
    """Merge sequences that no masked transformer tells apart; the first of each represents them.

    Raises ContradictionError where two of them have different labels.

    >>> data = Dataset([[(0,), (1,)], [(1,), (0,)], [(1,)], [(1,), (1,)]], ["a", "b", "c", "c"])
    >>> merge_ordered(data).representatives
    [0, 1, 2]
    """
    data.need_labels()
    merged = _grouped(data)
    check_labels(data, merged, masked=True)
    return merged


def count_ordered(data: Dataset) -> int:
    """The number of sequences that masked transformers can tell apart."""
    return len(_grouped(data))


def order_representatives(data: Dataset) -> list[int]:
    """One sequence for each that masked transformers can tell apart."""
    return _grouped(data).representatives


def _grouped(data: Dataset) -> Merged:
    keys = token_keys(data.tokens, range(len(data.tokens)))
    places: dict[tuple[Hashable, ...], int] = {}
    representatives: list[int] = []
    group: list[int] = []
    for j in range(len(data)):
        own = tuple(keys[data.offsets[j] : data.offsets[j + 1]])
        if own.count(own[0]) == len(own):
            own = own[:1]
        place = places.setdefault(own, len(places))
        if place == len(representatives):
            representatives.append(j)
        group.append(place)
    return Merged(representatives, group)
