"""Panels: consecutive feed-forward layers that are applied together (theory C3, C4)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Literal

import numpy as np

from ...enclosure.rounding import SLACK, SPARE, error, gamma
from ...exact.array import Array, ranges
from .arrays import BlockArrays
from .rest_filter import RestFilter
from .ridges import knots

Kind = Literal["layers", "straight", "clips", "tents"]


@dataclass(frozen=True, eq=False)
class Panel:
    """K items, one after another, with no attention in between.

    An item is either a single layer, that of block ``first[i]``, or a ridge: the ``counts[i]``
    layers from there on, which share their direction u with block ``leads[i]`` (`ridges`).
    ``kind`` says how the panel is applied:

    tents     every item leaves all points outside its slab in place
    layers    every item leaves all points with small ⟨u,x⟩ in place
    straight  layers that are active on many points, such as those that read one coordinate
    clips     layers z_i ↦ min(z_i, level) or max(z_i, level), each coordinate at most once
    """

    kind: Kind
    first: Array
    arrays: BlockArrays
    counts: Array | None = None  # None: one layer each
    leads: Array | None = None

    def __len__(self) -> int:
        return len(self.first)

    @property
    def fused(self) -> bool:
        """Whether there are items of several layers."""
        return len(self.blocks) > len(self)

    @cached_property
    def blocks(self) -> Array:
        """The blocks of all layers, in order."""
        return self.first if self.counts is None else ranges(self.first, self.counts)

    def hinges(self, items: Array) -> Iterator[tuple[Array, Array]]:
        """Yield the first layer of each of some items, then the second of each, and so on.

        Each step gives the places in ``items`` that have such a layer, and the blocks.
        """
        if not self.fused or self.counts is None:
            yield np.arange(len(items)), self.first[items]
            return
        counts = self.counts[items]
        for i in range(int(counts.max(initial=0))):
            more = np.flatnonzero(counts > i)
            yield more, self.first[items[more]] + i

    @property
    def _leads(self) -> Array:
        return self.first if self.leads is None else self.leads

    @cached_property
    def axis(self) -> int | None:
        """The coordinate that all layers change, None where they change several."""
        used = np.flatnonzero(self.arrays.w[self.blocks].any(axis=0))
        return int(used[0]) if len(used) == 1 else None

    @cached_property
    def unread(self) -> int | None:
        """The `axis`, if no layer of the panel reads it; else None."""
        axis = self.axis
        return None if axis is None or self.arrays.u[self.first, axis].any() else axis

    @cached_property
    def reads(self) -> Array | None:
        """The coordinates that the layers read, where they are few."""
        return self._few(self.arrays.u)

    @cached_property
    def changes(self) -> Array | None:
        """The coordinates that the layers change, where they are few."""
        return self._few(self.arrays.w)

    def _few(self, vectors: Array) -> Array | None:
        used = np.flatnonzero(vectors[self.blocks].any(axis=0))
        return used if 4 * len(used) <= vectors.shape[1] else None

    @cached_property
    def rest_filter(self) -> RestFilter:
        """A test for all points at once: which items certainly leave them in place."""
        u, tents = self.arrays.u[self._leads], self.kind == "tents"
        if self.counts is None or not self.fused:
            b = self.arrays.b[self.first]
            return RestFilter(u, b, b, tents)
        b = knots(self.arrays, self.blocks, np.repeat(self._leads, self.counts))
        starts = np.cumsum(self.counts) - self.counts
        return RestFilter(u, np.minimum.reduceat(b, starts), np.maximum.reduceat(b, starts), tents)

    @cached_property
    def layers(self) -> tuple[Array, Array, Array, Array, Array]:
        """u, |u|, b, w and |w| of the layers."""
        arrays, k = self.arrays, self.blocks
        return (
            arrays.u[k],
            arrays.absolute_u[k],
            arrays.b[k][:, None],
            arrays.w[k],
            arrays.absolute_w[k],
        )

    @cached_property
    def norms(self) -> Array:
        """|u|₁ of the layers, (K,)."""
        return np.asarray(self.layers[1].sum(axis=1))

    @cached_property
    def roundings(self) -> int:
        """Of ⟨u,x⟩ + b: d products and sums, and a correction for each layer before."""
        return self.arrays.dimension + 2 * len(self.blocks) + 8

    @cached_property
    def rounding(self) -> float:
        """γ of ⟨u,x⟩ + b."""
        return float(gamma(self.roundings)) * SLACK

    @cached_property
    def lengths(self) -> Array:
        """`norms`, enlarged where this panel rounds more often than `EnclosedPoints.reach` allows,
        (K,).
        """
        spare = gamma(self.arrays.dimension + SPARE)
        return np.asarray(self.norms * max(1.0, self.rounding / spare) * SLACK)

    @cached_property
    def couplings(self) -> tuple[Array, Array]:
        """⟨w_i,u_k⟩ for i < k, and bounds on their absolute values; both (K, K), zero elsewhere."""
        u, size_u, _, w, size_w = self.layers
        return np.triu(w @ u.T, 1), np.triu(size_w @ size_u.T, 1) * SLACK

    @cached_property
    def consequent(self) -> list[tuple[int, int, Array]]:
        """Layers that change what a later layer of the panel sees.

        For each: its place, the place of the first layer affected, and the couplings from there on.
        """
        return self._from_first(self.couplings[0])

    @cached_property
    def consequences(self) -> list[tuple[int, int, Array]]:
        """The same as `consequent`, with the bounds of the couplings."""
        return self._from_first(self.couplings[1])

    def _from_first(self, table: Array) -> list[tuple[int, int, Array]]:
        touched = self.couplings[1] > 0
        first = touched.argmax(axis=1).tolist()
        places = np.flatnonzero(touched.any(axis=1)).tolist()
        return [(i, first[i], np.ascontiguousarray(table[i, first[i] :])) for i in places]

    def errors(self, reach: float, rises: Array) -> Array:
        """Bound the error of every t, (K,), for all points at once.

        The points have at most this ``reach``, and the computed max(0, t) are at most ``rises``.
        """
        bound = self.lengths * reach + self._offset_errors
        return np.asarray(
            (self._growth @ (bound + (self.rounding * rises) @ self.couplings[1])) * SLACK
        )

    @cached_property
    def _offset_errors(self) -> Array:
        return np.asarray(error(self.roundings, np.abs(self.layers[2][:, 0])))

    @cached_property
    def _growth(self) -> Array:
        """(I − C)⁻¹ transposed, where C holds the bounds of the couplings.

        Entry (k, i) says by how much an error of layer i has grown at layer k. All numbers are
        non-negative, so rounding changes them by less than SLACK.
        """
        count = len(self.blocks)
        growth = np.eye(count)
        for k in range(1, count):
            growth[k] += self.couplings[1][:k, k] @ growth[:k]
        return growth

    @cached_property
    def cuts(self) -> tuple[Array, Array, Array]:
        """The coordinates of clips, rising, the signs of u, and the levels, (K,) each."""
        u, _, b, _, _ = self.layers
        where = np.abs(u).argmax(axis=1)
        signs = u[np.arange(len(u)), where]
        return where, signs, -signs * b[:, 0]

    @cached_property
    def runs(self) -> list[tuple[slice, slice]]:
        """Ranges of consecutive coordinates that clips cut off, and the places of these clips."""
        where = self.cuts[0]
        edges = [0, *(np.flatnonzero(np.diff(where) != 1) + 1).tolist(), len(where)]
        return [
            (slice(int(where[a]), int(where[a]) + b - a), slice(a, b)) for a, b in pairwise(edges)
        ]
