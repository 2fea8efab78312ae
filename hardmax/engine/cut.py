"""Exact outputs of any model: by its plan, or cut behind its attention and continued by tokens.

A plan is for attention with one head and no mask (2.4). Under a mask (4.2), or with several heads
(4.1), the blocks up to the last attention layer that is not the identity run on exact tokens; under
a mask a prefix mean is a running sum. Behind it every token goes its own way: each *distinct* token
goes through the feed-forward layers as a sequence of its own, at the speed of the plan. The outputs
are means of what comes out.
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
from ..model.blocks import apply
from ..model.layers import RankOneBlock
from ..model.parameters import HEADED, VECTORS, PackedBlock, Parameters
from ..model.tokens import Tokens
from ..model.transformer import Transformer
from .chunks import chunks
from .exact.backward import OPEN
from .outputs import Outputs, Progress
from .outputs import evaluate as evaluate_by_plan
from .part import Inside
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

    A model that is masked or has several heads has exact outputs throughout: ``inside`` is not
    asked. Raises InputError for general layers.

    >>> model = Transformer([RankOneBlock.of(1, rho=0, alpha=1)], masked=True)
    >>> evaluate(model, ExactArray(np.array([[1.0], [2.0]])), np.array([0, 2]))[0]
    (Fraction(5, 4),)
    """
    if model.parameters is None:
        raise InputError("only models of rank-1 blocks have a plan")
    if not model.masked and model.heads == 1:
        return evaluate_by_plan(model, tokens, offsets, inside, progress, search, sizes)
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
    """A model cut behind its last attention layer that is not the identity.

    ``mixing`` lists the blocks up to there, ``free`` is the rest as a model of single tokens.
    """

    mixing: Sequence[PackedBlock]
    free: Transformer | None
    masked: bool

    @classmethod
    def of(cls, model: Transformer) -> _Split:
        """Cut a model; done once, then remembered."""
        p = model.parameters
        if p is None:
            raise InputError("only models of rank-1 blocks have a plan")
        known = p.__dict__.setdefault("splits", {})
        if model.masked not in known:
            known.setdefault(model.masked, cls._cut(p, model.masked))
        return known[model.masked]  # type: ignore[no-any-return]

    @classmethod
    def _cut(cls, p: Parameters, masked: bool) -> _Split:
        H = p.heads
        mixes = [
            k for k in range(len(p))
            if p.rho.entry(k) != 1 or any(p.alpha.entry(k * H + h) for h in range(H))
        ]  # fmt: skip
        cut = mixes[-1] + 1 if mixes else 0
        return cls(p[:cut], _free(p, cut) if cut < len(p) else None, masked)

    def outputs(self, batch: Tokens, told: Callable[[int], None], sizes: Sizes) -> list[Row]:
        """The outputs of a batch, which is changed, in lowest terms."""
        for k, block in enumerate(self.mixing):
            apply(batch, block, self.masked)
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
            apply(batch, block, self.masked)  # type: ignore[arg-type]
        return [tuple(row_of(mean)) for mean in batch.means()]


def _free(p: Parameters, cut: int) -> Transformer:
    """The blocks from ``cut`` on, behind one that makes a point of a single token: it changes
    nothing. Their attention is the identity, with one head."""
    first = RankOneBlock.of(p.dimension, rho=0, alpha=1)
    depth = len(p) - cut
    arrays = {}
    for name, array in p.arrays.items():
        width = p.dimension if name in VECTORS else 1
        shape = (p.dimension,) if name in VECTORS else ()
        mine: object = getattr(first, name)
        lead = np.array(mine, dtype=np.float64).reshape((1, *shape))
        if name in HEADED:
            arrays[name] = ExactArray.owning(np.concatenate([lead, np.zeros((depth, *shape))]))
            continue
        exact: dict[int, Fraction] = {
            k + (1 - cut) * width: x for k, x in array.exact.items() if k >= cut * width
        }
        arrays[name] = ExactArray.owning(np.concatenate([lead, array.values[cut:]]), exact)
    return Transformer(Parameters(**arrays))
