"""Exponential, error function, tanh and sigmoid, enclosed in balls.

Nothing rests on a library's exp or erf: everything is + − × ÷ of balls and truncated series with
a bound on what is left out. The functions rise, so they are evaluated at both ends of a ball.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .balls import Array, Balls

# ln 2 in two parts; the first has so few bits that its multiples by |n| < 2^11 are exact floats
_LN2 = (float.fromhex("0x1.62e42fee00000p-1"), float.fromhex("0x1.a39ef35793c76p-33"))
_LN2_ERROR = 2.0**-86  # of the sum of the two parts
_TWO_OVER_ROOT_PI = Balls.around(float.fromhex("0x1.20dd750429b6dp+0"), 2.0**-53)
_LEAST, _MOST = -690.0, 700.0


def exp(x: Balls) -> Balls:
    """Exponential.

    >>> from fractions import Fraction
    >>> e = exp(Balls.exact([1.0]))
    >>> e.contains(Fraction("2.718281828459045235360287"), 0), bool(e.rad[0] < 1e-14)
    (True, True)
    """
    return _rising(_exp_points, x)


def erf(x: Balls) -> Balls:
    """Error function 2/√π ∫₀ˣ exp(−t²) dt."""
    return _rising(_erf_points, x)


def tanh(x: Balls) -> Balls:
    """Hyperbolic tangent."""
    return _rising(_tanh_points, x)


def sigmoid(x: Balls) -> Balls:
    """Logistic function 1/(1 + exp(−x))."""
    return _rising(_sigmoid_points, x)


def _rising(function: Callable[[Array], Balls], x: Balls) -> Balls:
    """A rising function between the ends of every ball; no claim where the ball has no ends."""
    lost = np.isinf(x.rad)
    low = function(np.where(lost, 0.0, x.lower))
    high = function(np.where(lost, 0.0, x.upper)) if x.rad.any() else low  # x.upper is x.lower
    result = Balls.between(low.lower, high.upper)
    return Balls(result.mid, np.where(lost, np.inf, result.rad))


def _exp_points(x: Array) -> Balls:
    """exp(x) = 2^n exp(r) with r = x − n ln 2, |r| < 0.35, and 15 terms of the series."""
    inside = np.clip(x, _LEAST, _MOST)
    n = np.rint(inside / (_LN2[0] + _LN2[1]))
    r = Balls.exact(inside) - n * _LN2[0]
    r = r - Balls.exact(n) * Balls.around(_LN2[1], _LN2_ERROR)
    total = Balls.exact(np.ones_like(inside))
    for k in range(14, 0, -1):
        total = total * r / float(k) + 1.0
    total = total + Balls.around(0.0, 2.0**-60)  # Σ_{m>14} 0.35^m/m! < 2^-62
    with np.errstate(under="ignore"):
        scale = n.astype(np.int64)
        result = Balls(np.ldexp(total.mid, scale), np.ldexp(total.rad, scale) + 2.0**-1000)
    small, large = x < _LEAST, x > _MOST  # exp(−690) < 2^-995
    return Balls(
        np.where(small, 0.0, result.mid),
        np.where(small, 2.0**-995, np.where(large, np.inf, result.rad)),
    )


def _erf_points(x: Array) -> Balls:
    """erf(a) = 2/√π exp(−a²) Σ t_n, t_0 = a, t_n = t_{n−1}·2a²/(2n+1): every term is positive."""
    a = np.minimum(abs(x), 6.0)
    square = Balls.exact(a) * a
    term = total = Balls.exact(a)
    largest = 2 * float(a.max(initial=0.0)) ** 2
    n = 0
    while True:
        n += 1
        term = term * (square * 2.0) / float(2 * n + 1)
        total = total + term
        if largest <= n and (term.upper <= 2.0**-60 * total.upper + 2.0**-990).all():
            break  # from here on every term is less than half the one before
    total = total + Balls.between(np.zeros_like(a), np.maximum(term.upper, 0.0))
    value = _TWO_OVER_ROOT_PI * exp(-square) * total
    beyond = abs(x) > 6.0  # 0 < 1 − erf(a) ≤ exp(−a²) < 2^-51
    high = np.where(beyond, 1.0, np.minimum(value.upper, 1.0))
    low = np.where(beyond, 1 - 2.0**-51, np.maximum(value.lower, 0.0))
    return Balls.between(np.where(x < 0, -high, low), np.where(x < 0, -low, high))


def _tanh_points(x: Array) -> Balls:
    value = 1.0 - 2.0 / (_exp_points(2 * np.clip(x, -20.0, 20.0)) + 1.0)
    return Balls.between(np.where(x < -20, -1.0, value.lower), np.where(x > 20, 1.0, value.upper))


def _sigmoid_points(x: Array) -> Balls:
    value = 1.0 / (_exp_points(-np.clip(x, -40.0, 40.0)) + 1.0)
    return Balls.between(np.where(x < -40, 0.0, value.lower), np.where(x > 40, 1.0, value.upper))
