"""Arrays of balls: a float64 midpoint and a radius that provably covers all rounding.

Rounding theorem. Let arithmetic be IEEE 754 binary64, rounding to nearest, u = 2⁻⁵³. For one
operation ∘ out of + − × ÷ √ with a finite result, |fl(a∘b) − a∘b| ≤ u |fl(a∘b)| + t, where
t = 2⁻¹⁰²² covers underflow. For a sum of n < 2¹⁶ products, in any order, with or without fused
multiply-add,

    |fl(Σ x_i y_i) − Σ x_i y_i| ≤ γ_n Σ |x_i||y_i| + 2nt,        γ_n = nu/(1 − nu)

(Higham, *Accuracy and Stability of Numerical Algorithms*, section 3.1). A radius is itself a sum
of products of non-negative floats; if it takes k roundings, the computed one is at least
(1 − u)^k times the exact one, so multiplying it by 1 + 4(k + 4)u and adding 2⁻¹⁰⁰⁰ makes it an
upper bound. Matrix products must be plain ones (no Strassen, no reduced precision): that is what
NumPy's float64 does. Anything that is not finite becomes the ball of radius ∞: nothing is claimed.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[np.float64]]

UNIT = 2.0**-53
TINY = 2.0**-1000


def _up(radius: Array, roundings: int) -> Array:
    """Upper bound of a radius that was computed with at most so many roundings an entry."""
    return radius * (1 + 4 * (roundings + 4) * UNIT) + TINY


def _gamma(count: int) -> float:
    return count * UNIT / (1 - count * UNIT) * (1 + 8 * UNIT)


class Balls:
    """Real numbers known up to a radius: ``mid`` and ``rad``, float64 arrays of one shape.

    The numbers meant are all x with |x − mid| ≤ rad, entry by entry. Operations return balls that
    contain every result of the operation on members.

    >>> third = Balls.exact([1.0]) / Balls.exact([3.0])
    >>> bool(third.lower[0] < Fraction(1, 3) < third.upper[0]), bool(third.rad[0] < 1e-16)
    (True, True)
    """

    __slots__ = ("mid", "rad")
    mid: Array
    rad: Array
    __array_ufunc__ = None  # array + ball goes through Balls.__radd__

    def __init__(self, mid: Any, rad: Any) -> None:
        mid, rad = np.asarray(mid, dtype=np.float64), np.asarray(rad, dtype=np.float64)
        lost = ~(np.isfinite(mid) & np.isfinite(rad) & (rad >= 0))
        if lost.any():
            mid, rad = np.where(lost, 0.0, mid), np.where(lost, np.inf, rad)
        self.mid, self.rad = mid, rad

    @classmethod
    def exact(cls, values: Any) -> Balls:
        """Balls of radius 0 around floats, which mean exactly what they are."""
        mid = np.asarray(values, dtype=np.float64)
        return cls(mid, np.zeros_like(mid))

    @classmethod
    def around(cls, values: Any, radius: Any) -> Balls:
        """Balls of the given radius (a number or an array) around floats."""
        mid = np.asarray(values, dtype=np.float64)
        return cls(mid, np.broadcast_to(np.asarray(radius, dtype=np.float64), mid.shape).copy())

    @classmethod
    def between(cls, lower: Any, upper: Any) -> Balls:
        """Balls that contain the closed intervals from ``lower`` to ``upper``."""
        with np.errstate(all="ignore"):
            low, high = np.asarray(lower, dtype=np.float64), np.asarray(upper, dtype=np.float64)
            mid = low + (high - low) / 2
            return cls(mid, _up(np.maximum(high - mid, mid - low), 2))

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the arrays."""
        return tuple(self.mid.shape)

    @property
    def lower(self) -> Array:
        """Floats that are at most every member."""
        with np.errstate(all="ignore"):
            low = np.nextafter(self.mid - self.rad, -np.inf)
        return np.asarray(np.where(self.rad == 0, self.mid, low), dtype=np.float64)

    @property
    def upper(self) -> Array:
        """Floats that are at least every member."""
        with np.errstate(all="ignore"):
            high = np.nextafter(self.mid + self.rad, np.inf)
        return np.asarray(np.where(self.rad == 0, self.mid, high), dtype=np.float64)

    def contains(self, value: Fraction | float, index: Any = ()) -> bool:
        """Whether the ball at ``index`` contains a rational number; exact."""
        if np.isinf(self.rad[index]):
            return True
        gap = abs(Fraction(value) - Fraction(float(self.mid[index])))
        return gap <= Fraction(float(self.rad[index]))

    def reform(self, change: Callable[[Array], Array]) -> Balls:
        """Balls with their entries picked or rearranged (reshape, transpose, index)."""
        return Balls(change(self.mid), change(self.rad))

    def __getitem__(self, index: Any) -> Balls:
        return self.reform(lambda array: np.asarray(array[index]))

    def __repr__(self) -> str:
        return f"Balls({self.mid!r}, {self.rad!r})"

    def __neg__(self) -> Balls:
        return Balls(-self.mid, self.rad)

    def __add__(self, other: Any) -> Balls:
        other = as_balls(other)
        with np.errstate(all="ignore"):
            mid = self.mid + other.mid
            return Balls(mid, _up(self.rad + other.rad + UNIT * abs(mid), 3))

    def __sub__(self, other: Any) -> Balls:
        return self + -as_balls(other)

    def __mul__(self, other: Any) -> Balls:
        other = as_balls(other)
        with np.errstate(all="ignore"):
            mid = self.mid * other.mid
            rad = abs(self.mid) * other.rad + self.rad * (abs(other.mid) + other.rad)
            return Balls(mid, _up(rad + UNIT * abs(mid), 6))

    def __truediv__(self, other: Any) -> Balls:
        # |x/y − a/b| = |(x − a) + (a/b)(b − y)| / |y| ≤ (r + |a/b| s) / (|b| − s)
        other = as_balls(other)
        with np.errstate(all="ignore"):
            mid = self.mid / other.mid
            least = np.nextafter(abs(other.mid) - other.rad, -np.inf)
            quotient = abs(mid) * (1 + 4 * UNIT) + 2.0**-1020
            lost = self.rad + quotient * other.rad + 2.0**-1018  # underflow included
            rad = np.where(least > TINY, lost / least, np.inf)
            return Balls(mid, _up(rad + UNIT * abs(mid), 8))

    __radd__ = __add__
    __rmul__ = __mul__

    def __rsub__(self, other: Any) -> Balls:
        return as_balls(other) + -self

    def __rtruediv__(self, other: Any) -> Balls:
        return as_balls(other) / self

    def __matmul__(self, other: Any) -> Balls:
        """Matrix product over the last two axes (both operands of two or more axes)."""
        other = as_balls(other)
        terms = self.shape[-1]
        with np.errstate(all="ignore"):
            left, right = abs(self.mid), abs(other.mid)
            rad = _gamma(terms) * (left @ right)
            if other.rad.any():
                rad = rad + left @ other.rad
            if self.rad.any():
                rad = rad + self.rad @ (right + other.rad)
            return Balls(self.mid @ other.mid, _up(rad, 3 * terms + 8))

    def __rmatmul__(self, other: Any) -> Balls:
        return as_balls(other) @ self

    def sum(self, axis: int, keepdims: bool = False) -> Balls:
        """Sum over an axis."""
        terms = self.shape[axis]
        with np.errstate(all="ignore"):
            mid = self.mid.sum(axis=axis, keepdims=keepdims)
            rad = (self.rad + _gamma(terms) * abs(self.mid)).sum(axis=axis, keepdims=keepdims)
            return Balls(mid, _up(rad, terms + 4))

    def square(self) -> Balls:
        """Squares; never below 0."""
        squared = self * self
        return Balls.between(np.maximum(squared.lower, 0.0), squared.upper)

    def sqrt(self) -> Balls:
        """Square roots of numbers known to be at least 0 (lower ends below 0 are cut off)."""
        with np.errstate(all="ignore"):
            low = np.sqrt(np.maximum(self.lower, 0.0))
            high = np.sqrt(np.maximum(self.upper, 0.0))
            low = np.maximum(np.nextafter(low, -np.inf), 0.0)
            return Balls.between(low, np.nextafter(high, np.inf))

    def relu(self) -> Balls:
        """max(0, x)."""
        return Balls.between(np.maximum(self.lower, 0.0), np.maximum(self.upper, 0.0))

    def norm(self) -> Balls:
        """Euclidean norm along the last axis."""
        return self.square().sum(-1).sqrt()

    def max(self, axis: int | None = None) -> Balls:
        """Largest number along an axis, or of all."""
        return Balls.between(self.lower.max(axis=axis), self.upper.max(axis=axis))


def as_balls(value: Any) -> Balls:
    """Balls as they are; floats and arrays of floats as exact numbers.

    >>> as_balls(2.0).rad
    array(0.)
    """
    return value if isinstance(value, Balls) else Balls.exact(value)
