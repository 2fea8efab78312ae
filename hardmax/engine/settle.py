"""From what happened to the points back to their exact outputs (`suffix`), many at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from threading import Lock

import numpy as np

from ..numbers import Vector
from .collapse import Collapsed, Focus
from .plan import Array, Panel, Plan, Scaling
from .points import ACTIVE
from .suffix import ExactBlocks, Suffix
from .sweep import Events, Grid, Trail

OPEN = -1  # no constant is known
_KEYS = 64  # patterns of a panel that are looked at one by one
_STEPS = 12  # layers of a point that are followed backwards one by one


@dataclass
class Book:
    """Suffixes met so far, by number, and what leads from one to the next.

    Number 0 is the identity. ``number`` of a suffix that is `ready` also numbers its constant.
    """

    plan: Plan
    suffixes: list[Suffix] = field(default_factory=list)
    steps: dict[object, int | None] = field(default_factory=dict)
    numbers: dict[object, int] = field(default_factory=dict)
    lock: Lock = field(default_factory=Lock)

    def __post_init__(self) -> None:
        self.blocks = ExactBlocks(self.plan.parameters)
        self.suffixes.append(Suffix.identity(self.plan.dimension))

    def note(self, suffix: Suffix) -> int:
        """The number of a suffix; constants are numbered once."""
        if suffix is self.suffixes[0]:
            return 0
        key = suffix.constant if suffix.ready else id(suffix)
        found = self.numbers.get(key)
        if found is None:
            found = self.numbers[key] = len(self.suffixes)
            self.suffixes.append(suffix)
        return found

    def constant(self, number: int) -> Vector:
        """The output of everything that ended in a `ready` suffix."""
        return self.suffixes[number].constant

    def through(
        self, number: int, blocks: Sequence[int], active: Array, unclear: Array
    ) -> int | None:
        """The suffix in front of some layers; None where it takes an unclear one to know."""
        suffix = self.suffixes[number]
        for i in range(len(blocks) - 1, -1, -1):
            if suffix.ready:
                break
            if active[i]:
                suffix = suffix.after(self.blocks[blocks[i]])
            elif unclear[i] and suffix.image(self.blocks[blocks[i]][2]) is not None:
                return None
        return self.note(suffix)

    def throughout(self, number: int, place: int, blocks: Sequence[int]) -> int:
        """The suffix in front of the layers of a step, all active."""
        key = number, place, "throughout"
        found = self.steps.get(key)
        if found is None:
            ones = np.ones(len(blocks), dtype=bool)
            found = self.steps[key] = self.through(number, blocks, ones, ~ones)
        return OPEN if found is None else found

    def before(self, number: int, block: int) -> int:
        """The suffix in front of an active layer."""
        key = number, block
        found = self.steps.get(key)
        if found is None:
            found = self.steps[key] = self.note(self.suffixes[number].after(self.blocks[block]))
        return found

    def ready(self) -> Array:
        """Which suffixes are ready."""
        return np.array([suffix.ready for suffix in self.suffixes])

    def multiplied(self, number: int, block: int, attention: bool) -> int:
        """The suffix in front of the factor α, or ρ + α, of a block."""
        key = number, block, attention
        found = self.steps.get(key)
        if found is None:
            p = self.plan.parameters
            factor = p.alpha.entry(block) + (p.rho.entry(block) if attention else 0)
            suffix = self.suffixes[number]
            if factor != 1:
                suffix = suffix.scaled(factor)
            found = self.steps[key] = self.note(suffix)
        return found


def settle(book: Book, collapsed: Collapsed, trails: Sequence[Trail | None], rows: Array) -> Array:
    """Numbers of the ready suffixes of all points, (n,); OPEN where there is none.

    ``rows`` are the points in question; ``trails`` belongs to the steps of the plan.
    """
    plan = book.plan
    result = np.full(len(collapsed.points), OPEN)
    number = np.zeros(len(rows), dtype=np.int64)
    with book.lock:
        for place in range(len(plan.steps) - 1, -1, -1):
            step, trail = plan.steps[place], trails[place]
            if isinstance(step, Scaling):
                number = _mapped(number, lambda k, s=step: book.multiplied(k, s.block, True))
            elif isinstance(trail, Grid):
                number = _through_grid(book, place, step, trail, rows, number)
            elif isinstance(trail, Events):
                number = _past_events(book, trail, rows, number)
            rows, number = _take_ready(book, result, rows, number)
            if not len(rows):
                return result
        _to_tokens(book, collapsed, result, rows, number)
    return result


def _mapped(number: Array, change: object) -> Array:
    found = number.copy()
    for k in np.unique(number).tolist():
        found[number == k] = change(k)  # type: ignore[operator]
    return found


def _take_ready(book: Book, result: Array, rows: Array, number: Array) -> tuple[Array, Array]:
    """Note what is ready, drop it and what is lost."""
    done = (number >= 0) & book.ready()[number]
    result[rows[done]] = number[done]
    left = (number >= 0) & ~done
    return (rows, number) if left.all() else (rows[left], number[left])


def _through_grid(
    book: Book, place: int, panel: Panel, grid: Grid, rows: Array, number: Array
) -> Array:
    if grid.everywhere:
        return _mapped(number, lambda k: book.throughout(k, place, panel.first.tolist()))
    whole = len(rows) == grid.active.shape[1]
    states = [grid.active] if grid.unclear is None else [grid.active, grid.unclear]
    bits = [np.packbits(s if whole else s[:, rows], axis=0) for s in states]
    lead = number.astype(np.uint32)[None].view(np.uint8).reshape(len(rows), 4).T
    table = np.ascontiguousarray(np.concatenate([lead, *bits]).T)
    keys = table.view(np.dtype((np.void, table.shape[1]))).ravel()
    _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
    if len(first) > max(_KEYS, len(rows) // 8):
        return _step_by_step(book, panel, grid, rows, number)
    found = np.full(len(first), OPEN)
    blocks = panel.first.tolist()
    for i, at in enumerate(first.tolist()):
        key = place, grid.unclear is None, keys[at].tobytes()
        known = book.steps.get(key, OPEN)
        if known == OPEN:
            row = int(rows[at])
            active = grid.active[:, row]
            unclear = grid.unclear[:, row] if grid.unclear is not None else np.zeros_like(active)
            known = book.steps[key] = book.through(int(number[at]), blocks, active, unclear)
        found[i] = OPEN if known is None else known
    return np.asarray(found[inverse.ravel()])


def _step_by_step(book: Book, panel: Panel, grid: Grid, rows: Array, number: Array) -> Array:
    """Many patterns: for each point its last layer that matters, then the last before that."""
    number = number.copy()
    met = grid.active if grid.unclear is None else grid.active | grid.unclear
    met = met[:, rows].T.copy()
    left = np.arange(len(rows))
    for _ in range(_STEPS):
        for k in np.unique(number[left]).tolist():
            reads = book.suffixes[k].reads
            rests = (book.plan.w[panel.first][:, reads] == 0).all(axis=1)
            met[np.ix_(left[number[left] == k], rests)] = False
        left = left[met[left].any(axis=1)]
        if not len(left):
            return number
        last = met.shape[1] - 1 - met[left, ::-1].argmax(axis=1)
        before = number[left]
        after = np.full(len(left), OPEN)
        for k, i in sorted(set(zip(before.tolist(), last.tolist(), strict=True))):
            mine = (before == k) & (last == i)
            after[mine] = book.before(k, int(panel.first[i]))
        if grid.unclear is not None:
            after[grid.unclear[last, rows[left]]] = OPEN
        number[left] = after
        met[left, last] = False
        left = left[(after >= 0) & ~book.ready()[after]]
    number[left] = OPEN
    return number


def _past_events(book: Book, events: Events, rows: Array, number: Array) -> Array:
    """Points that met nothing that matters keep their suffix; the others lose it."""
    if not events.rows or not len(rows):
        return number
    met, blocks, _ = events.packed()
    place = np.full(max(int(met.max()), int(rows.max())) + 1, -1)
    place[rows] = np.arange(len(rows))
    at = place[met]
    at, blocks = at[at >= 0], blocks[at >= 0]
    number = number.copy()
    for k in np.unique(number[at]).tolist():
        mine = number[at] == k
        matters = (book.plan.w[blocks[mine]][:, book.suffixes[k].reads] != 0).any(axis=1)
        number[at[mine][matters]] = OPEN
    return number


def _to_tokens(book: Book, collapsed: Collapsed, result: Array, rows: Array, number: Array) -> None:
    """The factor α of the collapse and the layers in front of it."""
    if any(isinstance(part, Focus) for part in collapsed.story):
        return
    kept = collapsed.uniform[rows]
    rows, number = rows[kept], number[kept]
    collapse = book.plan.collapse or 0
    number = _mapped(number, lambda k: book.multiplied(k, collapse, False))
    rows, number = _take_ready(book, result, rows, number)
    for part in reversed(collapsed.story):
        active = part.active[rows]  # type: ignore[union-attr]

        number[active] = _mapped(number[active], lambda k, i=part.block: book.before(k, i))
        rows, number = _take_ready(book, result, rows, number)


def history(
    collapsed: Collapsed, trails: Sequence[Trail | None], plan: Plan, rows: Array
) -> list[list[tuple[int, int]]]:
    """For each of some points what it meets from the collapse on, in order: a block and the
    state of its layer, or a block and 0 for a multiplication by ρ + α."""
    found: list[list[tuple[int, int]]] = [[] for _ in rows]
    place = np.full(len(collapsed.points), -1)
    place[rows] = np.arange(len(rows))
    for step, trail in zip(plan.steps, trails, strict=True):
        if isinstance(step, Scaling):
            for events in found:
                events.append((step.block, 0))
        elif isinstance(trail, Grid):
            active = trail.active[:, rows].T
            met = active if trail.unclear is None else active | trail.unclear[:, rows].T
            at, item = np.nonzero(met)
            states = np.where(active[at, item], ACTIVE, 1)
            for i, k, s in zip(
                at.tolist(), step.first[item].tolist(), states.tolist(), strict=True
            ):
                found[i].append((k, s))
        elif isinstance(trail, Events):
            met, blocks, states = trail.packed()
            at = place[met]
            mine = at >= 0
            for i, k, s in zip(
                at[mine].tolist(), blocks[mine].tolist(), states[mine].tolist(), strict=True
            ):
                found[i].append((k, s))
    return found
