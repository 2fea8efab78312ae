"""The layers of a plan as rows of integers, made when they are first needed (theory C2)."""

from __future__ import annotations

from threading import Lock

import numpy as np

from ...exact.array import Array, ExactArray
from ..compile.plan import Plan


class IntegerLayers:
    """Exact layers of a plan of L blocks, for points z = (X, q) that stand for X/q.

    Row k is the feed-forward layer of block k where it is active, row L + k the factor ρ + α of
    its attention. A row holds U (d+1), W (d+1) and an integer f: the layer takes z to
    fz + ⟨U,z⟩W.
    """

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        count, d = len(plan), plan.dimension
        self._rows = np.empty((2 * count, 2 * d + 3), dtype=object)
        self._known = np.zeros(2 * count, dtype=bool)
        self._lock = Lock()

    def rows(self, wanted: Array) -> Array:
        """All rows, (2L, 2d + 3), of which the ``wanted`` ones are filled."""
        if not self._known[wanted].all():
            with self._lock:
                new = np.unique(wanted[~self._known[wanted]])
                self._rows[new] = self._integers(new)
                self._known[new] = True
        return self._rows

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


def _beside(u: ExactArray, b: ExactArray) -> ExactArray:
    """(u, b), (n, d + 1)."""
    d = u.shape[1]
    exact = {k // d * (d + 1) + k % d: q for k, q in u.exact.items()}
    exact |= {k * (d + 1) + d: q for k, q in b.exact.items()}
    return ExactArray.owning(np.c_[u.values, b.values], exact)
