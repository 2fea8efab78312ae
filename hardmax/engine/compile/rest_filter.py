"""A filter: which items certainly leave which points in place (theory C1, C4)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ...enclosure.rounding import SINGLE, SLACK, TINY, error, gamma
from ...exact.array import Array


@dataclass(frozen=True, eq=False)
class RestFilter:
    """K items with directions u, (K, d), and offsets ``low`` ≤ ``high``, (K,).

    A point x is at rest where t = ⟨u,x⟩ + high ≤ 0. In a panel of ``tents`` it is also at rest on
    the other side of the slab, where ⟨u,x⟩ + low ≥ 0. The offsets carry at most 6 roundings.
    """

    u: Array
    low: Array
    high: Array
    tents: bool

    def __len__(self) -> int:
        return len(self.u)

    @cached_property
    def scales(self) -> Array:
        """The divisors of t, (K,): a power of two ≥ 2|u|₁, or the half-width of the slab of a
        tent.
        """
        if not self.tents:
            norms = np.abs(self.u).sum(axis=1)
            return np.asarray(np.exp2(np.ceil(np.log2(np.where(norms > 0, norms, 1.0))) + 1))
        half = (self.high - self.low) / 2
        return np.asarray(error(8, np.abs(self.low) + np.abs(self.high), half, lost=0.0))

    @cached_property
    def rows(self) -> Array:
        """The matrix of the test, (d + 2, K): multiply (x, ρ, 1) by it, ρ the point's reach.

        A layer may be active where the product is not ≤ 0. A tent may be active where the product
        is less than 1 + ρ·`spread` in absolute value.
        """
        d = self.u.shape[1]
        u = self.u / self.scales[:, None]
        rows = np.empty((d + 2, len(self)))
        rows[:d] = u.T
        if self.tents:
            rows[d] = 0.0
            rows[d + 1] = (self.low + self.high) / 2 / self.scales
        else:
            b = self.high / self.scales
            lengths = np.minimum(np.abs(u).sum(axis=1), 2 * np.sqrt((u * u).sum(axis=1)))
            rows[d] = lengths * (1 + 2.0**-10)  # far above the rounding of its product
            rows[d + 1] = b + error(4 * (d + 8), np.abs(b))
        return rows

    def inside(self, x: Array, reach: Array, items: Array) -> Array:
        """Whether single points may lie in the slabs of single tents, (n,), in double precision."""
        t = np.einsum("ij,ij->i", x, self._directions[items]) + self.rows[-1, items]
        return np.asarray(~(np.abs(t) >= self.bounds(reach)))

    def all_inside(self, x: Array, reach: Array) -> Array:
        """The same for all pairs of a point and a tent, (n, K)."""
        t = x @ self._directions.T + self.rows[-1]
        return np.asarray(~(np.abs(t, out=t) >= self.bounds(reach)[:, None]))

    @cached_property
    def _directions(self) -> Array:
        """Every u over its scale, (K, d)."""
        return np.ascontiguousarray(self.rows[:-2].T)

    def bounds(self, reach: Array) -> Array:
        """The absolute value of the product from which a point is certainly outside a slab,
        (n,).
        """
        norm, offset = self.spread
        return np.asarray((1 + norm * reach + offset) * SLACK)

    @cached_property
    def spread(self) -> tuple[float, float]:
        """The largest |u|₁ over a half-width, and the largest relative error of an offset."""
        norms = np.abs(self.u).sum(axis=1) / self.scales
        offsets = np.maximum(np.abs(self.low), np.abs(self.high)) / self.scales
        return (
            float(norms.max()) * SLACK,
            float(error(4 * (self.u.shape[1] + 8), offsets.max())),
        )

    def coarse(self, scale: float) -> tuple[Array, float]:
        """The test of tents in single precision, for points with |x|₂ ≤ ``scale``.

        Return the matrix of (u, b + h)/h, (d + 1, K): inside a slab the product with (x, 1) lies
        between 0 and 2. Return also the reach up to which this is certain; it is negative beyond
        the range of single precision. Here h is the half-width plus 5/4 of the rounding error of t,
        at most γ_{d+6} (|u|₂|x|₂ + |b| + h) by Cauchy and Schwarz, with the unit roundoff of single
        precision.
        """
        if scale not in self._coarse:
            u, d, middle = self.u, self.u.shape[1], (self.low + self.high) / 2
            lengths = np.sqrt((u * u).sum(axis=1))
            unit = gamma(d + 8, SINGLE) * SLACK
            errors = unit * (lengths * scale + np.abs(self.low) + np.abs(self.high))
            errors += 2.0**-40 * lengths
            # the relative slack is far above all that underflow loses
            half = (self.scales * (1 + 2.0**-20) + 1.25 * errors) * (1 + 4 * unit)
            rows = np.empty((d + 1, len(self)), dtype=np.float32)
            rows[:d], rows[d] = (u / half[:, None]).T, middle / half + 1
            norms = np.maximum(np.abs(u).sum(axis=1), TINY)
            fair = scale < 2.0**60 and np.isfinite(rows).all()
            sure = float((errors / norms).min()) / 8 if fair else -1.0
            self._coarse[scale] = rows, sure
        return self._coarse[scale]

    @cached_property
    def _coarse(self) -> dict[float, tuple[Array, float]]:
        return {}

    @cached_property
    def later(self) -> Array:
        """Whether item k comes behind item i, (K, K)."""
        return np.triu(np.ones((len(self), len(self)), dtype=bool), 1)
