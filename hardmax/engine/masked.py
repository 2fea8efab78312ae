"""Exact outputs of any model: masked ones (4.2) by way of single tokens, all others by their plan.

Under a mask a sequence seldom becomes one point, and its output is the mean of its last tokens. But
behind the last attention layer that is not the identity, every token goes its own way. So the
blocks up to there run on exact tokens, where a prefix mean is a running sum; then each *distinct*
token goes through the feed-forward layers behind as a sequence of its own, at the speed of the
plan. The outputs are means of what comes out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from ..errors import InputError, ResourceLimitError
from ..exact.array import Array, ExactArray
from ..exact.matrix import IntegerRows
from ..exact.rows import row_of, vector_of
from ..model.layers import RankOneBlock
from ..model.parameters import VECTORS, Parameters
from ..model.tokens import Tokens
from ..model.transformer import Transformer, apply
from .chunks import chunks
from .exact.backward import OPEN
from .outputs import Inside, Outputs, Progress
from .outputs import evaluate as evaluate_by_plan
from .search import Search, Tally
from .sizes import SIZES, Sizes

Row = tuple[int, ...]


def evaluate(
    model: Transformer,
    tokens: ExactArray,
    offsets: Array,
    inside: Inside | None = None,
    progress: Progress | None = None,
    search: Search | None = None,
    sizes: Sizes = SIZES,
) -> Outputs:
    """Compute the exact outputs of packed sequences, as `hardmax.engine.outputs.evaluate` does.

    A masked model has exact outputs throughout: ``inside`` is not asked. Raises InputError for
    general layers.

    >>> model = Transformer([RankOneBlock.of(1, rho=0, alpha=1)], masked=True)
    >>> evaluate(model, ExactArray(np.array([[1.0], [2.0]])), np.array([0, 2]))[0]
    (Fraction(5, 4),)
    """
    if not model.masked:
        return evaluate_by_plan(model, tokens, offsets, inside, progress, search, sizes)
    if model.parameters is None:
        raise InputError("only models of rank-1 blocks have a plan")
    split = _Split.of(model)
    count, found = len(offsets) - 1, Tally()
    outputs = Outputs(np.full(count, OPEN), [], {}, np.zeros(count, dtype=bool))
    bounds = chunks(offsets, sizes)
    if search is not None and count > 8 * sizes.probe:  # if all are wrong, a few show it
        bounds = [(0, sizes.probe), *((max(a, sizes.probe), b) for a, b in bounds)]
        bounds = [(a, b) for a, b in bounds if a < b]
    for start, end in bounds:
        told = _within(progress, len(model), start / count, end / count)
        batch = Tokens.of_sequences(tokens, offsets, np.arange(start, end))
        new = dict(enumerate(split.outputs(batch, told, sizes)))
        if search is not None:
            found.wrong += len(search.wrong(start, outputs.number[:0], (), new))
        outputs.points.update((start + j, row) for j, row in new.items())
        if search is not None and found.wrong > search.most and end < count:
            outputs.stopped = True
            return outputs
    if len(outputs.points) != count:
        raise AssertionError("every sequence needs exactly one output")
    return outputs


def _within(progress: Progress | None, depth: int, low: float, high: float) -> Progress:
    def told(blocks: int) -> None:
        if progress is not None:
            progress(int(depth * low + blocks * (high - low)))

    return told


@dataclass(frozen=True)
class _Split:
    """A masked model cut behind its last attention layer that is not the identity.

    ``mixing`` lists the blocks up to there, ``free`` is the rest as a model of single tokens.
    """

    mixing: Sequence[RankOneBlock]
    free: Transformer | None

    @classmethod
    def of(cls, model: Transformer) -> _Split:
        """Cut a model; done once, then remembered."""
        p = model.parameters
        if p is None:
            raise InputError("only models of rank-1 blocks have a plan")
        known = p.__dict__.get("masked split")
        if known is None:
            known = p.__dict__.setdefault("masked split", cls._cut(p))
        return known  # type: ignore[no-any-return]

    @classmethod
    def _cut(cls, p: Parameters) -> _Split:
        mixes = [k for k in range(len(p)) if p.rho.entry(k) != 1 or p.alpha.entry(k)]
        cut = mixes[-1] + 1 if mixes else 0
        return cls(p[:cut], _free(p, cut) if cut < len(p) else None)

    def outputs(self, batch: Tokens, told: Callable[[int], None], sizes: Sizes) -> list[Row]:
        """The outputs of a batch, which is changed, in lowest terms."""
        for k, block in enumerate(self.mixing):
            apply(batch, block, masked=True)
            told(k + 1)
        if self.free is None:
            return [tuple(row_of(mean)) for mean in batch.means()]
        places: dict[Row, int] = {}
        state = [places.setdefault(key, len(places)) for key in batch.token_keys()]
        try:
            distinct = ExactArray.from_rows([vector_of(key) for key in places], batch.dimension)
        except ResourceLimitError:  # past the range of float64
            return self._by_definition(batch)
        ends = evaluate_by_plan(
            self.free, distinct, np.arange(len(places) + 1),
            progress=lambda blocks: told(len(self.mixing) + blocks - 1), sizes=sizes,
        )  # fmt: skip
        rows = [row_of(ends[i]) for i in range(len(places))]
        whole = Tokens(IntegerRows([rows[i] for i in state]), batch.starts)
        return [tuple(row_of(mean)) for mean in whole.means()]

    def _by_definition(self, batch: Tokens) -> list[Row]:
        if self.free is None:
            raise AssertionError("there are layers behind the last attention")
        for block in self.free.blocks[1:]:
            apply(batch, block, masked=True)  # type: ignore[arg-type]
        return [tuple(row_of(mean)) for mean in batch.means()]


def _free(p: Parameters, cut: int) -> Transformer:
    """The blocks from ``cut`` on, behind one that makes a point of a single token: it changes
    nothing."""
    first = RankOneBlock.of(p.dimension, rho=0, alpha=1)
    arrays = {}
    for name, array in p.arrays.items():
        width = p.dimension if name in VECTORS else 1
        mine: object = getattr(first, name)
        lead = np.array(mine, dtype=np.float64).reshape((1, *array.shape[1:]))
        exact: dict[int, Fraction] = {
            k + (1 - cut) * width: x for k, x in array.exact.items() if k >= cut * width
        }
        arrays[name] = ExactArray.owning(np.concatenate([lead, array.values[cut:]]), exact)
    return Transformer(Parameters(**arrays))
