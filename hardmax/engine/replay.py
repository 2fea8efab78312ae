"""Points through the layers that are not at rest on them, in a ring: exact integers, or residues.

A point X/q is z = (X, q). An active layer with (u, b) = U/s and w = W/t takes it to
stz + ⟨U,z⟩(W, 0), attention with ρ + α = p/r to pz + q(0, r − p); integers are all it takes
(theory C2).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import lcm

import numpy as np

from ..exact_array import ExactArray, ranges
from .collapse import Collapsed, Layer
from .entrance import SMALL, Entrance
from .plan import Plan
from .points import RESTS, UNCLEAR
from .rounding import Array
from .stories import Stories
from .sums import Limbs, single_tokens, sums_of_tokens
from .tables import IDLE, Table, Tables, ceil_log2

_LONG = 2000  # bits of a denominator from which fractions are reduced


@dataclass
class Cloud:
    """Points z = (X, q) in a ring, C of each sequence, over one q: z (·, C, n, d + 1), which may be
    wide, · the ring's own axis."""

    table: Table
    z: Array

    def layers(self, at: Array, rows: Array, unclear: Array | None = None) -> None:
        """Take the points of the sequences ``at`` through one row of the table each, or all through
        one. Layers that are ``unclear`` are asked for their sign, which residues do not have."""
        if not len(at):
            return
        ring, (*_, count, size) = self.table.ring, self.z.shape
        if not ring.exact and count // 2 < len(at) < count:  # all points are quicker than most
            every = np.full(count, IDLE)
            every[at] = rows
            at, rows = np.arange(count), every
        whole = len(at) == count
        z = ring.reduced(self.z if whole else self.z[:, :, at])
        layers = self.table.rows.take(rows, axis=1).astype(z.dtype, copy=False)
        u, w, factor = layers[..., :size], layers[..., size:-1], layers[..., -1]
        value = ring.reduced(np.einsum("pnd,pcnd->pcn", u, z))
        if ring.exact:
            if unclear is not None and not (moves := ~unclear | (value[0, 0] > 0)).all():
                self.layers(at[moves], rows[moves])
                return
            common = np.gcd(np.gcd.reduce(value, axis=1), factor)
            value, factor = value // common[:, None], factor // common
        z *= factor[:, None, :, None]
        z += w[:, None] * value[..., None]
        if ring.exact:
            z = _shortened(z)
        if whole:
            self.z = z
        else:
            self.z[:, :, at] = z

    def times(self, factor: Fraction, pull: Fraction | None = None) -> None:
        """Multiply by a rational and, with a ``pull``, add so much of the first of the C points,
        which goes."""
        ring = self.table.ring
        if pull is None and factor == 1:
            return
        common = _common(factor, pull)
        scalars = ring.scalars(int(factor * common), int((pull or 0) * common), common)
        a, b, c = scalars.T[..., None, None, None]
        z = ring.reduced(self.z)
        kept = z if pull is None else z[:, 1:]
        self.z = kept * a
        if pull is not None:
            self.z += z[:, :1] * b
        self.z[..., -1:] = kept[..., -1:] * c


