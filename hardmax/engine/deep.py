"""Exact outputs of models that fold space too often for floats (`chains`)."""

from __future__ import annotations

from math import lcm

import numpy as np

from ..exact_array import ExactArray
from ..rows import lowest_terms
from .chains import Chains, Points
from .collapse import collapse
from .plan import Plan
from .replay import Replay
from .rounding import Array
from .stories import Stories
from .tables import Tables
from .targets import Targets

_LONG = 1 << 16  # bits of a common denominator up to which it serves all points


def run_deep(
    plan: Plan, tokens: ExactArray, offsets: Array, start: int, end: int, targets: Targets | None
) -> tuple[Array, dict[int, tuple[int, ...]]] | None:
    """Sequences start … end − 1: which reach their targets, (n,), and the outputs of the others
    that are known, as `rows`. None where the model is not deep, or does not collapse."""
    chains = plan.kept(Chains.of)
    collapsed = collapse(plan, tokens, offsets[start : end + 1], True) if chains.deep else None
    if collapsed is None:
        return None
    rows = np.flatnonzero(collapsed.uniform)
    nothing = np.zeros(0, dtype=np.int64)
    stories = Stories(len(rows), nothing, nothing, nothing)
    replay = Replay.of(plan, tokens, offsets, start + rows, collapsed, rows, stories)
    z = replay.outputs(plan.kept(Tables).exact(replay.table_rows)).z[0, 0]
    common = lcm(*set(z[:, -1].tolist()))
    if not len(rows) or common.bit_length() > _LONG:
        return None
    factors = common // z[:, -1]
    values = [z[:, j] * factors for j in range(plan.dimension)]
    points = chains.outputs(Points(values, [common] * len(values)))
    reached = np.zeros(end - start, dtype=bool)
    if targets is not None:
        of = targets.of[start + rows]
        for k, (*goal, s) in enumerate(targets.rows):
            mine = np.flatnonzero(of == k)
            same = np.ones(len(mine), dtype=bool)
            for value, q, y in zip(points.values, points.common, goal, strict=True):
                same &= np.asarray(value[mine] * s == y * q, dtype=bool)
            reached[rows[mine[same]]] = True
    found: dict[int, tuple[int, ...]] = {}
    left = np.flatnonzero(~reached[rows])
    if len(left):
        whole = lcm(*points.common)
        columns = [value[left] * (whole // q)
                   for value, q in zip(points.values, points.common, strict=True)]  # fmt: skip
        for j, row in zip(rows[left].tolist(), zip(*columns, strict=True), strict=True):
            found[j] = tuple(lowest_terms([*row, whole]))
    return reached, found
