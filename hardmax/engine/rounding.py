"""Bounds on rounding errors, and the numbers that they speak of (theory C1)."""

from __future__ import annotations

from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]

UNIT = 2.0**-53
SINGLE = 2.0**-24  # of single precision
TINY = 2.0**-700  # far above all that underflow can lose between numbers in LEAST … MOST
FINE, LARGE = 2.0**-56, 2.0**40  # the same in single precision, for coordinates up to LARGE
FAINT = 2.0**-500  # what a square that underflows comes from is far below
LEAST, MOST = 2.0**-300, 2.0**300  # absolute values, zeros apart, that the bounds speak of
SLACK = 1 + 2.0**-40  # covers the rounding of a bound itself
WIDEST = 2048  # dimensions and items of a panel for which SLACK is enough
ROUNDS, PER_ROUND = 6, 9  # first looks at a panel's points, and roundings that each of them adds
# roundings of a sum that `Points.reach` has room for, beside one for each coordinate: 64
SPARE = ROUNDS * PER_ROUND + 10


def gamma(count: int, unit: float = UNIT) -> float:
    """γ_k = k u/(1 − k u), u = 2^-53 or another (Higham, section 3.1), with upward slack.

    >>> gamma(4) > 4 * 2.0**-53
    True
    """
    return count * unit / (1 - count * unit) * SLACK
