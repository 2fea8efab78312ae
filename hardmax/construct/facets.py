"""Facets of the convex hull of many points, many facets at a time (docs/theory.md, Theorem 6a).

The hyperplanes ⟨u,y⟩ = 1 start at infinity, u = 0, and come nearer in lockstep: each turns about
the points that it touches already until it touches one more, so that after D steps it holds D
points in D dimensions. One matrix product shows for all hyperplanes which points block them. The
facets are to be used one after another, each without the points of those before it; so a
hyperplane passes points that an earlier one touches, and takes those of later ones.
"""

from __future__ import annotations

import numpy as np

from .filtered import Array

_CHUNK = 4096  # points of a product that stays in the cache
_THIN = 2.0**-20  # gaps below this, of the distance from the centre, count as this
_FLAT = 2.0**-30  # slopes below this, relative to |y||v|, don't block
_SAME = 2.0**-20  # a direction that keeps less than this beside the points touched is renewed
_STEPS = 4  # for every dimension, at most


def facets(Y: Array, directions: Array, rng: np.random.Generator) -> tuple[Array, Array]:
    """The facet that every row of ``directions`` (Q, D) leads to: u (Q, D), and the owners (n,).

    ``Y`` (n, D) are points around a centre at zero that span the space, n ≥ 2QD, so that zero
    stays inside. ⟨u,y⟩ is 1, but for rounding in single precision, on the points that a facet owns,
    at most D and affinely independent, and at most 1 on all others but those that earlier facets
    own. Points without owner have Q. These are proposals: who uses them has to check.
    """
    hulls = _Lockstep(Y, directions, rng)
    moving = np.arange(len(directions))
    for _ in range(_STEPS * Y.shape[1]):
        if not len(moving):
            break
        moving = hulls.step(moving)
    return hulls.u, hulls.owner


