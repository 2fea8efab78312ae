"""Points through a panel: one matrix product, then only what moves (theory C1, C4).

Where few layers of a panel are active on a point (`rounds`), the sieve finds each point's first
active item, all such points are moved at once, and their later items are looked at again. Where
many are (`columns`), the layers are taken in order and the products with later layers are
corrected through ⟨w_i,u_k⟩, errors and all.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from .panel import Panel
from .points import ACTIVE, RESTS, UNCLEAR, Points
from .rounding import SLACK, TINY, UNIT, Array

_SHORT = 24  # panels up to which all layers are taken in order at once
_ROWS = 1024  # points of a product that stays in the cache
_ROUNDS = 6  # after these, points that are not through go column by column


@dataclass
class Events:
    """What happened in a panel: at each entry point ``rows`` met the layer of block ``blocks``
    in the given state, ACTIVE or UNCLEAR. The entries of a point are in order."""

    rows: list[Array] = field(default_factory=list)
    blocks: list[Array] = field(default_factory=list)
    states: list[Array] = field(default_factory=list)

    def add(self, rows: Array, blocks: Array, states: Array) -> None:
        """Note layers that do not rest."""
        kept = np.flatnonzero(states != RESTS)
        if len(kept):
            self.rows.append(rows[kept])
            self.blocks.append(blocks[kept])
            self.states.append(states[kept])

    def packed(self) -> tuple[Array, Array, Array]:
        """Rows, blocks and states, by row and in order."""
        if not self.rows:
            nothing = np.zeros(0, dtype=np.int64)
            return nothing, nothing, nothing
        rows, blocks, states = map(np.concatenate, (self.rows, self.blocks, self.states))
        order = np.argsort(rows, kind="stable")
        return rows[order], blocks[order], states[order]


@dataclass(frozen=True)
class Grid:
    """States of all layers of a panel, (K, n): what `columns` leaves behind."""

    active: Array
    unclear: Array | None  # None: nothing is
    everywhere: bool = False  # all layers are active on all points

    def states(self, item: int) -> Array:
        """States of all points at one layer, (n,)."""
        doubt = 0 if self.unclear is None else UNCLEAR * self.unclear[item]
        return np.asarray(np.where(self.active[item], ACTIVE, doubt))


Trail = Events | Grid


class Buffers:
    """Work space of one thread, kept from panel to panel."""

    def __init__(self) -> None:
        self._held: dict[str, Array] = {}

    def take(self, name: str, shape: tuple[int, int], kind: type = np.float64) -> Array:
        """An uninitialised array."""
        size = shape[0] * shape[1]
        held = self._held.get(name)
        if held is None or held.size < size:
            held = self._held[name] = np.empty(size, dtype=kind)
        return held[:size].reshape(shape)


def sweep(panel: Panel, points: Points, buffers: Buffers, move: bool = True) -> Trail:
    """Apply a panel to all points, in place; what was active where.

    Without ``move`` the points may stay where they are, as nobody asks for them any more.
    """
    if panel.kind == "clips":
        return clip(panel, points)
    if panel.kind == "straight" or (panel.kind == "layers" and len(panel) <= _SHORT):
        return columns(panel, points, move)
    if panel.kind == "tents" and panel.unread is not None:
        return _slabs(panel, points, panel.unread, buffers)
    if panel.kind == "layers" and panel.axis is not None:
        return _along(panel, points, panel.axis, buffers)
    return _rounds(panel, points, buffers)


def _sieved(panel: Panel, points: Points, reach: Array, buffers: Buffers) -> Array:
    """The products of all points with the sieve of a panel, (n, K)."""
    n, d = points.values.shape
    extended = buffers.take("extended", (n, d + 2))
    extended[:, :d] = points.values
    extended[:, d] = reach
    extended[:, d + 1] = 1.0
    products = buffers.take("products", (n, len(panel)))
    return np.matmul(extended, panel.sieve, out=products)


def _hits(panel: Panel, points: Points, buffers: Buffers) -> tuple[Array, Array]:
    """Which items may be active on which points at first sight, (n, K); and the points' reach."""
    reach = points.reach(panel.unread)
    products = _sieved(panel, points, reach, buffers)
    hits = buffers.take("hits", products.shape, np.bool_)
    if panel.kind == "tents":
        np.abs(products, out=products)
        norm, offset = panel.spread
        np.greater_equal(products, ((1 + norm * reach + offset) * SLACK)[:, None], out=hits)
    else:
        np.less_equal(products, 0.0, out=hits)
    return np.logical_not(hits, out=hits), reach  # what is not a number is a hit


