"""A facet, tilted to the ranks of its vertices (docs/theory.md, Theorem 6a).

Tilting the hyperplane of a facet gives t = δ·rank on its vertices; all other points at height B
stay below it if δ is small. Floats propose, proven bounds of t on all points decide.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from ..numbers import power_of_two_below
from .filtered import Array, rounded_to
from .products import homogeneous
from .slice import Cut, Slice

_STEPS = 6  # times the tilt is halved before a smaller group is tried
NEAR = 1e-7  # points nearer to a facet than this, relative to the cloud, count as on it
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


def tilted(R: Array, planes: Array, owner: Array, rank: Array) -> Iterator[tuple[int, Cut]]:
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
    way = np.einsum("qij,qj->qi", solve, rank[own])
    gap, slope = -(R @ flat.T), R @ way.T
    passed = owner[:, None] <= full
    gap[passed] = np.inf
    size, length = (np.linalg.norm(rows[:, :-1], axis=1) for rows in (flat, way))
    ways = np.full_like(gap, np.inf)
    np.divide(gap, slope, out=ways, where=slope > 0)
    longest = np.divide(size, length, out=np.full_like(size, _FAR), where=length > 0)
    step = np.minimum(ways.min(axis=0) / 2, longest)
    clear = gap.min(axis=0) > NEAR * size
    for i in np.flatnonzero(clear).tolist():
        cut = _cut(flat[i] + step[i] * way[i])
        if cut is not None:
            yield int(full[i]), cut


def tilt(base: Slice, vertices: Array, plane: Array, left: Array, rank: Array) -> Shell | None:
    """Vertices, and the block whose t is positive on them alone, there in proportion to ``rank``.

    Where other points lie on the facet, too, vertices are given up until those can be tilted
    below: a point is an affine combination of the vertices, and sinks with those it needs.
    """
    X = base.points.values
    V = homogeneous(X[vertices])
    rest = np.setdiff1d(left, vertices, assume_unique=True)
    R = homogeneous(X[rest])
    solve = np.linalg.pinv(V)
    flat = plane - solve @ (V @ plane)  # zero on all vertices
    size = float(np.linalg.norm(flat[:-1]))
    kept = np.ones(len(vertices), dtype=bool)
    gap = -(R @ flat)
    touching = gap <= NEAR * size
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
    way = solve @ np.where(kept, rank[vertices], 0.0)
    if np.abs((V @ way)[kept] - rank[vertices][kept]).max() > 1e-6:
        return None
    if not len(rest) and kept.all():
        flat, delta = np.zeros_like(flat), 1.0
    else:
        delta = _step(gap, R @ way, np.ones(len(rest), dtype=bool), size, way)
    others, vertices = np.setdiff1d(left, vertices[kept], assume_unique=True), vertices[kept]
    for _ in range(_STEPS):
        cut = _cut(flat + delta * way)
        if cut is None:
            return None
        shell = certified(cut, *base.values(cut), vertices, others, rank)
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


def certified(
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
