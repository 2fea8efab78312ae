"""Exact outputs of a whole data set, at the speed of float64 (theory part C)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ..exact.array import Array, ExactArray
from ..exact.numbers import Vector
from ..exact.rows import row_of, vector_of
from ..model.tokens import Tokens
from ..model.transformer import Transformer
from .chunks import chunks, chunkwise
from .compile.plan import Plan
from .exact.backward import OPEN, SuffixCache
from .forward.buffers import Buffers
from .forward.collapse import collapse
from .part import Inside, Job, forward, parts
from .search import Search, Tally
from .sizes import SIZES, Sizes

Progress = Callable[[int], None]


@dataclass
class Outputs:
    """Exact outputs of N sequences, as integer rows in lowest terms.

    ``constants[number[j]]`` is the output of sequence j where ``number[j]`` ≥ 0; ``points`` holds
    the other outputs. A sequence in neither was found ``inside`` its set by its enclosure. If a
    `Search` ``stopped``, nothing is known of sequences in none of the three.
    """

    number: Array
    constants: Sequence[tuple[int, ...]]
    points: dict[int, tuple[int, ...]]
    inside: Array
    stopped: bool = False

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
    progress: Progress | None = None,
    search: Search | None = None,
    sizes: Sizes = SIZES,
) -> Outputs:
    """Compute the exact outputs of packed sequences (T, d): sequence j is tokens offsets[j] …
    offsets[j+1]−1.

    ``inside`` is asked which sequences need no exact output; it gets their numbers and enclosures.
    A ``search`` stops where enough outputs are wrong. ``progress`` is called with a number of
    blocks out of len(model). ``sizes`` are the sizes of the pieces that are processed at once.

    >>> from hardmax.model.layers import RankOneBlock
    >>> model = Transformer([RankOneBlock.of(1, rho=0, alpha=1)])
    >>> evaluate(model, ExactArray(np.array([[1.0], [2.0]])), np.array([0, 2]))[0]
    (Fraction(3, 2),)
    """
    plan = Plan.of(model, sizes)
    count = len(offsets) - 1
    outputs = Outputs(
        np.full(count, OPEN), plan.kept(SuffixCache).constants, {}, np.zeros(count, dtype=bool)
    )
    left: list[int] = []
    done, found = 0, Tally()

    def told(share: float) -> None:
        if progress is not None:
            progress(int(len(model) * share))

    for start, part in parts(Job(plan, tokens, offsets, inside, search), told):
        end = start + len(part.number)
        outputs.number[start:end] = part.number
        outputs.inside[start:end] = part.inside
        outputs.points.update((start + j, x) for j, x in part.points.items())
        left.extend((start + part.general).tolist())
        done = end
        if not left:  # sequences in `left` start again from the first block
            told(done / count)
        found.wrong += part.wrong
        outputs.stopped = part.stopped or (search is not None and found.wrong > search.most)
        if outputs.stopped:
            return outputs
    if left:
        _generally(model, tokens, offsets, left, outputs, progress, search, found)
        if outputs.stopped:
            return outputs
    settled = (outputs.number >= 0) | outputs.inside
    if int(settled.sum()) + len(outputs.points) != count or done != count:
        raise AssertionError("every sequence needs exactly one output")
    return outputs


def float_outputs(plan: Plan, tokens: ExactArray, offsets: Array) -> Array:
    """Outputs in float64 by the same plan, (N, d); NaN for sequences that floats cannot follow."""
    count = len(offsets) - 1
    found = np.empty((count, plan.dimension))

    def one(start: int, end: int, buffers: Buffers) -> None:
        collapsed = collapse(plan, tokens, offsets[start : end + 1])
        if collapsed is None or plan.wild:
            found[start:end] = np.nan
            return
        forward(plan, collapsed, buffers)
        found[start:end] = collapsed.points.values
        if collapsed.lost is not None:
            found[start:end][collapsed.lost] = np.nan

    for _ in chunkwise(one, chunks(offsets, plan.sizes)):
        pass
    return found


def _generally(
    model: Transformer,
    tokens: ExactArray,
    offsets: Array,
    rows: list[int],
    outputs: Outputs,
    progress: Progress | None,
    search: Search | None,
    found: Tally,
) -> None:
    """Compute outputs block by block in exact arithmetic, for sequences that the plan cannot
    handle.
    """
    every = np.array(rows)
    # a rough guess of the work: the length of a sequence
    cost = np.diff(offsets)[every]
    batches = iter([np.arange(len(every))])
    if search is not None:
        batches = search.batches(cost * (search.work // 64 + 1), found)
    done = 0
    for some in batches:
        chosen = every[np.sort(some)]
        batch = Tokens.of_sequences(tokens, offsets, chosen)
        new = {
            j: tuple(row_of(output))
            for j, output in zip(chosen.tolist(), model.run(batch, progress), strict=True)
        }
        outputs.points |= new
        if search is not None:
            found.wrong += len(search.wrong(0, outputs.number[:0], outputs.constants, new))
        done += len(chosen)
    outputs.stopped = done < len(every)
