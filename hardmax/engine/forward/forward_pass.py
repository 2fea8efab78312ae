"""Points through a panel: one matrix product, then only what moves (theory C1, C4).

Where few layers of a panel are active on a point (`_rounds`, `slabs`), the sieve finds
each point's first active item, all such points are moved at once, and their later items are looked
at again. Where many are (`columns`), the layers are taken in order and the products with later
layers are corrected through ⟨w_i,u_k⟩, errors and all.
"""

from __future__ import annotations

import numpy as np

from ...exact.array import Array
from ..compile.panel import Panel
from .buffers import Buffers, runs
from .columns import clip, columns
from .points import RESTS, Points
from .record import Events, Trail
from .tents import slabs

_SHORT = 24  # panels up to which all layers are taken in order at once
_ROUNDS = 6  # after these, points that are not through go column by column


def sweep(panel: Panel, points: Points, buffers: Buffers) -> Trail:
    """Apply a panel to all points, in place, and return which layers were active on which."""
    if panel.kind == "clips":
        return clip(panel, points)
    if in_order(panel):
        return columns(panel, points)
    if panel.kind == "tents" and panel.unread is not None:
        return slabs(panel, points, panel.unread, buffers)
    return _rounds(panel, points, buffers)


def in_order(panel: Panel) -> bool:
    """Whether all layers of a panel are taken in order at once (`columns`)."""
    short = panel.kind == "layers" and len(panel) <= _SHORT and not panel.fused
    return panel.kind == "straight" or short


def _hits(panel: Panel, points: Points, buffers: Buffers) -> tuple[Array, Array]:
    """Which items may be active on which points at first sight, (n, K); and the points' reach."""
    reach = points.reach(panel.unread)
    n, d = points.values.shape
    extended = buffers.take("extended", (n, d + 2))
    extended[:, :d] = points.values
    extended[:, d] = reach
    extended[:, d + 1] = 1.0
    hits = buffers.take("hits", (n, len(panel)), np.bool_)
    bounds = panel.sieve.bounds(reach)[:, None] if panel.kind == "tents" else None
    for some in runs(n, len(panel)):
        products = buffers.take("products", (some.stop - some.start, len(panel)))
        np.matmul(extended[some], panel.sieve.rows, out=products)
        if bounds is None:
            np.less_equal(products, 0.0, out=hits[some])
        else:
            np.greater_equal(np.abs(products, out=products), bounds[some], out=hits[some])
    return np.logical_not(hits, out=hits), reach  # what is not a number is a hit


def _rounds(panel: Panel, points: Points, buffers: Buffers) -> Trail:
    events = Events()
    hits, reach = _hits(panel, points, buffers)
    rows = np.flatnonzero(hits.any(axis=1))
    if not len(rows):
        return events
    hits, reach, moved = hits[rows], reach[rows], points.take(rows)
    for _ in range(_ROUNDS):
        item = hits.argmax(axis=1)
        changed = np.zeros(len(rows), dtype=bool)
        near = reach
        for mine, blocks in panel.hinges(item):
            part = moved.take(mine) if len(mine) < len(rows) else moved
            states = part.layer(panel.arrays, blocks, near[mine])
            if part is not moved:
                moved.put(mine, part)
            events.add(rows[mine], blocks, states)
            changed[mine] |= states != RESTS
            if panel.fused:  # layers of a ridge do not move ⟨u,x⟩, but enlarge its error
                near = moved.reach(panel.unread)
        # what did not move keeps its sieve; what did goes through it again
        if changed.all():
            found, reach = _hits(panel, moved, buffers)
            hits = found & panel.sieve.later[item]
        else:
            again = np.flatnonzero(changed)
            if len(again):
                hits[again], reach[again] = _hits(panel, moved.take(again), buffers)
            hits &= panel.sieve.later[item]
        more = hits.any(axis=1)
        if not more.any():
            points.put(rows, moved)
            return events
        done, left = np.flatnonzero(~more), np.flatnonzero(more)
        points.put(rows[done], moved.take(done))
        rows, hits, reach, moved = rows[left], hits[left], reach[left], moved.take(left)
    return _finish(panel, points, events, rows)


def _finish(panel: Panel, points: Points, events: Events, rows: Array) -> Events:
    """Points that meet many items: from the entrance of the panel, layer after layer."""
    start = points.take(rows)
    for i, given in enumerate(events.rows):
        kept = np.isin(given, rows, invert=True)
        events.rows[i] = given[kept]
        events.blocks[i], events.states[i] = events.blocks[i][kept], events.states[i][kept]
    if panel.kind == "tents":
        for block in panel.blocks.tolist():
            blocks = np.full(len(rows), block)
            events.add(rows, blocks, start.layer(panel.arrays, blocks, start.reach()))
    else:
        grid = columns(panel, start)
        for i, block in enumerate(panel.blocks.tolist()):
            events.add(rows, np.full(len(rows), block), grid.states(i))
    points.put(rows, start)
    return events
