"""Cut runs of feed-forward layers into panels (theory C3)."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from ...exact.array import Array
from ..sizes import Sizes
from .arrays import BlockArrays
from .panel import Kind, Panel
from .tents import find_tents

_KINDS: tuple[Kind, ...] = ("layers", "straight", "tents")


def panels(arrays: BlockArrays, run: Array, sizes: Sizes) -> list[Panel]:
    """Cut consecutive layers into panels of tents, straight layers and others."""
    if not len(run):
        return []
    starts, counts = np.ones(len(run), dtype=bool), np.ones(len(run), dtype=np.int64)
    kinds = ((arrays.u[run] != 0).sum(axis=1) <= 1).astype(int)
    for start, stop in find_tents(arrays, run):
        starts[start + 1 : stop] = False
        counts[start] = stop - start
        kinds[start:stop] = _KINDS.index("tents")
    kinds = _without_short_runs(kinds, sizes.straight)
    edges = [0, *(np.flatnonzero(np.diff(kinds)) + 1).tolist(), len(run)]
    panels = []
    for a, b in pairwise(edges):
        kind = _KINDS[int(kinds[a])]
        items = a + np.flatnonzero(starts[a:b])
        most = sizes.tents if kind == "tents" else sizes.panel
        ends = np.cumsum(counts[items])
        count = max(1, round(ends[-1] / most))  # of about the same size: a short one costs as much
        part = (ends - counts[items]) * count // ends[-1]
        for i in np.unique(part):
            mine = items[part == i]
            panels.append(Panel(kind, run[mine], arrays, counts[mine]))
    return panels


def _without_short_runs(kinds: Array, least: int) -> Array:
    """Turn runs of straight layers shorter than ``least`` into plain layers, (n,): they are not
    worth a panel."""
    edges = [0, *(np.flatnonzero(np.diff(kinds)) + 1).tolist(), len(kinds)]
    lengths = np.diff(edges)
    short = np.repeat(lengths < least, lengths) & (kinds == _KINDS.index("straight"))
    return np.where(short, _KINDS.index("layers"), kinds)
