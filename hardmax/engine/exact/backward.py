"""Exact outputs by walking backwards: which points end in a constant (`suffix`)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from threading import Lock

import numpy as np

from ...exact.array import Array
from ...exact.rows import row_of
from ..compile.panel import Panel
from ..compile.plan import Plan, Scaling
from ..forward.collapse import Collapsed
from ..forward.enclosed_tokens import Focus
from ..forward.record import ActivationRecord, DenseRecord, SparseRecord
from .suffix import ExactBlocks, Suffix

OPEN = -1  # nothing is known; numbers below stand for constants


@dataclass
class SuffixCache:
    """The affine maps to the output that were met so far, by number.

    Number 0 is the identity. A map that is constant has the number OPEN − 1 − i, where i is the
    place of its value in ``constants``. ``patterns`` remembers where the activation pattern of a
    step leads.
    """

    plan: Plan
    suffixes: list[Suffix] = field(default_factory=list)
    constants: list[tuple[int, ...]] = field(default_factory=list)
    places: dict[tuple[int, ...], int] = field(default_factory=dict)
    steps: dict[object, int] = field(default_factory=dict)
    patterns: dict[object, dict[object, int]] = field(default_factory=dict)
    lock: Lock = field(default_factory=Lock)

    def __post_init__(self) -> None:
        self.blocks = ExactBlocks(self.plan.parameters)
        self.suffixes.append(Suffix.identity(self.plan.dimension))

    def note(self, suffix: Suffix) -> int:
        """Give a new map its number; equal constants get one number."""
        if not suffix.is_constant:
            self.suffixes.append(suffix)
            return len(self.suffixes) - 1
        row = tuple(row_of(suffix.constant))
        place = self.places.setdefault(row, len(self.constants))
        if place == len(self.constants):
            self.constants.append(row)
        return OPEN - 1 - place

    def through(self, number: int, blocks: Array, active: Array, unclear: Array | None) -> int:
        """The map in front of some layers; OPEN where it depends on an unclear layer."""
        for i in range(len(blocks) - 1, -1, -1):
            block = int(blocks[i])
            if active[i]:
                number = self.before(number, block)
                if number < OPEN:
                    break
            elif unclear is not None and unclear[i] and self.matters(number, block):
                return OPEN
        return number

    def matters(self, number: int, block: int) -> bool:
        """Whether the output depends on a layer, active or not."""
        return self.suffixes[number].image(self.blocks[block][2]) is not None

    def before(self, number: int, block: int) -> int:
        """The map in front of an active layer."""
        key = number, block
        if key not in self.steps:
            old = self.suffixes[number]
            new = old.after(self.blocks[block])
            self.steps[key] = number if new is old else self.note(new)
        return self.steps[key]

    def multiplied(self, number: int, block: int, attention: bool) -> int:
        """The map in front of the factor α of a collapse, or ρ + α of a later attention layer."""
        key = number, block, attention
        if key not in self.steps:
            p = self.plan.parameters
            factor = p.alpha.entry(block) + (p.rho.entry(block) if attention else 0)
            same = factor == 1
            self.steps[key] = number if same else self.note(self.suffixes[number].scaled(factor))
        return self.steps[key]


def constant_outputs(
    cache: SuffixCache,
    collapsed: Collapsed,
    records: Sequence[ActivationRecord | None],
    rows: Array,
) -> Array:
    """Find the outputs that do not depend on the point any more, as places in ``cache.constants``,
    (n,).

    The result is OPEN where the output depends on the point, or on a layer that is unclear.
    ``rows`` are the points in question; ``records`` belong to the steps of the plan.
    """
    plan = cache.plan
    result = np.full(len(collapsed.points), OPEN)
    number = np.zeros(len(rows), dtype=np.int64)
    with cache.lock:
        for place in range(len(plan.steps) - 1, -1, -1):
            step, record = plan.steps[place], records[place]
            if isinstance(step, Scaling):
                number = _mapped(
                    number, partial(cache.multiplied, block=step.block, attention=True)
                )
            elif isinstance(record, DenseRecord):
                number = _through_grid(cache, place, step, record, rows, number)
            elif isinstance(record, SparseRecord):
                number = _past_events(cache, record, rows, number)
            rows, number = _take_constants(result, rows, number)
            if not len(rows):
                return result
        _to_tokens(cache, collapsed, result, rows, number)
    return result


def _mapped(number: Array, change: Callable[[int], int]) -> Array:
    """Apply a change to every number, computing it once for each different number."""
    if not len(number):
        return number
    table = np.empty(int(number.max()) + 1, dtype=np.int64)
    for k in set(number.tolist()):
        table[k] = change(k)
    return np.asarray(table[number])


def _take_constants(result: Array, rows: Array, number: Array) -> tuple[Array, Array]:
    """Note the points whose map is constant; keep those whose map is not."""
    left = number > OPEN
    if left.all():
        return rows, number
    done = number < OPEN
    result[rows[done]] = OPEN - 1 - number[done]
    return rows[left], number[left]


def _through_grid(
    cache: SuffixCache, place: int, panel: Panel, grid: DenseRecord, rows: Array, number: Array
) -> Array:
    known = cache.patterns.setdefault((place, grid.unclear is None), {})
    keys = _keys(grid, rows, number)
    found = list(map(known.get, keys))
    if None in found:
        new = {key: i for i, (key, k) in enumerate(zip(keys, found, strict=True)) if k is None}
        if len(new) > cache.plan.sizes.patterns:
            return np.full(len(rows), OPEN)  # a map for each point costs more than its output
        for key, i in new.items():
            active = grid.active[:, rows[i]]
            unclear = None if grid.unclear is None else grid.unclear[:, rows[i]]
            known[key] = cache.through(int(number[i]), panel.first, active, unclear)
        found = list(map(known.get, keys))
    return np.array(found, dtype=np.int64)


def _keys(grid: DenseRecord, rows: Array, number: Array) -> list[object]:
    """A hashable key for every point: its number and the states of all layers."""
    states = [grid.active] if grid.unclear is None else [grid.active, grid.unclear]
    table = np.concatenate([np.packbits(s[:, rows], axis=0) for s in states]).T
    size, packed = table.shape[1], table.tobytes()
    return [(k, packed[i * size : (i + 1) * size]) for i, k in enumerate(number.tolist())]


def _past_events(cache: SuffixCache, events: SparseRecord, rows: Array, number: Array) -> Array:
    """The maps in front of a panel whose layers were active on few points each.

    The map of a point stays the same if no layer that it met matters to the output. Otherwise it
    becomes OPEN: exact arithmetic computes that point (`replay`).
    """
    if not events.rows or not len(rows):
        return number
    met, blocks, _ = events.packed
    held = np.full(max(int(met.max()), int(rows.max())) + 1, OPEN)
    held[rows] = number
    of = held[met]
    for k in set(of.tolist()) - {OPEN}:
        mine = np.flatnonzero(of == k)
        matters = (cache.plan.arrays.w[blocks[mine]][:, cache.suffixes[k].reads] != 0).any(axis=1)
        held[met[mine[matters]]] = OPEN
    return np.asarray(held[rows])


def _to_tokens(
    cache: SuffixCache, collapsed: Collapsed, result: Array, rows: Array, number: Array
) -> None:
    """Go on backwards through the factor α of the collapse and the layers in front of it."""
    if any(isinstance(part, Focus) for part in collapsed.story):
        return
    kept = collapsed.uniform[rows]
    rows, number = rows[kept], number[kept]
    collapse = cache.plan.collapse or 0
    number = _mapped(number, partial(cache.multiplied, block=collapse, attention=False))
    rows, number = _take_constants(result, rows, number)
    for part in reversed(collapsed.story):
        active = part.active[rows]  # type: ignore[union-attr]
        number[active] = _mapped(number[active], partial(cache.before, block=part.block))
        rows, number = _take_constants(result, rows, number)
