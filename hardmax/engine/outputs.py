"""Exact outputs of a whole data set, at the speed of float64 (theory part C)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from threading import local
from typing import TypeVar

import numpy as np

from ..arithmetic import clear_denominators
from ..exact_array import ExactArray
from ..model.tokens import Tokens
from ..model.transformer import Transformer
from ..numbers import Vector
from ..threads import cores, in_threads
from .collapse import Collapsed, collapse
from .plan import Plan, Scaling
from .points import RESTS, Points
from .replay import IntegerBlocks, Point, starting_points
from .rounding import Array
from .settle import OPEN, Book, history, settle
from .sweep import Buffers, Trail, sweep

Inside = Callable[[Array, Points], Array]
Result = TypeVar("Result")
Progress = Callable[[int], None]

_CHUNK = 2048  # sequences at a time
_TOKENS = 1 << 16  # and about this many tokens


@dataclass
class Outputs:
    """Exact outputs of N sequences.

    ``constants[number[j]]`` is the output of sequence j where ``number[j]`` ≥ 0; ``points`` holds
    others; what is in neither was found ``inside``.
    """

    number: Array
    constants: Sequence[Vector]
    points: dict[int, Point]
    inside: Array

    def __len__(self) -> int:
        return len(self.number)

    def __getitem__(self, j: int) -> Vector:
        """The output of sequence j."""
        if self.number[j] >= 0:
            return self.constants[int(self.number[j])]
        x, q = self.points[j]
        return tuple(Fraction(int(a), int(q)) for a in x)


def evaluate(
    model: Transformer,
    tokens: ExactArray,
    offsets: Array,
    inside: Inside | None = None,
    progress: Progress | None = None,
) -> Outputs:
    """Exact outputs of packed sequences (T, d): sequence j is tokens offsets[j] … offsets[j+1]−1.

    ``inside`` may say of float enclosures which sequences need no exact output; it gets their
    numbers and `Points`. ``progress`` is called with a number of blocks out of len(model).

    >>> from hardmax.model.layers import RankOneBlock
    >>> model = Transformer([RankOneBlock.of(1, rho=0, alpha=1)])
    >>> evaluate(model, ExactArray(np.array([[1.0], [2.0]])), np.array([0, 2]))[0]
    (Fraction(3, 2),)
    """
    plan = Plan.of(model)
    count = len(offsets) - 1
    outputs = Outputs(
        np.full(count, OPEN), plan.kept(Book).constants, {}, np.zeros(count, dtype=bool)
    )
    left: list[int] = []
    done = 0
    for start, part in _parts(plan, tokens, offsets, inside):
        end = start + len(part.number)
        outputs.number[start:end] = part.number
        outputs.inside[start:end] = part.inside
        outputs.points.update((start + j, x) for j, x in part.points.items())
        left.extend((start + part.general).tolist())
        done = end
        if progress is not None:
            progress(len(model) * done // count)
    if left:
        _generally(model, tokens, offsets, left, outputs, progress)
    settled = (outputs.number >= 0) | outputs.inside
    if int(settled.sum()) + len(outputs.points) != count or done != count:
        raise AssertionError("every sequence needs exactly one output")
    return outputs


def float_outputs(plan: Plan, values: Array, offsets: Array) -> Array:
    """Outputs in float64 by the fused plan, (N, d); NaN where floats can't follow a sequence."""
    count = len(offsets) - 1
    found = np.full((count, plan.dimension), np.nan)

    def one(start: int, end: int, buffers: Buffers) -> None:
        first = offsets[start]
        tokens = ExactArray(values[first : offsets[end]])
        collapsed = collapse(plan, tokens, offsets[start : end + 1] - first)
        if collapsed is None:
            return
        _sweeps(plan, collapsed, buffers)
        found[start:end] = collapsed.points.values
        if collapsed.lost is not None:
            found[start:end][collapsed.lost] = np.nan

    for _ in _chunkwise(one, _chunks(offsets)):
        pass
    return found


@dataclass
class _Part:
    number: Array
    inside: Array
    points: dict[int, Point]
    general: Array  # sequences left to the general evaluator


