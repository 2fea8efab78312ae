"""What many sequences go through alike in front of their points, as one affine map (theory C2)."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import gcd, lcm

import numpy as np

from .rings import Ring
from .rounding import Array
from .sums import Limbs


@dataclass(frozen=True, eq=False)
class Entrance:
    """(X_1, …, X_C)/q ↦ (Σ X_c A_c + q a)/(q·``divisor``), of integers.

    ``rows`` holds A_1, …, A_C and a below each other, (C·d + 1, d).

    >>> images = np.array([[6, 2], [5, 1], [8, 4]], dtype=object)
    >>> half = Entrance.of(images, np.array([4, 2, 4]), 2)
    >>> half.rows.tolist(), half.divisor  # the images of two unit vectors and of zero
    ([[-1, -1], [1, -1], [4, 2]], 2)
    """

    rows: Array
    divisor: int
    kept: dict[tuple[int, ...], tuple[Array, Array, Array]] = field(default_factory=dict)

    @classmethod
    def of(cls, images: Array, q: Array, count: int) -> Entrance:
        """From the images/q of all unit vectors, ``count`` of them, and of zero."""
        divisor = lcm(*q.tolist())
        rows = images * (divisor // q)[:, None]
        rows[:count] -= rows[count]
        common = gcd(divisor, *rows.ravel().tolist())
        return cls(rows // common, divisor // common)

    def applied(self, ring: Ring, x: Array, q: Array) -> tuple[Array, Array]:
        """The images of n points (·, C, n, d) over q (·, n); wide."""
        A, a, divisor = self._in(ring)
        y = q[..., None] * a
        for c in range(x.shape[1]):
            y += np.matmul(x[:, c], A[:, c])
        return y[:, None], ring.reduced(q * divisor)

    def _in(self, ring: Ring) -> tuple[Array, Array, Array]:
        """A (·, C, d, d), a (·, 1, d) and the divisor (·, 1) in a ring; remembered."""
        if ring.primes not in self.kept:
            d = self.rows.shape[1]
            rows = ring.of(Limbs.of(self.rows))
            A = rows[:, :-1].reshape(ring.size, -1, d, d)
            self.kept[ring.primes] = A, rows[:, -1:], ring.scalars(self.divisor)
        return self.kept[ring.primes]
