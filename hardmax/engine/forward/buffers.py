"""Arrays that are reused from panel to panel."""

from __future__ import annotations

import numpy as np

from ...exact.array import Array

_ENTRIES_IN_CACHE = 1 << 18  # entries of a product that fits the processor's cache


def runs(count: int, width: int) -> list[slice]:
    """Cut the points into ranges whose products with ``width`` items fit the cache.

    >>> runs(1000, 512)
    [slice(0, 500, None), slice(500, 1000, None)]
    """
    parts = max(1, -(-count * width // _ENTRIES_IN_CACHE))
    size = max(1, -(-count // parts))
    return [slice(a, min(a + size, count)) for a in range(0, count, size)]


class Buffers:
    """Arrays of one thread by name."""

    def __init__(self) -> None:
        self._held: dict[tuple[str, type], Array] = {}

    def take(self, name: str, shape: tuple[int, int], kind: type = np.float64) -> Array:
        """An uninitialised array."""
        size = shape[0] * shape[1]
        held = self._held.get((name, kind))
        if held is None or held.size < size:
            held = self._held[name, kind] = np.empty(size, dtype=kind)
        return held[:size].reshape(shape)
