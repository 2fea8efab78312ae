"""Duality maps of ℓ^p on ℝ^m, 1 < p < ∞ (equations 1 and 2).

G(f) is the derivative of the norm at f: the functional of dual norm 1 with ⟨f, G(f)⟩ = ‖f‖_p.
Its inverse, up to length, is the duality map of the dual space ℓ^q, 1/p + 1/q = 1; so in these
spaces the inverse has a closed form (Section 3.3 of the paper says it lacks one in general).
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from ....errors import InputError
from ....exact.numbers import as_fraction
from ..enclosures.balls import Array


def conjugate(p: float | Fraction) -> float | Fraction:
    """Dual exponent q = p/(p − 1), a Fraction for an integer or Fraction; raises InputError unless
    1 < p < ∞.

    >>> conjugate(3)
    Fraction(3, 2)
    """
    if not 1 < p < float("inf"):
        raise InputError(f"the exponent p = {p} is not between 1 and ∞, where ℓ^p is smooth")
    if isinstance(p, int | Fraction):
        return Fraction(p) / (p - 1)
    return p / (p - 1)


def norm(f: Array, p: float | Fraction) -> float:
    """‖f‖_p of a vector of shape (m,), scaled so that nothing overflows.

    >>> norm(np.array([3.0, -4.0]), 2)
    5.0
    """
    size = float(abs(f).max(initial=0.0))
    return size * float(((abs(f) / size) ** float(p)).sum()) ** (1 / float(p)) if size else 0.0


def duality_map(f: Array, p: float | Fraction) -> Array:
    """G(f)_i = sgn(f_i)|f_i|^(p−1)/‖f‖_p^(p−1) in ℓ^q, and G(0) = 0 (equation 1); shape (m,).

    >>> duality_map(np.array([3.0, -4.0]), 2)
    array([ 0.6, -0.8])
    """
    conjugate(p)
    length = norm(f, p)
    if length == 0:
        return np.zeros_like(f)
    return np.sign(f) * (abs(f) / length) ** (float(p) - 1)


def dual_direction(f: Sequence[object], p: int) -> tuple[Fraction, ...]:
    """Exact direction of G(f) for an integer p ≥ 2: the rational vector sgn(f_i)|f_i|^(p−1).

    >>> dual_direction(["1/2", -3, 0], 3)
    (Fraction(1, 4), Fraction(-9, 1), Fraction(0, 1))
    """
    if not isinstance(p, int) or p < 2:
        raise InputError(f"the exact direction needs an integer p of at least 2, not {p!r}")
    return tuple(x ** (p - 1) * (1 if x >= 0 or p % 2 == 0 else -1) for x in map(as_fraction, f))


def are_dual(f: Sequence[object], nu: Sequence[object], p: int | Fraction) -> bool:
    """Decide ⟨f, ν⟩ = ‖f‖_p ‖ν‖_q exactly, for rational p, f and ν, both not 0.

    That is either side of (2). By the equality case of Hölder's inequality it holds iff f_i and
    ν_i never have opposite signs and |f_i|^(p−1) is proportional to |ν_i|; with p − 1 = a/b iff
    |f_i|^a is proportional to |ν_i|^b.

    >>> are_dual([3, -2, "1/7"], [9, -4, "1/49"], 3), are_dual([3, -2], [3, -2], 3)
    (True, False)
    """
    conjugate(p)
    primal, dual = [as_fraction(x) for x in f], [as_fraction(x) for x in nu]
    if len(primal) != len(dual) or not any(primal) or not any(dual):
        raise InputError("a dual pair needs two vectors of equal length, neither of them 0")
    if any(x * y < 0 for x, y in zip(primal, dual, strict=True)):
        return False
    power = Fraction(p) - 1
    left = [abs(x) ** power.numerator for x in primal]
    right = [abs(y) ** power.denominator for y in dual]
    k = next(i for i, x in enumerate(left) if x)
    return right[k] != 0 and all(
        x * right[k] == y * left[k] for x, y in zip(left, right, strict=True)
    )