def _along(panel: Panel, points: Points, axis: int, buffers: Buffers) -> Events:
    """Layers that all change one coordinate: as it grows, the products grow in proportion."""
    events = Events()
    rest = points.reach(axis)  # what does not change
    reach = np.maximum(rest, points.reach_of(np.arange(len(points)), axis))
    products = _sieved(panel, points, reach, buffers)
    places = np.arange(len(panel))
    slopes = panel.sieve[axis]
    before = points.values[:, axis].copy(), points.radius[:, axis].copy()
    rows = np.arange(len(points))
    hits = ~(products <= 0)  # what is not a number is a hit
    for _ in range(_ROUNDS):
        item = hits.argmax(axis=1)
        left = np.flatnonzero(hits[np.arange(len(rows)), item])
        if not len(left):
            return events
        if len(left) < len(rows):
            rows, item, products = rows[left], item[left], products[left]
        old, near = points.values[rows, axis], reach[rows]
        blocks = panel.first[item]
        events.add(rows, blocks, points.raised(panel.plan, rows, blocks, near, axis))
        reach[rows] = np.maximum(near, np.maximum(rest[rows], points.reach_of(rows, axis)))
        products += (points.values[rows, axis] - old)[:, None] * slopes
        # six roundings a round, of what the reach and the sieve have room for (SPARE)
        products += ((reach[rows] - near) * SLACK)[:, None]
        hits = ~(products <= 0) & (places > item[:, None])
    rows = rows[hits.any(axis=1)]
    if not len(rows):
        return events
    points.values[rows, axis], points.radius[rows, axis] = (column[rows] for column in before)
    return _finish(panel, points, events, rows)


def _slabs(panel: Panel, points: Points, axis: int, buffers: Buffers) -> Events:
    """Tents that read none of what they change: so every point meets its slabs independently."""
    events = Events()
    rows, items = _inside(panel, points, *_glanced(panel, points, buffers))
    reach = points.glance(panel.unread).reach
    while len(rows):  # the next slab of every point
        now = np.r_[True, rows[1:] != rows[:-1]]
        mine = rows[now]
        for hinge in range(panel.hinges):
            blocks = panel.first[items[now]] + hinge
            states = points.raised(panel.plan, mine, blocks, reach[mine], axis)
            events.add(mine, blocks, states)
        rows, items = rows[~now], items[~now]
    return events


def _glanced(panel: Panel, points: Points, buffers: Buffers) -> tuple[Array, Array]:
    """Points and slabs that they may lie in, by single precision; in order of both."""
    seen = points.glance(panel.unread)
    sieve, most = panel.coarse(seen.scale)
    far = ~(seen.reach <= most)  # too uncertain for a glance
    pairs: list[tuple[Array, Array]] = []
    for a in range(0, len(points), _ROWS):
        part = seen.rows[a : a + _ROWS]
        products = buffers.take("coarse", (len(part), len(panel)), np.float32)
        np.matmul(part, sieve, out=products)
        np.abs(products, out=products)
        products[far[a : a + _ROWS]] = 0.0
        near = np.flatnonzero(~(products.min(axis=1) >= 1))  # what is not a number stays
        where, items = np.divmod(np.flatnonzero(~(products[near] >= 1)), len(panel))
        pairs.append((near[where] + a, items))
    return np.concatenate([p for p, _ in pairs]), np.concatenate([i for _, i in pairs])


def _inside(panel: Panel, points: Points, rows: Array, items: Array) -> tuple[Array, Array]:
    """Those of some points and slabs that double precision can't tell apart either."""
    d = points.values.shape[1]
    sieve = panel.sieve
    products = np.einsum("ij,ij->i", points.values[rows], sieve[:d].T[items]) + sieve[d + 1, items]
    norm, offset = panel.spread
    bounds = (1 + norm * points.glance(panel.unread).reach[rows] + offset) * SLACK
    kept = ~(np.abs(products) >= bounds)
    return rows[kept], items[kept]


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
        for hinge in range(panel.hinges):  # the layers of a tent read what none of them changes
            blocks = panel.first[item] + hinge
            states = moved.layer(panel.plan, blocks, reach)
            events.add(rows, blocks, states)
            changed |= states != RESTS
        # what did not move keeps its sieve; what did goes through it again
        if changed.all():
            found, reach = _hits(panel, moved, buffers)
            hits = found & (np.arange(len(panel)) > item[:, None])
        else:
            again = np.flatnonzero(changed)
            if len(again):
                hits[again], reach[again] = _hits(panel, moved.take(again), buffers)
            hits &= np.arange(len(panel)) > item[:, None]
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
        for block in (panel.first[:, None] + np.arange(panel.hinges)).ravel().tolist():
            blocks = np.full(len(rows), block)
            events.add(rows, blocks, start.layer(panel.plan, blocks, start.reach()))
    else:
        grid = columns(panel, start)
        for i, block in enumerate(panel.first.tolist()):
            events.add(rows, np.full(len(rows), block), grid.states(i))
    points.put(rows, start)
    return events


