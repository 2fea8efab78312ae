"""Points in float64 with proven bounds on their errors, and single layers applied to them.

The exact coordinate i of point j lies within ``radius[j, i]`` of ``values[j, i]``. For
t = ⟨u,x⟩ + b computed in any order, with or without fused multiply-add,

    |computed − exact| ≤ ⟨|u|, radius⟩ + γ_{d+8} (⟨|u|,|x|⟩ + |b|) + TINY

by the theorem on rounding errors (`enclosure.rounding`). If |computed| is larger than this bound,
the sign is certain (theory C1). Otherwise the layer is *unclear*: max(0, t) still lies within the
same bound of its computed value, so the enclosure stays valid. Exact arithmetic decides later
whether the layer is active, if that matters.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...enclosure.rounding import SPARE, error, gamma, lengths
from ...exact.array import Array
from ..compile.arrays import BlockArrays

RESTS, UNCLEAR, ACTIVE = 0, 1, 2


@dataclass
class EnclosedPoints:
    """n points: ``values`` and ``radius``, both (n, d)."""

    values: Array
    radius: Array

    def __len__(self) -> int:
        return len(self.values)

    def take(self, rows: Array) -> EnclosedPoints:
        """A copy of some points."""
        return EnclosedPoints(self.values[rows], self.radius[rows])

    def put(self, rows: Array, points: EnclosedPoints) -> None:
        """Replace some points."""
        self.values[rows], self.radius[rows] = points.values, points.radius

    def reach(self, unread: int | None = None) -> Array:
        """A number ρ for every point, (n,), such that |u|₁ρ and 2|u|₂ρ bound the error of every
        ⟨u,x⟩.

        This holds for all u that are zero in the coordinate ``unread``.
        """
        size = np.abs(self.values)
        size *= gamma(self.values.shape[1] + SPARE)
        size += self.radius
        if unread is not None:
            size[:, unread] = 0.0
        return lengths(size)  # no less than the largest entries, and quicker to find

    def layer(self, arrays: BlockArrays, blocks: Array, reach: Array) -> Array:
        """Apply to every point a feed-forward layer of its own; return the states, (n,).

        ``reach`` (n,) is that of the points, or of the same points before coordinates moved that
        none of these layers reads. The exact point moves by w·(t ± bound), or not at all; then the
        sum is rounded.
        """
        x, r, b = self.values, self.radius, arrays.b[blocks]
        t = np.einsum("ij,ij->i", x, arrays.u[blocks])
        t += b
        bound = error(x.shape[1] + 8, np.abs(b), arrays.norms[blocks] * reach)
        rests = t < -bound
        state = np.where(t > bound, ACTIVE, np.where(rests, RESTS, UNCLEAR))
        bound[rests] = 0.0
        step = np.maximum(t, 0.0)[:, None] * arrays.w[blocks]
        x += step
        r += arrays.absolute_w[blocks] * bound[:, None]
        r[:] = error(8, np.abs(x) + np.abs(step), r)
        return state

    def scale(self, factor: float) -> None:
        """Multiply by a number that float64 holds up to rounding."""
        self.values *= factor
        self.radius = error(3, np.abs(self.values), abs(factor) * self.radius)
