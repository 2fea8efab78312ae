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
BAND = Fraction(1, 4)  # bands reach this far to both sides of their heights


def park(
    base: Slice, heights: Mapping[str, int], seed: int = 0, limit: int | None = None
) -> list[RankOneBlock] | None:
    """Blocks that raise every point x to a height within 1/4 of heights[label] ≥ 1, above B.

    ``limit`` gives up (None) past so many blocks. Raises TooClose where even single points
    can't be parked with certified floats.
    """
    rng = np.random.default_rng(seed)
    rank = np.array([float(heights[name]) for name in base.labels.tolist()])
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
    vertices, u, beta = finder.facet(left)
    while True:
        tilted = _tilt(base, vertices, u, beta, left, rank)
        if tilted is not None:
            return vertices, tilted
        if len(vertices) == 1:
            raise TooClose
        # the vertices farthest out along a slightly different direction
        u = u + 0.3 * np.linalg.norm(u) * _unit(finder.rng, len(u))
        t = base.points.values[left] @ u
        size = max(1, len(vertices) // 2)
        if size == 1:
            vertices = left[[int(np.argmax(t))]]
            beta = -float(t.max())
        else:
            order = np.argsort(-(base.points.values[vertices] @ u), kind="stable")
            vertices = vertices[order[:size]]
            beta = -float(np.mean(base.points.values[vertices] @ u))


def _unit(rng: np.random.Generator, d: int) -> Array:
    u = rng.standard_normal(d)
    return np.asarray(u / np.linalg.norm(u))


def _tilt(
    base: Slice, vertices: Array, u: Array, beta: float, left: Array, rank: Array
) -> RankOneBlock | None:
    """The block whose t is positive on the vertices alone, there in proportion to ``rank``."""
    X = base.points.values
    V = np.c_[X[vertices], np.ones(len(vertices))]
    rest = np.setdiff1d(left, vertices)
    # exactly 0 on all vertices, then a tilt that is rank on the vertices
    flat = np.linalg.lstsq(V, V @ np.r_[u, beta], rcond=None)[0]
    flat = np.r_[u, beta] - flat
    tilt = np.linalg.lstsq(V, rank[vertices], rcond=None)[0]
    if np.abs(V @ tilt - rank[vertices]).max() > 1e-6:
        return None
    R = np.c_[X[rest], np.ones(len(rest))]
    gap, slope = -(R @ flat), R @ tilt
    if len(rest):
        if gap.min() <= 0:
            return None
        rising = slope > 0
        delta = float((gap[rising] / slope[rising]).min(initial=np.inf))
        size = float(np.linalg.norm(tilt[:-1]))
        delta = min(delta / 2, float(np.linalg.norm(flat[:-1])) / size if size else np.inf)
        if not np.isfinite(delta):
            return None
    else:
        flat, delta = np.zeros_like(flat), 1.0
    for _ in range(_STEPS):
        w = flat + delta * tilt
        block = _certified(base, w, vertices, rest, rank)
        if block is not None:
            return block
        delta /= 2
    return None


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
