"""Shells: one block parks d − 1 points of any labels, or more (beyond Theorem B, step B4).

Source: docs/theory.md. A facet of the convex hull of the points still at height B has d − 1
vertices (in general position, and E has dimension d − 1). Tilting its hyperplane slightly gives
t(x) = δ·s(label of x) on the vertices and t < 0 on all other points at height B, so a single
block raises each vertex to the height band of its label. The term −Λ·(height − B) keeps parked
points where they are. So N points of any number of labels take about N/(d − 1) blocks.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from ....exact.array import Array
from ....model.parameters import Parameters
from ....stages import tell
from ..height_slice import HeightSlice, TooClose
from ..products import homogeneous
from .facets import Facets
from .tilt import NEAR, Shell, certified, rounded, tilt

# This many directions are tried for a single extreme point.
_SINGLE_DIRECTIONS = 32
# This many facets are sought at a time,
_FACETS_AT_ONCE = 32
# and this many times, where all of them hold few points.
_ROUNDS = 4


def fewest(points: int, dimension: int) -> int:
    """Shells that so many points take at least: each parks d − 1 = ``dimension`` of them, or all.

    >>> [fewest(points, 2) for points in range(5)]
    [0, 1, 1, 1, 2]
    """
    return max(min(points, 1), -(-(points - 1) // dimension))


def park(
    base: HeightSlice, heights: Mapping[str, int], seed: int = 0, limit: int | None = None
) -> Parameters | None:
    """Blocks that raise every point x to a height within 1/4 of heights[label] ≥ 1, above B.

    ``limit`` gives up (None) past so many blocks. Raises TooClose where even single points
    can't be parked with certified floats.
    """
    rank = np.array([float(heights[name]) for name in base.names])[base.codes]
    shells = find_shells(base, rank, seed, limit)
    if shells is None:
        return None
    return base.packed(
        *zip(*((shell.cut, shell.factor, shell.gate) for shell in shells), strict=True)
    )


def find_shells(
    base: HeightSlice,
    rank: Array,
    seed: int = 0,
    limit: int | None = None,
    keep: Callable[[list[Shell]], list[Shell]] = lambda found: found,
) -> list[Shell] | None:
    """Shells, one after another, that park point j within 1/4 of ``rank[j]`` ≥ 1; (n,).

    ``keep`` returns those of the next shells that are to be used, the first few of them.
    """
    rng = np.random.default_rng(seed)
    standing = np.ones(len(base), dtype=bool)
    shells: list[Shell] = []
    many = _FACETS_AT_ONCE
    while standing.any():
        tell("shells", int(standing.sum()))
        found = keep(_next(base, np.flatnonzero(standing), rank, rng, many))
        shells += found
        for shell in found:
            standing[shell.parked] = False
        many = min(max(2 * len(found), many // 2), _FACETS_AT_ONCE)
        left = fewest(int(standing.sum()), base.dimension)
        if limit is not None and len(shells) + left > limit:
            return None
    return shells


def _next(
    base: HeightSlice, left: Array, rank: Array, rng: np.random.Generator, many: int
) -> list[Shell]:
    """Park the vertices of some facets; a single extreme point where nothing else is certain."""
    few: list[Shell] = []
    for _ in range(_ROUNDS):
        found, some = _shells(base, left, rank, rng, many)
        if found:
            return found
        few += some
        many = min(2 * many, _FACETS_AT_ONCE)
    if few:
        return [max(few, key=lambda shell: len(shell.parked))]
    R = homogeneous(base.points.values[left])
    for _ in range(_SINGLE_DIRECTIONS):
        u = rng.standard_normal(base.dimension)
        t = R[:, :-1] @ u
        own, plane = np.arange(len(left)) == np.argmax(t), np.r_[u, -t.max()]
        shell = tilt(base, left, R, own, np.ones(len(left), dtype=bool), plane, rank)
        if shell is not None:
            return [shell]
    raise TooClose


def _shells(
    base: HeightSlice, left: Array, rank: Array, rng: np.random.Generator, many: int
) -> tuple[list[Shell], list[Shell]]:
    """Shells to be used one after another, each of more than half of the points of a facet; and,
    to be used alone, shells of fewer points."""
    R = homogeneous(base.points.values[left])
    proposed = _proposals(R[:, :-1], rank[left], rng, many)
    planes, owner, most = proposed.planes, proposed.owner, proposed.most
    shells, bounds, others = _certified(base, left, rank, proposed)
    found: list[Shell] = []
    few: list[Shell] = []
    standing = np.ones(len(left), dtype=bool)
    sizes = np.bincount(owner, minlength=len(planes)).tolist()
    for q, plane in enumerate(planes):
        shell = shells.get(q) if bounds[q].max() <= 0 else None
        if shell is None and sizes[q]:
            # without the shells that failed, the facet may cut off points
            own = owner == q
            t = (R @ plane)[standing & ~own]
            if t.max(initial=-np.inf) <= NEAR * np.linalg.norm(plane[:-1]):
                shell = tilt(base, left, R, own, standing, plane, rank)
        if shell is None:
            continue
        if 2 * len(shell.parked) > most:
            found.append(shell)
            standing[np.searchsorted(left, shell.parked)] = False
            whole = len(shell.parked) == sizes[q]
            bounds[proposed.full, q] = -np.inf if whole else others((owner == q) & standing)
        elif not found:
            few.append(shell)
    return found, few


@dataclass(frozen=True)
class _Proposals:
    """Hyperplanes through facets of n points in E, to be used one after another.

    Shapes: ``planes`` (Q, d), homogeneous; ``owner`` (n,), the facet that each point belongs to, or
    Q; of the facets that are ``full`` (k,), the ``points`` (k, m) and the planes ``tilted`` (k, d).
    A facet may have ``most`` points.
    """

    planes: Array
    owner: Array
    most: int
    full: Array
    points: Array
    tilted: Array


def _certified(
    base: HeightSlice, left: Array, rank: Array, proposed: _Proposals
) -> tuple[dict[int, Shell], Array, Callable[[Array], Array]]:
    """Shells of the k full facets; proven bounds (Q, Q + 1) of the t of each on the points of the
    others: those of the points that belong to none, which come last, are at most 0; and what finds
    such bounds (k,) for some of the points that belong to facets, given by a mask (n,)."""
    full, owner = proposed.full, proposed.owner
    many = len(proposed.planes)
    bounds = np.full((many, many + 1), -np.inf)
    if not len(full):
        return {}, bounds, lambda _: np.zeros(0)
    u, beta = rounded(proposed.tilted)
    t, room = base.points.bounded(u, beta)
    owned = np.flatnonzero(owner < many)
    owned = owned[np.argsort(owner[owned], kind="stable")]
    above = t[:, left[owned]] + room[:, None]

    def others(points: Array) -> Array:
        return np.asarray(above[:, points[owned]].max(axis=1, initial=-np.inf))

    who, starts = np.unique(owner[owned], return_index=True)
    bounds[full[:, None], who] = np.maximum.reduceat(above, starts, axis=1)
    bounds[full, full] = -np.inf
    top = t.max(axis=1)
    vertices = left[proposed.points]
    own = t[np.arange(len(full))[:, None], vertices]
    hidden = np.full(len(base), -np.inf)
    hidden[np.delete(left, owned)] = 0
    t += hidden
    bounds[full, many] = t.max(axis=1) + room
    sure, factor, gate = certified(
        own - room[:, None], own + room[:, None], rank[vertices], bounds[full, many], top + room
    )
    shells = {
        int(full[i]): Shell.of(vertices[i], u[i], beta[i], factor[i], gate[i])
        for i in np.flatnonzero(sure)
    }
    return shells, bounds, others


def _proposals(X: Array, rank: Array, rng: np.random.Generator, many: int) -> _Proposals:
    """Facets of points X (n, d−1), tilted to their ``rank`` (n,)."""
    center = X.mean(axis=0)
    Y = X - center
    sizes, axes = np.linalg.eigh(Y.T @ Y)
    largest = float(sizes.max())
    if len(X) > 1 and largest <= 0:
        raise TooClose
    spanned = sizes > 1e-14 * max(largest, 1e-300)
    most = int(spanned.sum())
    if len(X) <= most + 1:  # everything, if it is affinely independent
        u = rng.standard_normal(X.shape[1])
        plane, none = np.r_[u, -np.mean(X @ u)], np.zeros(0, dtype=np.int64)
        everything = np.zeros(len(X), dtype=np.int64)
        return _Proposals(plane[None], everything, len(X), none, none[:, None], plane[None, :0])
    axes = axes[:, spanned] / np.sqrt(sizes[spanned] + 1e-9 * largest)
    Y = Y @ axes  # facets do not depend on scales
    many = max(1, min(many, len(X) // (2 * most)))
    facets = Facets(Y, _directions(many, most, rng), rng)

    def back(W: Array) -> Array:
        u = W[:, :-1] @ axes.T
        return np.asarray(np.c_[u, W[:, -1] - u @ center])

    full, tilted = facets.tilted(rank)
    planes = back(np.c_[facets.u, np.full(len(facets.u), -1.0)])
    return _Proposals(planes, facets.owner, most, full, facets.points[full], back(tilted))


def _directions(many: int, dimension: int, rng: np.random.Generator) -> Array:
    """Orthogonal ones and their opposites, as often as it takes: far apart, so that the facets they
    lead to are."""
    found: list[Array] = []
    while len(found) * dimension < many:
        axes = np.linalg.qr(rng.standard_normal((dimension, dimension)))[0]
        found += [axes, -axes]
    return np.concatenate(found)[:many]
