"""Layers that all change one coordinate: as it grows, their products grow in proportion.

All points are looked at in single precision, around their centre; where they are few, too large or
too small for that, in double precision, around zero. The few layers that may be active by this
look are asked in double precision before a point is moved.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .buffers import Buffers, runs
from .panel import Panel
from .points import Points
from .rounding import LARGE, SINGLE, SLACK, SPARE, Array, gamma
from .trails import Events

_PAYS = 1 << 15  # products from which single precision is faster
_ASKED = 8  # hits of a point that are asked in double precision; the next one is taken for one


@dataclass
class Look:
    """All products of n points with a panel, (n, K), and the ``hits``, where they are not ≤ 0, so
    that a layer may be active.

    They are those of x − ``centre``, of length ``size`` (n,), with ``sieve``; ``fuzz``·size is
    what rounding adds to the ``reach`` of the points.
    """

    single: bool
    sieve: Array
    centre: Array
    fuzz: float
    size: Array
    reach: Array
    products: Array
    hits: Array


def look(panel: Panel, points: Points, axis: int, buffers: Buffers) -> Look:
    """The first look at all points: one matrix product."""
    n, d = points.values.shape
    single, fuzz, sieve = n * len(panel) >= _PAYS, 0.0, panel.sieve.rows
    if single:
        seen = points.aside(axis)
        extended, centre = seen.rows, seen.centre.copy()
        centre[axis] = points.middle(axis)
        away = points.values[:, axis] - centre[axis]
        reach = np.maximum(seen.reach, points.reach_of(slice(None), axis))
        size = (seen.size + np.abs(away)) * SLACK
        single = bool(1 / LARGE < size.max() + reach.max() < LARGE)
    if single:
        fuzz, sieve = gamma(d + SPARE, SINGLE), panel.sieve.around(centre)
        extended[:, axis] = away
    else:
        reach, centre, size = points.reach(), np.zeros(d), np.zeros(n)
        extended = buffers.take("extended", (n, d + 2))
        extended[:, :d], extended[:, d + 1] = points.values, 1.0
    extended[:, d] = (fuzz * size + reach) * SLACK
    products = buffers.take("products", (n, len(panel)), sieve.dtype.type)
    hits = buffers.take("hits", (n, len(panel)), np.bool_)
    for rows in runs(n, len(panel)):
        np.matmul(extended[rows], sieve, out=products[rows])
        if single:  # all are numbers
            np.greater(products[rows], 0, out=hits[rows])
        else:
            _positive(products[rows], hits[rows])
    return Look(single, sieve, centre, fuzz, size, reach, products, hits)


def along(
    panel: Panel, points: Points, axis: int, buffers: Buffers, rounds: int
) -> tuple[Events, Array]:
    """Move the points that some layer is active on, in so many rounds; what happened, and the
    points that are not through, back where they were."""
    events = Events()
    x, r = points.values[:, axis], points.radius[:, axis]
    before = x.copy(), r.copy()
    seen = look(panel, points, axis, buffers)
    products, reach, size = seen.products, seen.reach, seen.size
    slopes = seen.sieve[axis]
    kind = slopes.dtype.type
    steps = np.stack([slopes, np.abs(slopes) * (1 + 2.0**-10)]).astype(kind)
    hits, rows = seen.hits, np.arange(len(points))
    for _ in range(rounds):
        left, item = _first(panel, points, rows, reach, hits, seen.single)
        if not len(left):
            return events, left
        if len(left) < len(rows):
            rows, products = rows[left], products[left]
        old, near = x[rows], reach[rows]
        for mine, blocks in panel.hinges(item):
            states = points.raised(panel.plan, rows[mine], blocks, near[mine], axis)
            events.add(rows[mine], blocks, states)
        reach[rows] = np.maximum(near, points.reach_of(rows, axis))
        larger = np.maximum(size[rows], np.abs(x[rows] - seen.centre[axis]))
        grown = seen.fuzz * (larger - size[rows]) + (reach[rows] - near)  # of this coordinate alone
        if seen.single:
            grown[~(larger < LARGE)] = np.inf  # so everything is a hit
        size[rows] = larger
        if not _wakes(products, x[rows] - old, grown, slopes):
            return events, rows[:0]
        # nine roundings a round, of what the reach and the sieve have room for (SPARE)
        moves = np.stack([x[rows] - old, grown], axis=1).astype(kind)
        shape = len(rows), len(panel)
        products += np.matmul(moves, steps, out=buffers.take("moves", shape, kind))
        hits = _positive(products, buffers.take("hits", products.shape, np.bool_))
        hits &= panel.sieve.later[item]
    rows = rows[hits.any(axis=1)]
    points.values[rows, axis], points.radius[rows, axis] = (column[rows] for column in before)
    return events, rows


def _wakes(products: Array, moves: Array, grown: Array, slopes: Array) -> bool:
    """Whether any layer may be active on any point once these have moved, even if its product
    were the largest of all, and the move the least favourable."""
    ends = slopes * np.array([[moves.min()], [moves.max()]])
    growth = np.abs(slopes) * (1 + 2.0**-10) * grown.max()
    return not (products.max(axis=0) + ends.max(axis=0) + growth <= 0).all()


def _positive(products: Array, hits: Array) -> Array:
    """Where products are not ≤ 0: what is not a number counts as well."""
    return np.logical_not(np.less_equal(products, 0, out=hits), out=hits)


def _first(
    panel: Panel, points: Points, rows: Array, reach: Array, hits: Array, single: bool
) -> tuple[Array, Array]:
    """Of the hits (n, K) of some points the places of the points that have one, and their first;
    those of single precision are asked in double, a few for each point, and crossed out."""
    items = hits.argmax(axis=1)
    found = hits[np.arange(len(rows)), items]
    asked = np.flatnonzero(found)
    for _ in range(_ASKED if single else 0):
        mine = rows[asked]
        beyond = panel.sieve.beyond(points.values[mine], reach[mine], items[asked])
        asked = asked[~beyond]
        if not len(asked):
            break
        hits[asked, items[asked]] = False
        items[asked] = hits[asked].argmax(axis=1)
        found[asked] = hits[asked, items[asked]]
        asked = asked[found[asked]]
    left = np.flatnonzero(found)
    return left, items[left]
