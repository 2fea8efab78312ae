"""A model compiled for many sequences at once: what is fused, and what runs side by side.

After a layer with ρ = 0 a sequence usually is a single point, and from there on the points do not
meet: a feed-forward layer moves each by itself, and attention multiplies it by ρ + α. So the
layers behind the first collapse come in *panels*, whose inner products with all points are one
matrix product (theory C4). Identity layers drop out. Blocks that share u, tents above all, are one
item that does nothing outside its slab or half-space (theory C3).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeVar, cast

import numpy as np

from ..errors import InputError
from ..exact_array import ExactArray
from ..model.parameters import NAMES, Parameters
from ..model.transformer import Transformer
from .fuse import panels
from .panel import Panel
from .rounding import LEAST, MOST, WIDEST, Array

T = TypeVar("T")


@dataclass(frozen=True)
class Scaling:
    """Attention on single points: z ↦ (ρ + α)z; ``block`` is its number."""

    block: int


@dataclass(eq=False)
class Plan:
    """Compiled model: blocks before the collapse, the collapse, and `steps` behind it.

    ``collapse`` is the first block with ρ = 0, None where there is none that this engine can use;
    ``prefix`` lists the blocks up to it that do something. ``moves`` and ``rests`` (L,) say
    whether the feed-forward layer of a block may do something, and whether its attention does
    nothing. A ``wild`` plan has no steps: exact arithmetic goes on behind its collapse.

    >>> from hardmax.model.layers import RankOneBlock
    >>> plan = Plan.of(Transformer([RankOneBlock.of(1, rho=0, alpha=1), RankOneBlock.of(1)]))
    >>> plan.collapse, plan.steps
    (0, ())
    """

    parameters: Parameters
    prefix: tuple[int, ...]
    collapse: int | None
    moves: Array
    rests: Array
    steps: tuple[Panel | Scaling, ...]
    u: Array
    b: Array
    w: Array
    wild: bool = False  # numbers behind the collapse that the bounds on floats don't cover
    memory: dict[object, object] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, model: Transformer) -> Plan:
        """The plan of a model of rank-1 blocks; compiled once, then remembered.

        The parameters can't be changed in place afterwards.
        """
        if model.parameters is None:
            raise InputError("only models of rank-1 blocks have a plan")
        held = model.parameters.__dict__  # as functools.cached_property does it
        if "plan" not in held:
            for array in model.parameters.arrays.values():
                array.values.setflags(write=False)  # the plan would not notice a change
            held.setdefault("plan", _compile(model.parameters))
        return cast("Plan", held["plan"])

    def kept(self, kind: Callable[[Plan], T]) -> T:
        """Something made of this plan once, and remembered."""
        if kind not in self.memory:
            self.memory.setdefault(kind, kind(self))  # one for all threads
        return cast("T", self.memory[kind])

    @property
    def dimension(self) -> int:
        """Dimension d of the tokens."""
        return self.parameters.dimension

    def __len__(self) -> int:
        return len(self.parameters)

    @cached_property
    def absolute_u(self) -> Array:
        return np.abs(self.u)

    @cached_property
    def absolute_w(self) -> Array:
        return np.abs(self.w)

    @cached_property
    def norms(self) -> Array:
        """|u|₁ of every block, (L,)."""
        return np.asarray(self.absolute_u.sum(axis=1))


def _compile(p: Parameters) -> Plan:
    arrays = [getattr(p, name) for name in NAMES]
    moves = (p.w.values != 0).any(axis=1) & ((p.u.values != 0).any(axis=1) | (p.b.values > 0))
    rests = _is(p.rho, 1.0) & _is(p.alpha, 0.0)
    zeros = np.flatnonzero(_is(p.rho, 0.0))
    floats = p.u.values, p.b.values, p.w.values
    head = np.arange(zeros[0] + 1 if len(zeros) else 0)
    calm = all(_moderate(array.take(head)) for array in arrays)
    shown = all(array.values.flat[k] for array in arrays for k in array.exact)
    if not len(zeros) or p.dimension > WIDEST or not calm or not shown:
        return Plan(p, (), None, moves, rests, (), *floats)
    collapse = int(zeros[0])
    prefix = tuple(np.flatnonzero((moves | ~rests)[: collapse + 1]).tolist())
    wild = not all(map(_moderate, arrays))
    plan = Plan(p, prefix, collapse, moves, rests, (), *floats, wild)
    if wild:
        return plan  # no steps: floats end at the collapse
    steps: list[Panel | Scaling] = []
    start = collapse + 1
    for end in np.flatnonzero(~rests).tolist():
        if end > collapse:
            steps += [*panels(plan, start + np.flatnonzero(moves[start : end + 1])), Scaling(end)]
            start = end + 1
    steps += panels(plan, start + np.flatnonzero(moves[start:]))
    plan.steps = tuple(steps)
    return plan


def _is(array: ExactArray, value: float) -> Array:
    """Which entries are exactly a float64."""
    found = array.values == value
    if array.exact:
        found = found.copy()
        found[list(array.exact)] = False
    return np.asarray(found)


def _moderate(array: ExactArray) -> bool:
    """Whether every entry is zero or of moderate absolute value, as are the exact ones."""
    sizes = np.abs(array.values)
    fair = bool(((sizes == 0) | ((sizes > LEAST) & (sizes < MOST))).all())
    return fair and all(array.values.flat[k] for k in array.exact)
