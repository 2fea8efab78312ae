"""Apply layers in order to all points at once, where many of them are active (theory C3)."""

from __future__ import annotations

import numpy as np

from ...enclosure.rounding import SLACK, error
from ...exact.array import Array
from ..compile.panel import Panel
from .points import EnclosedPoints
from .record import DenseRecord

_FOLD = 16  # rows that are compared as one


def columns(panel: Panel, points: EnclosedPoints) -> DenseRecord:
    """Apply the layers one after another, and correct what later layers see as the points move.

    With t_k = ⟨u_k,x⟩ + b_k at the entrance and a_i = max(0, t_i) on the way, layer k meets
    t_k + Σ_{i<k} a_i ⟨w_i,u_k⟩, and the point leaves at x + Σ a_i w_i.
    """
    x, r = points.values, points.radius
    n = len(x)
    u, _, b, w, size_w = panel.layers
    read = panel.reads
    t = u @ x.T if read is None else u[:, read] @ x[:, read].T
    t += b
    for i, first, coupling in panel.consequent:
        t[first:] += coupling[:, None] * np.maximum(t[i], 0.0)
    rise = np.maximum(t, 0.0)
    bound = panel.errors(points.farthest(read), rise.max(axis=1))[:, None]
    active, touched = t > bound, t >= -bound
    doubt: Array | None = None
    unsure = np.flatnonzero((active != touched).any(axis=0))
    if not np.isfinite(bound.sum()):
        unsure = np.arange(n)
    if len(unsure):  # bounds of their own
        bound = np.repeat(bound, n, axis=1)
        bound[:, unsure] = _errors(panel, points.reach(panel.unread)[unsure], t[:, unsure])
        active, touched = t > bound, ~(t < -bound)
        doubt = touched & ~active
    grid = DenseRecord(active, None if doubt is None or not doubt.any() else doubt)
    changed = panel.changes
    where = slice(None) if changed is None else changed
    moves, sizes = w[:, where], size_w[:, where]
    grown = r[:, where] + (bound * touched).T @ sizes
    r[:, where] = error(2 * panel.roundings, np.abs(x[:, where]) + rise.T @ sizes, grown)
    x[:, where] += rise.T @ moves
    points.forget(panel.axis)
    return grid


def _errors(panel: Panel, reach: Array, t: Array) -> Array:
    """Bound the errors of all t, (K, n), point by point, as `Panel.errors` does for all points at
    once.
    """
    size = panel.rounding
    bound = error(panel.roundings, np.abs(panel.layers[2]), panel.lengths[:, None] * reach)
    for i, first, coupling in panel.consequences:
        pushed = bound[i] * ~(t[i] < -bound[i]) + size * np.maximum(t[i], 0.0)
        bound[first:] += coupling[:, None] * pushed
    return np.where(np.isfinite(t) & np.isfinite(bound), bound, np.inf)


def clip(panel: Panel, points: EnclosedPoints) -> DenseRecord:
    """Cut coordinates off at levels.

    Minimum and maximum do not enlarge errors. A point that is certainly cut off lies on the level,
    up to the rounding of the level.
    """
    where, signs, levels = panel.cuts
    off = error(4, np.abs(levels))
    x, r = points.values, points.radius
    low, high = _columnwise(np.minimum, x)[where], _columnwise(np.maximum, x)[where]
    nearest = np.where(signs > 0, low - levels, levels - high)
    points.forget()
    if (nearest > (_columnwise(np.maximum, r)[where] + off) * SLACK).all():
        for run, items in panel.runs:
            x[:, run], r[:, run] = levels[items], off[items]
        return DenseRecord(np.broadcast_to(np.True_, (len(panel), len(x))), None, everywhere=True)
    beyond = (x[:, where] - levels) * signs
    bound = (r[:, where] + off) * SLACK
    active, rests = (beyond > bound).T, (beyond < -bound).T
    x[:, where] = np.where(beyond > 0, levels, x[:, where])
    r[:, where] = np.where(active.T, off, r[:, where] + off)
    doubt = ~(active | rests)
    return DenseRecord(active, doubt if doubt.any() else None)


def _columnwise(choose: np.ufunc, x: Array) -> Array:
    """The least or greatest entry of every column; long rows are faster to compare."""
    n, d = x.shape
    whole = n // _FOLD * _FOLD
    if not whole:
        return np.asarray(choose.reduce(x, axis=0))
    folded = choose.reduce(x[:whole].reshape(whole // _FOLD, _FOLD * d), axis=0)
    return np.asarray(choose.reduce(np.concatenate([folded.reshape(_FOLD, d), x[whole:]]), axis=0))
