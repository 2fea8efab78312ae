"""Shells: one block parks d − 1 points of any labels, or more (beyond Theorem B, step B4).

Source: docs/theory.md. A facet of the convex hull of the points still at height B has d − 1
vertices (in general position, and E has dimension d − 1). Tilting its hyperplane slightly gives
t(x) = δ·s(label of x) on the vertices and t < 0 on all other points at height B, so a single
block raises each vertex to the height band of its label. The term −Λ·(height − B) keeps parked
points where they are. So N points of any number of labels take about N/(d − 1) blocks.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

import numpy as np

from ..model.layers import RankOneBlock
from ..numbers import power_of_two_below
from .filtered import Array, rounded_to
from .slice import Cut, Slice, TooClose

_ROUNDS = 40  # of the cutting planes for one facet
_STEPS = 6  # times the tilt is halved before a smaller group is tried
_SINGLES = 32  # directions tried for a single extreme point
_FACETS = 4  # facets tried where one gives few points
_NEAR = 1e-7  # points nearer to a facet than this, relative to the cloud, count as on it
_SHARE = 1e-3  # how fast such a point must sink with the vertices that are given up
BAND = Fraction(1, 4)  # bands reach this far to both sides of their heights


def park(
    base: Slice, heights: Mapping[str, int], seed: int = 0, limit: int | None = None
) -> list[RankOneBlock] | None:
    """Blocks that raise every point x to a height within 1/4 of heights[label] ≥ 1, above B.

    ``limit`` gives up (None) past so many blocks. Raises TooClose where even single points
    can't be parked with certified floats.
    """
    rng = np.random.default_rng(seed)
    rank = np.array([float(heights[name]) for name in base.names])[base.codes]
    X = base.points.values
    left = np.arange(len(base))
    finder = _Facets(X, rng)
    blocks: list[RankOneBlock] = []
    while len(left):
        parked, block = _next(base, finder, left, rank)
        blocks.append(block)
        left = np.setdiff1d(left, parked)
        if limit is not None and len(blocks) + -(-len(left) // (base.dimension + 1)) > limit:
            return None
    return blocks


def _next(base: Slice, finder: _Facets, left: Array, rank: Array) -> tuple[Array, RankOneBlock]:
    """Park some vertices of a facet; a single extreme point where nothing else is certain."""
    X = base.points.values
    found = None
    for _ in range(_FACETS):
        vertices, u, beta = finder.facet(left)
        new = _tilt(base, vertices, u, beta, left, rank)
        if new is not None and (found is None or len(new[0]) > len(found[0])):
            found = new
        if found is not None and 2 * len(found[0]) > len(finder.g):
            return found
        finder.turn(left)
    for _ in range(_SINGLES):
        if found is not None:
            return found
        u = u + 0.3 * np.linalg.norm(u) * _unit(finder.rng, len(u))
        t = X[left] @ u
        found = _tilt(base, left[[int(np.argmax(t))]], u, -float(t.max()), left, rank)
    raise TooClose


def _unit(rng: np.random.Generator, d: int) -> Array:
    u = rng.standard_normal(d)
    return np.asarray(u / np.linalg.norm(u))


def _tilt(
    base: Slice, vertices: Array, u: Array, beta: float, left: Array, rank: Array
) -> tuple[Array, RankOneBlock] | None:
    """Vertices, and the block whose t is positive on them alone, there in proportion to ``rank``.

    Where other points lie on the facet, too, vertices are given up until those can be tilted
    below: a point is an affine combination of the vertices, and sinks with those it needs.
    """
    X = base.points.values
    V = np.c_[X[vertices], np.ones(len(vertices))]
    rest = np.setdiff1d(left, vertices)
    R = np.c_[X[rest], np.ones(len(rest))]
    solve = np.linalg.pinv(V)
    flat = np.r_[u, beta] - solve @ (V @ np.r_[u, beta])  # zero on all vertices
    size = float(np.linalg.norm(flat[:-1]))
    kept = np.ones(len(vertices), dtype=bool)
    gap = -(R @ flat)
    touching = gap <= _NEAR * size
    while kept.any():
        sink = solve @ np.where(kept, 0.0, -1.0)
        slope = R @ sink
        bad = touching & (slope > -_SHARE)
        if not bad.any():
            break
        needs = np.abs(R[bad] @ solve[:, kept]).sum(axis=0)
        kept[np.flatnonzero(kept)[int(np.argmax(needs))]] = False
    if not kept.any():
        return None
    if not kept.all():
        flat = flat + _step(gap, slope, ~touching, size, sink) * sink
        gap = -(R @ flat)
    tilt = solve @ np.where(kept, rank[vertices], 0.0)
    if np.abs((V @ tilt)[kept] - rank[vertices][kept]).max() > 1e-6:
        return None
    if not len(rest) and kept.all():
        flat, delta = np.zeros_like(flat), 1.0
    else:
        delta = _step(gap, R @ tilt, np.ones(len(rest), dtype=bool), size, tilt)
    others, vertices = np.setdiff1d(left, vertices[kept]), vertices[kept]
    for _ in range(_STEPS):
        block = _certified(base, flat + delta * tilt, vertices, others, rank)
        if block is not None:
            return vertices, block
        delta /= 2
    return None


def _step(gap: Array, slope: Array, counts: Array, size: float, way: Array) -> float:
    """Half the way along ``way`` to the first point that counts, and not past its length."""
    rising = counts & (slope > 0)
    first = float((gap[rising] / slope[rising]).min(initial=np.inf)) / 2
    length = float(np.linalg.norm(way[:-1]))
    step = min(first, size / length if length else np.inf)
    return step if np.isfinite(step) else 0.0


def _certified(
    base: Slice, w: Array, vertices: Array, rest: Array, rank: Array
) -> RankOneBlock | None:
    """The block of hyperplane w = (u, beta), if floats prove that it does what it should."""
    if not np.isfinite(w).all() or not w[:-1].any():
        return None
    cut = Cut.near(w[:-1], float(w[-1]))
    low, high = base.values(cut)
    if len(rest) and high[rest].max() > 0:
        return None
    if low[vertices].min() <= 0:
        return None
    unit = float(np.median((low[vertices] + high[vertices]) / 2 / rank[vertices]))
    factor = Fraction(float(rounded_to(np.array(1 / unit), 16)))
    band = float(BAND)
    if (float(factor) * low[vertices] * (1 - 2.0**-50) < rank[vertices] - band).any() or (
        float(factor) * high[vertices] * (1 + 2.0**-50) > rank[vertices] + band
    ).any():
        return None
    # all that is parked has a height of at least 1 − 1/4 above B
    most = Fraction(float(high.max())) / (1 - BAND)
    return base.block(cut, factor, gate=-4 * power_of_two_below(most))


class _Facets:
    """Facets of the convex hull of what is left, by linear programs with cutting planes.

    max ⟨g,u⟩ subject to ⟨x − center, u⟩ ≤ 1 for all points left: the facet that the ray from
    the centre along g meets. The rows of one program serve the next. Where the points span
    less than E, the program runs in coordinates of what they span.
    """

    def __init__(self, X: Array, rng: np.random.Generator) -> None:
        self.X, self.rng = X, rng
        self.rows = np.zeros(0, dtype=int)
        self.basis = np.eye(X.shape[1])
        self.spanned = -1
        self.g = np.zeros(0)

    def facet(self, left: Array) -> tuple[Array, Array, float]:
        """Vertices (indices), u and beta with ⟨u,x⟩ + beta = 0 on them and ≤ 0 elsewhere."""
        self._span(left)
        d = self.basis.shape[1]
        if len(left) <= d + 1:
            return self._all(left)
        center = self.X[left].mean(axis=0)
        Y = (self.X[left] - center) @ self.basis
        along = Y @ self.g
        rows = np.flatnonzero(np.isin(left, self.rows))
        rows = np.union1d(rows, np.argsort(-along, kind="stable")[: 3 * d])
        y, weights, rows = _polar(Y, self.g, rows)
        # of all constraints those with the largest multipliers are the vertices
        order = np.argsort(-weights, kind="stable")[:d]
        tight = rows[order[weights[order] > 1e-12 * float(weights.max())]]
        self.rows = left[rows[1 - Y[rows] @ y < 0.5]]
        if not len(tight):
            return self._all(left[[int(np.argmax(along))]])
        u = self.basis @ y
        return np.sort(left[tight]), u, -1.0 - float(u @ center)

    def turn(self, left: Array) -> None:
        """Look in the direction of a point far from the middle."""
        Y = (self.X[left] - self.X[left].mean(axis=0)) @ self.basis
        if len(left) > self.basis.shape[1] > 0:
            sizes, axes = np.linalg.eigh(Y.T @ Y / len(Y))
            Y = Y @ (axes / np.sqrt(sizes + 1e-9 * sizes.max()))
            far = np.argsort(-(Y * Y).sum(axis=1), kind="stable")[: 2 * _FACETS]
            y = Y[self.rng.choice(far)] @ (axes * np.sqrt(sizes + 1e-9 * sizes.max())).T
            self.g = y / np.linalg.norm(y)

    def _span(self, left: Array) -> None:
        """Renew the basis where the points left may span less than before."""
        if self.spanned >= 0 and len(left) > 4 * self.basis.shape[1] and self.spanned % 16:
            self.spanned += 1
            return
        self.spanned += 1
        Y = self.X[left] - self.X[left].mean(axis=0)
        sizes, basis = np.linalg.eigh(Y.T @ Y)
        if len(left) > 1 and sizes.max() <= 0:
            raise TooClose
        keep = sizes > 1e-14 * max(float(sizes.max()), 1e-300)
        if int(keep.sum()) != len(self.g) or self.spanned == 0:
            self.basis = basis[:, keep]
            self.g = _unit(self.rng, int(keep.sum())) if keep.any() else np.zeros(0)

    def _all(self, left: Array) -> tuple[Array, Array, float]:
        """Everything that is left, if it is affinely independent."""
        u = _unit(self.rng, self.X.shape[1])
        return left, u, -float(np.mean(self.X[left] @ u))


def _polar(Y: Array, g: Array, rows: Array) -> tuple[Array, Array, Array]:
    """Solve max ⟨g,u⟩, Y u ≤ 1; return u, the multipliers and the rows they belong to."""
    from scipy.optimize import linprog

    d = Y.shape[1]
    box = 1e4 / max(float(np.abs(Y).max()), 1e-300)
    for _ in range(_ROUNDS):
        result = linprog(
            -g, A_ub=Y[rows], b_ub=np.ones(len(rows)), bounds=[(-box, box)] * d, method="highs-ds"
        )
        if result.x is None:
            raise TooClose
        over = Y @ result.x
        worst = np.argsort(-over, kind="stable")[: 2 * d]
        new = np.setdiff1d(worst[over[worst] > 1 + 1e-9], rows)
        if not len(new):
            break
        rows = np.union1d(rows, new)
    return result.x, -result.ineqlin.marginals, rows
