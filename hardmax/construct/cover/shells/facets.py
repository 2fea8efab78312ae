"""Facets of the convex hull of many points, many facets at a time (docs/theory.md, Theorem 6a).

The hyperplanes ⟨u,y⟩ = 1 start at infinity, u = 0, and come nearer in lockstep: each turns about
the points that it touches already until it touches one more, so that after D steps it holds D
points in D dimensions. Products with the farthest points show how far the hyperplanes get at
most, and one product with all others which of those stop them before. The facets are to be used
one after another, each without the points of those before it; so a hyperplane passes points that
an earlier one touches, and takes those of later ones.

All of it is proposed, and products are in single precision: who uses a facet has to check.
"""

from __future__ import annotations

import numpy as np

from ....exact.array import Array

# A product with this many entries stays in the cache.
_CACHE_ENTRIES = 1 << 18
# This many of the points farthest from the centre are looked at first.
_FAR_POINTS = 512
# This many points for each hyperplane may be looked at one by one.
_SINGLE_POINTS = 32
# A gap below this, relative to the distance from the centre, counts as this.
_LEAST_GAP = 2.0**-20
# A point y with a slope below this, relative to |y||v|, does not stop the direction v.
_LEAST_SLOPE = 2.0**-30
# A direction is drawn at random where less than this of it is left beside the points touched.
_LEAST_NEW = 2.0**-20
# A projection is repeated where less than this share of the squared length is left: then
# rounding counts.
_LEAST_LENGTH = 2.0**-14
# Points that hyperplanes let go are collected for this many steps, then removed together.
_STEPS_TOGETHER = 8
# A hyperplane takes at most this many steps for each dimension.
_STEPS_PER_DIMENSION = 4
# Cuts with a larger ratio of beta to u would need too many bits.
FAR = 2.0**16


def _threshold(numbers: Array, count: int) -> float:
    """The least of so many of the largest of some numbers (n,), or of all if they are fewer.

    >>> _threshold(np.array([3.0, 1.0, 2.0]), 2)
    2.0
    """
    place = max(len(numbers) - count, 0)
    return float(np.partition(numbers, place)[place])


