"""Tents: three blocks raise many points of one label at once (Theorem B, step B4 b).

Source: docs/theory.md. The points to be raised lie in a slab |t| < a of a hyperplane that
holds no point to be avoided; offsets b + a, b, b − a and w = R(1, −2, 1)e_k raise them by
R(a − |t|). Where one side of the slab is free of points to be avoided a half-space will do.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from ....exact.array import Array
from ....exact.dyadic import rounded_to
from ....model.layers import RankOneBlock
from ....stages import tell
from ..height_slice import Cut, HeightSlice, TooClose, short_power
from .panels import EDGE, TRIALS, Opening, TentPanel, TentSearch, precision

# This many hyperplanes are tried for each tent; the best is kept.
_TRIALS = 8
# This many directions through a single point are tried before it is given up.
_ATTEMPTS = 64


@dataclass(frozen=True)
class Push:
    """A half-space (1 block) or tent (3 blocks), and the indices of what it captures.

    ``hinges`` are the hyperplanes and the slopes of the rise along each.
    """

    captured: Array
    hinges: Sequence[tuple[Cut, Fraction]]

    @property
    def stage(self) -> str:
        """Name of the blocks."""
        return "tent" if len(self) == 3 else "half-space"

    def __len__(self) -> int:
        """Number of blocks."""
        return len(self.hinges)

    def blocks(self, base: HeightSlice) -> list[RankOneBlock]:
        """One block for each hinge."""
        return [base.block(cut, rise) for cut, rise in self.hinges]


def cover_class(
    base: HeightSlice,
    members: Sequence[int] | Array,
    avoid: Sequence[int] | Array,
    rise: Fraction,
    rng: np.random.Generator,
    limit: int | None = None,
    sure: bool = True,
    trials: int = TRIALS,
) -> list[Push | TentPanel] | None:
    """Pushes that raise every member by at least ``rise`` and nothing to be avoided.

    Greedy: the pushes that capture most per block, from hyperplanes through groups of at most
    d − 1 members, in panels; one by one where no panel can be certified. A panel is the best of at
    most ``trials`` groups for each of its tents. ``limit`` gives up (None) past so many blocks; if
    it need not be ``sure``, already after a sixteenth of them where it looks as if. Raises
    TooClose where no hyperplane through a single point can be certified in float64.
    """
    left = np.sort(np.asarray(members, dtype=int))
    others = np.sort(np.asarray(avoid, dtype=int))
    panels = None
    if len(left) and precision(base) is not None:
        panels = TentSearch(base, left, others, rise, rng, trials)
    gone = np.zeros(len(base), dtype=bool)
    pushes: list[Push | TentPanel] = []
    count = 0
    while len(left):
        tell("tents", len(left))
        push = _next(base, panels, left, others, rise, rng)
        pushes.append(push)
        count += len(push)
        gone[push.captured] = True
        left = left[~gone[left]]
        if limit is not None and count > limit:
            return None
        if limit is not None and not sure and 16 * count > limit:
            # the rate falls from what it was on average so far to d − 1 members for a tent
            rate = (len(members) - len(left)) / count
            if count + 2 * len(left) / (rate + min(rate, base.dimension / 3)) > limit:
                return None
        if panels is not None:
            panels.drop(gone)
    return pushes


def _next(
    base: HeightSlice,
    panels: TentSearch | None,
    left: Array,
    avoid: Array,
    rise: Fraction,
    rng: np.random.Generator,
) -> Push | TentPanel:
    found = panels.next() if panels is not None else None
    if isinstance(found, Opening):
        push = _slab(base, found.cut, found.group, left, avoid, rise)
        if push is not None:
            return push
    return found if isinstance(found, TentPanel) else _best(base, left, avoid, rise, rng)


def _best(
    base: HeightSlice, left: Array, avoid: Array, rise: Fraction, rng: np.random.Generator
) -> Push:
    size = min(base.dimension, len(left))
    best: Push | None = None
    while True:
        for trial in range(_TRIALS if size > 1 else _ATTEMPTS):
            group = _group(base, left, size, rng, near=trial % 2 == 1)
            push = _slab(base, through(base, group, rng), group, left, avoid, rise)
            if push is not None and (best is None or _gain(push) > _gain(best)):
                best = push
            if best is not None and size == 1 and trial >= _TRIALS:
                break
        if best is not None:
            return best
        if size == 1:
            raise TooClose
        size //= 2


def _gain(push: Push) -> float:
    return len(push.captured) / len(push)


def _group(
    base: HeightSlice, left: Array, size: int, rng: np.random.Generator, near: bool
) -> Array:
    """``size`` members: the nearest to a random one, or any."""
    if not near:
        return np.asarray(rng.choice(left, size, replace=False))
    values = base.points.values[left]
    distance = np.linalg.norm(values - values[rng.integers(len(left))], axis=1)
    return np.asarray(left[np.argsort(distance, kind="stable")[:size]])


def through(base: HeightSlice, group: Array, rng: np.random.Generator) -> Cut | None:
    """Propose a random hyperplane through the points of a group; None where they span E."""
    X = base.points.values[group]
    middle = X.mean(axis=0)
    u = rng.standard_normal(base.dimension)
    if len(group) > 1:
        _, sizes, basis = np.linalg.svd(X - middle, full_matrices=True)
        rank = int((sizes > 1e-9 * max(sizes[0], 1e-300)).sum())
        if rank >= base.dimension:
            return None
        u = basis[rank:].T @ (basis[rank:] @ u)
    return Cut.near(u, -float(u @ middle))


def _slab(
    base: HeightSlice,
    cut: Cut | None,
    group: Array,
    left: Array,
    avoid: Array,
    rise: Fraction,
) -> Push | None:
    """The widest slab around the group without points to be avoided, as certified pushes."""
    if cut is None:
        return None
    low, high = base.values(cut)
    inner, outer = float(low[group].min()), float(high[group].max())
    below = high[avoid][high[avoid] < inner]
    above = low[avoid][low[avoid] > outer]
    if len(below) + len(above) < len(avoid):
        return None
    if not len(above):  # a half-space {t > p}
        return _half_space(base, cut, float(below.max(initial=-np.inf)), left, avoid, rise)
    if not len(below):
        opposite = Cut(-cut.u, -cut.beta)
        return _half_space(base, opposite, -float(above.min()), left, avoid, rise)
    p, q = float(below.max()), float(above.min())
    push = _tent(base, cut, p, q, left, avoid, rise)
    if push is None or not np.isin(group, push.captured).all():
        # the group lies at the edge of this slab: take one with the group in the middle
        middle = (inner + outer) / 2
        reach = min(middle - p, q - middle)
        push = _tent(base, cut, middle - reach, middle + reach, left, avoid, rise)
    return push


def _tent(
    base: HeightSlice, cut: Cut, p: float, q: float, left: Array, avoid: Array, rise: Fraction
) -> Push | None:
    """The tent over p < t < q, with all members that it raises far enough."""
    cut = cut.moved(-(p + q) / 2)
    half = float(rounded_to(np.array((q - p) / 2 * (1 - 2.0**-8)), 10))
    low, high = base.values(cut)
    size = np.maximum(high, -low)
    captured = left[size[left] <= half * (1 - EDGE)]
    clear = (low[avoid] >= half) | (high[avoid] <= -half)
    if not clear.all() or not len(captured) or half <= 0:
        return None
    factor = short_power(half * EDGE / 2, rise)
    hinges = [
        (cut.shifted(half * side), factor * weight) for side, weight in ((1, 1), (0, -2), (-1, 1))
    ]
    return Push(captured, hinges)


def _half_space(
    base: HeightSlice, cut: Cut, p: float, left: Array, avoid: Array, rise: Fraction
) -> Push | None:
    """All members beyond t = p, where nothing to be avoided lies."""
    low, _ = base.values(cut)
    inside = low[left][low[left] > p]
    if not len(inside):
        return None
    first = float(inside.min())
    edge = first - (first - p) / 2 if np.isfinite(p) else first - 1.0
    shifted = cut.moved(-edge)
    low, high = base.values(shifted)
    captured = left[low[left] > 0]
    if (high[avoid] > 0).any() or not len(captured):
        return None
    # points hardly inside would need a steep rise: leave those to others
    room = float(np.sort(low[captured])[0])
    return Push(captured, [(shifted, short_power(room / 2, rise))])
