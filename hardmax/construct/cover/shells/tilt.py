"""A facet, tilted to the ranks of its vertices (docs/theory.md, Theorem 6a).

Tilting the hyperplane of a facet gives t = δ·rank on its vertices; all other points at height B
stay below it if δ is small. Floats propose, proven bounds of t on all points decide.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from ....enclosure.rounding import gamma
from ....exact.array import Array
from ....exact.dyadic import rounded_to
from ..height_slice import Cut, HeightSlice, on_grid
from .facets import FAR

# The tilt is halved this many times before a smaller group is tried.
_HALVINGS = 6
# Points nearer to a facet than this, relative to the cloud, count as on it.
NEAR = 1e-7
# Where vertices are given up, the other points on the facet must sink at least this fast.
_SINKING = 1e-3
# Bands reach this far to both sides of their heights.
BAND = Fraction(1, 4)


@dataclass(frozen=True)
class Shell:
    """A block that raises by factor·max(0, t + gate·height above B), and the points it parks."""

    parked: Array
    cut: Cut
    factor: Fraction
    gate: Fraction

    @classmethod
    def of(cls, parked: Array, u: Array, beta: float, factor: float, gate: float) -> Shell:
        """The same with floats."""
        return cls(parked, Cut(u, float(beta)), Fraction(float(factor)), Fraction(float(gate)))


def tilt(
    base: HeightSlice, left: Array, R: Array, own: Array, standing: Array, plane: Array, rank: Array
) -> Shell | None:
    """A block whose t is positive on some vertices alone, there in proportion to ``rank``.

    Of the points ``left`` (n,), homogeneous ``R`` (n, d), the vertices are those that ``own`` says,
    and those ``standing`` are not to be raised. Where other points lie on the facet, too, vertices
    are given up until those can be tilted below: a point is an affine combination of the vertices,
    and sinks with those it needs.
    """
    vertices, rest = np.flatnonzero(own), np.flatnonzero(standing & ~own)
    V, R = R[vertices], R[rest]
    rank = rank[left[vertices]]
    solve = np.linalg.pinv(V)
    flat = plane - solve @ (V @ plane)  # zero on all vertices
    size = float(np.linalg.norm(flat[:-1]))
    kept = np.ones(len(vertices), dtype=bool)
    gap = -(R @ flat)
    touching = gap <= NEAR * size
    while kept.any():
        sink = solve @ np.where(kept, 0.0, -1.0)
        slope = R @ sink
        bad = touching & (slope > -_SINKING)
        if not bad.any():
            break
        needs = np.abs(R[bad] @ solve[:, kept]).sum(axis=0)
        kept[np.flatnonzero(kept)[int(np.argmax(needs))]] = False
    if not kept.any():
        return None
    if not kept.all():
        flat = flat + _step(gap, slope, ~touching, size, sink) * sink
        gap = -(R @ flat)
    way = solve @ np.where(kept, rank, 0.0)
    if np.abs((V @ way - rank)[kept]).max() > 1e-6:
        return None
    if not len(rest) and kept.all():
        flat, delta = np.zeros_like(flat), 1.0
    else:
        delta = _step(gap, R @ way, np.ones(len(rest), dtype=bool), size, way)
    parked, others = left[vertices[kept]], left[np.r_[rest, vertices[~kept]]]
    for _ in range(_HALVINGS):
        u, beta = rounded((flat + delta * way)[None])
        if not u.any() and not beta.any():
            return None
        low, high = base.values(Cut(u[0], float(beta[0])))
        most, top = high[others].max(initial=-np.inf), high.max()
        sure, factor, gate = certified(
            low[None, parked], high[None, parked], rank[None, kept], most, top
        )
        if sure[0]:
            return Shell.of(parked, u[0], beta[0], factor[0], gate[0])
        delta /= 2
    return None


def _step(gap: Array, slope: Array, counts: Array, size: float, way: Array) -> float:
    """Half the way along ``way`` to the first point that counts, and not past its length."""
    rising = counts & (slope > 0)
    first = float((gap[rising] / slope[rising]).min(initial=np.inf)) / 2
    length = float(np.linalg.norm(way[:-1]))
    step = min(first, size / length if length else np.inf)
    return step if np.isfinite(step) else 0.0


def rounded(W: Array) -> tuple[Array, Array]:
    """Hyperplanes (u, beta), rows of W (k, d), on the grid: u (k, d−1) and beta (k,). Where all of
    its points have one rank u is zero; all is zero where there is no such hyperplane."""
    size = np.maximum(np.abs(W[:, :-1]).max(axis=1), np.abs(W[:, -1]) / FAR)
    fit = (size > 0) & (size < np.inf)
    W = on_grid(np.where(fit[:, None], W, 0), np.where(fit, size, 1)[:, None])
    return W[:, :-1], W[:, -1]


def certified(
    low: Array, high: Array, wanted: Array, rest: Array, top: Array
) -> tuple[Array, Array, Array]:
    """Hyperplanes that do what they should by the bounds of their t, and their factors and gates.

    ``low`` and ``high`` are those on the points to be parked, (k, m), and ``wanted`` their ranks;
    ``rest`` (k,) the largest on the other points at height B, ``top`` (k,) on all points.
    """
    units = np.sort((low + high) / 2 / wanted, axis=1)
    units = units[:, units.shape[1] // 2]
    sure = (low.min(axis=1) > 0) & (rest <= 0) & (units > 2.0**-1000) & (top < 2.0**1000)
    factor = rounded_to(1 / np.where(sure, units, 1), 16)
    least, most = wanted - float(BAND), wanted + float(BAND)
    above = factor[:, None] * low * (1 - gamma(8)) >= least
    below = factor[:, None] * high * (1 + gamma(8)) <= most
    # all that is parked has a height of at least 1 − 1/4 above B, and there 4·2^k·3/4 ≥ top
    gate = -np.ldexp(4.0, np.frexp(np.where(sure, top, 1))[1] - 1)
    return sure & above.all(axis=1) & below.all(axis=1), factor, gate
