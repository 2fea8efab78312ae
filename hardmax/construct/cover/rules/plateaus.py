"""Plateaus by the hundred, for lists that misplace many points (Theorem B, step B4).

Source: docs/theory.md, *learn, then repair*. As in `panels`, but a plateau moves the group that
it was made for and no other point: offsets b + a, b + a/2, b − a/2, b − a with weights
1, −1, −1, 1 add 2s/a·a/2 = s where |t| ≤ a/2, and nothing where |t| ≥ a.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from ....enclosure.rounding import SLACK
from ....exact.array import Array
from ..height_slice import HeightSlice
from ..products import beyond, homogeneous
from ..tents.panels import Opening, TentPanel, TentSearch


class Plateaus(TentSearch):
    """Panels of plateaus that raise all members, of one label or several, by ``shift`` exactly."""

    def __init__(
        self, base: HeightSlice, members: Array, shift: Fraction, rng: np.random.Generator
    ) -> None:
        super().__init__(base, members, np.zeros(0, dtype=int), abs(shift), rng)
        self.all, self.shift, self.trials = homogeneous(base.points.values), float(shift), 1

    def _panel(self, groups: Array) -> tuple[TentPanel | Opening | None, float]:
        u, beta, own, room = self._proposed(groups)
        counts, least = beyond(self.all, np.c_[u, beta].T, own + 2 * SLACK * room)
        inner, outer = own + room, np.minimum(least - SLACK * room, 1.0)
        fine = (counts == groups.shape[1]) & (outer > 4 * inner) & u.any(axis=1)
        half = np.ldexp(0.5, np.frexp(np.where(fine, outer, 1.0))[1])  # a power of two ≤ outer
        fine &= half * self.grid >= 2
        if not fine.any():
            return None, 0.0
        rise = 2 * self.shift / half[fine]
        captured = self.left[groups[fine].ravel()]
        panel = TentPanel(
            captured, u[fine], beta[fine], half[fine], rise, (1, 0.5, -0.5, -1), (1, -1, -1, 1)
        )
        return panel, float(fine.mean())
