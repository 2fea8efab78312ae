"""Work space that is kept from panel to panel."""

from __future__ import annotations

import numpy as np

from .rounding import Array

ROWS = 256  # points at a time whose products with a panel stay in the cache


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
