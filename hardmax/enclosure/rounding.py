"""Bounds on rounding errors, and the numbers that they speak of (theory C1)."""

from __future__ import annotations

UNIT = 2.0**-53
SINGLE = 2.0**-24  # of single precision
TINY = 2.0**-700  # far above all that underflow can lose between numbers in LEAST … MOST
FAINT = 2.0**-500  # what a square that underflows comes from is far below
LEAST, MOST = 2.0**-300, 2.0**300  # absolute values, zeros apart, that the bounds speak of
SLACK = 1 + 2.0**-40  # covers the rounding of a bound itself
WIDEST = 2048  # dimensions and items of a panel for which SLACK is enough
SPARE = 64  # roundings of a sum that `Points.reach` has room for, beside one for each coordinate


def gamma(count: int, unit: float = UNIT) -> float:
    """γ_k = k u/(1 − k u), u = 2^-53 or another (Higham, section 3.1), with upward slack.

    >>> gamma(4) > 4 * 2.0**-53
    True
    """
    return count * unit / (1 - count * unit) * SLACK
