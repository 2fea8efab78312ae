"""Consecutive feed-forward layers that are applied together (theory C3, C4)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Literal

import numpy as np

from .rounding import SLACK, SPARE, TINY, UNIT, Array, gamma

if TYPE_CHECKING:
    from .plan import Plan

Kind = Literal["layers", "straight", "clips", "tents"]


@dataclass(frozen=True, eq=False)
class Panel:
    """Feed-forward layers without attention in between, as K items one after another.

    Item i is the layer of block ``first[i]`` or, in a panel of tents, those of three blocks from
    it on, which share u and together leave every point outside their slab in place. The layers
    of a straight panel are active on many points, as are those that read one coordinate; those of
    clips cut one off each, as kills do: z_i ↦ min(z_i, level) or max(z_i, level).
    """

    kind: Kind
    first: Array
    plan: Plan

    def __len__(self) -> int:
        return len(self.first)

    @property
    def hinges(self) -> int:
        """Layers of an item."""
        return 3 if self.kind == "tents" else 1

    @cached_property
    def axis(self) -> int | None:
        """The coordinate that the layers change, where it is one and the same."""
        used = np.flatnonzero(self.plan.w[self.first].any(axis=0))
        return int(used[0]) if len(used) == 1 else None

    @cached_property
    def unread(self) -> int | None:
        """`axis`, where no layer of the panel reads it."""
        axis = self.axis
        return None if axis is None or self.plan.u[self.first, axis].any() else axis

    @cached_property
    def reads(self) -> Array | None:
        """The coordinates that the layers read, where they are few."""
        return self._few(self.plan.u)

    @cached_property
    def changes(self) -> Array | None:
        """The coordinates that the layers change, where they are few."""
        return self._few(self.plan.w)

    def _few(self, vectors: Array) -> Array | None:
        used = np.flatnonzero(vectors[self.first].any(axis=0))
        return used if 4 * len(used) <= vectors.shape[1] else None

    @cached_property
    def scales(self) -> Array:
        """What t is divided by, (K,): a power of two ≥ |u|₁ for a layer, the half-width of the
        slab of a tent."""
        norms = np.abs(self.plan.u[self.first]).sum(axis=1)
        if self.kind != "tents":
            return np.asarray(np.exp2(np.ceil(np.log2(np.where(norms > 0, norms, 1.0))) + 1))
        low, high = self._knots
        half = (high - low) / 2
        return np.asarray(half * SLACK + (np.abs(low) + np.abs(high)) * 4 * UNIT)

    @cached_property
    def _knots(self) -> tuple[Array, Array]:
        """Least and largest b of each tent."""
        b = self.plan.b[self.first[:, None] + np.arange(self.hinges)]
        return b.min(axis=1), b.max(axis=1)

    @cached_property
    def sieve(self) -> Array:
        """(d + 2, K): (x, ρ, 1) @ sieve decides for all points at once which items rest.

        ρ is the point's `Points.reach`. A layer may be active where the product is not ≤ 0; a
        tent where it is not ≥ 1 + ρ·`spread` in absolute value.
        """
        plan = self.plan
        d = plan.dimension
        scales = self.scales
        u = plan.u[self.first]
        rows = np.empty((d + 2, len(self)))
        rows[:d] = (u / scales[:, None]).T
        if self.kind != "tents":
            b = plan.b[self.first] / scales
            rows[d] = 1.0
            rows[d + 1] = b + 4 * gamma(d + 8) * np.abs(b) + TINY
        else:
            low, high = self._knots
            rows[d] = 0.0
            rows[d + 1] = (low + high) / 2 / scales
        return rows

    @cached_property
    def spread(self) -> tuple[float, float]:
        """Largest |u|₁/half-width of a tent, and the error that the offsets bring, over it."""
        plan = self.plan
        norms = np.abs(plan.u[self.first]).sum(axis=1) / self.scales
        offsets = np.abs(np.maximum(*map(np.abs, self._knots)) / self.scales)
        return (
            float(norms.max()) * SLACK,
            float(offsets.max()) * 4 * gamma(plan.dimension + 8) + TINY,
        )

    def coarse(self, scale: float) -> tuple[Array, float]:
        """Of tents (u, b)/h in single precision, (d + 1, K), for points with |x|₂ ≤ ``scale``:
        the product with (x, 1) is < 1 in absolute value inside a slab; and the reach up to which
        that is sure, none for points past the range of single precision.

        h is the half-width, and twice what rounding can change in t: by Cauchy and Schwarz at
        most γ_{d+6} (|u|₂|x|₂ + |b|), with the unit roundoff of single precision.
        """
        if scale not in self._coarse:
            plan, d = self.plan, self.plan.dimension
            low, high = self._knots
            u, middle = plan.u[self.first], (low + high) / 2
            lengths = np.sqrt((u * u).sum(axis=1))
            unit = 2.0**-24 * (d + 8) * SLACK
            errors = unit * (lengths * scale + np.abs(low) + np.abs(high)) + 2.0**-40 * lengths
            # the relative slack is far above all that underflow loses
            half = self.scales * (1 + 2.0**-20) + 2 * errors
            rows = np.empty((d + 1, len(self)), dtype=np.float32)
            rows[:d], rows[d] = (u / half[:, None]).T, middle / half
            norms = np.maximum(np.abs(u).sum(axis=1), TINY)
            sure = float((errors / norms).min()) / 4 if scale < 2.0**60 else -1.0
            self._coarse[scale] = rows, sure
        return self._coarse[scale]

    @cached_property
    def _coarse(self) -> dict[float, tuple[Array, float]]:
        return {}

    @cached_property
    def layers(self) -> tuple[Array, Array, Array, Array, Array]:
        """u, |u|, b, w and |w| of the layers."""
        plan, k = self.plan, self.first
        return plan.u[k], plan.absolute_u[k], plan.b[k][:, None], plan.w[k], plan.absolute_w[k]

    @cached_property
    def norms(self) -> Array:
        """|u|₁ of the layers, (K,)."""
        return np.asarray(self.layers[1].sum(axis=1))

    @cached_property
    def rounding(self) -> float:
        """γ of ⟨u,x⟩ + b: d products and sums, and a correction for each layer before."""
        return gamma(self.plan.dimension + 2 * len(self) + 8)

    @cached_property
    def lengths(self) -> Array:
        """`norms`, as much larger as rounding here is than a reach has room for, (K,)."""
        spare = gamma(self.plan.dimension + SPARE)
        return np.asarray(self.norms * max(1.0, self.rounding / spare) * SLACK)

    @cached_property
    def couplings(self) -> tuple[Array, Array]:
        """⟨w_i,u_k⟩ for layers i, k, zero unless i < k, and bounds on their absolute values;
        both (K, K)."""
        u, size_u, _, w, size_w = self.layers
        return np.triu(w @ u.T, 1), np.triu(size_w @ size_u.T, 1) * SLACK

    @cached_property
    def consequent(self) -> list[tuple[int, int, Array]]:
        """Layers that change what a later one of the panel sees: their place, that of the first
        such one, and the couplings from there on."""
        return self._from_first(self.couplings[0])

    @cached_property
    def consequences(self) -> list[tuple[int, int, Array]]:
        """The same, with the bounds."""
        return self._from_first(self.couplings[1])

    @cached_property
    def follows(self) -> list[tuple[int, float, float]] | None:
        """Where layers only meet in one coordinate i: the places of those that read or change it
        before the last reader, and their u_i and w_i. None where they meet in several."""
        u, _, _, w, _ = self.layers
        count = len(self)
        met = np.triu((w != 0).astype(float) @ (u != 0).T.astype(float), 1) > 0
        coordinates = np.flatnonzero(((w != 0) & met.any(axis=1)[:, None]).any(axis=0))
        common = [
            i
            for i in coordinates.tolist()
            if (np.triu(np.outer(w[:, i] != 0, u[:, i] != 0), 1) & met).any()
        ]
        if len(common) > 1:
            return None
        if not common:
            return []
        read, step = u[:, common[0]], w[:, common[0]]
        last = int(np.flatnonzero(read)[-1])
        return [
            (k, float(read[k]), float(step[k]) if k < last else 0.0)
            for k in range(count)
            if k <= last and (read[k] or step[k])
        ]

    def _from_first(self, table: Array) -> list[tuple[int, int, Array]]:
        touched = self.couplings[1] > 0
        first = touched.argmax(axis=1).tolist()
        places = np.flatnonzero(touched.any(axis=1)).tolist()
        return [(i, first[i], np.ascontiguousarray(table[i, first[i] :])) for i in places]

    def errors(self, reach: float, rises: Array) -> Array:
        """A bound on the error of every t, (K,), for all points of at most this reach, where
        the computed max(0, t) are at most ``rises``."""
        bound = self.lengths * reach + self._offset_errors
        return np.asarray(
            (self._growth @ (bound + (self.rounding * rises) @ self.couplings[1])) * SLACK
        )

    @cached_property
    def _offset_errors(self) -> Array:
        return np.asarray(self.rounding * np.abs(self.layers[2][:, 0]) + TINY)

    @cached_property
    def _growth(self) -> Array:
        """(I − C)⁻¹, C the bounds of the couplings, transposed: what an error comes to by the
        time of a later layer. Sums of products of numbers ≥ 0, so as exact as SLACK needs."""
        count = len(self)
        growth = np.eye(count)
        for k in range(1, count):
            growth[k] += self.couplings[1][:k, k] @ growth[:k]
        return growth

    @cached_property
    def cuts(self) -> tuple[Array, Array, Array]:
        """Of clips the coordinates, rising, the signs of u and the levels, (K,) each."""
        u, _, b, _, _ = self.layers
        where = np.abs(u).argmax(axis=1)
        signs = u[np.arange(len(u)), where]
        return where, signs, -signs * b[:, 0]

    @cached_property
    def runs(self) -> list[tuple[slice, slice]]:
        """Consecutive coordinates that clips cut off, and the places of these clips."""
        where = self.cuts[0]
        edges = [0, *(np.flatnonzero(np.diff(where) != 1) + 1).tolist(), len(where)]
        return [
            (slice(int(where[a]), int(where[a]) + b - a), slice(a, b)) for a, b in pairwise(edges)
        ]