def columns(panel: Panel, points: Points, move: bool = True) -> Grid:
    """Layers one after another; all that a later layer sees is corrected as points move.

    With t_k = ⟨u_k,x⟩ + b_k at the entrance and a_i = max(0, t_i) along the way, layer k meets
    t_k + Σ_{i<k} a_i ⟨w_i,u_k⟩, and the point leaves at x + Σ a_i w_i. Where the layers meet in
    one coordinate only, how far that has moved says it all (`Panel.follows`).
    """
    x, r = points.values, points.radius
    n = len(x)
    u, _, b, w, size_w = panel.layers
    read = panel.reads
    t = u @ x.T if read is None else u[:, read] @ x[:, read].T
    t += b
    if panel.follows is None:
        for i, first, coupling in panel.consequent:
            t[first:] += coupling[:, None] * np.maximum(t[i], 0.0)
    else:
        moved = np.zeros(n)
        for i, slope, step in panel.follows:
            if slope:
                t[i] += slope * moved
            if step:
                moved += step * np.maximum(t[i], 0.0)
    rise = np.maximum(t, 0.0)
    bound = panel.errors(points.farthest(read), rise.max(axis=1))[:, None]
    active, touched = t > bound, t >= -bound
    doubt: Array | None = None
    if (active != touched).any() or not np.isfinite(bound.sum()):
        bound = _errors(panel, points.reach(panel.unread), t)
        active, touched = t > bound, ~(t < -bound)
        doubt = touched & ~active
    grid = Grid(active, None if doubt is None or not doubt.any() else doubt)
    if not move:
        return grid
    size = 2 * panel.rounding
    changed = panel.changes
    where = slice(None) if changed is None else changed
    moves, sizes = w[:, where], size_w[:, where]
    grown = r[:, where] + (bound * touched).T @ sizes
    grown += size * (np.abs(x[:, where]) + rise.T @ sizes) + TINY
    r[:, where] = grown * SLACK
    x[:, where] += rise.T @ moves
    points.forget(panel.axis)
    return grid


def _errors(panel: Panel, reach: Array, t: Array) -> Array:
    """Bounds on the errors of all t, (K, n), point by point: what `Panel.errors` bounds for all
    points at once, as if every layer were active on the worst of them."""
    size = panel.rounding
    bound = panel.lengths[:, None] * reach + (size * np.abs(panel.layers[2]) + TINY)
    bound *= SLACK
    for i, first, coupling in panel.consequences:
        pushed = bound[i] * ~(t[i] < -bound[i]) + size * np.maximum(t[i], 0.0)
        bound[first:] += coupling[:, None] * pushed
    return np.where(np.isfinite(t) & np.isfinite(bound), bound, np.inf)


def clip(panel: Panel, points: Points) -> Grid:
    """Cut coordinates off at levels. Minimum and maximum do not enlarge errors, and points that
    are cut off for certain lie on the level, but for its rounding."""
    where, signs, levels = panel.cuts
    off = 4 * UNIT * np.abs(levels) + TINY
    x, r = points.values, points.radius
    low, high = x.min(axis=0)[where], x.max(axis=0)[where]
    nearest = np.where(signs > 0, low - levels, levels - high)
    points.forget()
    if (nearest > (r.max(axis=0)[where] + off) * SLACK).all():
        for run, items in panel.runs:
            x[:, run], r[:, run] = levels[items], off[items]
        return Grid(np.broadcast_to(np.True_, (len(panel), len(x))), None, everywhere=True)
    beyond = (x[:, where] - levels) * signs
    bound = (r[:, where] + off) * SLACK
    active, rests = (beyond > bound).T, (beyond < -bound).T
    x[:, where] = np.where(beyond > 0, levels, x[:, where])
    r[:, where] = np.where(active.T, off, r[:, where] + off)
    doubt = ~(active | rests)
    return Grid(active, doubt if doubt.any() else None)
