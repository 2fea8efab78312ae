"""Signs that floating point decides for certain: the filter before exact arithmetic.

The shadow of exact tokens holds the nearest float64 of every coordinate. For ⟨u,x⟩ + b computed
in float64, in any order of summation and with or without fused multiply-add,

    |computed − exact| ≤ γ_{d+8} (|x|₁ |u|_∞ + |b|) + underflow

by the theorem on rounding errors (`rounding`): one rounding each for x, u, b and each product, d
for the sums, and a few to spare. A sign is certain where the computed value is finite and larger
than the bound (theory C1; the filtered predicates of computational geometry). Everything else is
decided in integers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .rounding import error, underflow


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
        with np.errstate(all="ignore"):  # what overflows is undecided
            computed = self.values @ direction + b
            return computed, _bound(len(u), self.sizes, float(np.abs(direction).max()), abs(b))

    def rest_throughout(self, u: np.ndarray, b: np.ndarray) -> np.ndarray:
        """Whether ⟨u,x⟩ + b < 0 for certain on every token, for nearest floats u (K, d) and b (K,)
        of some layers, (K,)."""
        with np.errstate(all="ignore"):  # what overflows is undecided
            computed = self.values @ u.T + b
            bound = _bound(u.shape[1], self.sizes[:, None], np.abs(u).max(axis=1), np.abs(b))
            return np.asarray((np.isfinite(computed) & (computed < -bound)).all(axis=0))


def _bound(d: int, sizes: Any, top: Any, b: Any) -> Any:
    """The bound above, for |x|₁, |u|_∞ and |b|."""
    return error(d + 8, sizes * top + b, lost=underflow(d, top, sizes))
