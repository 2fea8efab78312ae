"""Tents that read none of what they change: first looks in single precision (theory C1)."""

from __future__ import annotations

import numpy as np

from ...exact.array import Array
from ..compile.panel import Panel
from .buffers import Buffers, runs
from .points import Points
from .record import Events

_TWO = np.float32(2).view(np.uint32)


def slabs(panel: Panel, points: Points, axis: int, buffers: Buffers) -> Events:
    """Tents that read none of what they change: so every point meets its slabs independently."""
    events = Events()
    rows, items = inside(panel, points, buffers)
    reach = points.glance(panel.unread).reach
    while len(rows):  # the next slab of every point
        now = np.r_[True, rows[1:] != rows[:-1]]
        mine, slab = rows[now], items[now]
        for at, blocks in panel.hinges(slab):
            states = points.raised(panel.arrays, mine[at], blocks, reach[mine[at]], axis)
            events.add(mine[at], blocks, states)
        rows, items = rows[~now], items[~now]
    return events


def inside(panel: Panel, points: Points, buffers: Buffers) -> tuple[Array, Array]:
    """Points and slabs that they may lie in, in order of both: first by single precision, then by
    double."""
    rows, items = _glanced(panel, points, buffers)
    kept = panel.sieve.inside(points.values[rows], points.glance(panel.unread).reach[rows], items)
    return rows[kept], items[kept]


def _glanced(panel: Panel, points: Points, buffers: Buffers) -> tuple[Array, Array]:
    """The same by single precision alone."""
    seen = points.glance(panel.unread)
    sieve, most = panel.sieve.coarse(seen.scale)
    far = ~(seen.reach <= most)  # too uncertain for a glance
    pairs: list[tuple[Array, Array]] = []
    for some in runs(len(points), len(panel)):
        part = seen.rows[some]
        products = buffers.take("coarse", (len(part), len(panel)), np.float32)
        np.matmul(part, sieve, out=products)
        products[far[some]] = 1.0
        # all others are numbers, and as integers those below 0 are larger than 2
        hits = buffers.take("hits", products.shape, np.bool_)
        np.less(products.view(np.uint32), _TWO, out=hits)
        where, items = np.divmod(np.flatnonzero(hits), len(panel))
        pairs.append((where + some.start, items))
    return np.concatenate([p for p, _ in pairs]), np.concatenate([i for _, i in pairs])
