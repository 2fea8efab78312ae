"""Means of many sequences: floats with proven bounds for all, exact values for the few in doubt.

Small data sets, and those out of the range in which the bounds hold, get exact means.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from ...enclosure.means import float_means
from ...enclosure.shadow import ratio
from ...exact.array import Array, ExactArray
from ...exact.means import exact_means
from ...exact.points import IntegerPoints
from ...model.tokens import Tokens
from .filtered_cloud import FilteredCloud
from .tie_splitting import Measures

SMALL = 2**14  # entries of tokens up to which means are exact from the start


@dataclass(frozen=True)
class Means:
    """Means of sequences, and ``reach(k)``, the largest |z_k| over all their tokens z.

    They are exact from the start where the tokens have at most ``small`` entries in all.
    """

    cloud: FilteredCloud
    reach: Callable[[int], Fraction]

    @classmethod
    def of_tokens(cls, batch: Tokens, small: int = SMALL) -> Means:
        """Means of sequences that are integer rows already."""
        unit = [Fraction(0)] * batch.dimension

        def reach(k: int) -> Fraction:
            return max(map(abs, batch.projections([*unit[:k], Fraction(1), *unit[k + 1 :]])))

        offsets = np.array(batch.starts)
        if offsets[-1] * batch.dimension > small:
            points = float_means(batch.floats(), offsets)
            if points is not None:
                return cls(
                    FilteredCloud(
                        points, lambda rows: IntegerPoints(batch.mean_rows(rows)).vectors()
                    ),
                    reach,
                )
        return cls(FilteredCloud.of_vectors(batch.means()), reach)

    @classmethod
    def of_measures(cls, state: Measures, small: int = SMALL) -> Means:
        """Means of sequences whose different tokens, and means, are at hand."""
        rows = state.points.rows
        nearest = np.array([[ratio(p, row[-1]) for p in row[:-1]] for row in rows])
        means, points = state.means(), None
        if len(state.token) * state.dimension > small:
            points = float_means(nearest[state.token], state.starts)
        return cls(
            FilteredCloud.of_vectors(means.vectors())
            if points is None
            else FilteredCloud(points, lambda some: means.select(some).vectors()),
            lambda k: max(Fraction(abs(row[k]), row[-1]) for row in rows),
        )

    @classmethod
    def of_array(
        cls, tokens: ExactArray, offsets: Array, chosen: Array, small: int = SMALL
    ) -> Means:
        """Means of some of the packed sequences ``tokens[offsets[j]:offsets[j+1]]``."""
        X = tokens.values
        points = float_means(X, offsets) if X.size > small else None
        if points is None:
            return cls.of_tokens(Tokens.of_sequences(tokens, offsets, chosen), small)
        low, high = X.min(axis=0), X.max(axis=0)
        sizes = np.maximum(high, -low)
        cloud = FilteredCloud(
            points if len(chosen) == len(points) else points.select(chosen),
            lambda rows: exact_means(tokens, offsets, chosen[np.asarray(rows)]).vectors(),
            _constant_columns(tokens, np.flatnonzero(low == high)),
        )
        return cls(cloud, lambda k: Fraction(float(sizes[k])))


def _constant_columns(tokens: ExactArray, candidates: Array) -> dict[int, Fraction]:
    """Which of the candidate coordinates are the same for all tokens, with their values."""
    count, width = tokens.shape
    found = {}
    for k in candidates.tolist():
        value = tokens.entry(k)
        if all(tokens.entry(i * width + k) == value for i in range(count if tokens.exact else 1)):
            found[k] = value
    return found
