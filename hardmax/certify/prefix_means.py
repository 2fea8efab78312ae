"""Means of the tokens up to each token in floating point: masked uniform attention (4.2)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..enclosure.rounding import SLACK
from ..model.tokens import Tokens

Array = np.ndarray


def prefix_means(
    batch: Tokens, errors: Array, gamma: Callable[[Array], Array], tiny: float
) -> tuple[Array, Array]:
    """About the mean of the tokens up to each token, and its error bound, each (T, d).

    ``errors`` (T, d) bound the errors of the tokens. The sums may run in any order: a mean of i
    tokens has an error of at most mean(E) + γ_{i+2} mean(|x| + E).
    """
    x = batch.floats()
    focus, bound = np.empty_like(x), np.empty_like(x)
    for a, b in batch.spans():
        counts = np.arange(1, b - a + 1)[:, None]
        focus[a:b] = np.cumsum(x[a:b], axis=0) / counts
        size = np.cumsum(np.abs(x[a:b]) + errors[a:b], axis=0) / counts
        error = np.cumsum(errors[a:b], axis=0) / counts
        bound[a:b] = (error + gamma(counts + 2) * size + tiny) * SLACK
    return focus, bound
