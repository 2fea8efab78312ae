"""What many sequences go through alike in front of their points, as one affine map (theory C2)."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import gcd, lcm

import numpy as np

from .rings import Ring
from .rounding import Array
from .sums import Limbs

SMALL = 64  # numbers of a sequence that one map takes to its point


@dataclass(frozen=True, eq=False)
class Entrance:
    """(z_1, …, z_C) ↦ Σ z_c A_c, of points z = (X, q) over one q (`replay`), of integers.

    ``maps`` holds A_1, …, A_C, (C, d + 1, d + 1); q goes through the first alone.

    >>> half = Entrance.of(np.array([[6, 2, 4], [5, 1, 2], [8, 4, 4]], dtype=object))
    >>> half.maps.tolist()  # from the images of two unit vectors and of zero
    [[[-1, -1, 0], [1, -1, 0], [4, 2, 2]]]
    """

    maps: Array
    kept: dict[tuple[int, ...], Array] = field(default_factory=dict)

    @classmethod
    def of(cls, images: Array) -> Entrance:
        """From the images (C·d + 1, d + 1) of all unit vectors over q = 1, and of zero."""
        d = images.shape[1] - 1
        divisor = lcm(*images[:, d].tolist())
        rows = images * (divisor // images[:, d])[:, None]
        rows[:-1] -= rows[-1]
        rows //= gcd(*rows.ravel().tolist())
        maps = np.zeros(((len(rows) - 1) // d, d + 1, d + 1), dtype=object)
        maps[:, :d] = rows[:-1].reshape(-1, d, d + 1)
        maps[0, d] = rows[-1]
        return cls(maps)

    @property
    def divisor(self) -> int:
        """What q is multiplied by."""
        return int(self.maps[0, -1, -1])

    def applied(self, ring: Ring, z: Array) -> Array:
        """The images of n points of each kind, (·, C, n, d + 1); wide."""
        if ring.primes not in self.kept:
            self.kept[ring.primes] = ring.of(Limbs.of(self.maps))
        maps = self.kept[ring.primes]
        found = np.matmul(z[:, 0], maps[:, 0])
        for c in range(1, z.shape[1]):
            found += np.matmul(z[:, c], maps[:, c])
        return np.asarray(found[:, None])
