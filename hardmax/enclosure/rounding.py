"""The one theorem on rounding errors, as functions; docs/engine.md proves it ("The bounds").

Let s be a sum of terms, each a product or a quotient of numbers, and let floats with unit roundoff
u compute s: in any order, with or without fused multiply-add. If no term passes through more than
k roundings, those of its factors to floats included, then

    |computed − s| ≤ γ_k Σ|terms| + what underflow loses,     γ_k = ku/(1 − ku)

(Higham, Accuracy and Stability of Numerical Algorithms, section 3.1). All bounds of this package
that speak of floats take their constants from here.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..exact.array import Array

UNIT = 2.0**-53
SINGLE = 2.0**-24  # of single precision
LEAST, MOST = 2.0**-300, 2.0**300  # absolute values, zeros apart, of numbers of moderate size
TINY = 2.0**-700  # far above all that underflow loses between numbers of moderate size
FAINT = 2.0**-500  # what a square that underflows comes from is far below
SLACK = 1 + 2.0**-20  # covers the rounding of a bound that sums up to 2^30 numbers
WIDEST = 2048  # dimensions and items of a panel of the engine
SPARE = 64  # roundings of a sum that `Points.reach` has room for, beside one for each coordinate


def gamma(count: Any, unit: float = UNIT) -> Any:
    """γ_k = k u/(1 − k u) for k = ``count``, a number or an array; u = 2^-53 or another.

    It is rounded itself: whoever uses it multiplies by SLACK, as `error` does.

    >>> gamma(4) > 4 * 2.0**-53
    True
    """
    return count * unit / (1 - count * unit)


def error(count: Any, size: Any, carried: Any = None, lost: Any = TINY) -> Any:
    """Bound the error of a sum whose terms pass through at most ``count`` roundings each.

    ``size`` bounds Σ|terms|, as computed; ``carried`` bounds what the sum is off because its
    operands are; ``lost`` bounds what underflow loses: TINY serves for numbers of moderate size,
    `underflow` for all. Numbers or arrays that broadcast.

    >>> from fractions import Fraction
    >>> u, x = (0.1, 0.2), (0.3, 0.4)                   # ⟨u,x⟩ = 0.11 with u and x rounded
    >>> abs(Fraction(u[0] * x[0] + u[1] * x[1]) - Fraction(11, 100)) <= Fraction(error(4, 0.11))
    True
    """
    bound = gamma(count) * size
    if carried is not None:
        bound = bound + carried
    bound *= SLACK  # in place, where it is an array
    bound += lost
    return bound


def underflow(terms: int, top: Any, size: Any, least: float = 2.0**-1000) -> Any:
    """Bound what underflow loses in ⟨u,x⟩ + b, for numbers of any size that are rounded first.

    The sum has so many ``terms``, ``top`` bounds |u|∞ and ``size`` bounds |x|₁. ``least`` is at
    least the least positive float; the default is far above it.
    """
    return least * (terms + 2) * (1 + top) * (1 + size)


def lengths(rows: Array) -> Array:
    """Euclidean norms, rounded up.

    >>> lengths(np.array([[3.0, 4.0]])) >= 5.0
    array([ True])
    """
    return np.asarray(SLACK * np.sqrt(np.einsum("ij,ij->i", rows, rows)) + FAINT)
