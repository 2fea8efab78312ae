"""Learned rules as exact blocks, and the repair of their mistakes (Theorem B, step B4).

Source: docs/theory.md, *learn, then repair*. Heights fall along the decision list; its last class
is the base. The rules are applied from the last to the first, each in two blocks: a half-space
pushes the points on its side to height h_i or more, and a clamp lowers them to exactly h_i. So the
first rule that applies to a point decides. A training point that ends at a wrong height is moved by
a plateau: four blocks with offsets b ± a, b ± a/2.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

import numpy as np

from ....exact.array import Array
from ....exact.numbers import power_of_two_below
from ....model.layers import RankOneBlock
from ....model.parameters import PackedBlock
from ....stages import tell
from ..height_slice import Cut, HeightSlice, TooClose, short_power
from ..tents.panels import TentPanel, precision
from ..tents.search import through
from ..tuning import DEFAULT
from .learn import DecisionList
from .plateaus import Plateaus

_TRIALS = 64  # hyperplanes through one group of misplaced points
_ROOM = 0.25  # share of the gap around a rule that stays free on either side


def apply_rules(
    base: HeightSlice, rules: DecisionList, names: Sequence[str], heights: Mapping[str, Fraction]
) -> tuple[list[RankOneBlock], Array]:
    """Return the blocks of all rules, and for every point the place in the list where it ends.

    These places are proven. Raises TooClose where floats cannot tell the two sides of a rule apart.
    """
    rank = {names[c]: i for i, c in enumerate(rules.order)}
    wanted = np.array([rank[name] for name in base.names])[base.codes]
    last = len(rules.order) - 1
    place = np.full(len(base), last)
    pairs = []
    for i in range(last):
        free = place == last  # caught by no rule so far
        cut = Cut.near(-rules.u[i], -float(rules.beta[i]))
        cut = _centered(base, cut, free, wanted == i)
        low, high = base.values(cut)
        caught = free & (low > 0)
        if (free & ~caught & (high > 0)).any():
            raise TooClose
        level = heights[names[rules.order[i]]]
        room = float(low[caught].min()) / 2 if caught.any() else 1.0
        pairs.append([base.block(cut, short_power(room, level)), base.clamp(level)])
        place[caught] = i
    return [block for pair in reversed(pairs) for block in pair], place


def _centered(base: HeightSlice, cut: Cut, free: Array, above: Array) -> Cut:
    """Move the cut into a gap between the free points: the gap near t = 0 with fewest points
    on the wrong side, and not nearer to its ends than a quarter of its width."""
    low, high = base.values(cut)
    t = (low + high)[free] / 2
    order = np.argsort(t, kind="stable")
    t, side = t[order], above[free][order]
    if not len(t):
        return cut
    # wrong[j]: errors when the first j points stay below
    wrong = np.r_[0, np.cumsum(side)] + np.r_[np.cumsum((~side)[::-1])[::-1], 0]
    left = np.r_[-np.inf, t]
    right = np.r_[t, np.inf]
    wide = right - left > 2.0**-24
    here = int(np.searchsorted(t, 0.0))
    near = np.abs(np.arange(len(wrong)) - here)
    best = min(np.flatnonzero(wide).tolist(), key=lambda j: (wrong[j] + near[j] / 2, near[j]))
    a, b = float(left[best]), float(right[best])
    a, b = max(a, min(b, 0.0) - 1.0), min(b, max(a, 0.0) + 1.0)
    # zero, or what is nearest to it; then away from the points that do not count
    edge = min(max(0.0, a + _ROOM * (b - a)), b - _ROOM * (b - a))
    reach = _ROOM * (b - a) / 2
    every = (low + high) / 2
    inside = every[np.abs(every - edge) < reach]
    ends = np.sort(np.r_[edge - reach, inside, edge + reach])
    widest = int(np.argmax(np.diff(ends)))
    return cut.moved(-(float(ends[widest]) + float(ends[widest + 1])) / 2)


def repair(
    base: HeightSlice,
    place: Array,
    wanted: Array,
    levels: Sequence[Fraction],
    seed: int = 0,
    much: float = DEFAULT.much,
) -> list[Sequence[PackedBlock]]:
    """Plateaus that move every misplaced point to its level, d − 1 at a time, and nothing else.

    ``place`` and ``wanted`` (n,) index ``levels``. For each group the widest of many plateaus is
    taken; but panels of plateaus where there are more than ``much`` pairs of a misplaced point and
    a point.
    """
    rng = np.random.default_rng(seed)
    blocks: list[Sequence[PackedBlock]] = []
    wrong = np.flatnonzero(place != wanted)
    shifts: dict[Fraction, list[int]] = {}
    for j in wrong.tolist():
        shifts.setdefault(levels[wanted[j]] - levels[place[j]], []).append(j)
    for shift, members in shifts.items():
        left = members
        if len(wrong) * len(base) > much and float(shift) == shift and precision(base):
            left = _many(base, np.array(left), shift, rng, blocks)
        while left:
            moved, new = _plateau(base, left, shift, rng)
            blocks.append(new)
            left = [j for j in left if j not in moved]
    return blocks


def _many(
    base: HeightSlice,
    members: Array,
    shift: Fraction,
    rng: np.random.Generator,
    blocks: list[Sequence[PackedBlock]],
) -> list[int]:
    """Append panels of plateaus; what is left where none can be certified."""
    plateaus = Plateaus(base, members, shift, rng)
    gone = np.zeros(len(base), dtype=bool)
    while len(plateaus.left):
        tell("repair", len(plateaus.left))
        panel = plateaus.next()
        if not isinstance(panel, TentPanel):
            break
        blocks.append(panel.blocks(base))
        gone[panel.captured] = True
        plateaus.drop(gone)
    return [int(j) for j in plateaus.left]


def _plateau(
    base: HeightSlice, members: list[int], shift: Fraction, rng: np.random.Generator
) -> tuple[set[int], list[RankOneBlock]]:
    size = min(len(members), base.dimension)
    while size:
        best: tuple[float, Cut, Array] | None = None
        for _ in range(_TRIALS):
            group = rng.choice(members, size, replace=False)
            cut = through(base, group, rng)
            if cut is None:
                continue
            low, high = base.values(cut)
            others = np.ones(len(base), dtype=bool)
            others[group] = False
            inner = float(np.maximum(high, -low)[group].max())
            outer = float(np.maximum(low, -high)[others].min(initial=1.0))
            if outer > 4 * inner and (best is None or outer > best[0]):
                best = outer, cut, group
        if best is not None:
            outer, cut, group = best
            a = float(power_of_two_below(Fraction(outer)))
            factor = 2 * shift / Fraction(a)
            blocks = [
                base.block(cut.shifted(a * share), factor * weight)
                for share, weight in ((1, 1), (0.5, -1), (-0.5, -1), (-1, 1))
            ]
            return set(group.tolist()), blocks
        size //= 2
    raise TooClose
