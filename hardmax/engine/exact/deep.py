"""Exact outputs of models that fold space too often for floats (`chains`)."""

from __future__ import annotations

from math import lcm

import numpy as np

from ...exact.array import Array, ExactArray
from ...exact.rows import lowest_terms
from ..compile.plan import Plan
from ..forward.collapse import collapse
from .chain_steps import Points
from .chains import Chains
from .history import ActivationHistory
from .replay import replay

_LONG = 1 << 16  # bits of a common denominator up to which it serves all points


def deep_outputs(
    plan: Plan, tokens: ExactArray, offsets: Array, start: int, end: int
) -> dict[int, tuple[int, ...]] | None:
    """The outputs of the sequences start … end − 1 that are known, as integer rows.

    They are numbered from 0. None where the model is not deep, or does not collapse.
    """
    chains = plan.kept(Chains.of)
    collapsed = collapse(plan, tokens, offsets[start : end + 1]) if chains.deep else None
    if collapsed is None:
        return None
    rows = np.flatnonzero(collapsed.uniform)
    if not len(rows):
        return None
    nothing = np.zeros(0, dtype=np.int64)
    history = ActivationHistory(len(rows), nothing, nothing, nothing)
    z = np.array(replay(plan, tokens, offsets, start, collapsed, rows, history), dtype=object)
    common = lcm(*set(z[:, -1].tolist()))
    if common.bit_length() > _LONG:
        return None
    factors = common // z[:, -1]
    values = [z[:, j] * factors for j in range(plan.dimension)]
    points = chains.outputs(Points(values, [common] * len(values)))
    whole = lcm(*points.common)
    columns = [value * (whole // q) for value, q in zip(points.values, points.common, strict=True)]
    known: dict[tuple[int, ...], tuple[int, ...]] = {}  # most points end on a few targets
    found = {}
    for j, row in zip(rows.tolist(), zip(*columns, strict=True), strict=True):
        if row not in known:
            known[row] = tuple(lowest_terms([*row, whole]))
        found[j] = known[row]
    return found