class _Lockstep:
    """Hyperplanes on their way.

    Shapes: ``u``, and the ``way`` it moves, a unit vector (Q, D); ``basis`` (Q, D, D), orthonormal
    rows that span what each touches, the others zero; ``points`` (Q, D), those touched, ``count``
    (Q,) of them; ``owner`` (n,), of every point the first hyperplane that touches it, or Q;
    ``free`` (Q,), how often nothing blocked the way since the last touch.
    """

    def __init__(self, Y: Array, directions: Array, rng: np.random.Generator) -> None:
        many, d = directions.shape
        self.Y, self.rng = Y, rng
        self.u = np.zeros((many, d))
        self.goal = directions / np.linalg.norm(directions, axis=1, keepdims=True)
        self.way = self.goal.copy()
        self.basis = np.zeros((many, d, d))
        self.points = np.zeros((many, d), dtype=np.int64)
        self.count = np.zeros(many, dtype=np.int64)
        self.free = np.zeros(many, dtype=np.int64)
        self.owner = np.full(len(Y), many)
        self.columns = np.ones((d + 1, len(Y)), dtype=np.float32)
        self.columns[:-1] = Y.T
        self.space = np.empty(2 * many * _CHUNK, dtype=np.float32)

    def step(self, moving: Array) -> Array:
        """Move some hyperplanes until each touches one more point; those that are not done."""
        point = self._nearest(moving)
        rows = self.Y[point]
        gap = np.maximum(1 - np.einsum("qi,qi->q", rows, self.u[moving]), _THIN)
        slope = np.einsum("qi,qi->q", rows, self.way[moving])
        blocked = slope > _FLAT * np.linalg.norm(rows, axis=1)
        loose = moving[~blocked]
        self.way[loose] *= -1
        self.free[loose] += 1
        moved, point = moving[blocked], point[blocked]
        self.free[moved] = 0
        self.u[moved] += self.way[moved] / (slope / gap)[blocked, None]
        taken, first = np.unique(point, return_index=True)  # the first of several that meet
        robbed, who = self.owner[taken], moved[first]
        self.owner[taken] = who
        self._hold(who, taken)
        robbed = np.unique(robbed[robbed < len(self.u)])
        if len(robbed):
            self._recount(robbed)
            moving = np.union1d(moving, robbed)
        going = (self.count[moving] < self.u.shape[1]) & (self.free[moving] < 2)
        return np.asarray(moving[going])

    def _nearest(self, moving: Array) -> Array:
        """The point that blocks each hyperplane first."""
        many = len(moving)
        both = np.zeros((2 * many, self.u.shape[1] + 1), dtype=np.float32)
        both[:many, :-1], both[many:, :-1], both[many:, -1] = self.way[moving], self.u[moving], -1
        best, point = np.full(many, np.inf, dtype=np.float32), np.zeros(many, dtype=np.int64)
        for a in range(0, len(self.Y), _CHUNK):
            columns = self.columns[:, a : a + _CHUNK]
            products = self.space[: 2 * many * columns.shape[1]].reshape(2 * many, -1)
            np.matmul(both, columns, out=products)
            pace, gap = products[:many], products[many:]  # the gap is negative
            np.minimum(gap, -_THIN, out=gap)
            np.divide(pace, gap, out=pace)
            owner = self.owner[a : a + _CHUNK]
            owned = np.flatnonzero(owner < len(self.u))
            passed = owner[owned] <= moving[:, None]
            pace[:, owned] = np.where(passed, np.inf, pace[:, owned])
            at = pace.argmin(axis=1)
            here = pace[np.arange(many), at]
            better = here < best
            best[better], point[better] = here[better], at[better] + a
        return point

    def _hold(self, who: Array, point: Array) -> None:
        """Hyperplanes touch one more point each, and turn about it from now on."""
        k = self.count[who]
        self.points[who, k] = point
        self.count[who] += 1
        y = self._beside(who, self.Y[point])
        y /= np.linalg.norm(y, axis=1, keepdims=True)
        self.basis[who, k] = y
        way = self.way[who]
        way = way - y * np.einsum("qi,qi->q", y, way)[:, None]
        self._go(who, way, np.linalg.norm(way, axis=1))

    def _recount(self, who: Array) -> None:
        """Hyperplanes that have lost points hold those that are left."""
        d = self.u.shape[1]
        mine = (self.owner[self.points[who]] == who[:, None]) & (
            np.arange(d) < self.count[who, None]
        )
        order = np.argsort(~mine, axis=1, kind="stable")
        self.points[who] = np.take_along_axis(self.points[who], order, axis=1)
        self.count[who] = mine.sum(axis=1)
        mine = np.take_along_axis(mine, order, axis=1)
        held = self.Y[self.points[who]] * mine[:, :, None]
        self.basis[who] = (
            np.linalg.qr(held.transpose(0, 2, 1))[0].transpose(0, 2, 1) * mine[:, :, None]
        )
        self.free[who] = 0
        self._turn(who, self.goal[who])

    def _turn(self, who: Array, wish: Array) -> None:
        """Go along ``wish`` as far as the points touched allow."""
        way = self._beside(who, wish)
        self._go(who, way, np.linalg.norm(way, axis=1))

    def _beside(self, who: Array, vectors: Array) -> Array:
        """What is left of vectors (Q, D) orthogonal to the points that are touched."""
        basis = self.basis[who]
        for _ in range(2):  # once more, for what rounding left
            along = np.matmul(basis, vectors[:, :, None])
            vectors = vectors - np.matmul(along.transpose(0, 2, 1), basis)[:, 0]
        return vectors

    def _go(self, who: Array, way: Array, size: Array) -> None:
        """Set the ways; by chance where too little is left of one."""
        self.way[who] = way / np.maximum(size, 2.0**-300)[:, None]
        lost = who[(size < _SAME) & (self.count[who] < self.u.shape[1])]
        if len(lost):
            self._turn(lost, self.rng.standard_normal((len(lost), self.u.shape[1])))
