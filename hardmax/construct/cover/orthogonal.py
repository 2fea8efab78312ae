"""Hyperplanes that contain a direction p exactly, or pass through given points (step B4)."""

from __future__ import annotations

from math import gcd, lcm

import numpy as np

from ...exact.array import Array
from ...exact.numbers import Vector
from .height_slice import TooClose

# Bits of a normal, beyond those of p.
_BITS = 40
# The entries of p may have this many bits.
_LONGEST = 30


class Orthogonal:
    """Directions u with ⟨u,p⟩ = 0 exactly; ``basis`` of p's complement, shape (d, d−1).

    With p in whole numbers and p_k its largest entry, u is a combination of p_k e_i − p_i e_k.

    >>> from fractions import Fraction
    >>> near = Orthogonal((Fraction(1, 2), Fraction(3, 2))).near(np.array([0.7, 0.1]))
    >>> near.tolist()[0] == -3 * near.tolist()[1]
    True
    """

    def __init__(self, p: Vector) -> None:
        common = lcm(*(t.denominator for t in p))
        whole = [int(t * common) for t in p]
        whole = [t // gcd(*whole) for t in whole]
        self.pivot = max(range(len(p)), key=lambda i: abs(whole[i]))
        length = whole[self.pivot].bit_length()
        if length > _LONGEST:
            raise TooClose
        self.whole = np.array(whole, dtype=np.int64)
        # all entries stay below 2^52 units
        self.unit = 2.0 ** -min(51 - len(p).bit_length(), _BITS + length)
        self.basis: Array = np.linalg.qr(self.whole[:, None].astype(float), "complete")[0][:, 1:]

    def near(self, u: Array) -> Array | None:
        """A direction of this kind close to u, up to its length; None if it rounds to zero."""
        size = float(np.abs(u).max())
        if not 2.0**-300 < size < 2.0**300:
            return None
        largest = int(self.whole[self.pivot])
        counts = np.rint(u / (size * self.unit * largest)).astype(np.int64)
        counts[self.pivot] = 0
        entries = counts * largest
        entries[self.pivot] = -int((counts * self.whole).sum())
        return np.asarray(entries * self.unit) if entries.any() else None


def through(points: Array, rng: np.random.Generator) -> Array:
    """Normal of a random hyperplane through at most d points of ℝ^d, in float64.

    >>> normal = through(np.array([[1.0, 0.0], [1.0, 5.0]]), np.random.default_rng(0))
    >>> bool(abs(normal[1]) < 1e-9 * abs(normal[0]))
    True
    """
    differences = (points[1:] - points[0]).T
    # where the points leave a choice, noise far below their distances makes it
    size = float(np.abs(differences).max(initial=0.0))
    differences = differences + 1e-13 * size * rng.standard_normal(differences.shape)
    normals = np.linalg.qr(differences, "complete")[0][:, len(points) - 1 :]
    return np.asarray(normals @ rng.standard_normal(normals.shape[1]))
