"""From tokens to points: the blocks up to the first one with ρ = 0 (theory C5).

A sequence becomes a single point if all its tokens meet the same active layers and the same leader
(or, where v = 0, all tokens of the sequence). Sequences for which floats cannot tell are left to
exact arithmetic.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ...enclosure.rounding import MOST, SLACK, TINY, UNIT, gamma
from ...exact.array import Array, ExactArray
from ...exact.sums import totals
from ..compile.plan import Plan
from .points import EnclosedPoints


@dataclass(frozen=True)
class Layer:
    """A feed-forward layer, and the sequences (n,) on all of whose tokens it is active."""

    block: int
    active: Array


@dataclass(frozen=True)
class Focus:
    """Attention with ρ ≠ 0: all tokens of a sequence are pulled towards one point.

    It is the token whose row in the data set is ``leader`` (n,), or the mean of the sequence
    (None).
    """

    block: int
    leader: Array | None


@dataclass
class Collapsed:
    """n sequences as points behind the collapse.

    ``points`` encloses them, except where they are ``lost``. ``uniform`` (n,) marks the sequences
    all of whose tokens are known to have passed the same affine maps ``story``. The collapse took
    the tokens of such a sequence to the token ``leader`` or to their mean (None), and multiplied by
    α.
    """

    points: EnclosedPoints
    lost: Array | None  # None: no sequence is
    uniform: Array
    story: list[Layer | Focus]
    leader: Array | None

    @property
    def leaders(self) -> list[Array | None]:
        """What all tokens of a sequence were pulled to, in order, and what they became."""
        pulls = [part.leader for part in self.story if isinstance(part, Focus)]
        return [*pulls, self.leader]


def collapse(plan: Plan, tokens: ExactArray, offsets: Array) -> Collapsed | None:
    """Enclose the sequences ``offsets`` (n+1,) of packed tokens as points; None where the plan
    cannot.
    """
    if plan.collapse is None:
        return None
    batch = _Batch.of(plan, tokens, offsets)
    if not batch.top < MOST:
        return None
    p, end = plan.parameters, plan.collapse
    to_means = not p.v.values[end].any()
    postponed: int | None = None
    for block in plan.prefix:
        # a layer that is active on all tokens is affine: apply it to the means
        last = block == plan.prefix[-1]
        if plan.moves[block] and batch.layer(block, last and to_means):
            postponed = block
        if block < end and not plan.rests[block]:
            rho, alpha = float(p.rho.values[block]), float(p.alpha.values[block])
            batch.pull(block, rho, alpha)
    leader = None if to_means else batch.leaders(end)
    points = batch.means(postponed) if leader is None else batch.rows(leader)
    alpha = float(p.alpha.values[end])
    if alpha != 1 or end in p.alpha.exact:
        points.scale(alpha)
    lost = None if batch.found.all() else ~batch.found
    return Collapsed(points, lost, batch.uniform & batch.found, batch.story, leader)


@dataclass
class _Batch:
    """Tokens in float64, within ``radius`` of the exact tokens in every coordinate.

    ``top`` bounds their absolute values.
    """

    plan: Plan
    tokens: ExactArray
    first: int  # row of the first token in the data set
    bounds: Array  # the tokens of sequence j are rows bounds[j] … bounds[j+1] − 1 of x
    starts: Array
    lengths: Array
    x: Array
    radius: float
    top: float
    uniform: Array
    found: Array  # sequences whose leaders were certain so far
    story: list[Layer | Focus] = field(default_factory=list)

    @classmethod
    def of(cls, plan: Plan, tokens: ExactArray, offsets: Array) -> _Batch:
        first, end = int(offsets[0]), int(offsets[-1])
        x = tokens.values[first:end]
        top = tokens.largest
        radius = top * UNIT + TINY if tokens.exact else 0.0
        count = len(offsets) - 1
        uniform, found = np.ones(count, dtype=bool), np.ones(count, dtype=bool)
        bounds = offsets - first
        lengths = bounds[1:] - bounds[:-1]
        return cls(
            plan, tokens, first, bounds, bounds[:-1], lengths, x, radius, top, uniform, found
        )

    def layer(self, block: int, may_wait: bool) -> bool:
        """Apply a layer to all tokens.

        If it is active on all of them and ``may_wait``, it is not applied, and the answer is True.
        """
        arrays = self.plan.arrays
        t, bound = self._products(
            arrays.u[block], float(arrays.b[block]), float(arrays.norms[block])
        )
        low, high = float(t.min()), float(t.max())
        if high < -bound:
            return False
        if low > bound:
            if may_wait:
                return True
            whole = np.ones(len(self.lengths), dtype=bool)
        else:
            whole = self._count(t > bound) == self.lengths
            self.uniform &= whole | (self._count(t < -bound) == self.lengths)
        self.story.append(Layer(block, whole))
        reach = float(arrays.absolute_w[block].max())
        self.x = self.x + np.maximum(t, 0.0)[:, None] * arrays.w[block]
        self.radius = (self.radius + reach * bound) * SLACK
        self._grow(self.top + reach * (max(high, 0.0) + bound))
        return False

    def pull(self, block: int, rho: float, alpha: float) -> None:
        """Attention with ρ ≠ 0: z ↦ ρz + α·focus."""
        leader = self.leaders(block) if self.plan.parameters.v.values[block].any() else None
        focus = self.means() if leader is None else self.rows(leader)
        self.story.append(Focus(block, leader))
        self.x = rho * self.x + np.repeat(alpha * focus.values, self.lengths, axis=0)
        radius = max(self.radius, float(focus.radius.max()))
        self.radius = (abs(rho) + abs(alpha)) * radius * SLACK
        self._grow((abs(rho) + abs(alpha)) * self.top)

    def _grow(self, top: float) -> None:
        self.top = top * SLACK
        self.radius += 8 * UNIT * self.top + TINY

    def _products(self, u: Array, b: float, size: float) -> tuple[Array, float]:
        """⟨u,z⟩ + b for every token, and one bound on the errors (`points`)."""
        t = self.x @ u
        t += b
        rounding = gamma(len(u) + 8) * (size * self.top + abs(b))
        return t, (size * self.radius + rounding) * SLACK + TINY

    def _count(self, mask: Array) -> Array:
        return np.asarray(np.add.reduceat(mask, self.starts, dtype=np.int64))

    def means(self, layer: int | None = None) -> EnclosedPoints:
        """Enclose the means, after a ``layer`` that is active on all tokens and therefore
        affine.
        """
        n = int(self.lengths[0])
        if len(self.x) == n * len(self.lengths) and (self.lengths == n).all():
            grouped = self.x.reshape(len(self.lengths), n, -1)
            means = np.einsum("nid->nd", grouped)  # faster than a sum
            if n > 1:
                means /= n
        else:
            n = int(self.lengths.max())
            means = totals(self.x, self.bounds)
            means /= self.lengths[:, None]
        spread = (self.radius + gamma(n + 3) * self.top) * SLACK + TINY
        if layer is not None:
            arrays = self.plan.arrays
            b, size, d = float(arrays.b[layer]), float(arrays.norms[layer]), means.shape[1]
            t = means @ arrays.u[layer]
            t += b
            bound = (size * spread + gamma(d + 8) * (size * self.top + abs(b))) * SLACK + TINY
            reach = float(arrays.absolute_w[layer].max())
            top = (self.top + reach * (float(np.abs(t).max()) + bound)) * SLACK
            means += t[:, None] * arrays.w[layer]
            spread = (spread + reach * bound) * SLACK + 8 * UNIT * top + TINY
            self.story.append(Layer(layer, np.ones(len(means), dtype=bool)))
        return EnclosedPoints(means, np.full(means.shape, spread))

    def rows(self, leader: Array) -> EnclosedPoints:
        """Enclosures of single tokens."""
        values = self.x[leader - self.first]
        return EnclosedPoints(values, np.full(values.shape, self.radius + TINY))

    def leaders(self, block: int) -> Array:
        """The row of the token that all tokens of a sequence attend to, and whether that is
        certain.

        It is certain where all scores ⟨v,z⟩ have one sign and one token, repeated or not, has the
        largest.
        """
        v = self.plan.parameters.v.values[block]
        scores, bound = self._products(v, 0.0, float(np.abs(v).sum()))
        low = np.minimum.reduceat(scores, self.starts)
        high = np.maximum.reduceat(scores, self.starts)
        negative = high < -bound
        sided = (low > bound) | negative
        if negative.any():
            scores = scores * np.repeat(np.where(negative, -1.0, 1.0), self.lengths)
            high = np.where(negative, -low, high)
        # what overflowed may lead, too: every sequence has a token that is near
        near = ~(scores < np.repeat(high - 2.001 * bound, self.lengths))
        places = np.flatnonzero(near)
        count = self._count(near)
        leader = places[np.cumsum(count) - count] + self.first
        certain = sided & (count == 1)
        for j in np.flatnonzero(sided & (count > 1) & self.uniform & self.found):
            mine = (places >= self.starts[j]) & (places < self.starts[j] + self.lengths[j])
            certain[j] = self._alike(places[mine] + self.first)
        self.found &= certain
        return np.asarray(leader)

    def _alike(self, rows: Array) -> bool:
        """Whether some tokens of the data set are equal."""
        d = self.x.shape[1]
        given = self.tokens.values[rows]
        if not (given == given[0]).all():
            return False
        cells = (rows[:, None] * d + np.arange(d)).ravel().tolist()
        return not self.tokens.exact or not any(i in self.tokens.exact for i in cells)
