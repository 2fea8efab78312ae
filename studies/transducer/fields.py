"""Gaussian random fields on grids, and the paper's boundary mask."""

from __future__ import annotations

from functools import cache

import numpy as np


@cache
def _root(points: int, length: float) -> np.ndarray:
    """The symmetric square root of exp(−(x−y)²/(2ℓ²)) on an equidistant grid of [0, 1]."""
    x = np.linspace(0, 1, points)
    values, vectors = np.linalg.eigh(np.exp(-((x[:, None] - x) ** 2) / (2 * length**2)))
    return (vectors * np.sqrt(values.clip(min=0))) @ vectors.T


def gaussian_field(
    rng: np.random.Generator, count: int, points: int, length: float = 0.2
) -> np.ndarray:
    """``count`` draws (count, points) of the Gaussian field (32) with length scale ℓ.

    >>> gaussian_field(np.random.default_rng(0), 2, 5).shape
    (2, 5)
    """
    return rng.standard_normal((count, points)) @ _root(points, length)


def mask(points: int) -> np.ndarray:
    """m(x) = 1 − (2x−1)¹⁰ on the grid; the printed exponent 19 would give m(0) = 2.

    >>> mask(3)
    array([0., 1., 0.])
    """
    return 1 - (2 * np.linspace(0, 1, points) - 1) ** 10
