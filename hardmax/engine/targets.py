"""Outputs that are the points they should be: proven by residues.

An output X/q and its target Y/s differ by E/(qs), E = sX − qY integers. Where floats bound the
difference by r, |E| ≤ r q s; and where all of E are multiples of primes whose product is larger
than that, E = 0, and the output *is* the target. So a few dozen bits for each sequence, rather than
all of hundreds, prove what only exact arithmetic can (theory C1, C2).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from math import inf

import numpy as np

from .plan import Plan
from .points import Points
from .replay import Cloud, Replay
from .rings import TERMS, Ring
from .rounding import SLACK, TINY, UNIT, Array
from .sums import Limbs
from .tables import Tables, ceil_log2

_BEYOND = 24  # bits that are told beyond the need: those of one more prime
_NUMBERS = 1 << 13  # coordinates at a time: their residues stay in the cache


@dataclass(frozen=True, eq=False)
class Goals:
    """Points as ``rows`` of integers (Y, s), and what is computed of them once."""

    rows: tuple[tuple[int, ...], ...]
    kept: dict[tuple[int, ...], Array] = field(default_factory=dict)

    @cached_property
    def integers(self) -> Limbs:
        """(Y, s) of every point, (M, d + 1)."""
        return Limbs.of(np.array(self.rows, dtype=object))

    @cached_property
    def floats(self) -> Array:
        """The points in float64, (M, d); infinity where it has no such numbers."""
        return np.array([[_quotient(x, q) for x in p] for *p, q in self.rows])

    @cached_property
    def rounding(self) -> Array:
        """How far off `floats` may be, (M,)."""
        return np.asarray(2 * UNIT * np.abs(self.floats).max(axis=1))

    @cached_property
    def bits(self) -> Array:
        """At least the binary logarithms of s, (M,)."""
        return np.array([ceil_log2(row[-1]) for row in self.rows])

    def residues(self, ring: Ring) -> Array:
        """`integers` in a ring; remembered."""
        if ring.primes not in self.kept:
            self.kept[ring.primes] = ring.of(self.integers)
        return self.kept[ring.primes]


@dataclass(frozen=True)
class Targets:
    """``rows[of[j]]`` is where sequence j should go; nothing is said where ``of`` is −1."""

    rows: Sequence[tuple[int, ...]]
    of: Array

    @cached_property
    def goals(self) -> Goals:
        """The same points whenever they are the same rows."""
        return _goals(tuple(self.rows))


@lru_cache(maxsize=4)
def _goals(rows: tuple[tuple[int, ...], ...]) -> Goals:
    return Goals(rows)


def reached(plan: Plan, targets: Targets, of: Array, points: Points, replay: Replay) -> Array:
    """Which of some outputs are proven to be their targets, (n,) of bool; others may be, too.

    ``points`` encloses them, ``of`` numbers their targets, ``replay`` is how they came to be.
    """
    found = np.zeros(len(points), dtype=bool)
    if plan.dimension + 1 > TERMS:
        return found
    goals = targets.goals
    away = np.abs(points.values - goals.floats[of]) + points.radius
    r = (away.max(axis=1) + goals.rounding[of]) * SLACK + TINY
    tables = plan.kept(Tables)
    entrance = replay.entrance(tables)
    need = replay.bits(tables, entrance) + goals.bits[of] + np.frexp(r)[1] + _BEYOND
    left = np.flatnonzero((of >= 0) & np.isfinite(r) & (need <= tables.told[-1]))
    count = int(np.searchsorted(tables.told, need[left].max(initial=0))) + 1
    held = tables.residues(replay.table_rows, count)
    size = max(1, _NUMBERS // plan.dimension)
    for start in range(0, len(left), size):
        mine, known = left[start : start + size], 0
        part = replay.take(mine)
        for whole in held:
            table = whole.part(int(need[mine].max()) - known)
            known += table.ring.bits
            zero = _agrees(table.ring, part.outputs(table, entrance), goals, of[mine])
            enough = need[mine] <= known
            found[mine[zero & enough]] = True
            more = np.flatnonzero(zero & ~enough)
            if not len(more):
                break
            mine, part = mine[more], part.take(more)
    return found


def _agrees(ring: Ring, cloud: Cloud, goals: Goals, of: Array) -> Array:
    """Where s(X, q) − q(Y, s) is zero in the ring, (n,)."""
    y = goals.residues(ring).take(of, axis=1)
    s, difference = y[..., -1:], cloud.z[:, 0]
    q = ring.reduced(difference[..., -1:].copy())
    if (s != 1).any():
        difference = s * ring.reduced(difference)
    difference -= y * q
    difference = ring.reduced(difference)
    return np.asarray(np.einsum("pnd,pnd->n", difference, difference) == 0)  # faster than any


def _quotient(p: int, q: int) -> float:
    try:
        return p / q
    except OverflowError:
        return inf
