"""The plan: a model compiled for many sequences at once.

Behind the first layer with ρ = 0 a sequence usually is a single point, and points of different
sequences do not meet: a feed-forward layer moves each by itself, and attention multiplies it by
ρ + α. So the layers behind this *collapse* are cut into panels, whose inner products with all
points are one matrix product (theory C4). Layers that do nothing drop out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar, cast

import numpy as np

from ...enclosure.rounding import LEAST, MOST, WIDEST
from ...errors import InputError
from ...exact.array import Array, ExactArray
from ...model.parameters import NAMES, Parameters
from ...model.transformer import Transformer
from ..sizes import SIZES, Sizes
from .arrays import BlockArrays
from .panel import Panel
from .panels import panels

T = TypeVar("T")


@dataclass(frozen=True)
class Scaling:
    """Attention on single points: z ↦ (ρ + α)z, of the block with number ``block``."""

    block: int


@dataclass(frozen=True, eq=False)
class Plan:
    """A compiled model: the blocks up to the collapse, and the `steps` behind it.

    ``collapse`` is the first block with ρ = 0; None if there is none, or if the engine cannot use
    it. ``prefix`` lists the blocks up to it that do something; the first ``features`` of these
    only read coordinates that none of them writes. ``moves`` (L,) says which
    feed-forward layers may move a token, ``rests`` (L,) which attention layers are the identity.
    A ``wild`` plan has no steps: behind the collapse its numbers are out of the range of the
    rounding bounds, and exact arithmetic takes over.

    >>> from hardmax.model.layers import RankOneBlock
    >>> plan = Plan.of(Transformer([RankOneBlock.of(1, rho=0, alpha=1), RankOneBlock.of(1)]))
    >>> plan.collapse, plan.steps
    (0, ())
    """

    arrays: BlockArrays
    sizes: Sizes
    prefix: tuple[int, ...]
    collapse: int | None
    moves: Array
    rests: Array
    steps: tuple[Panel | Scaling, ...]
    features: int = 0
    wild: bool = False
    memory: dict[object, object] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, model: Transformer, sizes: Sizes = SIZES) -> Plan:
        """The plan of a model of rank-1 blocks; compiled once, then remembered."""
        if model.parameters is None:
            raise InputError("only models of rank-1 blocks have a plan")
        if model.masked or model.heads > 1:
            raise InputError("a plan is for one head without mask (`hardmax.engine.cut`)")
        held = model.parameters.__dict__  # as functools.cached_property does it
        known = held.setdefault("plans", {})
        if sizes not in known:
            known.setdefault(sizes, _compile(model.parameters, sizes))
        return cast("Plan", known[sizes])

    def kept(self, kind: Callable[[Plan], T]) -> T:
        """An object made from this plan once and then remembered."""
        if kind not in self.memory:
            self.memory.setdefault(kind, kind(self))  # one for all threads
        return cast("T", self.memory[kind])

    @property
    def parameters(self) -> Parameters:
        """The exact parameters."""
        return self.arrays.parameters

    @property
    def dimension(self) -> int:
        """Dimension d of the tokens."""
        return self.arrays.dimension

    def __len__(self) -> int:
        return len(self.parameters)


def _compile(p: Parameters, sizes: Sizes) -> Plan:
    moves = (p.w.values != 0).any(axis=1) & ((p.u.values != 0).any(axis=1) | (p.b.values > 0))
    rests = _is(p.rho, 1.0) & _is(p.alpha, 0.0)
    zeros = np.flatnonzero(_is(p.rho, 0.0))
    arrays = BlockArrays(p)
    given = [getattr(p, name) for name in NAMES]
    head = np.arange(zeros[0] + 1 if len(zeros) else 0)
    calm = all(_moderate(array.take(head)) for array in given)
    shown = all(array.values.flat[k] for array in given for k in array.exact)
    if not len(zeros) or p.dimension > WIDEST or not calm or not shown:
        return Plan(arrays, sizes, (), None, moves, rests, ())
    collapse = int(zeros[0])
    prefix = tuple(np.flatnonzero((moves | ~rests)[: collapse + 1]).tolist())
    features = _features(arrays, prefix, moves & rests)
    if not all(map(_moderate, given)):
        return Plan(arrays, sizes, prefix, collapse, moves, rests, (), features, wild=True)
    steps: list[Panel | Scaling] = []
    start = collapse + 1
    for end in np.flatnonzero(~rests).tolist():
        if end > collapse:
            steps += panels(arrays, start + np.flatnonzero(moves[start : end + 1]), sizes)
            steps.append(Scaling(end))
            start = end + 1
    steps += panels(arrays, start + np.flatnonzero(moves[start:]), sizes)
    return Plan(arrays, sizes, prefix, collapse, moves, rests, tuple(steps), features)


def _features(arrays: BlockArrays, prefix: Sequence[int], alone: Array) -> int:
    """How many blocks at the start write no coordinate that one of them reads.

    ``alone`` (L,) marks those without attention. Fewer than two are none.
    """
    read, written = np.zeros((2, arrays.dimension), dtype=bool)
    count = 0
    for block in prefix:
        read |= arrays.u[block] != 0
        written |= arrays.w[block] != 0
        if not alone[block] or (read & written).any():
            break
        count += 1
    return count if count > 1 else 0


def _is(array: ExactArray, value: float) -> Array:
    """Mark the entries that are exactly a given float64."""
    found = array.values == value
    if array.exact:
        found = found.copy()
        found[list(array.exact)] = False
    return np.asarray(found)


def _moderate(array: ExactArray) -> bool:
    """Whether every entry is zero or between LEAST and MOST in absolute value."""
    sizes = np.abs(array.values)
    fair = bool(((sizes == 0) | ((sizes > LEAST) & (sizes < MOST))).all())
    at = np.fromiter(array.exact, np.int64, len(array.exact))
    return fair and bool(array.values.reshape(-1)[at].all())
