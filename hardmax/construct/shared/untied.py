"""What the strategies start from: one sequence of each measure, and means without ties."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...dataset import Dataset
from ...dataset.measures import Merged
from ...exact.array import Array
from ...exact.means import exact_means
from ...exact.points import IntegerPoints
from ...model.layers import RankOneBlock
from .tie_splitting import Measures, split_measures


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
    if all(labels[i] == labels[j] for j, i in enumerate(means.first_equal().tolist())):
        return [], means
    start = Measures.of_array(data.tokens, data.offsets, chosen)
    split, state = split_measures(start, labels, seed)
    return split, state.means()


def distinct_means(means: IntegerPoints, labels: Sequence[str]) -> tuple[IntegerPoints, list[str]]:
    """Every mean once, with its label: equal means have equal labels."""
    first = means.first_equal()
    kept = np.flatnonzero(first == np.arange(len(first)))
    return means.select(kept), [labels[j] for j in kept.tolist()]
