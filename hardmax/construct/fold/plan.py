"""The shape of a model: how many strings, windows and folds, and what that costs in blocks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from math import ceil, log, log2

from .select import tree

_BITS = range(8)  # bits of h that say by how much y is shifted
_WINDOW = range(6, 13)  # doublings by one step of the shift
_FOLDS = range(4, 20)  # folds that the slopes alone need
_SEARCH = 32  # the range of a string at most, in half periods, over the intervals searched
_HASH = 2, 4  # folds of h that spread the points, to begin with: over few cells, and over many
_CELLS = 8  # the number from which they are many


@dataclass(frozen=True)
class Plan:
    """k strings; 2^b windows, each ``window`` doublings beyond the last; ``base`` folds for the
    range of the strings, ``window``·(2^b − 1) more for the shift; ``spread`` folds of the hash.

    Lengths are counted in half periods of the wave: the data lie within 2 of them.
    """

    strings: int
    b: int
    window: int
    base: int
    spread: int

    @property
    def windows(self) -> int:
        """Number 2^b of windows."""
        return 1 << self.b

    @property
    def hashed(self) -> bool:
        """Whether the hash is needed."""
        return self.strings > 1 or self.b > 0

    @property
    def shift(self) -> int:
        """Doublings of the last window."""
        return self.window * (self.windows - 1)

    @cached_property
    def room(self) -> float:
        """The range of a string, in half periods."""
        return (2.0**self.base - 2.125) / self.strings - 2

    def capacity(self, bands: int) -> list[float]:
        """About how many points the windows 0 … r of a string carry, for every r."""
        if self.room <= 1:
            return [0.0] * self.windows
        first, more = self._carries(bands)
        return [max(1.0, first + more * r) for r in range(self.windows)]

    def most(self, bands: int) -> float:
        """About how many points all windows of a string carry, where there is room for a slope."""
        first, more = self._carries(bands)
        return max(1.0, first + more * (self.windows - 1))

    def _carries(self, bands: int) -> tuple[float, float]:
        """About how many points the first window of a string carries, and every other."""
        bits, each = log2(self.room), log2(bands)
        inside = max(self.window, bits) / each  # points of one window
        return (bits + log2(max(1.0, inside / 2))) / each, self.window / each

    def fixed(self, closing: int) -> int:
        """Blocks other than the loads, ``closing`` of them behind the folds: L − G."""
        hashing = self.spread + self.strings - 1 + len(tree(self.strings).levels)
        shifting = 3 * self.b - 1 if self.b else 0
        return 1 + (hashing if self.hashed else 0) + shifting + self.base + self.shift + closing


def plans(
    count: int, dimension: int, bands: int, closing: int, beam: int
) -> list[tuple[float, Plan]]:
    """Plans with the expected number of blocks, the best first."""
    found = []
    for plan in _all(dimension):
        if not 8 <= plan.room <= _SEARCH * beam:
            continue
        each = plan.most(bands)
        filled = 0.97
        if plan.strings > 1:
            filled = 1 - 0.45 * (log(plan.strings + 1) / each) ** 0.5
        filled -= 0.03 if plan.b else 0
        groups = ceil(count / max(1.0, each * plan.strings * max(filled, 0.2)))
        found.append((plan.fixed(closing) + groups, plan))
    return sorted(found, key=lambda pair: pair[0])


def _all(dimension: int) -> Iterator[Plan]:
    for k in range(1, max(2, dimension - 1)):
        for b in _BITS if dimension > 2 else range(1):
            for window in _WINDOW if b else range(1):
                for base in _FOLDS:
                    plan = Plan(k, b, window, base, 0)
                    spread = _HASH[k * plan.windows > _CELLS]
                    yield replace(plan, spread=spread) if plan.hashed else plan
