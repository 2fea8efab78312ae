"""Means of many sequences in float64, with proven bounds."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np

from ..exact.array import Array
from .enclosed import Enclosed
from .rounding import LEAST, MOST, error, lengths

_CHUNK_TOKENS = 2**15  # tokens that are processed at once


def float_means(X: Array, offsets: Array) -> Enclosed | None:
    """Means of sequences of nearest floats (T, d); None where these are too large or too small.

    Sequence j is rows ``offsets[j]`` to ``offsets[j + 1]``. The terms of a mean of n tokens pass
    through n + 1 roundings at most: one of the token, n − 1 of the sum, one of the quotient. So
    every entry is within γ_{n+3} max|x| of the exact one.
    """
    if not LEAST < max(float(X.max()), -float(X.min())) < MOST:
        return None
    count = len(offsets) - 1
    counts = np.diff(offsets)
    means, largest = np.empty((count, X.shape[1])), np.empty(count)
    per_chunk = max(1, _CHUNK_TOKENS * count // int(offsets[-1]))
    for a, b in pairwise([*range(0, count, per_chunk), count]):
        rows = X[offsets[a] : offsets[b]]
        sizes = lengths(rows)  # quicker than the largest entry
        if (counts[a:b] == counts[a]).all():
            shape = b - a, int(counts[a])
            np.sum(rows.reshape(*shape, -1), axis=1, out=means[a:b])
            np.max(sizes.reshape(shape), axis=1, out=largest[a:b])
        else:
            starts = offsets[a:b] - offsets[a]
            np.add.reduceat(rows, starts, axis=0, out=means[a:b])
            np.maximum.reduceat(sizes, starts, out=largest[a:b])
    means /= counts[:, None]
    return Enclosed.of_floats(means, error(counts + 3, largest), Fraction(1))


def enclosed_means(points: Enclosed, offsets: Array) -> Enclosed:
    """Means of sequences of enclosed tokens, divided by the scale of the tokens.

    >>> tokens = Enclosed([(Fraction(1),), (Fraction(3),)])
    >>> means = enclosed_means(tokens, np.array([0, 2]))
    >>> means.values * float(means.scale * tokens.scale)
    array([[2.]])
    """
    first = offsets[:-1]
    found = float_means(points.values, offsets)
    if found is None:  # all floats are zero
        found = Enclosed.of_floats(points.values[first], np.zeros(len(first)), Fraction(1))
    own = np.maximum.reduceat(points.radius, first)
    found.radius = error(0, 0.0, found.radius + own / float(found.scale))
    return found
