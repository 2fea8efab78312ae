"""Float64 balls for the evaluator: midpoints and radii of many sequences of equal length at once.

A ball of a computation holds the exact value; with an executor's roundoff ``unit`` it also holds
every value that the executor may compute (`hardmax.network.executor` says under which assumptions).

*The bound.* Let X ± R and Y ± S be matrices of balls, and k their inner size. With |·| and ≤ taken
entry by entry, every product of members, in exact arithmetic or in floats of roundoff unit with
sums in any order, fused or not, lies within

    (1 + γ_k(unit)) (|X| S + R (|Y| + S)) + (γ_k(u) + γ_k(unit)) |X||Y|

of the float product fl(XY), u = 2^-53 (Higham, section 3.5). Sums, scalar products and products
entry by entry are the cases k = 1, 2. Radii are computed with upward slack; `TINY` covers
underflow as long as no number passes 2^300, and a number that does gets an infinite radius.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import sqrt

import numpy as np

from ..enclosure.rounding import LEAST, MOST, TINY, UNIT, gamma
from ..exact.array import Array, ExactArray
from ..exact.numbers import nearest_float
from . import taylor
from .evaluate import Values

SLACK = 1 + 2.0**-36  # covers the roundings of a bound with up to 2^13 terms
_EXP_UNITS, _ERF_UNITS, _ROOT_UNITS = 16, 16, 8  # roundoffs of an executor's functions


class Balls(Values):
    """Balls ``mid`` ± ``rad`` of shape (B, n, d), or (n, d) for parameters.

    >>> Z = Balls(np.array([[1.0, 2.0]]), np.zeros((1, 2)))
    >>> W = Balls(np.array([[3.0, 4.0]]), np.zeros((1, 2)))
    >>> float(Z.affine(W, None).mid[0, 0])
    11.0
    """

    def __init__(self, mid: Array, rad: Array, unit: float = 0.0) -> None:
        # NaN too; products of an executor's float32 stay below 2^128
        wide = ~(np.abs(mid) + rad < (MOST if unit < 2.0**-40 else 2.0**50))
        if wide.any():
            mid, rad = np.where(wide, 0.0, mid), np.where(wide, np.inf, rad)
        self.mid, self.rad, self.unit = mid, rad, unit

    @classmethod
    def read(cls, array: ExactArray, unit: float = 0.0) -> Balls:
        """Exact parameters or tokens, as an executor rounds them; a vector becomes one row."""
        mid = array.values.reshape(-1, array.shape[-1])
        rad = np.zeros(mid.size)
        if unit > UNIT:
            rad[mid.ravel() != mid.ravel().astype(np.float32)] = unit + UNIT
        rad[list(array.exact)] = UNIT + unit
        lost = max(TINY, unit**4) if rad.max(initial=0.0) > 0 else 0.0  # by underflow
        return cls(mid, rad.reshape(mid.shape) * np.abs(mid) * SLACK + lost, unit)

    @property
    def length(self) -> int:
        return int(self.mid.shape[-2])

    def _like(self, mid: Array, rad: Array) -> Balls:
        return Balls(mid, rad * SLACK + max(TINY, self.unit**4), self.unit)

    def _gammas(self, count: int) -> tuple[float, float]:
        theirs = gamma(count, self.unit) if self.unit else 0.0
        return gamma(count) + theirs, 1 + theirs

    def _product(self, right: Balls, count: int) -> tuple[Array, Array]:
        lost, more = self._gammas(count)
        size, others = np.abs(self.mid), np.abs(right.mid)
        rad = (lost * size + self.rad * more) @ others
        if right.rad.any():
            rad += ((size + self.rad) * more) @ right.rad
        return self.mid @ right.mid, rad

    def _turned(self) -> Balls:
        return Balls(self.mid.swapaxes(-1, -2), self.rad.swapaxes(-1, -2), self.unit)

    def affine(self, W: Balls, b: Balls | None) -> Balls:
        count = W.mid.shape[-1] + 1
        mid, rad = self._product(W._turned(), count)
        if b is not None:
            lost, more = self._gammas(count)
            mid = mid + b.mid
            rad = rad + UNIT * np.abs(mid) + lost * np.abs(b.mid) + more * b.rad
        return self._like(mid, rad)

    def scores(self, other: Balls) -> Balls:
        # an executor may multiply by β/√root before or after
        return self._like(*self._product(other._turned(), self.mid.shape[-1] + 8))

    def mixed(self, other: Balls) -> Balls:
        return self._like(*self._product(other, self.length))

    def __add__(self, other: Balls) -> Balls:
        mid = self.mid + other.mid
        rad = self.rad + other.rad
        return self._like(mid, rad + (UNIT + self.unit) * (np.abs(mid) + rad))

    def _by(self, other: Balls) -> Balls:
        """The product entry by entry."""
        mid = self.mid * other.mid
        rad = np.abs(self.mid) * other.rad + self.rad * (np.abs(other.mid) + other.rad)
        return self._like(mid, rad + 2 * (UNIT + self.unit) * (np.abs(mid) + rad))

    def times(self, factor: Fraction) -> Balls:
        exact = ExactArray.from_flat([factor], (1, 1))
        return self._by(Balls.read(exact, self.unit))

    def relu(self) -> Balls:
        dead = self.mid < -self.rad
        return Balls(np.maximum(self.mid, 0.0), np.where(dead, 0.0, self.rad), self.unit)

    def gelu(self) -> Balls:
        mid, rad = taylor.gelu(self.mid)
        rad = rad + taylor.GELU_SLOPE * self.rad
        return self._like(mid, rad + _ERF_UNITS * self.unit * (np.abs(self.mid) + self.rad))

    def norm(self, eps: Fraction, g: Balls | None, b: Balls | None) -> Balls:
        d = self.mid.shape[-1]
        lost, _ = self._gammas(2 * d + 8 if self.unit else d + 4)
        size = np.abs(self.mid) + self.rad
        mean = self.mid.mean(axis=-1, keepdims=True)
        error = self.rad.mean(axis=-1, keepdims=True) + lost * size.mean(axis=-1, keepdims=True)
        centred = self.mid - mean
        far = (self.rad + error) * SLACK + (UNIT + self.unit) * (np.abs(centred) + self.rad + error)
        # an executor may compute x/√… − m/√…
        far = far + 4 * self.unit * (size + np.abs(mean) + error)
        spread = (centred * centred).mean(axis=-1, keepdims=True)
        wide = (far * (2 * np.abs(centred) + far)).mean(axis=-1, keepdims=True)
        # an executor may compute the mean of squares minus the square of the mean
        wide = wide + lost * (spread + (size * size).mean(axis=-1, keepdims=True) * bool(self.unit))
        if eps < LEAST:  # it may underflow
            return Balls(np.zeros_like(self.mid), np.full_like(self.rad, np.inf), self.unit)
        least = nearest_float(eps)
        wide = (wide + 4 * (UNIT + self.unit) * (spread + least)) * SLACK
        root = 1 / np.sqrt(spread + least)
        low = spread - wide if self.unit else np.maximum(spread - wide, 0.0)
        low = low + least * (1 - 8 * (UNIT + self.unit))
        slope = 0.5 / (low * np.sqrt(low))  # of x ↦ 1/√x, at its steepest
        slack = 8 * UNIT * root + _ROOT_UNITS * self.unit * (root + slope * wide)
        scale = self._like(root, wide * slope * SLACK + slack)
        found = self._like(centred, far)._by(scale)
        found = found if g is None else found._by(g)
        return found if b is None else found + b

    def _seen(self, causal: bool) -> Array:
        shape = self.mid.shape[-2:]
        return np.tri(*shape, dtype=bool) if causal else np.ones(shape, dtype=bool)

    def hardmax(self, causal: bool) -> Balls:
        seen = self._seen(causal)
        low = np.where(seen, self.mid - self.rad * SLACK - UNIT * np.abs(self.mid) - TINY, -np.inf)
        high = self.mid + self.rad * SLACK + UNIT * np.abs(self.mid) + TINY
        first = seen & ~(high < low.max(axis=-1, keepdims=True))
        alone = first.sum(axis=-1, keepdims=True) == 1
        half = np.where(first, 0.5, 0.0)
        return Balls(np.where(alone, 2 * half, half), np.where(alone, 0.0, half), self.unit)

    def softmax(self, beta: Fraction, root: int, causal: bool) -> Balls:
        seen = self._seen(causal)
        factor = nearest_float(beta) / sqrt(root)
        size = Balls(np.array([[factor]]), np.array([[4 * (UNIT + self.unit) * factor]]), self.unit)
        scores = self._by(size)
        high = np.where(seen, scores.mid, -np.inf).max(axis=-1, keepdims=True)
        t = np.where(seen, scores.mid - high, -np.inf)
        finite = np.where(seen, t, 0.0)
        worst = np.where(seen, scores.rad, 0.0).max(axis=-1, keepdims=True)
        gap = scores.rad + UNIT * np.abs(finite) + self.unit * (np.abs(finite) + 2 * worst)
        power = taylor.exp(t)
        # each exp lies in power (1 ± off), the sum of the row in total (1 ± most)
        grown = taylor.EXP_ERROR + _EXP_UNITS * self.unit + gap * 2
        off = np.where(seen & (gap < 0.25), grown * SLACK, np.where(seen, np.inf, 0.0))
        total = power.sum(axis=-1, keepdims=True)
        count = self._gammas(self.mid.shape[-1] + 2)[0]
        most = off.max(axis=-1, keepdims=True) + 2 * count
        mid = power / total
        good = most < 0.25
        rad = mid * np.where(good, (off + most) / (1 - np.where(good, most, 0.0)), np.inf)
        rad = np.where(good, rad + 4 * (UNIT + self.unit) * mid, np.inf)
        known = rad < 0.5
        mid, rad = np.where(known, mid, 0.5), np.where(known, rad, 0.5)
        return self._like(np.where(seen, mid, 0.0), np.where(seen, rad, 0.0))

    def mean(self) -> Balls:
        n = self.length
        lost = self._gammas(n + 1)[0]
        mid, rad = (x.mean(axis=-2, keepdims=True) for x in (self.mid, self.rad))
        size = (np.abs(self.mid) + self.rad).mean(axis=-2, keepdims=True)
        return self._like(mid, rad + 2 * lost * size)

    def rows(self, places: Sequence[int]) -> Balls:
        at = list(places)
        return Balls(self.mid[..., at, :], self.rad[..., at, :], self.unit)

    def columns(self, start: int, stop: int) -> Balls:
        return Balls(self.mid[..., start:stop], self.rad[..., start:stop], self.unit)

    def above(self, other: Balls) -> Balls:
        front = [
            np.broadcast_to(x, (*other.mid.shape[:-2], *x.shape)) for x in (self.mid, self.rad)
        ]
        mid, rad = (
            np.concatenate([x, y], axis=-2)
            for x, y in zip(front, (other.mid, other.rad), strict=True)
        )
        return Balls(mid, rad, other.unit)

    def beside(self, others: Sequence[Balls]) -> Balls:
        if not others:
            return self
        every = [self, *others]
        mid, rad = (
            np.concatenate(x, axis=-1) for x in zip(*((y.mid, y.rad) for y in every), strict=True)
        )
        return Balls(mid, rad, self.unit)

    def looked_up(self, table: Balls) -> Balls:
        places = self.mid[..., 0].astype(np.int64)
        return Balls(table.mid[places], table.rad[places], self.unit)

    def boxes(self) -> list[list[tuple[Fraction, Fraction] | None]]:
        """For each sequence the (low, high) of each column of its last row; None: no bound."""
        found = []
        for mid, rad in zip(self.mid[:, -1].tolist(), self.rad[:, -1].tolist(), strict=True):
            spans = zip(map(Fraction, mid), rad, strict=True)
            found.append(
                [(m - Fraction(r), m + Fraction(r)) if r < MOST else None for m, r in spans]
            )
        return found
