"""Shells: one block parks d − 1 points of any labels, or more (beyond Theorem B, step B4).

Source: docs/theory.md. A facet of the convex hull of the points still at height B has d − 1
vertices (in general position, and E has dimension d − 1). Tilting its hyperplane slightly gives
t(x) = δ·s(label of x) on the vertices and t < 0 on all other points at height B, so a single
block raises each vertex to the height band of its label. The term −Λ·(height − B) keeps parked
points where they are. So N points of any number of labels take about N/(d − 1) blocks.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ..model.parameters import Parameters
from .facets import facets
from .filtered import Array
from .products import homogeneous
from .slice import Slice, TooClose
from .tilt import NEAR, Shell, certified, tilt, tilted

_SINGLES = 32  # directions tried for a single extreme point
_FACETS = 32  # facets sought at a time
_ROUNDS = 4  # times that is done where all of them give few points


def fewest(points: int, dimension: int) -> int:
    """Shells that so many points take at least: each parks d − 1 = ``dimension`` of them, or all.

    >>> [fewest(points, 2) for points in range(5)]
    [0, 1, 1, 1, 2]
    """
    return max(min(points, 1), -(-(points - 1) // dimension))


def park(
    base: Slice, heights: Mapping[str, int], seed: int = 0, limit: int | None = None
) -> Parameters | None:
    """Blocks that raise every point x to a height within 1/4 of heights[label] ≥ 1, above B.

    ``limit`` gives up (None) past so many blocks. Raises TooClose where even single points
    can't be parked with certified floats.
    """
    rng = np.random.default_rng(seed)
    rank = np.array([float(heights[name]) for name in base.names])[base.codes]
    standing = np.ones(len(base), dtype=bool)
    shells: list[Shell] = []
    many = _FACETS // 4
    while standing.any():
        found = _next(base, np.flatnonzero(standing), rank, rng, many)
        shells += found
        standing[np.concatenate([shell.parked for shell in found])] = False
        many = min(2 * len(found), _FACETS)
        left = fewest(int(standing.sum()), base.dimension)
        if limit is not None and len(shells) + left > limit:
            return None
    return base.packed(
        *zip(*((shell.cut, shell.factor, shell.gate) for shell in shells), strict=True)
    )


def _next(
    base: Slice, left: Array, rank: Array, rng: np.random.Generator, many: int
) -> list[Shell]:
    """Park the vertices of some facets; a single extreme point where nothing else is certain."""
    few: list[Shell] = []
    for _ in range(_ROUNDS):
        found, some = _shells(base, left, rank, rng, many)
        if found:
            return found
        few += some
        many = min(2 * many, _FACETS)
    if few:
        return [max(few, key=lambda shell: len(shell.parked))]
    for _ in range(_SINGLES):
        u = rng.standard_normal(base.dimension)
        t = base.points.values[left] @ u
        shell = tilt(base, left[[int(np.argmax(t))]], np.r_[u, -t.max()], left, rank)
        if shell is not None:
            return [shell]
    raise TooClose


def _shells(
    base: Slice, left: Array, rank: Array, rng: np.random.Generator, many: int
) -> tuple[list[Shell], list[Shell]]:
    """Shells to be used one after another, each of more than half of the points of a facet; and,
    to be used alone, shells of fewer points."""
    X = base.points.values[left]
    planes, owner, most = _planes(X, rng, many)
    found: list[Shell] = []
    few: list[Shell] = []
    standing = np.ones(len(left), dtype=bool)
    R = homogeneous(X)
    cuts = dict(tilted(R, planes, owner, rank[left]))
    low, high = base.all_values([*cuts.values()])
    bounds = dict(zip(cuts, zip(low, high, strict=True), strict=True))
    for q, plane in enumerate(planes):
        own = owner == q
        rest = standing & ~own
        shell = None
        if q in cuts:
            shell = certified(cuts[q], *bounds[q], left[own], left[rest], rank)
        above = NEAR * np.linalg.norm(plane[:-1])
        # without the shells that failed, the facet may cut off points
        if shell is None and own.any() and (R[rest] @ plane).max(initial=-np.inf) <= above:
            shell = tilt(base, left[own], plane, left[standing], rank)
        if shell is None:
            continue
        if 2 * len(shell.parked) > most:
            found.append(shell)
            standing[np.searchsorted(left, shell.parked)] = False
        elif not found:
            few.append(shell)
    return found, few


def _planes(X: Array, rng: np.random.Generator, many: int) -> tuple[Array, Array, int]:
    """Hyperplanes (Q, d) through facets of points X (n, d−1), the facet that each point belongs to,
    or Q (n,), and how many points a facet may have."""
    center = X.mean(axis=0)
    sizes, axes = np.linalg.eigh((X - center).T @ (X - center))
    largest = float(sizes.max())
    if len(X) > 1 and largest <= 0:
        raise TooClose
    spanned = sizes > 1e-14 * max(largest, 1e-300)
    most = int(spanned.sum())
    if len(X) <= most + 1:  # everything, if it is affinely independent
        u = rng.standard_normal(X.shape[1])
        return np.r_[u, -np.mean(X @ u)][None], np.zeros(len(X), dtype=np.int64), len(X)
    axes = axes[:, spanned] / np.sqrt(sizes[spanned] + 1e-9 * largest)
    Y = (X - center) @ axes  # facets do not depend on scales
    many = max(1, min(many, len(X) // (2 * most)))
    sizes = np.einsum("ij,ij->i", Y, Y)
    far = np.argsort(-sizes, kind="stable")[: 4 * many]
    far = far[4 * sizes[far] > sizes[far[0]]]
    chosen = rng.choice(far, min(many, len(far)), replace=False)
    u, owner = facets(Y, Y[chosen], rng)
    return np.c_[u @ axes.T, -1 - u @ (axes.T @ center)], owner, most
