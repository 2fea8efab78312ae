"""Plateaus that put right the training sequences on which the scores err.

Source: docs/theory.md. A plateau is a thin slab |t| ≤ a/2 of points, t = ⟨u, x⟩ + b: four blocks
with offsets b ± a, b ± a/2 add a height H to coordinate c of all points in it, and nothing where
|t| ≥ a. All coordinates of u lie among the scores and mixtures, which no later block
changes. The slab goes through sequences of class c that the scores get wrong, as many at a
time as there are coordinates, and holds no sequence of another class.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from ...exact.array import Array
from ...exact.numbers import power_of_two_below
from ...model.layers import RankOneBlock
from .blocks import Layout

# This many slabs are tried for groups of one size.
_TRIALS = 32
# Bits of the numbers of a slab, relative to the cloud.
_SLAB_BITS = 30
# A slab is at most this wide, relative to the cloud,
_WIDEST_SLAB = 2.0**-8
# and at least this wide, so that floats see clearly which points lie in it.
_THINNEST_SLAB = 2.0**-24


class NoPlateauError(Exception):
    """Two sequences of different labels can't be told apart by these coordinates in floats."""


@dataclass(frozen=True)
class Plateau:
    """Adds ``height`` to coordinate ``c`` of all x with |⟨u, x⟩ + b| ≤ a/2.

    ``u`` are the entries of the lifted coordinates; the others are zero.
    """

    u: Array
    b: float
    a: float
    c: int
    height: Fraction

    def blocks(self, layout: Layout) -> list[RankOneBlock]:
        """The four blocks."""
        d, a = layout.dimension, Fraction(self.a)
        u, w = [Fraction(0)] * d, [Fraction(0)] * d
        u[layout.scores :] = map(Fraction, self.u.tolist())
        found = []
        for share, sign in ((1, 1), (Fraction(1, 2), -1), (-Fraction(1, 2), -1), (-1, 1)):
            w[self.c] = sign * 2 * self.height / a
            found.append(RankOneBlock.of(d, u=u, b=Fraction(self.b) + share * a, w=w))
        return found


def plateaus(points: Array, scores: Array, y: Array, rng: np.random.Generator) -> Iterator[Plateau]:
    """Plateaus for all sequences whose scores (n, M) do not clearly favour their class.

    ``points`` (n, D) are the lifted coordinates, ``y`` (n,) the classes. Raises NoPlateauError
    where a wrong sequence can't be separated from those of other classes.
    """
    lack = _lack(scores, y)
    size = np.abs(points).max(axis=0)
    unit = 2.0 ** np.ceil(np.log2(np.where(size > 0, size, 1.0)))
    cloud = points / unit
    for c in np.unique(y[lack > 0]).tolist():
        left = np.flatnonzero((y == c) & (lack > 0))
        others = cloud[y != c]
        while len(left):
            u, b, a, caught = _slab(cloud, left, others, rng)
            needed = float(lack[left[caught]].max())
            height = 2 * power_of_two_below(Fraction(needed))
            yield Plateau(u / unit, b, a, c, height)
            left = left[~caught]


def _lack(scores: Array, y: Array) -> Array:
    """How much the score of its class must rise, (n,); zero where it clearly is the largest."""
    every = np.arange(len(y))
    rest = scores.copy()
    rest[every, y] = -np.inf
    ahead = scores[every, y] - rest.max(axis=1)
    clear = 2.0**-20 * float(np.abs(scores).max(initial=1.0))
    return np.asarray(np.where(ahead > clear, 0.0, 2 * clear - ahead))


def _slab(
    cloud: Array, left: Array, others: Array, rng: np.random.Generator
) -> tuple[Array, float, float, Array]:
    """u, b, a of a slab that holds many of ``left`` (a mask says which) and none of the others."""
    size = min(len(left), cloud.shape[1])
    while size:
        best: tuple[float, Array, float] | None = None
        for _ in range(_TRIALS):
            u, b = _through(cloud[rng.choice(left, size, replace=False)], rng)
            outside = float(np.abs(others @ u + b).min(initial=1.0))
            if best is None or outside > best[0]:
                best = outside, u, b
        assert best is not None  # there is at least one trial
        outside, u, b = best
        a = float(power_of_two_below(Fraction(min(outside * 0.99, _WIDEST_SLAB))) if outside else 0)
        caught = np.abs(cloud[left] @ u + b) <= 0.49 * a
        if a >= _THINNEST_SLAB and caught.any():
            return u, b, a, caught
        size //= 2
    raise NoPlateauError


def _through(group: Array, rng: np.random.Generator) -> tuple[Array, float]:
    """A random hyperplane near all points of a group: u with entries below 2 on a grid, and b."""
    width = group.shape[1]
    middle = group.mean(axis=0)
    span = np.linalg.svd(group - middle, full_matrices=True)[2]
    rank = min(len(group) - 1, width - 1)
    free = span[rank:]
    u = rng.normal(size=len(free)) @ free
    grid = 2.0**-_SLAB_BITS
    u = np.round(u / np.abs(u).max() / grid) * grid
    return u, float(np.round(-float(middle @ u) / grid) * grid)
