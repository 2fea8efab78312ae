"""Points in float64 with proven bounds on their errors, and single layers on them.

The exact coordinate i of point j lies within ``radius[j, i]`` of ``values[j, i]``. For
t = ⟨u,x⟩ + b computed in any order, with or without fused multiply-add,

    |computed − exact| ≤ ⟨|u|, radius⟩ + γ_{d+8} (⟨|u|,|x|⟩ + |b|) + TINY

(Higham, Accuracy and Stability of Numerical Algorithms, section 3.1; the spare terms of γ are the
rounding of u and b to float64 and of the bound itself; TINY is far above what underflow loses
between numbers in LEAST … MOST). Where |computed| is larger the sign is certain (theory C1).
Elsewhere the layer is *unclear*: max(0, t) still lies within the same bound of what is computed,
so the enclosure goes on; which of its two maps the layer is, exact arithmetic decides later, if
that matters at all.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from .plan import Plan
from .rounding import SLACK, TINY, UNIT, Array, gamma

RESTS, UNCLEAR, ACTIVE = 0, 1, 2


@dataclass(frozen=True)
class Glance:
    """(x, 1) in single precision, (n, d + 1), a bound on its length, and the reach, (n,)."""

    rows: Array
    scale: float
    reach: Array


@dataclass
class Points:
    """n points: ``values`` and ``radius``, both (n, d)."""

    values: Array
    radius: Array
    glances: dict[int | None, Glance] = field(default_factory=dict, repr=False)

    def __len__(self) -> int:
        return len(self.values)

    def take(self, rows: Array) -> Points:
        """A copy of some points."""
        return Points(self.values[rows], self.radius[rows])

    def put(self, rows: Array, points: Points, axis: int | None = None) -> None:
        """Replace some points, which differ in the coordinate ``axis`` only if that is given."""
        if axis is None:
            self.values[rows], self.radius[rows] = points.values, points.radius
            self.forget()
        else:
            self.values[rows, axis] = points.values[:, axis]
            self.radius[rows, axis] = points.radius[:, axis]
            self.forget(axis)

    def forget(self, axis: int | None = None) -> None:
        """Drop what was computed of coordinates that have changed: all of them, or one."""
        for unread in [k for k in self.glances if axis is None or k != axis]:
            del self.glances[unread]

    def glance(self, unread: int | None) -> Glance:
        """What a first look in single precision needs; kept while the coordinates stay."""
        if unread not in self.glances:
            n, d = self.values.shape
            rows = np.empty((n, d + 1), dtype=np.float32)
            rows[:, :d], rows[:, d] = self.values, 1.0
            if unread is not None:
                rows[:, unread] = 0.0
            square = float(np.einsum("ij,ij->i", rows, rows, dtype=np.float64).max())
            scale = 2.0 ** np.ceil(np.log2(square) / 2 + 0.01)  # a power of two ≥ all lengths
            self.glances[unread] = Glance(rows, scale, self.reach(unread))
        return self.glances[unread]

    def reach(self, unread: int | None = None) -> Array:
        """ρ, (n,): |u|₁ρ bounds the error of every ⟨u,x⟩ (`Panel.sieve`), for all u that are zero
        in the coordinate ``unread``."""
        d = self.values.shape[1]
        parts = [slice(0, d)] if unread is None else [slice(0, unread), slice(unread + 1, d)]
        found = [self._reach(part) for part in parts if part.stop > part.start]
        return np.max(found, axis=0) if found else np.full(len(self), TINY)

    def farthest(self, unread: int | None = None) -> float:
        """At least the greatest `reach`."""
        if unread is not None:
            return float(self.reach(unread).max())
        d = self.values.shape[1]
        largest = max(float(self.values.max()), -float(self.values.min()))
        return (float(self.radius.max()) + gamma(d + 8) * largest) * SLACK + TINY

    def _reach(self, part: slice) -> Array:
        x, d = self.values[:, part], self.values.shape[1]
        largest = np.maximum(x.max(axis=1), -x.min(axis=1))
        largest *= gamma(d + 8)
        largest += self.radius[:, part].max(axis=1)
        largest *= SLACK
        largest += TINY
        return np.asarray(largest)

    def layer(self, plan: Plan, blocks: Array, reach: Array, axis: int | None = None) -> Array:
        """Apply to every point a feed-forward layer of its own; the states, (n,).

        ``reach`` is `reach()`, or was it before coordinates changed that these layers do not
        read. ``axis`` says that only this entry of each w is not zero.
        """
        x, r = self.values, self.radius
        b = plan.b[blocks]
        t = np.einsum("ij,ij->i", x, plan.u[blocks])
        t += b
        bound = plan.norms[blocks] * reach
        bound += gamma(x.shape[1] + 8) * np.abs(b)
        bound *= SLACK
        bound += TINY
        rests = t < -bound
        state = np.where(t > bound, ACTIVE, np.where(rests, RESTS, UNCLEAR))
        rise = np.maximum(t, 0.0)
        bound[rests] = 0.0
        # the exact point moved by w·(t ± bound), or by nothing; and the sum was rounded
        if axis is None:
            step = rise[:, None] * plan.w[blocks]
            x += step
            r += plan.absolute_w[blocks] * bound[:, None]
            r += (8 * UNIT) * (np.abs(x) + np.abs(step)) + TINY
            r *= SLACK
        else:
            rise *= plan.w[blocks, axis]
            x[:, axis] += rise
            grown = r[:, axis] + plan.absolute_w[blocks, axis] * bound
            grown += (8 * UNIT) * (np.abs(x[:, axis]) + np.abs(rise)) + TINY
            r[:, axis] = grown * SLACK
        return state

    def scale(self, factor: float) -> None:
        """Multiply by a number that float64 holds up to rounding."""
        self.forget()
        self.values *= factor
        self.radius *= abs(factor) * SLACK
        self.radius += gamma(3) * np.abs(self.values) + TINY
