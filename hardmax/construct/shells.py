"""Shells: one block parks d − 1 points of any labels, or more (beyond Theorem B, step B4).

Source: docs/theory.md. A facet of the convex hull of the points still at height B has d − 1
vertices (in general position, and E has dimension d − 1). Tilting its hyperplane slightly gives
t(x) = δ·s(label of x) on the vertices and t < 0 on all other points at height B, so a single
block raises each vertex to the height band of its label. The term −Λ·(height − B) keeps parked
points where they are. So N points of any number of labels take about N/(d − 1) blocks.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from ..model.parameters import Parameters
from ..numbers import power_of_two_below
from .facets import facets
from .filtered import Array, rounded_to
from .products import homogeneous
from .slice import Cut, Slice, TooClose

_STEPS = 6  # times the tilt is halved before a smaller group is tried
_SINGLES = 32  # directions tried for a single extreme point
_FACETS = 32  # facets sought at a time
_ROUNDS = 4  # times that is done where all of them give few points
_NEAR = 1e-7  # points nearer to a facet than this, relative to the cloud, count as on it
_FAR = 2.0**16  # the largest ratio of beta to u that is worth the bits
_SHARE = 1e-3  # how fast such a point must sink with the vertices that are given up
BAND = Fraction(1, 4)  # bands reach this far to both sides of their heights


@dataclass(frozen=True)
class Shell:
    """A block that raises by factor·max(0, t + gate·height above B), and the points it parks."""

    parked: Array
    cut: Cut
    factor: Fraction
    gate: Fraction


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
        shell = _tilt(base, left[[int(np.argmax(t))]], np.r_[u, -t.max()], left, rank)
        if shell is not None:
            return [shell]
    raise TooClose


def _shells(
    base: Slice, left: Array, rank: Array, rng: np.random.Generator, many: int
) -> tuple[list[Shell], list[Shell]]:
    """Shells to be used one after another, each of more than half of the points of a facet; and,
    to be used alone, shells of fewer points."""
    X = base.points.values[left]
    center = X.mean(axis=0)
    sizes, axes = np.linalg.eigh((X - center).T @ (X - center))
    largest = float(sizes.max())
    if len(left) > 1 and largest <= 0:
        raise TooClose
    spanned = sizes > 1e-14 * max(largest, 1e-300)
    most = int(spanned.sum())
    if len(left) <= most + 1:  # everything, if it is affinely independent
        u = rng.standard_normal(base.dimension)
        owner, planes = np.zeros(len(left), dtype=np.int64), np.r_[u, -np.mean(X @ u)][None]
        most = len(left)
    else:
        axes = axes[:, spanned] / np.sqrt(sizes[spanned] + 1e-9 * largest)
        Y = (X - center) @ axes  # facets do not depend on scales
        many = max(1, min(many, len(left) // (2 * most)))
        sizes = np.einsum("ij,ij->i", Y, Y)
        far = np.argsort(-sizes, kind="stable")[: 4 * many]
        far = far[4 * sizes[far] > sizes[far[0]]]
        chosen = rng.choice(far, min(many, len(far)), replace=False)
        u, owner = facets(Y, Y[chosen], rng)
        planes = np.c_[u @ axes.T, -1 - u @ (axes.T @ center)]
    found: list[Shell] = []
    few: list[Shell] = []
    standing = np.ones(len(left), dtype=bool)
    R = homogeneous(X)
    tilted = dict(_tilted(R, planes, owner, rank[left]))
    low, high = base.all_values([*tilted.values()])
    bounds = dict(zip(tilted, zip(low, high, strict=True), strict=True))
    for q, plane in enumerate(planes):
        own = owner == q
        rest = standing & ~own
        shell = None
        if q in tilted:
            shell = _certified(tilted[q], *bounds[q], left[own], left[rest], rank)
        above = _NEAR * np.linalg.norm(plane[:-1])
        # without the shells that failed, the facet may cut off points
        if shell is None and own.any() and (R[rest] @ plane).max(initial=-np.inf) <= above:
            shell = _tilt(base, left[own], plane, left[standing], rank)
        if shell is None:
            continue
        if 2 * len(shell.parked) > most:
            found.append(shell)
            standing[np.searchsorted(left, shell.parked)] = False
        elif not found:
            few.append(shell)
    return found, few


def _tilted(R: Array, planes: Array, owner: Array, rank: Array) -> Iterator[tuple[int, Cut]]:
    """Planes tilted to the ``rank`` of the points that they own, half the way to the next point;
    not those that have fewer points than others, or touch others.

    Shapes: ``R`` (n, d) points, homogeneous; ``planes`` (Q, d), ``owner`` (n,), ``rank`` (n,).
    """
    many = len(planes)
    count = np.bincount(owner, minlength=many)[:many]
    full = np.flatnonzero(count == count.max())
    order = np.argsort(owner, kind="stable")
    own = order[np.searchsorted(owner[order], full)[:, None] + np.arange(count.max())]
    V = R[own]
    try:
        solve = np.linalg.pinv(V)
    except np.linalg.LinAlgError:
        return
    flat = planes[full]
    flat = flat - np.einsum("qij,qj->qi", solve, np.einsum("qij,qj->qi", V, flat))
    tilt = np.einsum("qij,qj->qi", solve, rank[own])
    gap, slope = -(R @ flat.T), R @ tilt.T
    passed = owner[:, None] <= full
    gap[passed] = np.inf
    size, length = (np.linalg.norm(rows[:, :-1], axis=1) for rows in (flat, tilt))
    ways = np.full_like(gap, np.inf)
    np.divide(gap, slope, out=ways, where=slope > 0)
    step = np.minimum(ways.min(axis=0) / 2, size / np.maximum(length, 2.0**-60 * size))
    clear = gap.min(axis=0) > _NEAR * size
    for i in np.flatnonzero(clear).tolist():
        cut = _cut(flat[i] + step[i] * tilt[i])
        if cut is not None:
            yield int(full[i]), cut


def _tilt(base: Slice, vertices: Array, plane: Array, left: Array, rank: Array) -> Shell | None:
    """Vertices, and the block whose t is positive on them alone, there in proportion to ``rank``.

    Where other points lie on the facet, too, vertices are given up until those can be tilted
    below: a point is an affine combination of the vertices, and sinks with those it needs.
    """
    X = base.points.values
    V = np.c_[X[vertices], np.ones(len(vertices))]
    rest = np.setdiff1d(left, vertices, assume_unique=True)
    R = np.c_[X[rest], np.ones(len(rest))]
    solve = np.linalg.pinv(V)
    flat = plane - solve @ (V @ plane)  # zero on all vertices
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
    others, vertices = np.setdiff1d(left, vertices[kept], assume_unique=True), vertices[kept]
    for _ in range(_STEPS):
        cut = _cut(flat + delta * tilt)
        if cut is None:
            return None
        shell = _certified(cut, *base.values(cut), vertices, others, rank)
        if shell is not None:
            return shell
        delta /= 2
    return None


def _step(gap: Array, slope: Array, counts: Array, size: float, way: Array) -> float:
    """Half the way along ``way`` to the first point that counts, and not past its length."""
    rising = counts & (slope > 0)
    first = float((gap[rising] / slope[rising]).min(initial=np.inf)) / 2
    length = float(np.linalg.norm(way[:-1]))
    step = min(first, size / length if length else np.inf)
    return step if np.isfinite(step) else 0.0


def _cut(w: Array) -> Cut | None:
    """The hyperplane w = (u, beta) on the grid; u is zero where all of its points have one rank."""
    size = max(float(np.abs(w[:-1]).max()), abs(float(w[-1])) / _FAR)
    return Cut.near(w[:-1], float(w[-1]), size) if 0 < size < np.inf else None


def _certified(
    cut: Cut, low: Array, high: Array, vertices: Array, rest: Array, rank: Array
) -> Shell | None:
    """The shell of a hyperplane, if the bounds of t (n,) prove that it does what it should."""
    least, most, wanted = low[vertices], high[vertices], rank[vertices]
    if least.min() <= 0 or high[rest].max(initial=-np.inf) > 0:
        return None
    units = np.sort((least + most) / 2 / wanted)
    factor = float(rounded_to(1 / units[len(units) // 2], 16))
    above = factor * least * (1 - 2.0**-50) >= wanted - float(BAND)
    below = factor * most * (1 + 2.0**-50) <= wanted + float(BAND)
    if not (above & below).all():
        return None
    # all that is parked has a height of at least 1 − 1/4 above B
    gate = -4 * power_of_two_below(Fraction(float(high.max())) / (1 - BAND))
    return Shell(vertices, cut, Fraction(factor), gate)
