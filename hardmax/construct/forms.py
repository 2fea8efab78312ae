"""Three ways to bring every label to a height of its own (Theorem B, step B4; docs/theory.md).

rules    a learned decision list, repaired by plateaus (for labels that can be learned);
tents    half-spaces and tents, one label after another, each followed by a clamp;
shells   d − 1 points of any labels at a time, then a staircase (beyond the theorem).

All of them begin with the slice of `flatten` and end with every label on its target.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ..labels import LabelSet
from ..model.layers import RankOneBlock
from ..numbers import Vector
from .ending import agree, ending_count, finish, kill_count, polyline
from .learn import choose_list
from .rules import apply_rules, repair
from .shells import park
from .slice import Slice, TooClose
from .staircase import staircase, staircase_count
from .tents import cover_class

Staged = list[tuple[str, RankOneBlock]]


@dataclass(frozen=True)
class Form:
    """Blocks after the flattening, and the bound on their number that the form promises."""

    name: str
    blocks: Staged
    bound: int
    notes: Mapping[str, Any]


@dataclass(frozen=True)
class Task:
    """What the forms work on; ``room`` is the number of blocks at which peel is no deeper."""

    base: Slice
    targets: Mapping[str, Vector]
    sets: Mapping[str, LabelSet]
    names: list[str]
    seed: int
    room: int

    @cached_property
    def kills(self) -> int:
        return kill_count(self.base, self.targets)

    def end(self, order: list[str]) -> int:
        line = polyline(order, self.targets)
        return self.kills + ending_count(line, self.targets, self.base.axis)

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
    shells = -(-len(task.base) // (task.base.dimension + 1))
    return shells + task.kills + staircase_count(len(task.names))


def rules_form(task: Task) -> Form | None:
    """Learn, then repair."""
    base, names = task.base, task.names
    index = {name: i for i, name in enumerate(names)}
    y = np.array([index[name] for name in base.labels.tolist()])
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
        wanted = np.array([order.index(name) for name in base.labels.tolist()])
        fixes = repair(base, place, wanted, levels, task.seed)
    except TooClose:
        return None
    staged = [("rule" if i % 2 == 0 else "clamp", block) for i, block in enumerate(blocks)]
    staged += [("repair", block) for block in fixes]
    staged += finish(base, line, task.targets, task.sets)
    notes = {
        "learned": {
            "order": order,
            "penalty": chosen.penalty,
            "floor": chosen.floor,
            "cross_validated_error": round(chosen.error, 4),
            "misplaced": int((place != wanted).sum()),
        }
    }
    bound = 2 * (len(names) - 1) + len(fixes) + base.dimension + len(names)
    return Form("rules", staged, bound, notes)


def tents_form(task: Task) -> Form | None:
    """Half-spaces, tents and clamps; the base is the lowest label."""
    base = task.base
    sizes = {name: int((base.labels == name).sum()) for name in task.names}
    by_size = sorted(task.names, key=lambda name: -sizes[name])
    candidates = [*task.orders(), by_size]
    # tents depend little on the order: the lowest class is free, the ending has its price
    order = min(candidates, key=lambda o: task.end(o) - 3 * sizes[o[0]] / base.dimension)
    line = polyline(order, task.targets)
    rng = np.random.default_rng(task.seed)
    staged: Staged = []
    pushes = tents = 0
    done = np.flatnonzero(base.labels == order[0])
    for name in order[1:]:
        members = np.flatnonzero(base.labels == name)
        try:
            found = cover_class(base, members, done, line.heights[name], rng, task.room)
        except TooClose:
            return None
        if found is None:
            return None
        for push in found:
            stage = "tent" if len(push.hinges) == 3 else "half-space"
            staged += [(stage, block) for block in push.blocks(base)]
            tents += len(push.hinges) == 3
            pushes += len(push.hinges) == 1
        staged.append(("clamp", base.clamp(line.heights[name])))
        done = np.union1d(done, members)
    staged += finish(base, line, task.targets, task.sets)
    bound = pushes + 3 * tents + len(order) - 1 + base.dimension + len(order)
    return Form("tents", staged, bound, {"base": order[0], "tents": tents, "half-spaces": pushes})


def shells_form(task: Task, room: int) -> Form | None:
    """Facet by facet; needs a coordinate in which all targets agree."""
    base, names = task.base, task.names
    if not agree(task.targets, base.axis):
        return None
    ranks = {name: i + 1 for i, name in enumerate(names)}
    try:
        end = task.kills + staircase_count(len(names))
        blocks = park(base, ranks, task.seed, room - end)
    except TooClose:
        return None
    if blocks is None:
        return None
    staged: Staged = [("shell", block) for block in blocks]
    staged += staircase(base, names, task.targets)
    bound = len(blocks) + base.dimension + staircase_count(len(names))
    return Form("shells", staged, bound, {"shells": len(blocks)})
