"""What the strategies start from: one sequence of each measure, and means without ties."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ...dataset import Dataset
from ...dataset.measures import Merged
from ...exact.array import Array
from ...exact.means import exact_means
from ...exact.points import IntegerPoints
from ...model.layers import RankOneBlock

if TYPE_CHECKING:
    from .tie_splitting import Measures


def representatives(data: Dataset, merged: Merged) -> tuple[Array, list[str]]:
    """One sequence of each empirical measure: their numbers, (N,), and their labels."""
    names = data.names
    rows = merged.representatives
    return np.asarray(rows, dtype=np.int64), [names[j] or "" for j in rows]


def untied_means(
    data: Dataset, chosen: Array, labels: Sequence[str], seed: int
) -> tuple[list[RankOneBlock], IntegerPoints]:
    """Tie splitting, where two labels share a mean, and the means after it."""
    means = exact_means(data.tokens, data.offsets, chosen)
    split, state = split_tied(data, chosen, labels, seed, means.first_equal())
    return split, means if state is None else state.means()


def split_tied(
    data: Dataset, chosen: Array, labels: Sequence[str], seed: int, first_equal: Array
) -> tuple[list[RankOneBlock], Measures | None]:
    """Tie splitting and the state after it; None where no two labels share a mean.

    ``first_equal`` (N,) gives for each mean the first one that is equal.
    """
    if all(labels[i] == labels[j] for j, i in enumerate(first_equal.tolist())):
        return [], None
    from .tie_splitting import Measures, split_measures

    return split_measures(Measures.of_array(data.tokens, data.offsets, chosen), labels, seed)


def distinct_means(means: IntegerPoints, labels: Sequence[str]) -> tuple[IntegerPoints, list[str]]:
    """Every mean once, with its label: equal means have equal labels."""
    first = means.first_equal()
    kept = np.flatnonzero(first == np.arange(len(first)))
    return means.select(kept), [labels[j] for j in kept.tolist()]
