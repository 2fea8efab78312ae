"""Ways to bring every label to a place of its own (Theorem B, step B4; docs/theory.md).

rules    a learned decision list, repaired by plateaus (for labels that can be learned);
tents    half-spaces and tents, one label after another, each followed by a clamp;
shells   d − 1 points of any labels at a time, then a staircase (beyond the theorem);
exact    the same at exactly the heights of the targets, on a line (`exact_variant`);
open     tents straight into label sets that are all open, from a collapse into one of them.

All but the last begin with the slice of `flatten` and end with every label on its target.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ...exact.array import Array
from ...exact.numbers import Vector
from ...labels import LabelSet
from ...model.layers import RankOneBlock
from ...model.parameters import PackedBlock
from ..shared.filtered_cloud import FilteredCloud
from ..shared.staged import Staged
from .ending import agree, ending_count, finish, fixing_count, polyline
from .height_slice import HeightSlice, TooClose
from .open.open_cover import open_cover
from .rules.apply import apply_rules, repair
from .rules.learn import choose_list
from .shells.park import fewest, park
from .staircase import staircase, staircase_count
from .tents.search import cover_class
from .tuning import DEFAULT, Tuning


@dataclass(frozen=True)
class Variant:
    """Blocks after the flattening, and the bound on their number that the form promises.

    ``collapse`` takes the place of the flattening where the form does without it.
    """

    name: str
    blocks: Sequence[tuple[str, PackedBlock]]
    bound: int
    notes: Mapping[str, Any]
    collapse: RankOneBlock | None = None


@dataclass(frozen=True)
class Task:
    """What the forms work on; ``room`` is the number of blocks at which peel is no deeper.

    ``means`` are given where all label sets are open, with ``codes[j]`` the place of mean j's
    label among the names.
    """

    base: HeightSlice
    targets: Mapping[str, Vector]
    sets: Mapping[str, LabelSet]
    names: list[str]
    seed: int
    room: int
    means: FilteredCloud | None = None
    codes: Array | None = None
    tuning: Tuning = DEFAULT

    @cached_property
    def fixing(self) -> int:
        return fixing_count(self.base, self.targets)

    def end(self, order: list[str]) -> int:
        line = polyline(order, self.targets)
        return self.fixing + ending_count(line, self.targets, self.base.axis)

    def orders(self) -> list[list[str]]:
        """Along the first coordinate in which targets differ, upwards and downwards."""
        first = next(
            i
            for i in range(self.base.dimension + 1)
            if len({y[i] for y in self.targets.values()}) > 1
        )
        rising = sorted(self.names, key=lambda name: (self.targets[name][first], name))
        return [rising, rising[::-1]]


def fewest_shells(task: Task) -> int:
    """Blocks that shells take at least, in general position."""
    if not agree(task.targets, task.base.axis):
        return task.room
    shells = fewest(len(task.base), task.base.dimension)
    return shells + task.fixing + staircase_count(len(task.names))


def rules_variant(task: Task) -> Variant | None:
    """Learn, then repair."""
    base, names = task.base, task.names
    index = {name: i for i, name in enumerate(names)}
    y = np.array([index[name] for name in base.names])[base.codes]
    orders = [[index[name] for name in order] for order in task.orders()]

    def cost(order: Sequence[int]) -> int:
        return task.end([names[c] for c in reversed(order)])

    chosen = choose_list(base.points.values, y, orders, cost, task.seed)
    if chosen is None or not chosen.clear:
        return None
    order = [names[c] for c in chosen.rules.order]
    line = polyline(order[::-1], task.targets)
    levels = [line.heights[name] for name in order]
    try:
        blocks, place = apply_rules(base, chosen.rules, names, line.heights)
        wanted = np.array([order.index(name) for name in base.names])[base.codes]
        fixes = repair(base, place, wanted, levels, task.seed, task.tuning.much)
    except TooClose:
        return None
    staged = Staged(("rule" if i % 2 == 0 else "clamp", block) for i, block in enumerate(blocks))
    for part in fixes:
        staged.add("repair", part)
    repairs = sum(map(len, fixes))
    staged.extend(finish(base, line, task.targets, task.sets))
    notes = {
        "learned": {
            "order": order,
            "penalty": chosen.penalty,
            "floor": chosen.floor,
            "cross_validated_error": round(chosen.error, 4),
            "misplaced": int((place != wanted).sum()),
        }
    }
    bound = 2 * (len(names) - 1) + repairs + base.dimension + len(names)
    return Variant("rules", staged, bound, notes)


def tents_variant(task: Task, room: int, sure: bool = True) -> Variant | None:
    """Half-spaces, tents and clamps, at most ``room`` blocks; the base is the lowest label.

    If it need not be ``sure``, None also where there will hardly be so few.
    """
    base = task.base
    counts = np.bincount(base.codes, minlength=len(base.names)).tolist()
    sizes = dict(zip(base.names, counts, strict=True))
    by_size = sorted(task.names, key=lambda name: -sizes[name])
    candidates = [*task.orders(), by_size]
    # tents depend little on the order: the lowest class is free, the ending has its price
    order = min(candidates, key=lambda o: task.end(o) - 3 * sizes[o[0]] / base.dimension)
    line = polyline(order, task.targets)
    rng = np.random.default_rng(task.seed)
    staged = Staged()
    pushes = tents = 0
    place = np.array([order.index(name) for name in base.names])[base.codes]
    left = room - task.end(order)
    for i, name in enumerate(order[1:], 1):
        members, done = np.flatnonzero(place == i), np.flatnonzero(place < i)
        left -= 1  # the clamp; what follows takes two blocks for each label
        limit = left - 2 * (len(order) - 1 - i)
        try:
            found = cover_class(base, members, done, line.heights[name], rng, limit, sure)
        except TooClose:
            return None
        if found is None:
            return None
        for push in found:
            staged.add(push.stage, push.blocks(base))
            tents += len(push) // 3
            pushes += len(push) == 1
            left -= len(push)
        staged.add("clamp", [base.clamp(line.heights[name])])
    staged.extend(finish(base, line, task.targets, task.sets))
    bound = pushes + 3 * tents + len(order) - 1 + base.dimension + len(order)
    return Variant(
        "tents", staged, bound, {"base": order[0], "tents": tents, "half-spaces": pushes}
    )


def shells_variant(task: Task, room: int) -> Variant | None:
    """Facet by facet, at most ``room`` blocks; needs a coordinate in which all targets agree."""
    base, names = task.base, task.names
    if not agree(task.targets, base.axis):
        return None
    ranks = {name: i + 1 for i, name in enumerate(names)}
    try:
        end = task.fixing + staircase_count(len(names))
        blocks = park(base, ranks, task.seed, room - end)
    except TooClose:
        return None
    if blocks is None:
        return None
    staged = Staged()
    staged.add("shell", blocks)
    staged.extend(staircase(base, names, task.targets))
    bound = len(blocks) + base.dimension + staircase_count(len(names))
    return Variant("shells", staged, bound, {"shells": len(blocks)})


def fewest_open(task: Task) -> int:
    """Blocks that the open form takes at least: a half-space for every label but the base."""
    return 2 * (len(task.names) - 1) if task.means is not None else task.room


def open_variant(task: Task, room: int) -> Variant | None:
    """Tents into open sets, fewer than ``room`` of their blocks; needs all of them open."""
    if task.means is None or task.codes is None:
        return None
    first = task.means.first_equal()
    kept = np.flatnonzero(first == np.arange(len(first)))
    cloud, codes = task.means.select(kept), task.codes[kept]
    found = open_cover(cloud, codes, task.names, task.sets, task.seed, room - 1)
    if found is None:
        return None
    notes = {"base": found.base, "small groups": found.small}
    return Variant("open", found.pushes, found.bound, notes, found.collapse)
