"""Exact outputs of one chunk: floats with bounds first, exact arithmetic for the rest."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from ..exact.array import Array, ExactArray
from ..exact.rows import lowest_terms
from .chunks import chunks, chunkwise
from .compile.plan import Plan, Scaling
from .exact.backward import OPEN, SuffixCache, constant_outputs
from .exact.chains import deep_outputs
from .exact.history import ActivationHistory
from .exact.prefix import begin
from .exact.replay import replay
from .forward.buffers import Buffers
from .forward.collapse import Collapsed, collapse
from .forward.forward_pass import apply_panel
from .forward.points import EnclosedPoints
from .forward.record import ActivationRecord
from .search import Search, Tally

Inside = Callable[[Array, EnclosedPoints], Array]


@dataclass(frozen=True)
class Job:
    """The arguments of `evaluate`, with the plan of the model."""

    plan: Plan
    tokens: ExactArray
    offsets: Array
    inside: Inside | None
    search: Search | None


@dataclass
class Part:
    """The outputs of a chunk, as in `Outputs`; sequences are numbered from its start."""

    number: Array
    inside: Array
    points: dict[int, tuple[int, ...]]
    general: Array  # sequences left to the general evaluator
    wrong: int = 0  # outputs that a search found wrong
    stopped: bool = False  # whether it ended there


def parts(job: Job, told: Callable[[float], None]) -> Iterator[tuple[int, Part]]:
    """Yield the first sequence of each chunk and its outputs, in order.

    ``told`` is called with the share of the work that is done, where there is a single chunk.
    """
    bounds, probe = chunks(job.offsets, job.plan.sizes), job.plan.sizes.probe
    within = told if len(bounds) == 1 else None  # a single chunk reports its own progress

    def one(start: int, end: int, buffers: Buffers) -> tuple[int, Part]:
        return start, _deep_part(job, start, end) or _part(job, start, end, buffers, within)

    if job.search is not None and len(job.offsets) > 8 * probe:
        # where all outputs are wrong, a few sequences show it
        bounds = [(max(start, probe), end) for start, end in bounds if end > probe]
        yield from chunkwise(one, [(0, probe)])
    yield from chunkwise(one, bounds)


def forward(
    plan: Plan,
    collapsed: Collapsed,
    buffers: Buffers,
    told: Callable[[float], None] | None = None,
) -> list[ActivationRecord | None]:
    """Take the points through all steps, in place; ``told`` is called with the share that is
    done.
    """
    records: list[ActivationRecord | None] = []
    for i, step in enumerate(plan.steps):
        if told is not None:
            told((i + 1) / (len(plan.steps) + 1))
        if isinstance(step, Scaling):
            p = plan.parameters
            collapsed.points.scale(float(p.rho.entry(step.block) + p.alpha.entry(step.block)))
            records.append(None)
        else:
            records.append(apply_panel(step, collapsed.points, buffers, plan.sizes))
    return records


def _deep_part(job: Job, start: int, end: int) -> Part | None:
    """A chunk whose outputs floats cannot help with; None where the plan is for floats."""
    known = deep_outputs(job.plan, job.tokens, job.offsets, start, end)
    if known is None and not job.plan.wild:
        return None
    known, count, wrong = known or {}, end - start, 0
    if job.search is not None:
        wrong = len(job.search.wrong(start, np.zeros(0, dtype=np.int64), (), known))
    left = np.setdiff1d(np.arange(count), list(known))
    return Part(np.full(count, OPEN), np.zeros(count, dtype=bool), known, left, wrong)


def _part(
    job: Job, start: int, end: int, buffers: Buffers, told: Callable[[float], None] | None
) -> Part:
    """A chunk by floats with bounds, then exactly where these do not settle the output."""
    plan, own = job.plan, job.offsets[start : end + 1]
    collapsed = collapse(plan, job.tokens, own)
    surely, rows = np.zeros(end - start, dtype=bool), np.arange(end - start)
    if collapsed is None:
        return Part(np.full(end - start, OPEN), surely, {}, rows)
    if collapsed.lost is not None:
        begin(plan, job.tokens, own, collapsed, np.flatnonzero(collapsed.lost))
    records = forward(plan, collapsed, buffers, told)
    if collapsed.lost is not None:
        rows = rows[~collapsed.lost]
    if job.inside is not None:
        found = job.inside(start + rows, collapsed.points.take(rows))
        surely[rows[found]] = True
        rows = rows[~found]
    cache = plan.kept(SuffixCache)
    number = constant_outputs(cache, collapsed, records, rows)
    begin(plan, job.tokens, own, collapsed, rows[(number[rows] < 0) & ~collapsed.begun[rows]])
    begun = collapsed.begun
    part = Part(number, surely, {}, np.flatnonzero((number < 0) & ~surely & ~begun))
    if job.search is not None:
        part.wrong = len(job.search.wrong(start, number, cache.constants, {}))
    left = rows[(number[rows] < 0) & begun[rows]]
    if len(left):
        history = ActivationHistory.of(collapsed, records, plan, left)
        _add_points(job, start, collapsed, left, history, part)
    return part


def _add_points(
    job: Job,
    start: int,
    collapsed: Collapsed,
    left: Array,
    history: ActivationHistory,
    part: Part,
) -> None:
    """Compute the exact outputs of the sequences ``left`` from their ``history``, or, in a search,
    of as many as it wants."""
    batches = iter([np.arange(len(left))])
    tally = Tally(part.wrong)
    if job.search is not None:
        # numbers grow with every layer, so the work grows with the square of their number
        layers = np.bincount(history.at, minlength=len(left)) + 1
        batches = job.search.batches(layers * layers, tally)
    for some in batches:
        places = np.sort(some)
        mine = left[places]
        rows = replay(
            job.plan, job.tokens, job.offsets, start, collapsed, mine, history.take(places)
        )
        new = {j: tuple(lowest_terms(z)) for j, z in zip(mine.tolist(), rows, strict=True)}
        if job.search is not None:
            tally.wrong += len(job.search.wrong(start, part.number[:0], (), new))
        part.points |= new
    part.wrong, part.stopped = tally.wrong, len(part.points) < len(left)
