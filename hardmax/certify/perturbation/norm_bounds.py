"""Upper bounds in float64 on the norms of gradients: a filter before exact arithmetic.

A decision whose quotient |f(0)| / ‖∇f‖₁ lies above that of another binds nothing. Nearly all
decisions are dismissed so, by the theorem on rounding errors; the rest are exact.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from ...enclosure.rounding import SLACK, error, underflow
from ...enclosure.shadow import ratio
from .jacobian import Functional, Jacobians

_LARGEST = 2**25  # entries of all matrices together; beyond, nothing is dismissed
_TINY = underflow(0, 0.0, 0.0)  # covers the underflow of a quotient


class NormBounds:
    """Bounds for the Jacobians of one run, where these are a single block c·M.

    >>> pool = Jacobians(2)
    >>> bounds, one = NormBounds(pool), pool.source(0)
    >>> low, high = bounds.norms(pool.functional([Fraction(1), Fraction(-2)]), np.array([one]))
    >>> bool(low[0] < 3 < high[0])
    True
    """

    def __init__(self, pool: Jacobians) -> None:
        self._pool = pool
        d = pool.dimension
        self._stack = np.empty((16, d, d))  # float matrices, transposed as in the pool
        self._sums = np.empty(16)  # Σ|entries|
        self._known = 0
        self._numbers = np.empty(0, dtype=np.int64)  # of each handle's M; −1: not used here
        self._sizes = np.empty(0)  # |c|

    def radii(
        self,
        functional: Functional,
        handles: np.ndarray,
        computed: np.ndarray,
        error: np.ndarray,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Bounds from below and above on |f(0)| / ‖∇f‖₁, given f(0) up to an error, (T,).

        ∞ from below where the gradient is zero: such a decision limits nothing.
        """
        least, most = self.norms(functional, handles)
        with np.errstate(all="ignore"):  # a NaN bounds nothing
            low = (np.abs(computed) - error) / most / SLACK - _TINY
            high = (np.abs(computed) + error) / least * SLACK + _TINY
        return np.where(most == 0, np.inf, low), high

    def norms(self, functional: Functional, handles: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Bounds from below and above on ‖uᵀJ‖₁ for an array of handles."""
        self._follow()
        used, place = np.unique(handles, return_inverse=True)
        least, most = np.zeros(len(used)), np.full(len(used), np.inf)
        numbers = self._numbers[used]
        single = numbers >= 0
        if not len(self._stack):
            single[:] = False
        if single.any():
            low, high = self._norms(functional.u, numbers[single])
            sizes = self._sizes[used[single]]
            with np.errstate(all="ignore"):
                least[single], most[single] = low * sizes / SLACK, high * sizes * SLACK + _TINY
        for i in np.flatnonzero(~single).tolist():  # several blocks, or numbers out of range
            norm = functional.norm(int(used[i]))
            near = ratio(norm.numerator, norm.denominator)
            least[i], most[i] = near / SLACK, near * SLACK + _TINY if norm else 0.0
        return np.maximum(least - _TINY, 0)[place], most[place]

    def _norms(self, u: Sequence[Fraction], used: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        direction = np.array([ratio(x.numerator, x.denominator) for x in u])
        d, top = len(direction), float(np.abs(direction).max())
        sums = self._sums[used]
        with np.errstate(all="ignore"):  # what overflows is not bounded
            norms = np.abs(self._stack[used] @ direction).sum(axis=1)
            bound = error(d + 8, sums * top, lost=underflow(d, top, sums))
            known = np.isfinite(norms) & np.isfinite(bound)
            least = np.where(known, np.maximum(norms / SLACK - bound, 0), 0)
            return least, np.where(known, norms * SLACK + bound, np.inf)

    def _follow(self) -> None:
        """Take in what the pool has learnt since."""
        pool, known = self._pool, len(self._numbers)
        new = pool.blocks[known:]
        if new:
            single = [blocks[0] if len(blocks) == 1 else None for blocks in new]
            numbers = np.array([term[2] if term else -1 for term in single], dtype=np.int64)
            sizes = np.array(
                [ratio(abs(x[1].numerator), x[1].denominator) if x else 0.0 for x in single]
            )
            numbers[(sizes < 2.0**-900) | (sizes > 2.0**900)] = -1  # no room for roundings
            self._numbers = np.r_[self._numbers, numbers]
            self._sizes = np.r_[self._sizes, sizes]
        d = pool.dimension
        if not self._stack.size or len(pool.matrices) * d * d > _LARGEST:
            self._stack = np.empty((0, d, d))
            return
        while len(self._stack) < len(pool.matrices):
            self._stack = np.concatenate([self._stack, np.empty_like(self._stack)])
            self._sums = np.concatenate([self._sums, np.empty_like(self._sums)])
        for number in range(self._known, len(pool.matrices)):
            self._stack[number] = [
                [ratio(x, 1) for x in row] for row in pool.matrices[number].table()
            ]
            self._sums[number] = np.abs(self._stack[number]).sum() * SLACK
        self._known = len(pool.matrices)
