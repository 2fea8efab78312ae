"""Exact outputs of a whole data set, at the speed of float64 (theory part C)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ..exact_array import ExactArray
from ..model.tokens import Tokens
from ..model.transformer import Transformer
from ..numbers import Vector
from ..rows import lowest_terms, row_of, vector_of
from .buffers import Buffers
from .chunks import chunks, chunkwise
from .collapse import Collapsed, collapse
from .deep import run_deep
from .plan import Plan, Scaling
from .points import Points
from .replay import Replay
from .rounding import Array
from .settle import OPEN, Book, settle
from .stories import Stories
from .sweep import in_order, sweep
from .tables import Tables
from .targets import Targets, reached
from .trails import Trail

Inside = Callable[[Array, Points], Array]
Progress = Callable[[int], None]


@dataclass
class Outputs:
    """Exact outputs of N sequences, as `rows` in lowest terms.

    ``constants[number[j]]`` is the output of sequence j where ``number[j]`` ≥ 0; ``points`` holds
    others; what is in neither was found ``inside``, or on its target.
    """

    number: Array
    constants: Sequence[tuple[int, ...]]
    points: dict[int, tuple[int, ...]]
    inside: Array

    def __len__(self) -> int:
        return len(self.number)

    def __getitem__(self, j: int) -> Vector:
        """The output of sequence j."""
        return vector_of(self.constants[self.number[j]] if self.number[j] >= 0 else self.points[j])


def evaluate(
    model: Transformer,
    tokens: ExactArray,
    offsets: Array,
    inside: Inside | None = None,
    targets: Targets | None = None,
    progress: Progress | None = None,
) -> Outputs:
    """Exact outputs of packed sequences (T, d): sequence j is tokens offsets[j] … offsets[j+1]−1.

    ``inside`` may say of float enclosures which sequences need no exact output; it gets their
    numbers and `Points`. Nor do those that are proven to reach their ``targets``.
    ``progress`` is called with a number of blocks out of len(model).

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
    for start, part in _parts(plan, tokens, offsets, inside, targets):
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


def float_outputs(plan: Plan, tokens: ExactArray, offsets: Array) -> Array:
    """Outputs in float64 by the fused plan, (N, d); NaN where floats can't follow a sequence."""
    count = len(offsets) - 1
    found = np.empty((count, plan.dimension))

    def one(start: int, end: int, buffers: Buffers) -> None:
        collapsed = collapse(plan, tokens, offsets[start : end + 1])
        if collapsed is None or plan.wild:
            found[start:end] = np.nan
            return
        _sweeps(plan, collapsed, buffers)
        found[start:end] = collapsed.points.values
        if collapsed.lost is not None:
            found[start:end][collapsed.lost] = np.nan

    for _ in chunkwise(one, chunks(offsets)):
        pass
    return found


@dataclass
class _Part:
    number: Array
    inside: Array
    points: dict[int, tuple[int, ...]]
    general: Array  # sequences left to the general evaluator


def _parts(
    plan: Plan,
    tokens: ExactArray,
    offsets: Array,
    inside: Inside | None,
    targets: Targets | None,
) -> Iterator[tuple[int, _Part]]:
    def one(start: int, end: int, buffers: Buffers) -> tuple[int, _Part]:
        return start, _part(plan, tokens, offsets, start, end, inside, targets, buffers)

    return chunkwise(one, chunks(offsets))


def _sweeps(
    plan: Plan, collapsed: Collapsed, buffers: Buffers, floats: bool = True
) -> tuple[list[Trail | None], bool]:
    """Take the points through all steps, in place, but for the last one perhaps where nobody asks
    for ``floats``; and whether that one was done."""
    trails: list[Trail | None] = []
    done = True
    for i, step in enumerate(plan.steps):
        if isinstance(step, Scaling):
            p = plan.parameters
            collapsed.points.scale(float(p.rho.entry(step.block) + p.alpha.entry(step.block)))
            trails.append(None)
        else:
            move = floats or i + 1 < len(plan.steps)
            trails.append(sweep(step, collapsed.points, buffers, move))
            done = move or not in_order(step)
    return trails, done


def _part(
    plan: Plan,
    tokens: ExactArray,
    offsets: Array,
    start: int,
    end: int,
    inside: Inside | None,
    targets: Targets | None,
    buffers: Buffers,
) -> _Part:
    count = end - start
    deep = run_deep(plan, tokens, offsets, start, end, targets)
    if deep is not None:
        known = deep[0].copy()
        known[list(deep[1])] = True
        return _Part(np.full(count, OPEN), *deep, np.flatnonzero(~known))
    if plan.wild:
        return _Part(np.full(count, OPEN), np.zeros(count, dtype=bool), {}, np.arange(count))
    # where targets were asked for before, they will be again
    again = targets is not None and Tables in plan.memory
    collapsed = collapse(plan, tokens, offsets[start : end + 1], again)
    surely = np.zeros(count, dtype=bool)
    if collapsed is None:
        return _Part(np.full(count, OPEN), surely, {}, np.arange(count))
    trails, moved = _sweeps(plan, collapsed, buffers, again or inside is not None)
    rows = np.arange(count)
    if collapsed.lost is not None:
        rows = rows[~collapsed.lost]
    if inside is not None:
        found = inside(start + rows, collapsed.points.take(rows))
        surely[rows[found]] = True
        rows = rows[~found]
    number = settle(plan.kept(Book), collapsed, trails, rows)
    left = rows[(number[rows] < 0) & collapsed.uniform[rows]]
    general = np.flatnonzero((number < 0) & ~surely & ~collapsed.uniform)
    if not len(left):
        return _Part(number, surely, {}, general)
    stories = Stories.of(collapsed, trails, plan, left)
    replay = Replay.of(plan, tokens, offsets, start + left, collapsed, left, stories)
    if targets is not None:
        if not moved:
            sweep(plan.steps[-1], collapsed.points, buffers)  # type: ignore[arg-type]
        places = np.flatnonzero(~stories.unclear())
        of, enclosed = targets.of[start + left[places]], collapsed.points.take(left[places])
        proven = places[reached(plan, targets, of, enclosed, replay.take(places))]
        surely[left[proven]] = True
    points: dict[int, tuple[int, ...]] = {}
    places = np.flatnonzero(~surely[left])
    if len(places):
        replay, left = replay.take(places), left[places]
        cloud = replay.outputs(plan.kept(Tables).exact(replay.table_rows))
        for j, z in zip(left.tolist(), cloud.z[0, 0].tolist(), strict=True):
            points[j] = tuple(lowest_terms(z))
    return _Part(number, surely, points, general)


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
        outputs.points[j] = tuple(row_of(output))
