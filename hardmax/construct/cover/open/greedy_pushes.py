"""Greedy choice of the hyperplanes that push most points of a label at once (Theorem B, step
B4).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ....exact.array import Array
from ....exact.numbers import Vector
from ..height_slice import TooClose
from ..orthogonal import Orthogonal, through
from .open_pushes import Crowd, Pencil, Push

# This many hyperplanes are tried for each push; the best is kept.
_TRIALS = 8


@dataclass(frozen=True)
class Capture:
    """A push, how many points it captures for each block, and how it was found.

    It is ``full`` if it takes at most three blocks for each group of d − 1 points by which it
    lowers the number of groups, so that full pushes keep 3 ⌈N_c/(d−1)⌉. ``left`` points remain.
    """

    full: bool
    gain: float
    push: Push
    fitted: bool
    left: int

    @property
    def rank(self) -> tuple[bool, float]:
        """By which captures are compared."""
        return self.full, self.gain


def greedy_pushes(
    crowd: Crowd, p: Vector, members: Array, tolerance: float, rng: np.random.Generator
) -> Iterator[Capture]:
    """Pushes that move all points of a mask, and nothing else, by p, up to its ``tolerance``.

    Greedy: the push that captures most for each block. The crowd follows. Raises TooClose
    where no hyperplane through a single point can be certified in float64.
    """
    orthogonal = Orthogonal(p)
    places = crowd.floats() @ orthogonal.basis  # (n, d−1), along p nothing counts
    left = members.copy()
    learned = True  # a linear classifier is worth a try, for as long as it succeeds
    while left.any():
        best = _best(crowd, p, orthogonal, places, left, tolerance, learned, rng)
        learned = learned and best.fitted
        crowd.take(p, best.push.captured, best.push.missing)
        left &= ~best.push.captured
        yield best


def _best(
    crowd: Crowd,
    p: Vector,
    orthogonal: Orthogonal,
    places: Array,
    left: Array,
    tolerance: float,
    learned: bool,
    rng: np.random.Generator,
) -> Capture:
    """The push that captures most for each block, a full one if any is found."""
    size, count = places.shape[1], int(left.sum())
    best: Capture | None = None
    for group, normal, fitted in _proposals(places, left, learned, rng):
        whole = fitted or len(group) == min(size, count)
        if best is not None and not whole and (best.full or best.push.captured.sum() >= len(group)):
            break  # smaller groups only where they can be better
        u = orthogonal.near(orthogonal.basis @ normal)
        if u is None:
            continue
        pencil = Pencil(crowd, u, p)
        for push in pencil.pushes(group, left, tolerance):
            captured, used = int(push.captured.sum()), len(push)
            full = used <= 3 * (groups(count, size) - groups(count - captured, size))
            found = Capture(full, captured / used, push, fitted, count - captured)
            if (full or used <= 3) and (best is None or found.rank > best.rank):
                best = found
    if best is None:
        raise TooClose
    return best


def _proposals(
    places: Array, left: Array, learned: bool, rng: np.random.Generator
) -> Iterator[tuple[Array, Array, bool]]:
    """Groups of points, normals of hyperplanes through them, and which one is fitted to all."""
    members = np.flatnonzero(left)
    if learned:
        normal = _discriminant(places, left)
        yield members[[int(np.argmax(places[members] @ normal))]], normal, True
    size = min(places.shape[1], len(members))
    while size:
        for trial in range(_TRIALS if size > 1 else 4 * _TRIALS):
            group = rng.choice(members, size, replace=False)
            if trial % 2:  # the nearest to one of them
                distance = np.linalg.norm(places[members] - places[group[0]], axis=1)
                group = members[np.argsort(distance, kind="stable")[:size]]
            yield group, through(places[group], rng), False
        size //= 2


def _discriminant(places: Array, left: Array) -> Array:
    """Fisher's linear discriminant of the points of the mask from all others."""
    some, others = places[left], places[~left]
    gap = some.mean(axis=0) - others.mean(axis=0)
    rest = np.r_[some - some.mean(axis=0), others - others.mean(axis=0)]
    scatter = rest.T @ rest
    ridge = 1e-9 * float(np.trace(scatter)) + 1e-300
    return np.asarray(np.linalg.solve(scatter + ridge * np.eye(len(gap)), gap))


def groups(count: int, size: int) -> int:
    """⌈count/size⌉.

    >>> groups(7, 3)
    3
    """
    return -(-count // size)
