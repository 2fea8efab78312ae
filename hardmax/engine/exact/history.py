"""The activation history of single points: which layers were active on each, in order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ...exact.array import Array
from ..compile.plan import Plan, Scaling
from ..forward.collapse import Collapsed
from ..forward.points import ACTIVE, RESTS, UNCLEAR
from ..forward.record import ActivationRecord, DenseRecord, SparseRecord


@dataclass(frozen=True)
class ActivationHistory:
    """What n points met, in order.

    Point ``at[i]`` meets the layer of block ``blocks[i]`` in state ``states[i]``, ACTIVE or
    UNCLEAR. The state RESTS stands for the factor ρ + α of the attention of that block. ``at`` is
    rising.
    """

    count: int
    at: Array
    blocks: Array
    states: Array

    @classmethod
    def of(
        cls,
        collapsed: Collapsed,
        records: Sequence[ActivationRecord | None],
        plan: Plan,
        rows: Array,
    ) -> ActivationHistory:
        """The history of some points behind the collapse."""
        parts: list[tuple[Array, Array, Array]] = []
        place = np.full(len(collapsed.points), -1)
        place[rows] = np.arange(len(rows))
        for step, record in zip(plan.steps, records, strict=True):
            if isinstance(step, Scaling):
                blocks = np.full(len(rows), step.block)
                parts.append((np.arange(len(rows)), blocks, np.full(len(rows), RESTS)))
            elif isinstance(record, DenseRecord):
                active = record.active[:, rows].T
                met = active if record.unclear is None else active | record.unclear[:, rows].T
                at, item = np.nonzero(met)
                parts.append((at, step.first[item], np.where(active[at, item], ACTIVE, UNCLEAR)))
            elif isinstance(record, SparseRecord) and record.rows:
                met, blocks, states = record.packed
                at = place[met]
                mine = at >= 0
                parts.append((at[mine], blocks[mine], states[mine]))
        if not parts:
            nothing = np.zeros(0, dtype=np.int64)
            return cls(len(rows), nothing, nothing, nothing)
        at, blocks, states = map(np.concatenate, zip(*parts, strict=True))
        order = np.argsort(at, kind="stable")
        return cls(len(rows), at[order], blocks[order], states[order])

    def take(self, rows: Array) -> ActivationHistory:
        """The history of some of the points, given in rising order."""
        place = np.full(self.count, -1)
        place[rows] = np.arange(len(rows))
        at = place[self.at]
        mine = at >= 0
        return ActivationHistory(len(rows), at[mine], self.blocks[mine], self.states[mine])

    def unclear(self) -> Array:
        """Which points meet a layer that is unclear, (n,)."""
        found = np.zeros(self.count, dtype=bool)
        found[self.at[self.states == UNCLEAR]] = True
        return found

    def steps(self) -> Iterator[tuple[Array, Array]]:
        """Yield what every point meets first, then what each meets second, and so on.

        Each step gives points, and their places in the arrays.
        """
        start = np.searchsorted(self.at, np.arange(self.count))
        rank = np.arange(len(self.at)) - start[self.at]
        order = np.argsort(rank, kind="stable")
        bounds = np.cumsum(np.bincount(rank))[:-1]
        for places in np.split(order, bounds) if len(order) else ():
            yield self.at[places], places
