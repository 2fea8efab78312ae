"""Means of sequences, different for different labels: what `peel` and `fold` start from."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...dataset import Dataset
from ...exact.array import Array
from ...exact.means import exact_means
from ...exact.points import IntegerPoints
from ...model.layers import RankOneBlock
from .tie_splitting import Measures, split_measures


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
