"""Hash: folds of h say which string a point reads, and how far its window is shifted.

h = z_h + start + κX on a group. It is folded ``spread`` times to k cells, then to one cell (the
tree of selects), then b times in half (the windows).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from .common import Array
from .plan import Plan
from .select import Tree, tree

_FINE = 60  # bits of h in which most decisions are taken
_BITS = -30, 6  # log2 of the slopes expected: fewer are none, more are certain
_STEPS = 8  # steps in one bit of them
_PIECE = 1 << 16  # numbers that are looked at together


@dataclass(frozen=True)
class Reading:
    """What folding says of n points: ``string``, ``window`` (n,), and ``held`` (n, folds): whether
    h lay above the fold. ``least`` is the least excess h − c at each fold, 0 where there is none;
    ``clear`` is False where some h lies too near to a fold to say."""

    string: Array
    window: Array
    held: Array
    least: Array
    clear: bool

    @classmethod
    def none(cls, count: int) -> Reading:
        """Without folds: one string, one window."""
        zeros = np.zeros(count, dtype=np.int64)
        return cls(zeros, zeros, np.zeros((count, 0), bool), np.zeros(0, object), True)


@dataclass(frozen=True)
class Hash:
    """Folds at ``cuts``, in units of h, the first ``spread`` of them without a record."""

    plan: Plan
    width: int

    @cached_property
    def tree(self) -> Tree:
        """How cells are joined."""
        return tree(self.plan.strings)

    @cached_property
    def cell(self) -> int:
        """Width of a cell: k of them are about as long as twice the range of the data."""
        grain = 1 << max(self.plan.b + 1, self.width.bit_length() - 31)
        return -(-2 * self.width // (self.plan.strings * grain)) * grain

    @property
    def top(self) -> int:
        """The range [0, top) in which h stays."""
        return self.plan.strings * self.cell << self.plan.spread

    @cached_property
    def cuts(self) -> list[int]:
        """Where h is folded."""
        spread = [self.top >> q for q in range(1, self.plan.spread + 1)]
        cells = [level.cells * self.cell for level in self.tree.levels]
        return [*spread, *cells, *(self.cell >> q for q in range(1, self.plan.b + 1))]

    def read(self, h: list[int], scale: int) -> Reading:
        """Fold h, integers in units 2^-scale, by integers of 60 bits: exact where it is clear."""
        down = max(0, (self.top << scale).bit_length() - _FINE)
        v = np.array([x >> down for x in h], dtype=np.int64)
        spread = self.plan.spread
        held = np.zeros((len(h), len(self.cuts) - spread), dtype=bool)
        least = np.zeros(held.shape[1], dtype=np.int64)
        clear = bool(len(v)) and int(v.min()) >= 0 and int(v.max()) < (self.top << scale >> down)
        for q, cut in enumerate(self.cuts):
            excess = v - (cut << scale >> down)
            if down and bool((np.abs(excess) <= 2).any()):
                clear = False
            above = excess > 0
            v = np.where(above, v - 2 * excess, v)
            if q >= spread:
                held[:, q - spread] = above
                if above.any():
                    least[q - spread] = int(excess[above].min()) - (down > 0)
        exact = np.array([int(x) << down for x in least], dtype=object)
        return Reading(*self._places(held), held, exact, clear)

    def _places(self, held: Array) -> tuple[Array, Array]:
        """String and window from what was above the folds."""
        levels = self.tree.levels
        cell = np.zeros(len(held), dtype=np.int64)
        for q in range(len(levels) - 1, -1, -1):
            cell = np.where(held[:, q], 2 * levels[q].cells - 1 - cell, cell)
        window = np.zeros(len(held), dtype=np.int64)
        for q in range(self.plan.b):
            window += np.where(held[:, len(levels) + q], 0, 1 << q)
        return np.array(self.tree.string)[cell], window

    @cached_property
    def _keys(self) -> Array:
        """For every piece of [0, top), as long as a window's cell: string·2^b + window."""
        v = 2 * np.arange(self.plan.strings << (self.plan.spread + self.plan.b)) + 1
        held = np.zeros((len(v), len(self.cuts)), dtype=bool)
        for q, cut in enumerate(self.cuts):
            excess = v - (cut << (self.plan.b + 1)) // self.cell
            held[:, q] = excess > 0
            v = np.where(held[:, q], v - 2 * excess, v)
        string, window = self._places(held[:, self.plan.spread :])
        return string * self.plan.windows + window

    def propose(
        self,
        z: Array,
        x: Array,
        start: float,
        ends: Array,
        most: Array,
        cap: float,
        sizes: Array,
        bits: float,
    ) -> Array:
        """For every end of h, in widths, how many of the n points will fit, as far as one can say.

        z, x (n,) are the hash coordinate and the address from the hinge on, x ending at 1. A
        string whose load is below ``most`` (2^b,) by s points has about 2^(s·bits) slopes. Of these
        the search keeps so few that the next window, however light the ones before were, carries at
        most ``cap`` points.
        """
        k, windows = self.plan.strings, self.plan.windows
        piece = self.width * windows / self.cell  # pieces of `_keys` in a width
        still, moved = ((z + start) * piece).astype(np.float32), (x * piece).astype(np.float32)
        points, cells = len(x), k * windows
        fewest, enough = _BITS
        slopes = np.exp2(np.arange(fewest, enough, 1 / _STEPS))
        chance = np.log(-np.expm1(-slopes)).astype(np.float32)  # by the steps of bits that are left
        point = np.float32(bits * _STEPS)  # what a point takes of them, and a window adds
        rises = np.diff(most, prepend=0).astype(np.float32) * point
        highest = np.full(windows, cap, dtype=np.float32) * point
        highest[0] = np.inf
        bucket = np.searchsorted(sizes, np.arange(points), side="right") * cells
        gains = np.diff(sizes, prepend=0)
        found = []
        step = max(1, _PIECE // max(points, len(sizes) * cells))
        for first in range(0, len(ends), step):
            ways = (ends[first : first + step, None] - start).astype(np.float32)
            place = (still + ways * moved).astype(np.int64)
            key = self._keys[np.clip(place, 0, len(self._keys) - 1, out=place)]
            key += bucket + np.arange(len(ways))[:, None] * (len(sizes) * cells)
            loads = np.bincount(key.ravel(), minlength=len(ways) * len(sizes) * cells)
            loads = loads.reshape(len(ways), len(sizes), k, windows).cumsum(axis=1)
            left, total = np.float32(0), np.float32(0)
            for load, rise, top in zip(loads.transpose(3, 0, 1, 2), rises, highest, strict=True):
                left = np.minimum(left + rise, top) - point * load.astype(np.float32)
                place = np.clip(left - fewest * _STEPS, 0, len(chance) - 1)
                total = total + chance[place.astype(np.int16)]
            found.append(np.exp(total.sum(axis=2)) @ gains)
        return np.concatenate(found)
