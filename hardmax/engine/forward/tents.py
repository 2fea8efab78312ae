"""Tents that do not read the coordinate they change: tested in single precision (theory C1)."""

from __future__ import annotations

import numpy as np

from ...exact.array import Array
from ..compile.panel import Panel
from .buffers import Buffers, runs
from .points import EnclosedPoints
from .record import SparseRecord

_ROUNDED = 1 + 2.0**-10  # covers the rounding of a length in single precision
_TWO = np.float32(2).view(np.uint32)  # the bits of 2.0, read as an integer
MANY = 16  # testing every 16th pair singly takes as long as one product that tests all pairs


def apply_tents(panel: Panel, points: EnclosedPoints, buffers: Buffers) -> SparseRecord:
    """Apply the tents of a panel, in place.

    They do not read the coordinate that they change. So no tent moves a point into or out of the
    slab of another one.
    """
    events = SparseRecord()
    reach = points.reach(panel.unread)
    rows, items = inside(panel, points, reach, buffers)
    while len(rows):  # the next slab of every point
        now = np.r_[True, rows[1:] != rows[:-1]]
        mine, slab = rows[now], items[now]
        for at, blocks in panel.hinges(slab):
            moved = points.take(mine[at])
            events.add(mine[at], blocks, moved.layer(panel.arrays, blocks, reach[mine[at]]))
            points.put(mine[at], moved)
        rows, items = rows[~now], items[~now]
    return events


def inside(
    panel: Panel, points: EnclosedPoints, reach: Array, buffers: Buffers, many: int = MANY
) -> tuple[Array, Array]:
    """Pairs of a point and a slab in which it may lie, ordered by both.

    Single precision proposes the pairs, double precision tests them again. Where single precision
    proposes more than one pair in ``many``, as slabs are thin compared with the points, double
    precision tests all pairs. ``reach`` (n,) is that of the points.
    """
    double, (extended, scale) = panel.rest_filter, single_precision(points, panel.unread)
    single, most = double.coarse(scale)
    far = ~(reach <= most)  # too uncertain for single precision
    pairs: list[tuple[Array, Array]] = []
    for some in runs(len(points), len(panel)):
        part = extended[some]
        products = buffers.take("coarse", (len(part), len(panel)), np.float32)
        np.matmul(part, single, out=products)
        products[far[some]] = 1.0
        # all others are numbers, and as integers those below 0 are larger than 2
        hits = buffers.take("hits", products.shape, np.bool_)
        np.less(products.view(np.uint32), _TWO, out=hits)
        x = points.values[some]
        if many * np.count_nonzero(hits) > hits.size:
            where, items = np.nonzero(double.all_inside(x, reach[some]))
        else:
            where, items = np.divmod(np.flatnonzero(hits), len(panel))
            kept = double.inside(x[where], reach[some][where], items)
            where, items = where[kept], items[kept]
        pairs.append((where + some.start, items))
    return np.concatenate([p for p, _ in pairs]), np.concatenate([i for _, i in pairs])


def single_precision(points: EnclosedPoints, unread: int | None) -> tuple[Array, float]:
    """(x, 1) in single precision, (n, d + 1), without the coordinate ``unread``, and a power of two
    that is at least the length of each x.
    """
    n, d = points.values.shape
    rows = np.empty((n, d + 1), dtype=np.float32)
    rows[:, :d], rows[:, d] = points.values, 1.0
    if unread is not None:
        rows[:, unread] = 0.0
    # squares that underflow are lost; the 1 that is added below is far larger
    largest = _ROUNDED * float(np.sqrt(np.einsum("ij,ij->i", rows[:, :d], rows[:, :d]).max()))
    return rows, float(2.0 ** np.ceil(np.log2(largest**2 + 1) / 2 + 0.01))
