"""A second opinion on a verdict: some sequences again, block by block, without the engine.

Every block is applied to exact tokens as the definition says (`model.tokens`). Blocks that do
nothing are passed over: their attention is the identity, and float bounds (`enclosure.shadow`)
prove that no token is active. The engine's plan, its panels and its enclosures take no part.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

import numpy as np

from ..dataset import Dataset
from ..engine.chunks import chunks
from ..engine.sizes import SIZES
from ..errors import VerdictError
from ..exact.array import ExactArray
from ..exact.numbers import Vector
from ..model.blocks import apply
from ..model.parameters import Parameters
from ..model.tokens import Tokens
from ..model.transformer import Transformer

_SLAB = 256  # blocks whose signs are computed at once
_TOGETHER = 8  # the largest batch of sequences; the first batch has one, then they double
_SHARE = 100  # one of so many sequences is drawn; the first and last of each chunk come always
_LEAST, _PER_BLOCK = 60, 1000  # the budget: 60 blocks, and one more for every 1000 sequences
_SLABS, _TOKENS = 4, 8  # a block on 8 tokens costs about as much as a look at 4 slabs


def double_check(model: Transformer, data: Dataset) -> int:
    """Replay some sequences of a proved model; the number of them.

    They are the first and last of each chunk and one in a hundred, drawn at random, as far as a
    budget of work goes that grows with the data: in a deep model it may end before the first.
    Raises VerdictError where an output lies outside its label set.
    """
    if model.parameters is None:  # there was no other way
        return 0
    labels, budget, done = data.need_labels(), _LEAST + len(data) // _PER_BLOCK, 0
    order, size = _chosen(data), 1
    while done < len(order):
        some = order[done : done + size]
        outputs, spent = replayed_outputs(model.parameters, data, some, budget, model.masked)
        if outputs is None:
            break
        for j, output in zip(some.tolist(), outputs, strict=True):
            if not data.sets[labels[j]].contains(output):
                raise VerdictError(
                    f"{data.name(j)} was proved, but block by block its output lies outside its set"
                )
        done, budget, size = done + len(some), budget - spent, min(2 * size, _TOGETHER)
    return done


def _chosen(data: Dataset) -> np.ndarray:
    """Sequences in the order in which they are replayed, the same every time."""
    ends = [j for start, end in chunks(data.offsets, SIZES) for j in (start, end - 1)]
    draw = np.random.default_rng(len(data)).permutation(len(data))
    order = np.concatenate([draw[: -(-len(data) // _SHARE)], ends])
    mixed = np.random.default_rng(len(data)).permutation(len(order))
    return np.asarray(list(dict.fromkeys([0, *order[mixed].tolist()])))


def replayed_outputs(
    parameters: Parameters,
    data: Dataset,
    chosen: np.ndarray,
    most: int = sys.maxsize,
    masked: bool = False,
) -> tuple[Sequence[Vector] | None, int]:
    """Exact outputs of some sequences, and about how many blocks had to be applied.

    None where these would be more than ``most``.

    >>> import hardmax as hm
    >>> data = hm.Dataset([[(0,)], [(1,)]], ["a", "b"])
    >>> replayed_outputs(hm.build(data).parameters, data, np.array([1]))[0]
    [(Fraction(1, 1),)]
    """
    batch = Tokens.of_sequences(data.tokens, data.offsets, chosen)
    p = parameters
    attends = (
        (p.rho.values != 1)
        | _by_block(p.alpha.values != 0)
        | _overridden(p.rho)
        | _overridden(p.alpha)
    )
    moves = (p.w.values != 0).any(axis=1) | _overridden(p.w)
    k, steps = 0, 0
    while k < len(p):
        some = slice(k, k + _SLAB)
        asleep = batch.rest_throughout(p.u.values[some], p.b.values[some])
        acting = np.flatnonzero(attends[some] | (moves[some] & ~asleep))
        steps += 1
        if len(acting):
            k += int(acting[0]) + 1
            steps += _SLABS + _SLABS * batch.starts[-1] // _TOKENS
            apply(batch, p[k - 1], masked)
        else:
            k += _SLAB
        if steps // _SLABS > most:
            return None, most
    return batch.means(), steps // _SLABS


def _overridden(array: ExactArray) -> np.ndarray:
    """Which blocks have an entry that its float does not say, (L,) of bool."""
    found = np.zeros(array.shape, dtype=bool)
    found.reshape(-1)[np.fromiter(array.exact, np.int64, len(array.exact))] = True
    return _by_block(found)


def _by_block(flags: np.ndarray) -> np.ndarray:
    """Which blocks have a flag, (L,) of bool; no block is possible."""
    return np.asarray(flags.any(axis=tuple(range(1, flags.ndim))))