class Facets:
    """The facets that some directions lead to.

    Shapes: ``u`` (Q, D), and the ``way`` each moves, a unit vector; ``basis`` (Q, D, D),
    orthonormal rows that span what each touches, the others zero; ``points`` (Q, D), those
    touched, ``count`` (Q,) of them; ``owner`` (n,), of every point the hyperplane that touches
    it, or Q; ``free`` (Q,), how often nothing blocked the way since the last touch.

    ⟨u,y⟩ is 1, but for rounding in single precision, on the points that a facet owns, which are
    affinely independent, and at most 1 on all others but those that earlier facets own.
    """

    def __init__(self, Y: Array, directions: Array, rng: np.random.Generator) -> None:
        """``Y`` (n, D) are points around a centre at zero that span the space, ``directions``
        (Q, D) with n ≥ 2QD, so that zero stays inside."""
        many, d = directions.shape
        self.Y, self.rng = Y, rng
        self.lengths = np.sqrt(np.einsum("ij,ij->i", Y, Y))
        self.u = np.zeros((many, d))
        self.way = directions / np.linalg.norm(directions, axis=1, keepdims=True)
        self.basis = np.zeros((many, d, d))
        self.points = np.zeros((many, d), dtype=np.int64)
        self.count = np.zeros(many, dtype=np.int64)
        self.free = np.zeros(many, dtype=np.int64)
        self.owner = np.full(len(Y), many)
        # homogeneous points, the farthest first; those that are owned lie at the centre, and
        # behind all others where they are
        order = np.argsort(self.lengths < _threshold(self.lengths, _FAR_POINTS), kind="stable")
        self.columns = np.ones((d + 1, len(Y) + many * d), dtype=np.float32)
        self.columns[:-1, : len(Y)] = Y[order].T
        self.at = np.r_[order, np.zeros(many * d, dtype=np.int64)]
        self.end = len(Y)
        self.place = np.empty(len(Y), dtype=np.int64)
        self.place[order] = np.arange(len(Y))
        size = max(_CACHE_ENTRIES, 4 * many * _FAR_POINTS)
        self.space, self.hits = np.empty(size, dtype=np.float32), np.empty(size, dtype=np.bool_)
        lost: list[tuple[int, int]] = []
        moving = np.arange(many)
        for step in range(_STEPS_PER_DIMENSION * d):
            moving = self._step(moving, lost)
            if lost and (step % _STEPS_TOGETHER == 0 or not len(moving)):
                self._lose(lost)
                moving = np.union1d(moving, [q for q, _ in lost])
                lost.clear()
            if not len(moving):
                break
        if lost:
            self._lose(lost)

    def tilted(self, rank: Array) -> tuple[Array, Array]:
        """Facets with D points that no other point touches, and hyperplanes (·, D + 1), positive
        on those alone, nearly in proportion to ``rank`` (n,): half the way to the next point."""
        d = self.Y.shape[1]
        full = np.flatnonzero(self.count == d)
        if not len(full):
            return full, np.zeros((0, d + 1))
        own = self.points[full]
        system, sides = np.ones((len(full), d + 1, d + 1)), np.zeros((len(full), d + 1, 2))
        system[:, :d, :d] = self.Y[own]
        system[:, d, :d], system[:, d, d] = self.u[full], -1
        sides[:, :d, 1] = rank[own]
        sides[:, d, 0] = 1 + np.einsum("qi,qi->q", self.u[full], self.u[full])
        try:
            flat, way = np.moveaxis(np.linalg.solve(system, sides), 2, 0)
        except np.linalg.LinAlgError:
            return full[:0], np.zeros((0, d + 1))
        steepest = np.zeros(len(full))
        clear = np.ones(len(full), dtype=bool)
        both = np.concatenate([way, flat]).astype(np.float32)
        for a, b in self._parts(len(full)):
            pace, gap = self._products(both, full, a, b)
            clear &= gap.max(axis=1) < -8 * _LEAST_GAP
            np.minimum(gap, -_LEAST_GAP, out=gap)
            np.minimum(steepest, (pace / gap).min(axis=1), out=steepest)
        size, length = (np.linalg.norm(rows[:, :-1], axis=1) for rows in (flat, way))
        step = np.divide(size, length, out=np.full_like(size, FAR), where=length > 0)
        np.minimum(step, np.divide(-0.5, steepest, where=steepest < 0, out=step.copy()), out=step)
        return full[clear], (flat + step[:, None] * way)[clear]

    def _step(self, moving: Array, lost: list[tuple[int, int]]) -> Array:
        """Move some hyperplanes until each touches one more point; those that are not done. What
        is ``lost``, points of others, they go on turning about for the time being."""
        point, blocked = self._nearest(moving)
        rows = self.Y[point]
        gap = np.maximum(1 - np.einsum("qi,qi->q", rows, self.u[moving]), _LEAST_GAP)
        slope = np.einsum("qi,qi->q", rows, self.way[moving])
        blocked &= slope > _LEAST_SLOPE * self.lengths[point]
        moved = moving
        if not blocked.all():
            loose = moving[~blocked]
            self.way[loose] *= -1
            self.free[loose] += 1
            moved, point, gap, slope = (x[blocked] for x in (moving, point, gap, slope))
        self.free[moved] = 0
        self.u[moved] += self.way[moved] * (gap / slope)[:, None]
        first: dict[int, int] = {}  # of several that meet
        for q, j in zip(moved.tolist(), point.tolist(), strict=True):
            first.setdefault(j, q)
        who, taken = np.array([*first.values()], dtype=np.int64), np.array([*first], dtype=np.int64)
        owners = self.owner[taken].tolist()
        lost += [(q, j) for q, j in zip(owners, first, strict=True) if q < len(self.u)]
        self._own(who, taken)
        self._hold(who, taken)
        going = (self.count[moving] < self.u.shape[1]) & (self.free[moving] < 2)
        return np.asarray(moving[going])

    def _parts(self, many: int) -> list[tuple[int, int]]:
        """Runs of columns for so many hyperplanes: the farthest points, then the rest, unless they
        are few."""
        size = _CACHE_ENTRIES // (2 * many)
        first = _FAR_POINTS if self.end > 2 * _FAR_POINTS else self.end
        rest = range(first, self.end, size)
        return [(0, first), *((a, min(a + size, self.end)) for a in rest)]

    def _products(self, both: Array, who: Array, a: int, b: int) -> tuple[Array, Array]:
        """How fast hyperplanes approach the points a … b − 1, and how far beyond them they are,
        (q, b − a) both; points that may be passed are infinitely far. ``both`` are the ways and
        the planes, homogeneous in single precision, (2q, D + 1)."""
        many = len(who)
        found = self.space[: 2 * many * (b - a)].reshape(2 * many, b - a)
        np.matmul(both, self.columns[:, a:b], out=found)
        pace, gap = found[:many], found[many:]
        owned = max(a, len(self.Y))
        if b > owned:
            passed = self.owner[self.at[owned:b]] <= who[:, None]
            np.copyto(gap[:, owned - a :], -np.inf, where=passed)
        return pace, gap

    def _nearest(self, moving: Array) -> tuple[Array, Array]:
        """The point that blocks each hyperplane first, and whether there is one."""
        many, d = len(moving), self.u.shape[1]
        both = np.zeros((2 * many, d + 1), dtype=np.float32)
        both[:many, :-1], both[many:, :-1], both[many:, -1] = self.way[moving], self.u[moving], -1
        (_, end), *rest = self._parts(many)
        first, least = self._first(both, moving, 0, end)
        nearer: list[tuple[Array, Array]] = []
        for a, b in rest:
            hits = self._before(both, least, a, b)
            if len(hits) <= (_SINGLE_POINTS + d) * many:
                q, j = np.divmod(hits, b - a)
                nearer.append((q, a + j))
            else:
                nearer.append((np.arange(many), self._first(both, moving, a, b)[0]))
        if nearer:
            q, j = map(np.concatenate, zip(*nearer, strict=True))
            kept = self.owner[self.at[j]] > moving[q]
            q, j = q[kept], j[kept]
            y = self.columns[:, j]
            ratio = np.einsum("iq,qi->q", y, both[q])
            ratio /= np.minimum(np.einsum("iq,qi->q", y, both[many + q]), -_LEAST_GAP)
            np.minimum.at(least, q, ratio)
            now = ratio == least[q]
            first[q[now]] = j[now]
        return self.at[first], least < 0

    def _first(self, both: Array, who: Array, a: int, b: int) -> tuple[Array, Array]:
        """Of the points a … b − 1 the column of the one that each hyperplane meets first, and the
        ratio of pace and gap there, 0 where none blocks it."""
        pace, gap = self._products(both, who, a, b)
        np.minimum(gap, -_LEAST_GAP, out=gap)
        np.divide(pace, gap, out=pace)
        best = pace.argmin(axis=1)
        return a + best, np.minimum(pace[np.arange(len(who)), best], 0)

    def _before(self, both: Array, least: Array, a: int, b: int) -> Array:
        """Where in a product of hyperplanes with the points a … b − 1 those are that a hyperplane
        meets before it has gone as far as a ratio of pace and gap that is ``least`` < 0 says."""
        many = len(least)
        # pace/gap < least, the gap being negative, where pace − least·gap > 0
        lines, size = both[:many] - least[:, None] * both[many:], many * (b - a)
        found = self.space[:size].reshape(many, b - a)
        np.matmul(lines, self.columns[:, a:b], out=found)
        return np.flatnonzero(np.greater(found.ravel(), 0, out=self.hits[:size]))

    def _own(self, who: Array, points: Array) -> None:
        """Points belong to hyperplanes now."""
        new = self.place[points[self.owner[points] == len(self.u)]]
        self.owner[points] = who
        here = slice(self.end, self.end + len(new))
        self.columns[:, here], self.at[here] = self.columns[:, new], self.at[new]
        self.columns[:-1, new] = 0
        self.end = here.stop

    def _hold(self, who: Array, point: Array) -> None:
        """Hyperplanes touch one more point each, and turn about it from now on."""
        k = self.count[who]
        y = self._beside(who, self.Y[point])
        y /= np.sqrt(np.einsum("qi,qi->q", y, y))[:, None]
        self.points[who, k], self.basis[who, k] = point, y
        self.count[who] = k + 1
        way = self.way[who]
        self._go(who, way - y * np.einsum("qi,qi->q", y, way)[:, None])

    def _lose(self, lost: list[tuple[int, int]]) -> None:
        """Hyperplanes (q, point) lose points, and hold those that are left.

        They go on past all that are lost at once: for points V and basis B the way Bᵀa with
        (V Bᵀ) a = 1 on these, 0 on those that are left.
        """
        planes, points = np.array(lost).T
        who, row = np.unique(planes, return_inverse=True)
        held = np.arange(self.u.shape[1]) < self.count[who, None]
        gone = np.zeros(held.shape, dtype=bool)
        i, place = np.nonzero((self.points[planes] == points[:, None]) & held[row])
        gone[row[i], place] = True
        B = self.basis[who]
        system = self.Y[self.points[who]] @ B.transpose(0, 2, 1)
        system[~held] = np.eye(B.shape[1])[np.nonzero(~held)[1]]
        a = np.linalg.solve(system, gone[:, :, None].astype(float))
        way = (a.transpose(0, 2, 1) @ B)[:, 0]
        self.way[who] = way / np.linalg.norm(way, axis=1, keepdims=True)
        left = held & ~gone
        order = np.argsort(~left, axis=1, kind="stable")
        self.points[who] = np.take_along_axis(self.points[who], order, axis=1)
        self.count[who] = left.sum(axis=1)
        kept = np.arange(B.shape[1]) < self.count[who, None]
        V = self.Y[self.points[who]] * kept[:, :, None]
        Q = np.linalg.qr(V.transpose(0, 2, 1))[0]  # columns of zeros, which come last, do no harm
        self.basis[who] = Q.transpose(0, 2, 1) * kept[:, :, None]
        self.free[who] = 0

    def _beside(self, who: Array, vectors: Array) -> Array:
        """What is left of vectors (q, D) orthogonal to the points that are touched."""
        most = int(self.count[who].max(initial=0))
        if not most:
            return vectors
        basis = self.basis[:, :most] if len(who) == len(self.u) else self.basis[who, :most]
        least = _LEAST_LENGTH * np.einsum("qi,qi->q", vectors, vectors)
        for _ in range(2):  # once more, where rounding counts
            along = np.matmul(basis, vectors[:, :, None])
            vectors = vectors - np.matmul(along.transpose(0, 2, 1), basis)[:, 0]
            if (np.einsum("qi,qi->q", vectors, vectors) > least).all():
                break
        return vectors

    def _go(self, who: Array, way: Array) -> None:
        """Set the ways; by chance where too little is left of one."""
        size = np.sqrt(np.einsum("qi,qi->q", way, way))
        self.way[who] = way / np.maximum(size, 2.0**-300)[:, None]
        lost = who[(size < _LEAST_NEW) & (self.count[who] < self.u.shape[1])]
        if len(lost):
            wish = self.rng.standard_normal((len(lost), self.u.shape[1]))
            self._go(lost, self._beside(lost, wish))