def _chunks(offsets: Array) -> list[tuple[int, int]]:
    """Runs of sequences, of moderate numbers of sequences and tokens, as many for every thread."""
    count = len(offsets) - 1
    if count <= _CHUNK and offsets[-1] - offsets[0] <= _TOKENS:
        return [(0, count)]
    parts = -(-count // _CHUNK)
    if parts > 1:
        parts = -(-parts // cores()) * cores()
    size = -(-count // parts)
    bounds = [0]
    while bounds[-1] < count:
        start = bounds[-1]
        most = int(np.searchsorted(offsets, offsets[start] + _TOKENS, side="right")) - 1
        bounds.append(min(max(most, start + 1), start + size, count))
    return list(pairwise(bounds))


def _chunkwise(
    work: Callable[[int, int, Buffers], Result], chunks: list[tuple[int, int]]
) -> Iterator[Result]:
    """Results in order; every thread has buffers of its own."""
    own = local()

    def call(bounds: tuple[int, int]) -> Result:
        if not hasattr(own, "buffers"):
            own.buffers = Buffers()
        with np.errstate(all="ignore"):  # what overflows is unclear
            return work(*bounds, own.buffers)

    return in_threads(call, chunks)


def _parts(
    plan: Plan, tokens: ExactArray, offsets: Array, inside: Inside | None
) -> Iterator[tuple[int, _Part]]:
    def one(start: int, end: int, buffers: Buffers) -> tuple[int, _Part]:
        return start, _part(plan, tokens, offsets, start, end, inside, buffers)

    return _chunkwise(one, _chunks(offsets))


def _sweeps(
    plan: Plan, collapsed: Collapsed, buffers: Buffers, floats: bool = True
) -> list[Trail | None]:
    """Take the points through all steps, in place; the last may be left out without ``floats``."""
    trails: list[Trail | None] = []
    for i, step in enumerate(plan.steps):
        if isinstance(step, Scaling):
            p = plan.parameters
            collapsed.points.scale(float(p.rho.entry(step.block) + p.alpha.entry(step.block)))
            trails.append(None)
        else:
            move = floats or i + 1 < len(plan.steps)
            trails.append(sweep(step, collapsed.points, buffers, move))
    return trails


def _part(
    plan: Plan,
    tokens: ExactArray,
    offsets: Array,
    start: int,
    end: int,
    inside: Inside | None,
    buffers: Buffers,
) -> _Part:
    count = end - start
    collapsed = collapse(plan, tokens, offsets[start : end + 1])
    surely = np.zeros(count, dtype=bool)
    if collapsed is None:
        return _Part(np.full(count, OPEN), surely, {}, np.arange(count))
    trails = _sweeps(plan, collapsed, buffers, floats=inside is not None)
    rows = np.arange(count)
    if collapsed.lost is not None:
        rows = rows[~collapsed.lost]
    if inside is not None:
        found = inside(start + rows, collapsed.points.take(rows))
        surely[rows[found]] = True
        rows = rows[~found]
    number = settle(plan.kept(Book), collapsed, trails, rows)
    settled = surely | (number >= 0)
    if settled.all():
        return _Part(number, surely, {}, np.zeros(0, dtype=np.int64))
    single = rows[(number[rows] < 0) & collapsed.uniform[rows]]
    points = dict(
        zip(
            single.tolist(),
            _replayed(plan, tokens, offsets, start, collapsed, trails, single),
            strict=True,
        )
    )
    settled[single] = True
    return _Part(number, surely, points, np.flatnonzero(~settled))


def _replayed(
    plan: Plan,
    tokens: ExactArray,
    offsets: Array,
    start: int,
    collapsed: Collapsed,
    trails: list[Trail | None],
    rows: Array,
) -> Iterable[Point]:
    """Exact outputs of some uniform sequences, from their mean or leader on."""
    if not len(rows):
        return []
    blocks = plan.kept(IntegerBlocks)
    stories = history(collapsed, trails, plan, rows)
    blocks.prepare(k for story in stories for k, state in story if state != RESTS)
    points = starting_points(blocks, plan, tokens, offsets, start + rows, collapsed, rows)
    return map(blocks.follow, points, stories)


def _generally(
    model: Transformer,
    tokens: ExactArray,
    offsets: Array,
    rows: list[int],
    outputs: Outputs,
    progress: Progress | None,
) -> None:
    """Block by block in exact arithmetic: what the plan has no answer to."""
    batch = Tokens.of_sequences(tokens, offsets, np.array(rows))
    for j, output in zip(rows, model.run(batch, progress), strict=True):
        outputs.points[j] = clear_denominators(output)