@dataclass
class Replay:
    """Some uniform sequences, and what they go through: ``rows`` are their places in
    ``collapsed``, ``stories`` what their points meet behind it.

    ``given`` are the tokens or means that all tokens of a sequence were pulled to, in order, and
    the one that they became; those that occur twice are one object.
    """

    plan: Plan
    collapsed: Collapsed
    rows: Array
    stories: Stories
    lengths: Array
    given: list[Limbs]

    @classmethod
    def of(
        cls,
        plan: Plan,
        tokens: ExactArray,
        offsets: Array,
        sequences: Array,
        collapsed: Collapsed,
        rows: Array,
        stories: Stories,
    ) -> Replay:
        """``sequences`` are the same as ``rows``, counted in ``offsets``."""
        first = offsets[sequences]
        lengths = offsets[sequences + 1] - first
        found: dict[int, Limbs] = {}
        for leader in collapsed.leaders:
            if id(leader) in found:
                continue
            if leader is None and collapsed.sums is not None:
                found[id(leader)] = collapsed.sums.take(rows)
            elif leader is None:
                bounds = np.concatenate([[0], np.cumsum(lengths)])
                found[id(leader)] = sums_of_tokens(tokens, ranges(first, lengths), bounds)
            else:
                found[id(leader)] = single_tokens(tokens, leader[rows])
        given = [found[id(leader)] for leader in collapsed.leaders]
        return cls(plan, collapsed, rows, stories, lengths, given)

    def take(self, some: Array) -> Replay:
        """Of some of the sequences, given in rising order."""
        if len(some) == len(self.rows):
            return self
        taken = {id(limbs): limbs.take(some) for limbs in self.given}
        given = [taken[id(limbs)] for limbs in self.given]
        stories = self.stories.take(some)
        return Replay(
            self.plan, self.collapsed, self.rows[some], stories, self.lengths[some], given
        )

    @cached_property
    def table_rows(self) -> Array:
        """Rows of a `Table` that are needed, perhaps more than once."""
        story = [part.block for part in self.collapsed.story if isinstance(part, Layer)]
        return np.concatenate([np.array(story, dtype=np.int64), self._behind])

    @cached_property
    def _behind(self) -> Array:
        return np.asarray(self.stories.blocks + len(self.plan) * (self.stories.states == RESTS))

    def outputs(self, table: Table, entrance: Entrance | None = None) -> Cloud:
        """The outputs of the sequences, one point each; by their common `entrance`, if given."""
        cloud = self._start(table)
        if entrance is None:
            self._enter(cloud, lambda part: np.flatnonzero(part.active[self.rows]))
        else:
            cloud.z = entrance.applied(table.ring, cloud.z)
        for at, places in self.stories.steps():
            unclear = self.stories.states[places] == UNCLEAR
            cloud.layers(at, self._behind[places], unclear)
        return cloud

    def _enter(self, cloud: Cloud, at: Callable[[Layer], Array]) -> None:
        """Take what is `given` to the points behind the collapse; layers take those ``at``."""
        p, end = self.plan.parameters, self.plan.collapse or 0
        for part in self.collapsed.story:
            if isinstance(part, Layer):
                cloud.layers(at(part), np.array([part.block]))
            else:
                cloud.times(p.rho.entry(part.block), p.alpha.entry(part.block))
        cloud.times(p.alpha.entry(end))

    def entrance(self, tables: Tables) -> Entrance | None:
        """The way of all the sequences to their points as one map; None where they go different
        ways, or where it is large."""
        story, d = self.collapsed.story, self.plan.dimension
        size = len(self.given) * d
        layers = [part for part in story if isinstance(part, Layer)]
        if size > SMALL or not all(part.active[self.rows].all() for part in layers):
            return None
        key = tuple((part.block, isinstance(part, Layer)) for part in story)
        if key not in tables.entrances:
            table = tables.exact(np.array([part.block for part in layers], dtype=np.int64))
            units = np.zeros((size + 1, size), dtype=object)
            np.fill_diagonal(units, 1)
            z = np.ones((1, len(self.given), size + 1, d + 1), dtype=object)
            z[0, ..., :d] = units.reshape(size + 1, len(self.given), d).swapaxes(0, 1)
            cloud = Cloud(table, z)
            self._enter(cloud, lambda _: np.arange(size + 1))
            tables.entrances[key] = Entrance.of(cloud.z[0, 0])
        return tables.entrances[key]

    def bits(self, tables: Tables, entrance: Entrance | None = None) -> Array:
        """At least the binary logarithms of the q of `outputs`, (n,)."""
        p, end = self.plan.parameters, self.plan.collapse or 0
        bits = tables.bits(self.table_rows)
        found = np.full(len(self.rows), ceil_log2(self._common))
        if any(self._means):
            found += np.frexp(self.lengths - 0.5)[1]  # ceil(log2)
        if entrance is not None:
            found += ceil_log2(entrance.divisor)
        else:
            for part in self.collapsed.story:
                if isinstance(part, Layer):
                    found[part.active[self.rows]] += bits[part.block]
                else:
                    factors = p.rho.entry(part.block), p.alpha.entry(part.block)
                    found += ceil_log2(_common(*factors))
            found += ceil_log2(p.alpha.entry(end).denominator)
        return found + np.bincount(self.stories.at, bits[self._behind], len(found)).astype(np.int64)

    @cached_property
    def _means(self) -> list[bool]:
        """Which of the `given` are sums of tokens, to be divided by their number."""
        return [leader is None for leader in self.collapsed.leaders]

    @cached_property
    def _common(self) -> int:
        return lcm(*(limbs.denominator for limbs in self.given))

    def _start(self, table: Table) -> Cloud:
        """What is `given`, over one denominator for each sequence."""
        ring = table.ring
        q, divided = ring.scalars(self._common), any(self._means)
        if divided:
            q = ring.reduced(q * ring.counts(self.lengths))
        shape = ring.size, len(self.given), len(self.rows), self.plan.dimension + 1
        z = np.empty(shape, dtype=object if ring.exact else np.float64)
        z[..., -1] = q[:, None]
        places: dict[int, int] = {}
        for i, (limbs, mean) in enumerate(zip(self.given, self._means, strict=True)):
            first = places.setdefault(id(limbs), i)
            counts = self.lengths if divided and not mean else None
            factor = self._common // limbs.denominator
            z[:, i, :, :-1] = ring.of(limbs, factor, counts) if first == i else z[:, first, :, :-1]
        return Cloud(table, z)


def _common(x: Fraction, y: Fraction | None = None) -> int:
    return x.denominator if y is None else lcm(x.denominator, y.denominator)


def _shortened(z: Array) -> Array:
    """The same points in lowest terms, where the numbers are long."""
    if max(number.bit_length() for number in z[0, 0, :, -1].tolist()) < _LONG:
        return z
    return np.asarray(z // np.gcd.reduce(z, axis=(1, 3))[:, None, :, None])
