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

from dataclasses import dataclass, field

import numpy as np

from ...enclosure.rounding import FAINT, SLACK, SPARE, error, gamma, lengths
from ...exact.array import Array
from ..compile.arrays import BlockArrays

RESTS, UNCLEAR, ACTIVE = 0, 1, 2
_ROUNDED = 1 + 2.0**-10  # covers the rounding of a length in single precision
_SAFE = 2.0**50  # lengths between this and its inverse have squares that single precision holds


@dataclass(frozen=True)
class SinglePrecision:
    """(x, 1) in single precision, (n, d + 1), a bound on its length, and the reach, (n,)."""

    rows: Array
    scale: float
    reach: Array


@dataclass
class EnclosedPoints:
    """n points: ``values`` and ``radius``, both (n, d)."""

    values: Array
    radius: Array
    singles: dict[int | None, SinglePrecision] = field(default_factory=dict, repr=False)

    def __len__(self) -> int:
        return len(self.values)

    def take(self, rows: Array) -> EnclosedPoints:
        """A copy of some points."""
        return EnclosedPoints(self.values[rows], self.radius[rows])

    def put(self, rows: Array, points: EnclosedPoints) -> None:
        """Replace some points."""
        self.values[rows], self.radius[rows] = points.values, points.radius
        self.forget()

    def forget(self, axis: int | None = None) -> None:
        """Drop what was computed from coordinates that have changed: all of them, or one."""
        for unread in [k for k in self.singles if axis is None or k != axis]:
            del self.singles[unread]

    def single_precision(self, unread: int | None) -> SinglePrecision:
        """The points in single precision, kept as long as the coordinates stay."""
        if unread not in self.singles:
            n, d = self.values.shape
            rows = np.empty((n, d + 1), dtype=np.float32)
            rows[:, :d], rows[:, d] = self.values, 1.0
            if unread is not None:
                rows[:, unread] = 0.0
            sizes = _lengths(rows[:, :d])
            # a power of two ≥ all lengths
            scale = 2.0 ** np.ceil(np.log2(float(sizes.max()) ** 2 + 1) / 2 + 0.01)
            self.singles[unread] = SinglePrecision(rows, scale, self._reach(sizes, unread))
        return self.singles[unread]

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

    def _reach(self, sizes: Array, unread: int | None) -> Array:
        """`reach` from the lengths of the points, (n,), which were found in single precision.

        Where these are out of range, the points themselves are used.
        """
        if not (sizes.min() > 1 / _SAFE and sizes.max() < _SAFE):
            return self.reach(unread)
        r = self.radius
        if r.max() == r.min():  # as it is before any layer: one point tells all
            r = r[:1]
        found = np.einsum("ij,ij->i", r[:, :unread], r[:, :unread])
        if unread is not None:
            found += np.einsum("ij,ij->i", r[:, unread + 1 :], r[:, unread + 1 :])
        reach = gamma(r.shape[1] + SPARE) * sizes
        reach += np.sqrt(found)
        reach *= SLACK
        reach += FAINT
        return np.asarray(reach)

    def farthest(self, read: Array | None) -> float:
        """One number ρ for all points, such that |u|₁ρ bounds the error of ⟨u,x⟩.

        ``read`` lists the coordinates in which u may differ from zero; None means all.
        """
        x, r = self.values, self.radius
        if read is not None:
            x, r = x[:, read], r[:, read]
        largest = max(float(x.max(initial=0.0)), -float(x.min(initial=0.0)))
        spare = float(gamma(self.values.shape[1] + SPARE))
        return (float(r.max(initial=0.0)) + spare * largest) * SLACK + FAINT

    def _signs(
        self, arrays: BlockArrays, x: Array, blocks: Array, reach: Array
    ) -> tuple[Array, Array, Array]:
        """The states of one layer for each point, the computed max(0, t), and bounds on its
        error.
        """
        b = arrays.b[blocks]
        t = np.einsum("ij,ij->i", x, arrays.u[blocks])
        t += b
        bound = error(x.shape[1] + 8, np.abs(b), arrays.norms[blocks] * reach)
        rests = t < -bound
        state = np.where(t > bound, ACTIVE, np.where(rests, RESTS, UNCLEAR))
        bound[rests] = 0.0
        return state, np.maximum(t, 0.0), bound

    def layer(self, arrays: BlockArrays, blocks: Array, reach: Array) -> Array:
        """Apply to every point a feed-forward layer of its own; return the states, (n,).

        The exact point moves by w·(t ± bound), or not at all; then the sum is rounded.
        """
        x, r = self.values, self.radius
        state, rise, bound = self._signs(arrays, x, blocks, reach)
        step = rise[:, None] * arrays.w[blocks]
        x += step
        r += arrays.absolute_w[blocks] * bound[:, None]
        r[:] = error(8, np.abs(x) + np.abs(step), r)
        self.forget()
        return state

    def raised(
        self, arrays: BlockArrays, rows: Array, blocks: Array, reach: Array, axis: int
    ) -> Array:
        """Apply layers that change the coordinate ``axis`` only, to some points.

        ``reach`` may have been computed before that coordinate changed, if the layers do not read
        it.
        """
        x = self.values if len(rows) == len(self) else self.values[rows]
        state, step, bound = self._signs(arrays, x, blocks, reach)
        step *= arrays.w[blocks, axis]
        values = self.values[rows, axis] + step
        grown = self.radius[rows, axis] + arrays.absolute_w[blocks, axis] * bound
        grown = error(8, np.abs(values) + np.abs(step), grown)
        self.values[rows, axis], self.radius[rows, axis] = values, grown
        self.forget(axis)
        return state

    def scale(self, factor: float) -> None:
        """Multiply by a number that float64 holds up to rounding."""
        self.forget()
        self.values *= factor
        self.radius = error(3, np.abs(self.values), abs(factor) * self.radius)


def _lengths(rows: Array) -> Array:
    """Lengths of rows in single precision, (n,), rounded up, but for squares that underflow."""
    found = np.sqrt(np.einsum("ij,ij->i", rows, rows)).astype(np.float64)
    return np.asarray(found * _ROUNDED)
