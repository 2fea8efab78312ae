"""The layers of a plan as integers: exact ones, and residues of them (theory C2)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from threading import Lock

import numpy as np

from ..exact_array import ExactArray
from .entrance import SMALL, Entrance
from .plan import Plan
from .rings import Integers, Residues, Ring, rings
from .rounding import Array
from .sums import Limbs

IDLE = -1


@dataclass(frozen=True)
class Table:
    """Layers of a plan as integers in a ring, and the factors of attention.

    Row k is the layer of block k, row L + k the factor ρ + α of its attention: U, W and a factor f
    that take a point z = (X, q) to fz + ⟨U,z⟩W (`replay`). The last row, IDLE, does nothing.
    """

    ring: Ring
    rows: Array  # (1 or primes, 2L + 1, 2d + 3)
    known: Array  # (2L,), what is filled

    @classmethod
    def of(cls, plan: Plan, ring: Ring) -> Table:
        """A table without rows; those that nobody asks for take no memory."""
        count, d = len(plan), plan.dimension
        rows = np.empty((ring.size, 2 * count + 1, 2 * d + 3), dtype=ring.kind)
        rows[:, IDLE], rows[:, IDLE, -1] = 0, 1
        return cls(ring, rows, np.zeros(2 * count, dtype=bool))

    def part(self, bits: int) -> Table:
        """The same in fewer residues, if these are enough (`Residues.part`)."""
        ring = self.ring.part(bits)
        return Table(ring, self.rows[: ring.size], self.known)


class Tables:
    """The same layers as exact integers and in rings of residues, filled as they are needed."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self._bits = np.zeros(2 * len(plan), dtype=np.int64)
        self._exact = Table.of(plan, Integers())
        self._residues: list[Table] = []
        self._lock = Lock()
        self.entrances: dict[object, Entrance] = {}  # by the layers and the attention in it

    @cached_property
    def rings(self) -> tuple[Residues, ...]:
        """For points in d dimensions, and for entrances."""
        return rings(max(self.plan.dimension, SMALL) + 1)

    @cached_property
    def told(self) -> Array:
        """How many bits the first ring tells, the first two together, and so on."""
        return np.cumsum([ring.bits for ring in self.rings])

    def exact(self, rows: Array) -> Table:
        """With these rows at least."""
        if not self._exact.known[rows].all():
            with self._lock:
                new = np.unique(rows[~self._exact.known[rows]])
                integers = self._integers(new)
                self._bits[new] = [ceil_log2(f + more) for *_, more, f in integers]
                self._exact.rows[0, new] = integers
                self._exact.known[new] = True
        return self._exact

    def bits(self, rows: Array) -> Array:
        """At least the binary logarithms of what rows multiply q by, (2L,), of these at least."""
        self.exact(rows)
        return self._bits

    def residues(self, rows: Array, count: int) -> list[Table]:
        """In ``count`` rings of residues, with these rows at least."""
        integers = self.exact(rows).rows[0]
        with self._lock:
            while len(self._residues) < count:
                self._residues.append(Table.of(self.plan, self.rings[len(self._residues)]))
            found = self._residues[:count]
            known = np.logical_and.reduce([table.known[rows] for table in found])
            if not known.all():
                new = np.unique(rows[~known])
                limbs = Limbs.of(integers[new])
                for table in found:
                    table.rows[:, new] = table.ring.of(limbs)
                    table.known[new] = True
        return found

    def _integers(self, rows: Array) -> Array:
        p, count, d = self.plan.parameters, len(self.plan), self.plan.dimension
        layers, factors = rows[rows < count], rows[rows >= count] - count
        left = _beside(p.u.take(layers), p.b.take(layers)).integer_rows()
        right = p.w.take(layers).integer_rows()
        found = [[*u, *w, 0, s * t] for (*u, s), (*w, t) in zip(left, right, strict=True)]
        for k in factors.tolist():
            factor = p.rho.entry(k) + p.alpha.entry(k)
            more = factor.denominator - factor.numerator  # of q than of X
            found.append([*[0] * d, 1, *[0] * d, more, factor.numerator])
        return np.array(found, dtype=object).reshape(len(rows), 2 * d + 3)


def ceil_log2(number: int) -> int:
    """The least k with number ≤ 2^k, of a positive integer.

    >>> ceil_log2(1), ceil_log2(8), ceil_log2(9)
    (0, 3, 4)
    """
    return (number - 1).bit_length()


def _beside(u: ExactArray, b: ExactArray) -> ExactArray:
    """(u, b), (n, d + 1)."""
    d = u.shape[1]
    exact = {k // d * (d + 1) + k % d: q for k, q in u.exact.items()}
    exact |= {k * (d + 1) + d: q for k, q in b.exact.items()}
    return ExactArray.owning(np.c_[u.values, b.values], exact)
