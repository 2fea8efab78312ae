"""The blocks up to the collapse in exact arithmetic, for sequences that floats cannot follow."""

from __future__ import annotations

import numpy as np

from ...enclosure.rounding import MOST, error
from ...enclosure.shadow import ratio
from ...exact.array import Array, ExactArray
from ...model.blocks import apply
from ...model.tokens import Tokens
from ..compile.plan import Plan
from ..forward.collapse import Collapsed
from .features import means_behind_features


def begin(
    plan: Plan, tokens: ExactArray, offsets: Array, collapsed: Collapsed, rows: Array
) -> None:
    """Find the exact points behind the collapse of the sequences ``rows`` of packed tokens.

    They become ``collapsed.starts``, and enclosures of them take the place of what was lost. A
    sequence that does not collapse, or lies past the range of floats, stays as it is.
    """
    if not len(rows):
        return
    found = means_behind_features(plan, tokens, offsets, rows)
    if found is None:
        batch = Tokens.of_sequences(tokens, offsets, rows)
        for block in plan.prefix:
            apply(batch, plan.parameters[block])
        single = np.flatnonzero(np.diff(batch.starts) == 1)
        rows, found = rows[single], batch.mean_rows(single.tolist())
    for j, row in zip(rows.tolist(), found, strict=True):
        values = np.array([ratio(x, row[-1]) for x in row[:-1]])
        if not float(np.abs(values).max()) < MOST:
            continue
        collapsed.starts[j] = row
        if collapsed.lost is not None and collapsed.lost[j]:
            collapsed.points.values[j] = values
            collapsed.points.radius[j] = error(2, np.abs(values))
            collapsed.lost[j] = False
