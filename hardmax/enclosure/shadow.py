"""Signs that floating point decides for certain: the filter before exact arithmetic.

The shadow of exact tokens holds the nearest float64 of every coordinate. For ⟨u,x⟩ + b computed
in float64, in any order of summation and with or without fused multiply-add,

    |computed − exact| ≤ γ_{d+8} (|x|₁ |u|_∞ + |b|) + 2^-1000 (1 + |x|₁) (1 + |u|_∞) (d + 2),

γ_k = k 2^-53 / (1 − k 2^-53): one rounding each for x, u, b and each product, d for the sums
(Higham, Accuracy and Stability of Numerical Algorithms, section 3.1), and a few to spare for the
bound itself, which is doubled besides; the last term covers every underflow. A sign is certain
where the computed value is finite and larger than the bound (theory C1; the filtered predicates
of computational geometry). Everything else is decided in integers.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def ratio(numerator: int, denominator: int) -> float:
    """Nearest float of a quotient; an infinity past the range, which decides nothing."""
    try:
        return int(numerator) / int(denominator)
    except OverflowError:
        return float("inf")


class Shadow:
    """Nearest floats of exact tokens, given as integer rows (Z, q) with z = Z/q."""

    def __init__(self, rows: Sequence[Sequence[int]]) -> None:
        self.values = np.array([self._floats(row) for row in rows])  # T x d
        self.sizes = np.abs(self.values).sum(axis=1)  # |x|₁, (T,)

    @staticmethod
    def _floats(row: Sequence[int]) -> list[float]:
        q = int(row[-1])
        return [ratio(x, q) for x in row[:-1]]

    def replace(self, index: int, row: Sequence[int]) -> None:
        """Follow the change of one token."""
        self.values[index] = self._floats(row)
        self.sizes[index] = np.abs(self.values[index]).sum()

    def signs(self, weights: Sequence[int], scale: int) -> np.ndarray:
        """Signs of ⟨u,x⟩ + b for every token, (T,); 0 where floats do not decide.

        ``weights`` are the integers (u, b)·scale.
        """
        computed, bound = self.values_and_bounds(weights, scale)
        certain = np.isfinite(computed) & (np.abs(computed) > bound)
        return np.where(certain, np.sign(computed), 0.0)

    def values_and_bounds(
        self, weights: Sequence[int], scale: int
    ) -> tuple[np.ndarray, np.ndarray]:
        """⟨u,x⟩ + b computed in float64 for every token, and the bounds on its errors."""
        *u, b = (ratio(x, scale) for x in weights)
        direction = np.array(u)
        top, d = float(np.abs(direction).max()), len(u)
        gamma = (d + 8) * 2.0**-53 / (1 - (d + 8) * 2.0**-53)
        with np.errstate(all="ignore"):  # what overflows is undecided
            computed = self.values @ direction + b
            bound = 2 * gamma * (self.sizes * top + abs(b))
            bound += 2.0**-1000 * (d + 2) * (1 + self.sizes) * (1 + top)
        return computed, bound

    def rest_throughout(self, u: np.ndarray, b: np.ndarray) -> np.ndarray:
        """Whether ⟨u,x⟩ + b < 0 for certain on every token, for nearest floats u (K, d) and b (K,)
        of some layers, (K,)."""
        top, d = np.abs(u).max(axis=1), u.shape[1]
        gamma = (d + 8) * 2.0**-53 / (1 - (d + 8) * 2.0**-53)
        sizes = self.sizes[:, None]
        with np.errstate(all="ignore"):  # what overflows is undecided
            computed = self.values @ u.T + b
            bound = 2 * gamma * (sizes * top + np.abs(b))
            bound += 2.0**-1000 * (d + 2) * (1 + sizes) * (1 + top)
            return np.asarray((np.isfinite(computed) & (computed < -bound)).all(axis=0))
