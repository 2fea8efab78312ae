"""Tents that do not read the coordinate they change: tested in single precision (theory C1)."""

from __future__ import annotations

import numpy as np

from ...exact.array import Array
from ..compile.panel import Panel
from .buffers import Buffers, runs
from .points import EnclosedPoints
from .record import SparseRecord

_TWO = np.float32(2).view(np.uint32)
MANY = 16  # one pair in so many is tested alone in the time of one product with all


def apply_tents(panel: Panel, points: EnclosedPoints, axis: int, buffers: Buffers) -> SparseRecord:
    """Apply the tents of a panel; as they do not read what they change, each point meets its slabs
    independently.
    """
    events = SparseRecord()
    rows, items = inside(panel, points, buffers)
    reach = points.single_precision(panel.unread).reach
    while len(rows):  # the next slab of every point
        now = np.r_[True, rows[1:] != rows[:-1]]
        mine, slab = rows[now], items[now]
        for at, blocks in panel.hinges(slab):
            states = points.raised(panel.arrays, mine[at], blocks, reach[mine[at]], axis)
            events.add(mine[at], blocks, states)
        rows, items = rows[~now], items[~now]
    return events


def inside(
    panel: Panel, points: EnclosedPoints, buffers: Buffers, many: int = MANY
) -> tuple[Array, Array]:
    """Pairs of a point and a slab in which it may lie, ordered by both.

    Single precision proposes the pairs, double precision tests them again. Where single precision
    proposes more than one pair in ``many``, as slabs are thin compared with the points, double
    precision tests all pairs.
    """
    seen, double = points.single_precision(panel.unread), panel.rest_filter
    single, most = double.coarse(seen.scale)
    far = ~(seen.reach <= most)  # too uncertain for single precision
    pairs: list[tuple[Array, Array]] = []
    for some in runs(len(points), len(panel)):
        part = seen.rows[some]
        products = buffers.take("coarse", (len(part), len(panel)), np.float32)
        np.matmul(part, single, out=products)
        products[far[some]] = 1.0
        # all others are numbers, and as integers those below 0 are larger than 2
        hits = buffers.take("hits", products.shape, np.bool_)
        np.less(products.view(np.uint32), _TWO, out=hits)
        x, reach = points.values[some], seen.reach[some]
        if many * np.count_nonzero(hits) > hits.size:
            where, items = np.nonzero(double.all_inside(x, reach))
        else:
            where, items = np.divmod(np.flatnonzero(hits), len(panel))
            kept = double.inside(x[where], reach[where], items)
            where, items = where[kept], items[kept]
        pairs.append((where + some.start, items))
    return np.concatenate([p for p, _ in pairs]), np.concatenate([i for _, i in pairs])
