"""Activation records: which layers of a panel were active on which points."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from ...exact.array import Array
from .points import RESTS


@dataclass
class SparseRecord:
    """A list of entries: point ``rows`` met the layer of block ``blocks`` in state ACTIVE or
    UNCLEAR.

    The entries of a point are in order.
    """

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

    @cached_property
    def packed(self) -> tuple[Array, Array, Array]:
        """Rows, blocks and states, sorted by row; to be used when the record is complete."""
        if not self.rows:
            nothing = np.zeros(0, dtype=np.int64)
            return nothing, nothing, nothing
        rows, blocks, states = map(np.concatenate, (self.rows, self.blocks, self.states))
        order = np.argsort(rows, kind="stable")
        return rows[order], blocks[order], states[order]


@dataclass(frozen=True)
class DenseRecord:
    """The states of all layers of a panel on all points, (K, n)."""

    active: Array
    unclear: Array | None  # None: nothing is


ActivationRecord = SparseRecord | DenseRecord
