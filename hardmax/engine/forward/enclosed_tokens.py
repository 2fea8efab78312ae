"""The tokens of many sequences in float64 with bounds on their errors, up to the collapse."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from ...enclosure.rounding import SLACK, error
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
class EnclosedTokens:
    """Tokens in float64; in coordinate i all are within ``radius[i]`` of the exact tokens.

    ``top[i]`` bounds their absolute values.
    """

    plan: Plan
    tokens: ExactArray
    first: int  # row of the first token in the data set
    bounds: Array  # the tokens of sequence j are rows bounds[j] … bounds[j+1] − 1 of x
    starts: Array
    lengths: Array
    x: Array
    radius: Array
    top: Array
    uniform: Array
    found: Array  # sequences whose leaders were certain so far
    story: list[Layer | Focus] = field(default_factory=list)

    @classmethod
    def of(cls, plan: Plan, tokens: ExactArray, offsets: Array) -> EnclosedTokens:
        first, end = int(offsets[0]), int(offsets[-1])
        x = tokens.values[first:end]
        top = np.full(x.shape[1], tokens.largest)
        radius = error(1, top) if tokens.exact else np.zeros_like(top)
        count = len(offsets) - 1
        uniform, found = np.ones(count, dtype=bool), np.ones(count, dtype=bool)
        bounds = offsets - first
        lengths = bounds[1:] - bounds[:-1]
        return cls(
            plan, tokens, first, bounds, bounds[:-1], lengths, x, radius, top, uniform, found
        )

    def layer(self, block: int) -> None:
        """Apply a layer to all tokens."""
        arrays = self.plan.arrays
        t, bound = self._products(arrays.u[block], float(arrays.b[block]))
        low, high = float(t.min()), float(t.max())
        if high < -bound:
            return
        if low > bound:
            whole = np.ones(len(self.lengths), dtype=bool)
        else:
            whole = self._count(t > bound) == self.lengths
            self.uniform &= whole | (self._count(t < -bound) == self.lengths)
        self.story.append(Layer(block, whole))
        reach = arrays.absolute_w[block]
        self.x = self.x + np.maximum(t, 0.0)[:, None] * arrays.w[block]
        self._grow(self.top + reach * (max(high, 0.0) + bound), self.radius + reach * bound)

    def features(self, blocks: Sequence[int]) -> None:
        """Apply layers to all tokens at once.

        None of them reads a coordinate that one of them writes. So all ⟨u,z⟩ are one product with
        the tokens, and all that the layers add is another one.
        """
        arrays, size = self.plan.arrays, self.plan.sizes.panel
        written = np.flatnonzero((arrays.w[list(blocks)] != 0).any(axis=0))
        self.x = self.x.copy()
        for k in range(0, len(blocks), size):
            some = list(blocks[k : k + size])
            u, b, w = arrays.u[some], arrays.b[some], arrays.w[some][:, written]
            t = self.x @ u.T
            t += b
            sizes = arrays.absolute_u[some]
            bound = error(u.shape[1] + 8, sizes @ self.top + np.abs(b), sizes @ self.radius)
            if self.uniform.any():
                self._note(some, t, bound)
            np.maximum(t, 0.0, out=t)
            self.x[:, written] += t @ w
            most = (t.max(axis=0) + bound) @ np.abs(w)
            self.radius[written] += error(len(some) + 8, most, bound @ np.abs(w))
            self.top[written] += most * SLACK
            self._grow(self.top, self.radius)

    def _note(self, blocks: Sequence[int], t: Array, bound: Array) -> None:
        """Record on which sequences layers are active, t (T, k) their products."""
        active = np.add.reduceat(t > bound, self.starts, axis=0, dtype=np.int64)
        rests = np.add.reduceat(t < -bound, self.starts, axis=0, dtype=np.int64)
        whole = active == self.lengths[:, None]
        self.uniform &= (whole | (rests == self.lengths[:, None])).all(axis=1)
        self.story += [Layer(block, whole[:, i]) for i, block in enumerate(blocks)]

    def pull(self, block: int, rho: float, alpha: float) -> None:
        """Attention with ρ ≠ 0: z ↦ ρz + α·focus."""
        leader = self.leaders(block) if self.plan.parameters.v.values[block].any() else None
        focus = self.means() if leader is None else self.rows(leader)
        self.story.append(Focus(block, leader))
        self.x = rho * self.x + np.repeat(alpha * focus.values, self.lengths, axis=0)
        radius = np.maximum(self.radius, focus.radius.max(axis=0))
        factor = abs(rho) + abs(alpha)
        self._grow(factor * self.top, factor * radius)

    def _grow(self, top: Array, radius: Array) -> None:
        """Take new bounds on absolute values and on errors, before a few roundings."""
        self.top, self.radius = top * SLACK, error(8, top, radius)

    def _products(self, u: Array, b: float) -> tuple[Array, float]:
        """⟨u,z⟩ + b for every token, and one bound on the errors (`points`)."""
        t = self.x @ u
        t += b
        size = np.abs(u)
        return t, error(len(u) + 8, float(size @ self.top) + abs(b), float(size @ self.radius))

    def _count(self, mask: Array) -> Array:
        return np.asarray(np.add.reduceat(mask, self.starts, dtype=np.int64))

    def means(self) -> EnclosedPoints:
        """Enclose the means."""
        means = totals(self.x, self.bounds)
        means /= self.lengths[:, None]
        spread = error(int(self.lengths.max()) + 3, self.top, self.radius)
        return EnclosedPoints(means, np.tile(spread, (len(means), 1)))

    def rows(self, leader: Array) -> EnclosedPoints:
        """Enclosures of single tokens."""
        values = self.x[leader - self.first]
        return EnclosedPoints(values, np.tile(self.radius, (len(values), 1)))

    def leaders(self, block: int) -> Array:
        """The row of the token that all tokens of a sequence attend to, and whether that is
        certain.

        It is certain where all scores ⟨v,z⟩ have one sign and one token, repeated or not, has the
        largest.
        """
        v = self.plan.parameters.v.values[block]
        scores, bound = self._products(v, 0.0)
        low = np.minimum.reduceat(scores, self.starts)
        high = np.maximum.reduceat(scores, self.starts)
        negative = high < -bound
        sided = (low > bound) | negative
        if negative.any():
            scores = scores * np.repeat(np.where(negative, -1.0, 1.0), self.lengths)
            high = np.where(negative, -low, high)
        # what overflowed may lead, too: every sequence has a token that is near
        near = ~(scores < np.repeat(high - 2 * SLACK * bound, self.lengths))
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
