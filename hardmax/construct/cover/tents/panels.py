"""Tents by the hundred: one matrix product serves a panel of them (Theorem B, step B4 b).

Source: docs/theory.md. Disjoint groups of at most d − 1 members, d − 1 in general position,
give hyperplanes; a product with all points to be avoided gives the nearest of them on either
side, hence the slab; a product with the members left counts what it captures; the tents that
capture most are kept. Every tent is certified by the error bounds of the products. All
parameters are float64 numbers: u lies on a grid of 2^-36 and the offsets on one of 2^-q, with q
so small that b + a, b and b − a are exact.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from ....enclosure.rounding import SLACK, error, gamma
from ....exact.array import Array, ExactArray
from ....exact.dyadic import rounded_to
from ....model.parameters import Parameters
from ..height_slice import GRID, Cut, HeightSlice
from ..products import homogeneous, nearest, within_slabs

# Captured points keep this share of the slab's half-width as distance from its boundary.
EDGE = 2.0**-6
# A panel holds this many tents at most.
_WIDTH = 256
# For each tent at most this many groups of points are tried: as many as take _QUICK products of a
# point and a hyperplane in all, or _LEAST of them while these take no more than _BUDGET.
TRIALS = 64
_QUICK = 3e8
_BUDGET, _LEAST = 4e10, 6
# Members are counted in this many of the widest slabs for each tent, and in more of them while that
# takes no more than _CHEAP products.
_WIDEST = 8
_CHEAP = 1e6
# A slab leaves this share of the gap between points to be avoided free.
_GAP = 2.0**-8
# Bits of a slab's half-width.
_SHORT = 10
# The grid of the offsets has this many fractional bits at least.
_COARSE = 30
# Where fewer than this share of the groups can be certified, groups become smaller.
_FEW = 1 / 8
# A tent must add to the panel this share of the points that it captures.
_WORTH = 3 / 4
# A panel may capture at most this share of the members left.
_LATER = 1 / 4


@dataclass(frozen=True)
class TentPanel:
    """k pushes along hyperplanes t = ⟨u,r⟩ + beta, exact, and the points they capture.

    Each is a sum of hinges R·weight·max(0, t + a·offset): by default tents R·max(0, a − |t|).
    Shapes: ``u`` (k, d−1); ``beta``, ``half`` (the numbers a) and ``rise`` (R) (k,).
    """

    captured: Array
    u: Array
    beta: Array
    half: Array
    rise: Array
    offsets: Sequence[float] = (1, 0, -1)
    weights: Sequence[float] = (1, -2, 1)

    stage = "tent"

    def __len__(self) -> int:
        """Number of blocks."""
        return len(self.offsets) * len(self.u)

    def blocks(self, base: HeightSlice) -> Parameters:
        """A block for every hinge, those of a push one after another."""
        count, d, k = len(self), len(base.f), base.axis
        f = np.delete(np.array(base.f, dtype=float), k)
        scale, height = float(base.points.scale), float(base.height / base.points.scale)
        u, w = np.zeros((count, d)), np.zeros((count, d))
        u[:, np.arange(d) != k] = np.repeat(self.u / scale, len(self.offsets), axis=0)
        # exact: whole multiples of the grids, fewer than 2^53 of them (`precision`)
        middle = self.beta - height * (self.u @ f)
        b = middle[:, None] + self.half[:, None] * np.array(self.offsets)
        w[:, k] = (self.rise[:, None] * np.array(self.weights)).ravel()
        one, zero = np.ones(count), np.zeros(count)
        arrays = u + 0.0, b.ravel() + 0.0, w, one, zero, np.zeros((count, d))
        return Parameters(*map(ExactArray, arrays))


def precision(base: HeightSlice) -> int | None:
    """Bits q of a grid on which all offsets are exact in float64; None where it is too coarse.

    |b| ≤ Σ|u_i f_i| B + |beta| + a, with B divided by the scale of the points, and the entries
    of u and of the points are at most 2. Where f_i B has fractional bits, so have the offsets.
    """
    height = base.height / base.points.scale
    entries = sum(abs(g) for i, g in enumerate(base.f) if i != base.axis)
    largest = 2 * entries * height + 32 * base.dimension + 32
    fraction = max((height * g).denominator for g in base.f).bit_length() - 1
    bits = 53 - (int(largest) + 1).bit_length() - fraction
    extreme = max(base.points.scale, 1 / base.points.scale, base.height) > 2**400
    return bits if bits >= _COARSE and height.denominator == 1 and not extreme else None


@dataclass(frozen=True)
class Opening:
    """A hyperplane with no point to be avoided on one side, through a group of points."""

    cut: Cut
    group: Array


class TentSearch:
    """Panels that raise the members of one label, until none is left.

    For each tent at most ``trials`` groups of members are tried, fewer where that takes long.
    """

    def __init__(
        self,
        base: HeightSlice,
        members: Array,
        avoid: Array,
        rise: Fraction,
        rng: np.random.Generator,
        trials: int = TRIALS,
    ) -> None:
        bits = precision(base)
        assert bits is not None
        self.rng = rng
        self.grid, self.coarse = 2.0**bits, 2.0 ** min(bits, GRID)
        self.rise = float(rise) * (1 + gamma(8))
        X = base.points.values
        self.center = X.mean(axis=0)
        some = X[:: -(-len(X) // 4096)] - self.center
        sizes = np.linalg.eigvalsh(some.T @ some / len(some))
        self.spread = float(np.sqrt(sizes.max())) + 2.0**-300
        self.size = max(1, int((sizes > 1e-12 * sizes.max()).sum()))
        self.avoided = homogeneous(X[avoid])
        order = near_order(X[members], self.size, rng)
        self.left = members[order]
        self.rows = homogeneous(X[self.left])
        self.length = float(base.points.sizes.max())
        self.radius = float(base.points.radius.max())
        work = len(X) * len(X) / (2 * self.size)
        self.trials = int(min(max(_QUICK / work, min(_BUDGET / work, _LEAST), 1), trials))
        self.width = 1
        self.captures = 1.0

    def next(self) -> TentPanel | Opening | None:
        """The next panel, or what is better than a panel; None where no group is certified."""
        while True:
            size = min(self.size, len(self.left))
            room = len(self.left) // (self.trials * size)
            few = int(_LATER * len(self.left) / max(self.captures, size))
            self.width = max(1, min(_WIDTH, 8 * self.width, room, few))
            groups = self._groups(self.width * self.trials, size)
            panel, share = self._panel(groups)
            if share < _FEW and size > 1:
                self.size = size // 2
            if panel is not None or size == 1:
                return panel

    def drop(self, gone: Array) -> None:
        """Points of the mask ``gone`` are not sought any more."""
        kept = ~gone[self.left]
        self.left, self.rows = self.left[kept], self.rows[kept]

    def _groups(self, count: int, size: int) -> Array:
        """Places (count, size) among what is left: half of them near each other, half at random;
        disjoint where there are enough."""
        n = len(self.left)
        if count * size > n:
            return np.array([self.rng.choice(n, size, replace=False) for _ in range(count)])
        runs = self.rng.choice(n // size, (count + 1) // 2, replace=False)
        near = runs[:, None] * size + np.arange(size)
        free = np.ones(n, dtype=bool)
        free[near] = False
        rest = self.rng.choice(np.flatnonzero(free), (count // 2, size), replace=False)
        return np.concatenate([near, rest])

    def _panel(self, groups: Array) -> tuple[TentPanel | Opening | None, float]:
        """The best of the tents through these groups, and the share of groups with a tent."""
        u, beta, own, room = self._proposed(groups)
        below, above = nearest(self.avoided, np.c_[u, beta].T)
        # where one side is free, as far as the points reach
        far = 2 * self.length * np.linalg.norm(u, axis=1) + np.abs(beta) + 1
        low, high = np.maximum(below + room, -far), np.minimum(above - room, far)
        middle = np.round((low + high) / 2 * self.grid) / self.grid
        half = self._half((high - low) / 2)
        wide = np.abs(middle) + own + room <= half * (1 - EDGE)
        middle = np.where(wide, middle, 0.0)
        half = np.where(wide, half, self._half(np.minimum(high, -low)))
        fine = (half > 0) & (own + room + np.abs(middle) <= half * (1 - EDGE)) & u.any(axis=1)
        fine &= (middle + half <= high) & (middle - half >= low)
        if not fine.any():
            return None, 0.0
        share = float(fine.mean())
        narrow = np.where(fine, -half / np.linalg.norm(u, axis=1), 1.0)
        most = max(_WIDEST * self.width, int(_CHEAP / len(self.left)))
        some = np.argsort(narrow, kind="stable")[:most]
        some = some[fine[some]]
        free = (np.isinf(below) | np.isinf(above))[some]
        groups, u, beta, middle, half = (x[some] for x in (groups, u, beta, middle, half))
        beta = beta - middle
        within = half * (1 - EDGE) - SLACK * self._room(u, beta)
        rows, tents = within_slabs(self.rows, np.c_[u, beta].T, within)
        counts = np.bincount(tents, minlength=len(some))
        order = np.argsort(-counts, kind="stable")[: self.width]
        if free.any() and 3 * counts[free].max() >= counts[order].mean():
            here = np.flatnonzero(free)[int(np.argmax(counts[free]))]
            cut = Cut(u[here], float((beta + middle)[here]))
            return Opening(cut, self.left[groups[here]]), share
        captured, best = self._apart(rows, tents, order, groups.shape[1])
        if not len(best):
            return None, 0.0
        self.captures = len(captured) / len(best)
        rise = _powers(self.rise / (half[best] * EDGE / 2))
        return TentPanel(self.left[captured], u[best], beta[best], half[best], rise), share

    def _apart(self, rows: Array, tents: Array, order: Array, size: int) -> tuple[Array, Array]:
        """What the tents capture, and which of them, in this order, are worth their blocks: those
        that capture ``size`` members, and most of what they can, after the tents before them."""
        sort = np.argsort(tents, kind="stable")
        ends = np.searchsorted(tents[sort], np.arange(order.max() + 2))
        gone = np.zeros(len(self.left), dtype=bool)
        kept = []
        for i in order.tolist():
            inside = rows[sort[ends[i] : ends[i + 1]]]
            new = int((~gone[inside]).sum())
            if new >= max(size, _WORTH * len(inside)):
                gone[inside] = True
                kept.append(i)
        return np.flatnonzero(gone), np.array(kept, dtype=int)

    def _proposed(self, groups: Array) -> tuple[Array, Array, Array, Array]:
        """Hyperplanes (u, beta) near the groups, on the grids, (Q, d−1) and (Q,); the largest |t|
        of each group as computed; and the bounds on the errors of t."""
        u = self._hyperplanes(groups)
        t = np.einsum("qsi,qi->qs", self.rows[groups, :-1], u)
        beta = -np.round(t.mean(axis=1) * self.grid) / self.grid
        return u, beta, np.abs(t + beta[:, None]).max(axis=1), self._room(u, beta)

    def _half(self, width: Array) -> Array:
        """A little less than ``width``, in few bits."""
        short = rounded_to(np.maximum(width, 0.0) * (1 - _GAP), _SHORT)
        return np.asarray(np.floor(short * self.grid) / self.grid)

    def _room(self, u: Array, beta: Array) -> Array:
        """Bounds of the errors of t for all points, (Q,)."""
        length = np.linalg.norm(u, axis=1) * self.length + np.abs(beta)
        size = np.abs(u).sum(axis=1)
        return np.asarray(error(u.shape[1] + 8, length, size * self.radius))

    def _hyperplanes(self, groups: Array) -> Array:
        """Normals (Q, d−1) of hyperplanes through the groups, and through random points where
        those are too few; on the grid, zero where the solution is not finite."""
        count, size = groups.shape
        d = self.rows.shape[1] - 1
        noise = self.rng.standard_normal((count, d - size + 1, d))
        around = self.center + self.spread * noise
        X = np.concatenate([self.rows[groups, :-1], around[:, 1:]], axis=1)
        X -= around[:, :1]  # t = 1 there: any point off the hyperplane
        ones = np.ones((count, d, 1))
        try:
            u = np.linalg.solve(X, ones)[:, :, 0]
        except np.linalg.LinAlgError:
            X += 2.0**-GRID * self.spread * self.rng.standard_normal(X.shape)
            u = np.linalg.solve(X, ones)[:, :, 0]
        largest = np.abs(u).max(axis=1, keepdims=True)
        good = np.isfinite(largest) & (largest > 0)
        u = np.where(good, u, 1.0) / 2.0 ** np.floor(np.log2(np.where(good, largest, 1.0)))
        u = np.round(u * self.coarse) / self.coarse
        return np.asarray(np.where(good & (np.abs(u).max(axis=1, keepdims=True) <= 2), u, 0.0))


def near_order(X: Array, size: int, rng: np.random.Generator) -> Array:
    """An order in which runs of ``size`` points are near each other: halved along random lines."""
    n = len(X)
    order = np.arange(n)
    node = np.zeros(n, dtype=np.int64)
    parts = 1
    while parts * size < n:
        along = X @ rng.standard_normal(X.shape[1])
        order = order[np.lexsort((along[order], node))]
        parts *= 2
        node = np.arange(n) * parts // n
    return order


def _powers(values: Array) -> Array:
    """Least powers of two that are not below positive values.

    >>> _powers(np.array([3.0, 4.0]))
    array([4., 4.])
    """
    mantissa, exponent = np.frexp(values)
    return np.ldexp(1.0, np.where(mantissa == 0.5, exponent - 1, exponent))
