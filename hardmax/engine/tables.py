"""The layers of a plan as integers: exact ones, and residues of them (theory C2)."""

from __future__ import annotations

from threading import Lock

import numpy as np

from ..exact_array import ExactArray
from .plan import Plan
from .rings import Integers, Residues, rings
from .rounding import Array
from .sums import Limbs

Ring = Integers | Residues


class Table:
    """Layers of a plan as integers in a ring, and the factors of attention.

    Row k is the layer of block k, row L + k the factor ρ + α of its attention: U, B, W, then what
    X and q are multiplied by.
    """

    def __init__(self, plan: Plan, ring: Ring) -> None:
        count, d = len(plan), plan.dimension
        self.ring = ring
        # rows that nobody asks for take no memory
        self.rows = np.empty((ring.size, 2 * count, 2 * d + 3), dtype=ring.kind)
        self.known = np.zeros(2 * count, dtype=bool)


class Tables:
    """The same layers as exact integers and in rings of residues, filled as they are needed;
    ``bits`` (2L,) is at least the binary logarithm of what a row multiplies q by."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.bits = np.zeros(2 * len(plan), dtype=np.int64)
        self._exact = Table(plan, Integers())
        self._residues: list[Table] = []
        self._lock = Lock()

    def exact(self, rows: Array) -> Table:
        """With these rows at least."""
        if not self._exact.known[rows].all():
            with self._lock:
                new = np.unique(rows[~self._exact.known[rows]])
                integers = self._integers(new)
                self.bits[new] = [row[-1].bit_length() for row in integers]
                self._exact.rows[0, new] = integers
                self._exact.known[new] = True
        return self._exact

    def residues(self, rows: Array, count: int) -> list[Table]:
        """In ``count`` rings of residues, with these rows at least."""
        integers = self.exact(rows).rows[0]
        with self._lock:
            while len(self._residues) < count:
                self._residues.append(Table(self.plan, rings()[len(self._residues)]))
            found = self._residues[:count]
            new = np.unique(rows[~np.logical_and.reduce([table.known[rows] for table in found])])
            if len(new):
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
        found = [[*u, *w, s * t, s * t] for (*u, s), (*w, t) in zip(left, right, strict=True)]
        for k in factors.tolist():
            factor = p.rho.entry(k) + p.alpha.entry(k)
            found.append([0] * (2 * d + 1) + [factor.numerator, factor.denominator])
        return np.array(found, dtype=object).reshape(len(rows), 2 * d + 3)


def _beside(u: ExactArray, b: ExactArray) -> ExactArray:
    """(u, b), (n, d + 1)."""
    d = u.shape[1]
    exact = {k // d * (d + 1) + k % d: q for k, q in u.exact.items()}
    exact |= {k * (d + 1) + d: q for k, q in b.exact.items()}
    return ExactArray(np.c_[u.values, b.values], exact)
