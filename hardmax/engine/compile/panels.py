"""Cut runs of feed-forward layers into panels (theory C3)."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from ...exact.array import Array
from ..sizes import Sizes
from .arrays import BlockArrays
from .panel import Kind, Panel
from .ridges import Ridge, ridges

_KINDS: tuple[Kind, ...] = ("layers", "straight", "clips", "tents")


def panels(arrays: BlockArrays, run: Array, sizes: Sizes) -> list[Panel]:
    """Cut consecutive layers into panels of tents, clips, straight layers and others."""
    if not len(run):
        return []
    found = ridges(arrays, run, sizes.hinges)
    straight = (arrays.u[run] != 0).sum(axis=1) <= 1
    kinds = np.where(_clips(arrays, run), 2, straight.astype(int))
    tents = _inside(len(run), [ridge for ridge in found if ridge.tent])
    kinds[tents] = 3
    # short runs are not worth a panel
    kinds = _long(_long(kinds, 2, 1, sizes.straight), 1, 0, sizes.straight)
    fused = [ridge for ridge in found if ridge.tent or not kinds[ridge.start : ridge.stop].any()]
    starts, counts, leads = _items(run, fused)
    edges = [0, *(np.flatnonzero(np.diff(kinds)) + 1).tolist(), len(run)]
    panels = []
    for a, b in pairwise(edges):
        kind = _KINDS[int(kinds[a])]
        if kind == "clips":
            panels += [Panel(kind, part, arrays) for part in _apart(arrays, run[a:b])]
            continue
        items = a + np.flatnonzero(starts[a:b])
        most = sizes.tents if kind == "tents" else sizes.panel
        ends = np.cumsum(counts[items])
        count = max(1, round(ends[-1] / most))  # of about the same size: a short one costs as much
        part = (ends - counts[items]) * count // ends[-1]
        for i in np.unique(part):
            mine = items[part == i]
            panel = Panel(kind, run[mine], arrays, counts[mine], leads[mine])
            few = kind == "layers" and len(panel.blocks) <= sizes.few
            panels.append(Panel(kind, panel.blocks, arrays) if few else panel)
    return panels


def _inside(count: int, ridges: list[Ridge]) -> Array:
    """Mark the layers that belong to some ridges, among ``count`` layers."""
    found = np.zeros(count, dtype=bool)
    for ridge in ridges:
        found[ridge.start : ridge.stop] = True
    return found


def _items(run: Array, ridges: list[Ridge]) -> tuple[Array, Array, Array]:
    """For every layer: whether an item starts there, its number of layers, and its leading
    block.
    """
    starts, sizes, leads = np.ones(len(run), bool), np.ones(len(run), np.int64), run.copy()
    for ridge in ridges:
        starts[ridge.start + 1 : ridge.stop] = False
        sizes[ridge.start], leads[ridge.start] = ridge.stop - ridge.start, ridge.lead
    return starts, sizes, leads


def _long(kinds: Array, kind: int, otherwise: int, least: int) -> Array:
    """Kinds of layers, where runs of one kind shorter than ``least`` turn into another kind."""
    edges = [0, *(np.flatnonzero(np.diff(kinds)) + 1).tolist(), len(kinds)]
    lengths = np.diff(edges)
    short = np.repeat(lengths < least, lengths) & (kinds == kind)
    return np.where(short, otherwise, kinds)


def _clips(arrays: BlockArrays, run: Array) -> Array:
    """Which layers have u = ±e_i and w = −u, exactly."""
    u, w = arrays.u[run], arrays.w[run]
    found = (np.abs(u).sum(axis=1) == 1) & (np.abs(u).max(axis=1) == 1) & (w == -u).all(axis=1)
    for array in (arrays.parameters.u, arrays.parameters.w):
        if array.exact:
            found &= ~np.isin(run, [k // arrays.dimension for k in array.exact])
    return np.asarray(found)


def _apart(arrays: BlockArrays, run: Array) -> list[Array]:
    """Group consecutive clips so that each group cuts a coordinate at most once."""
    groups: list[list[tuple[int, int]]] = []
    seen: set[int] = set()
    for k, i in zip(run.tolist(), np.abs(arrays.u[run]).argmax(axis=1).tolist(), strict=True):
        if i in seen or not groups:
            groups.append([])
            seen = set()
        seen.add(i)
        groups[-1].append((i, k))
    return [np.array([k for _, k in sorted(group)]) for group in groups]
