"""Panels: consecutive feed-forward layers that are applied together (theory C3, C4)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from ...enclosure.rounding import SLACK, SPARE, gamma
from ...exact.array import Array, ranges
from .arrays import BlockArrays
from .rest_filter import RestFilter
from .tents import knots

Kind = Literal["layers", "straight", "tents"]


@dataclass(frozen=True, eq=False)
class Panel:
    """K items, one after another, with no attention in between.

    An item is either a single layer, that of block ``first[i]``, or a tent: the ``counts[i]``
    layers from there on, which share their direction u (`tents`). ``kind`` says how the panel is
    applied:

    tents     every item leaves all points outside its slab in place
    layers    every item leaves all points with small ⟨u,x⟩ in place
    straight  layers that are active on many points, such as those that read one coordinate
    """

    kind: Kind
    first: Array
    arrays: BlockArrays
    counts: Array

    def __len__(self) -> int:
        return len(self.first)

    @cached_property
    def blocks(self) -> Array:
        """The blocks of all layers, in order."""
        return ranges(self.first, self.counts)

    def hinges(self, items: Array) -> Iterator[tuple[Array, Array]]:
        """Yield the first layer of each of some items, then the second of each, and so on.

        Each step gives the places in ``items`` that have such a layer, and the blocks.
        """
        counts = self.counts[items]
        for i in range(int(counts.max(initial=0))):
            more = np.flatnonzero(counts > i)
            yield more, self.first[items[more]] + i

    @cached_property
    def unread(self) -> int | None:
        """The only coordinate that the layers change, if none of them reads it; else None."""
        used = np.flatnonzero(self.arrays.w[self.blocks].any(axis=0))
        if len(used) != 1 or self.arrays.u[self.first, used[0]].any():
            return None
        return int(used[0])

    @cached_property
    def rest_filter(self) -> RestFilter:
        """A test for all points at once: which items certainly leave them in place."""
        u, b = self.arrays.u[self.first], self.arrays.b[self.first]
        if self.kind != "tents":
            return RestFilter(u, b, b, tents=False)
        b = knots(self.arrays, self.blocks, np.repeat(self.first, self.counts))
        starts = np.cumsum(self.counts) - self.counts
        low, high = np.minimum.reduceat(b, starts), np.maximum.reduceat(b, starts)
        return RestFilter(u, low, high, tents=True)

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
