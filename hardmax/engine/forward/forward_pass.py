"""Take points through a panel (theory C1, C3, C4).

In most panels few layers are active on a point. One matrix product (`RestFilter`) finds the first
item that may move each point. All these points move at once, and their later items are tested
again. In the other panels all layers are applied to all points (`_in_order`).
"""

from __future__ import annotations

import numpy as np

from ...enclosure.rounding import error
from ...exact.array import Array
from ..compile.panel import Panel
from ..sizes import Sizes
from .buffers import Buffers, runs
from .points import RESTS, EnclosedPoints
from .record import ActivationRecord, DenseRecord, SparseRecord
from .tents import apply_tents


def apply_panel(
    panel: Panel, points: EnclosedPoints, buffers: Buffers, sizes: Sizes
) -> ActivationRecord:
    """Apply a panel to all points, in place, and return which layers were active on which."""
    if _takes_order(panel, sizes):
        return _in_order(panel, points)
    if panel.kind == "tents" and panel.unread is not None:
        return apply_tents(panel, points, buffers)
    return _rounds(panel, points, buffers, sizes)


def _takes_order(panel: Panel, sizes: Sizes) -> bool:
    """Whether all layers of a panel are applied in order (`_in_order`)."""
    return panel.kind == "straight" or (panel.kind == "layers" and len(panel) <= sizes.few)


def _hits(panel: Panel, points: EnclosedPoints, buffers: Buffers) -> tuple[Array, Array]:
    """Which items may be active on which points, (n, K), and the reach of the points."""
    reach = points.reach(panel.unread)
    n, d = points.values.shape
    extended = buffers.take("extended", (n, d + 2))
    extended[:, :d] = points.values
    extended[:, d] = reach
    extended[:, d + 1] = 1.0
    hits = buffers.take("hits", (n, len(panel)), np.bool_)
    bounds = panel.rest_filter.bounds(reach)[:, None] if panel.kind == "tents" else None
    for some in runs(n, len(panel)):
        products = buffers.take("products", (some.stop - some.start, len(panel)))
        np.matmul(extended[some], panel.rest_filter.rows, out=products)
        if bounds is None:
            np.less_equal(products, 0.0, out=hits[some])
        else:
            np.greater_equal(np.abs(products, out=products), bounds[some], out=hits[some])
    return np.logical_not(hits, out=hits), reach  # NaN counts as a hit


def _rounds(
    panel: Panel, points: EnclosedPoints, buffers: Buffers, sizes: Sizes
) -> ActivationRecord:
    events = SparseRecord()
    hits, reach = _hits(panel, points, buffers)
    rows = np.flatnonzero(hits.any(axis=1))
    if not len(rows):
        return events
    hits, reach, moved = hits[rows], reach[rows], points.take(rows)
    for _ in range(sizes.rounds):
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
            if (
                panel.kind == "tents"
            ):  # the layers of a tent leave ⟨u,x⟩ alone, but its error bound grows
                near = moved.reach(panel.unread)
        # points that moved are tested again; for the others the last test still holds
        if changed.all():
            found, reach = _hits(panel, moved, buffers)
            hits = found & panel.rest_filter.later[item]
        else:
            again = np.flatnonzero(changed)
            if len(again):
                hits[again], reach[again] = _hits(panel, moved.take(again), buffers)
            hits &= panel.rest_filter.later[item]
        more = hits.any(axis=1)
        if not more.any():
            points.put(rows, moved)
            return events
        done, left = np.flatnonzero(~more), np.flatnonzero(more)
        points.put(rows[done], moved.take(done))
        rows, hits, reach, moved = rows[left], hits[left], reach[left], moved.take(left)
    return _finish(panel, points, events, rows)


def _finish(
    panel: Panel, points: EnclosedPoints, events: SparseRecord, rows: Array
) -> SparseRecord:
    """Apply all layers in order to the points that meet many items, from the entrance of the
    panel.
    """
    start = points.take(rows)
    for i, given in enumerate(events.rows):
        kept = np.isin(given, rows, invert=True)
        events.rows[i] = given[kept]
        events.blocks[i], events.states[i] = events.blocks[i][kept], events.states[i][kept]
    for block in panel.blocks.tolist():
        blocks = np.full(len(rows), block)
        events.add(rows, blocks, start.layer(panel.arrays, blocks, start.reach()))
    points.put(rows, start)
    return events


def _in_order(panel: Panel, points: EnclosedPoints) -> DenseRecord:
    """Apply the layers one after another, and correct what later layers see as the points move.

    With t_k = ⟨u_k,x⟩ + b_k at the entrance and a_i = max(0, t_i) on the way, layer k meets
    t_k + Σ_{i<k} a_i ⟨w_i,u_k⟩, and the point leaves at x + Σ a_i w_i.
    """
    x, r = points.values, points.radius
    u, _, b, w, size_w = panel.layers
    t = u @ x.T
    t += b
    for i, first, coupling in panel.consequent:
        t[first:] += coupling[:, None] * np.maximum(t[i], 0.0)
    bound = _errors(panel, points.reach(panel.unread), t)
    active, rests = t > bound, t < -bound
    unclear = ~(active | rests)
    rise = np.maximum(t, 0.0)
    grown = r + np.where(rests, 0.0, bound).T @ size_w
    r[:] = error(2 * panel.roundings, np.abs(x) + rise.T @ size_w, grown)
    x += rise.T @ w
    return DenseRecord(active, unclear if unclear.any() else None)


def _errors(panel: Panel, reach: Array, t: Array) -> Array:
    """Bound the errors of all t, (K, n); infinite where something overflows."""
    size = panel.rounding
    bound = error(panel.roundings, np.abs(panel.layers[2]), panel.lengths[:, None] * reach)
    for i, first, coupling in panel.consequences:
        pushed = bound[i] * ~(t[i] < -bound[i]) + size * np.maximum(t[i], 0.0)
        bound[first:] += coupling[:, None] * pushed
    return np.where(np.isfinite(t) & np.isfinite(bound), bound, np.inf)
