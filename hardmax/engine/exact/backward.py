"""From what happened to the points back to their exact outputs (`suffix`), many at a time."""

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
from ..forward.collapse import Collapsed, Focus
from ..forward.record import Events, Grid, Trail
from .suffix import ExactBlocks, Suffix

OPEN = -1  # nothing is known; numbers below stand for constants
_NEW = 256  # patterns of a chunk that get an exact map of their own
_STEPS = 12  # layers of a point that are followed backwards one by one


@dataclass
class Book:
    """Suffixes met so far, by number, and what leads from one to the next.

    Number 0 is the identity; a `ready` suffix has the number OPEN − 1 − i, i the place of its
    output in ``constants``. ``patterns`` says what the states of the layers of a step lead to.
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
        """The number of a new suffix; constants are numbered once."""
        if not suffix.ready:
            self.suffixes.append(suffix)
            return len(self.suffixes) - 1
        row = tuple(row_of(suffix.constant))
        place = self.places.setdefault(row, len(self.constants))
        if place == len(self.constants):
            self.constants.append(row)
        return OPEN - 1 - place

    def through(self, number: int, blocks: Array, active: Array, unclear: Array | None) -> int:
        """The suffix in front of some layers; OPEN where it takes an unclear one to know."""
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

    def throughout(self, number: int, place: int, blocks: Array) -> int:
        """The suffix in front of the layers of a step, all of them active."""
        key = number, place, "throughout"
        if key not in self.steps:
            ones = np.ones(len(blocks), dtype=bool)
            self.steps[key] = self.through(number, blocks, ones, None)
        return self.steps[key]

    def before(self, number: int, block: int) -> int:
        """The suffix in front of an active layer."""
        key = number, block
        if key not in self.steps:
            old = self.suffixes[number]
            new = old.after(self.blocks[block])
            self.steps[key] = number if new is old else self.note(new)
        return self.steps[key]

    def multiplied(self, number: int, block: int, attention: bool) -> int:
        """The suffix in front of the factor α, or ρ + α, of a block."""
        key = number, block, attention
        if key not in self.steps:
            p = self.plan.parameters
            factor = p.alpha.entry(block) + (p.rho.entry(block) if attention else 0)
            same = factor == 1
            self.steps[key] = number if same else self.note(self.suffixes[number].scaled(factor))
        return self.steps[key]


def settle(book: Book, collapsed: Collapsed, trails: Sequence[Trail | None], rows: Array) -> Array:
    """Places in ``book.constants`` of the outputs of points, (n,); OPEN where that is not known.

    ``rows`` are the points in question; ``trails`` belongs to the steps of the plan.
    """
    plan = book.plan
    result = np.full(len(collapsed.points), OPEN)
    number = np.zeros(len(rows), dtype=np.int64)
    with book.lock:
        for place in range(len(plan.steps) - 1, -1, -1):
            step, trail = plan.steps[place], trails[place]
            if isinstance(step, Scaling):
                number = _mapped(number, partial(book.multiplied, block=step.block, attention=True))
            elif isinstance(trail, Grid):
                number = _through_grid(book, place, step, trail, rows, number)
            elif isinstance(trail, Events):
                number = _past_events(book, trail, rows, number)
            rows, number = _take_ready(result, rows, number)
            if not len(rows):
                return result
        _to_tokens(book, collapsed, result, rows, number)
    return result


def _mapped(number: Array, change: Callable[[int], int]) -> Array:
    """The change of every number, asked for once each."""
    if not len(number):
        return number
    table = np.empty(int(number.max()) + 1, dtype=np.int64)
    for k in set(number.tolist()):
        table[k] = change(k)
    return np.asarray(table[number])


def _take_ready(result: Array, rows: Array, number: Array) -> tuple[Array, Array]:
    """Note what is ready, drop it and what is lost."""
    left = number > OPEN
    if left.all():
        return rows, number
    done = number < OPEN
    result[rows[done]] = OPEN - 1 - number[done]
    return rows[left], number[left]


def _through_grid(
    book: Book, place: int, panel: Panel, grid: Grid, rows: Array, number: Array
) -> Array:
    if grid.everywhere:
        return _mapped(number, partial(book.throughout, place=place, blocks=panel.first))
    known = book.patterns.setdefault((place, grid.unclear is None), {})
    keys = _keys(grid, rows, number)
    found = list(map(known.get, keys))
    if None in found:
        new = {key: i for i, (key, k) in enumerate(zip(keys, found, strict=True)) if k is None}
        if len(new) > _NEW:
            return _step_by_step(book, panel, grid, rows, number)
        for key, i in new.items():
            active = grid.active[:, rows[i]]
            unclear = None if grid.unclear is None else grid.unclear[:, rows[i]]
            known[key] = book.through(int(number[i]), panel.first, active, unclear)
        found = list(map(known.get, keys))
    return np.array(found, dtype=np.int64)


def _keys(grid: Grid, rows: Array, number: Array) -> list[object]:
    """A hashable key for every point: its number and the states of all layers."""
    states = [grid.active] if grid.unclear is None else [grid.active, grid.unclear]
    table = np.concatenate([np.packbits(s[:, rows], axis=0) for s in states]).T
    size, packed = table.shape[1], table.tobytes()
    return [(k, packed[i * size : (i + 1) * size]) for i, k in enumerate(number.tolist())]


def _step_by_step(book: Book, panel: Panel, grid: Grid, rows: Array, number: Array) -> Array:
    """Many patterns: for each point its last layer that matters, then the last before that."""
    number = number.copy()
    met = grid.active if grid.unclear is None else grid.active | grid.unclear
    met = met[:, rows].T.copy()
    left = np.arange(len(rows))
    for _ in range(_STEPS):
        for k in set(number[left].tolist()):
            reads = book.suffixes[k].reads
            rests = (book.plan.arrays.w[panel.first][:, reads] == 0).all(axis=1)
            met[np.ix_(left[number[left] == k], rests)] = False
        left = left[met[left].any(axis=1)]
        if not len(left):
            return number
        last = met.shape[1] - 1 - met[left, ::-1].argmax(axis=1)
        before = number[left]
        after = np.full(len(left), OPEN)
        for k, i in sorted(set(zip(before.tolist(), last.tolist(), strict=True))):
            after[(before == k) & (last == i)] = book.before(k, int(panel.first[i]))
        if grid.unclear is not None:
            after[grid.unclear[last, rows[left]]] = OPEN
        number[left] = after
        met[left, last] = False
        left = left[after > OPEN]
    number[left] = OPEN
    return number


def _past_events(book: Book, events: Events, rows: Array, number: Array) -> Array:
    """Points that met nothing that matters keep their suffix; the others lose it."""
    if not events.rows or not len(rows):
        return number
    met, blocks, _ = events.packed
    held = np.full(max(int(met.max()), int(rows.max())) + 1, OPEN)
    held[rows] = number
    of = held[met]
    for k in set(of.tolist()) - {OPEN}:
        mine = np.flatnonzero(of == k)
        matters = (book.plan.arrays.w[blocks[mine]][:, book.suffixes[k].reads] != 0).any(axis=1)
        held[met[mine[matters]]] = OPEN
    return np.asarray(held[rows])


def _to_tokens(book: Book, collapsed: Collapsed, result: Array, rows: Array, number: Array) -> None:
    """The factor α of the collapse and the layers in front of it."""
    if any(isinstance(part, Focus) for part in collapsed.story):
        return
    kept = collapsed.uniform[rows]
    rows, number = rows[kept], number[kept]
    collapse = book.plan.collapse or 0
    number = _mapped(number, partial(book.multiplied, block=collapse, attention=False))
    rows, number = _take_ready(result, rows, number)
    for part in reversed(collapsed.story):
        active = part.active[rows]  # type: ignore[union-attr]
        number[active] = _mapped(number[active], partial(book.before, block=part.block))
        rows, number = _take_ready(result, rows, number)
