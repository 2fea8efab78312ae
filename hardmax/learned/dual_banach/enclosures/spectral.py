"""Spectral norms of float matrices, enclosed."""

from __future__ import annotations

from hashlib import sha256

import numpy as np

from .balls import Array, Balls

_SQUARINGS = 20
_REMEMBERED: dict[bytes, Balls] = {}  # one model's matrices come again for every batch
_MOST = 4096


def spectral_norm(W: Array) -> Balls:
    """Ball that contains ‖W‖₂, the largest singular value, of a float matrix (m, n).

    From above: with A = WWᵀ or WᵀW, whichever is smaller, ‖W‖₂² = ‖A^(2^k)‖₂^(1/2^k), and the
    Frobenius norm is at least the spectral one. For k = 20 and matrices of size s the bound is at
    most s^(2^-22) times too large, rounding apart. From below: ‖Wv‖/‖v‖ for the vector v that a
    float singular value decomposition proposes.

    >>> norm = spectral_norm(np.array([[3.0, 0.0], [0.0, 4.0]]))
    >>> bool(norm.lower <= 4 <= norm.upper), bool(norm.rad < 0.001)
    (True, True)
    """
    W = np.ascontiguousarray(W, dtype=np.float64)
    key = sha256(repr(W.shape).encode() + W.tobytes()).digest()
    if key not in _REMEMBERED:
        if len(_REMEMBERED) >= _MOST:
            _REMEMBERED.clear()
        _REMEMBERED[key] = _enclose(W)
    return _REMEMBERED[key]


def frobenius_norm(W: Array) -> Balls:
    """Ball that contains the Frobenius norm of a float matrix."""
    return Balls.exact(np.asarray(W, dtype=np.float64).reshape(-1)).norm()


def _enclose(W: Array) -> Balls:
    if not np.isfinite(W).all():
        return Balls(np.array(0.0), np.array(np.inf))
    size = float(abs(W).max(initial=0.0))
    if size == 0.0:
        return Balls.exact(0.0)
    unit = 2.0 ** float(np.floor(np.log2(size)))  # a power of two: dividing by it is exact
    scaled = Balls.exact(W / unit) + Balls.around(np.zeros_like(W), 2.0**-1000)
    return Balls.between(_below(scaled), _above(scaled)) * Balls.exact(unit)


def _above(W: Balls) -> Array:
    """Upper bound of the spectral norm by repeated squaring, rescaled by powers of two."""
    transposed = W.reform(lambda array: array.T)
    power = W @ transposed if W.shape[0] <= W.shape[1] else transposed @ W
    # the invariant after k rounds: (WWᵀ)^(2^k) = 2^exponent · power
    exponent = 0
    for _ in range(_SQUARINGS):
        shift = int(np.floor(np.log2(max(float(abs(power.mid).max()), 2.0**-400))))
        power = power * 2.0**-shift
        exponent = 2 * (exponent + shift)
        power = power @ power
    root = power.reform(lambda array: array.reshape(-1)).norm()
    for _ in range(_SQUARINGS + 1):  # the root of 2^e x is 2^(e//2) times the root of 2^(e%2) x
        root = (root * 2.0 ** (exponent % 2)).sqrt()
        exponent //= 2
    return (root * 2.0**exponent).upper


def _below(W: Balls) -> Array:
    v = np.linalg.svd(W.mid, full_matrices=False)[2][0]
    image = (W @ Balls.exact(v[:, None])).reform(lambda array: array[:, 0])
    return np.maximum((image.norm() / Balls.exact(v).norm()).lower, 0.0)
