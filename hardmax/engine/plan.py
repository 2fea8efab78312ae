"""A model compiled for many sequences at once: what is fused, and what runs side by side.

After a layer with ρ = 0 a sequence usually is a single point, and from there on the points do not
meet: a feed-forward layer moves each by itself, and attention multiplies it by ρ + α. So the
layers behind the first collapse come in *panels*, whose inner products with all points are one
matrix product (theory C4). Identity layers drop out. The three blocks of a tent, which share u,
are one item that does nothing outside its slab (theory C3).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Any, Literal, TypeVar, cast

import numpy as np

from ..errors import InputError
from ..exact_array import ExactArray
from ..model.parameters import NAMES, Parameters
from ..model.transformer import Transformer

Array = np.ndarray[Any, np.dtype[Any]]
T = TypeVar("T")
Kind = Literal["layers", "straight", "clips", "tents"]

UNIT = 2.0**-53
TINY = 2.0**-700  # far above all that underflow can lose between numbers in LEAST … MOST
LEAST, MOST = 2.0**-300, 2.0**300  # absolute values, zeros apart, that the bounds speak of
SLACK = 1 + 2.0**-40  # covers the rounding of a bound itself
WIDEST = 2048  # dimensions and items of a panel for which SLACK is enough
_KINDS: tuple[Kind, ...] = ("layers", "straight", "clips", "tents")
_ITEMS = 256  # of a panel
_TENTS = 512
_BRIEF = 40  # layers in a row that form a single panel
_STRAIGHT = 4  # consecutive layers that read one coordinate each form a panel of their own


def gamma(count: int) -> float:
    """γ_k = k u/(1 − k u), u = 2^-53 (Higham, section 3.1), with upward slack."""
    return count * UNIT / (1 - count * UNIT) * SLACK


@dataclass(frozen=True, eq=False)
class Panel:
    """Feed-forward layers without attention in between, as K items one after another.

    Item i is the layer of block ``first[i]`` or, in a panel of tents, those of three blocks from
    it on, which share u and together leave every point outside their slab in place. The layers
    of a straight panel are active on many points, as are those that read one coordinate; those of
    clips cut one off each, as kills do: z_i ↦ min(z_i, level) or max(z_i, level).
    """

    kind: Kind
    first: Array
    plan: Plan

    def __len__(self) -> int:
        return len(self.first)

    @property
    def hinges(self) -> int:
        """Layers of an item."""
        return 3 if self.kind == "tents" else 1

    @cached_property
    def axis(self) -> int | None:
        """The coordinate that the layers change, where it is one and the same."""
        used = np.flatnonzero(self.plan.w[self.first].any(axis=0))
        return int(used[0]) if len(used) == 1 else None

    @cached_property
    def unread(self) -> int | None:
        """`axis`, where no layer of the panel reads it."""
        axis = self.axis
        return None if axis is None or self.plan.u[self.first, axis].any() else axis

    @cached_property
    def scales(self) -> Array:
        """What t is divided by, (K,): a power of two ≥ |u|₁ for a layer, the half-width of the
        slab of a tent."""
        norms = np.abs(self.plan.u[self.first]).sum(axis=1)
        if self.kind != "tents":
            return np.asarray(np.exp2(np.ceil(np.log2(np.where(norms > 0, norms, 1.0))) + 1))
        low, high = self._knots
        half = (high - low) / 2
        return np.asarray(half * SLACK + (np.abs(low) + np.abs(high)) * 4 * UNIT)

    @cached_property
    def _knots(self) -> tuple[Array, Array]:
        """Least and largest b of each tent."""
        b = self.plan.b[self.first[:, None] + np.arange(self.hinges)]
        return b.min(axis=1), b.max(axis=1)

    @cached_property
    def sieve(self) -> Array:
        """(d + 2, K): (x, ρ, 1) @ sieve decides for all points at once which items rest.

        ρ is the point's `Points.reach`. A layer may be active where the product is not ≤ 0; a
        tent where it is not ≥ 1 + ρ·`spread` in absolute value.
        """
        plan = self.plan
        d = plan.dimension
        scales = self.scales
        u = plan.u[self.first]
        rows = np.empty((d + 2, len(self)))
        rows[:d] = (u / scales[:, None]).T
        if self.kind != "tents":
            b = plan.b[self.first] / scales
            rows[d] = 1.0
            rows[d + 1] = b + 4 * gamma(d + 8) * np.abs(b) + TINY
        else:
            low, high = self._knots
            rows[d] = 0.0
            rows[d + 1] = (low + high) / 2 / scales
        return rows

    @cached_property
    def spread(self) -> tuple[float, float]:
        """Largest |u|₁/half-width of a tent, and the error that the offsets bring, over it."""
        plan = self.plan
        norms = np.abs(plan.u[self.first]).sum(axis=1) / self.scales
        offsets = np.abs(np.maximum(*map(np.abs, self._knots)) / self.scales)
        return (
            float(norms.max()) * SLACK,
            float(offsets.max()) * 4 * gamma(plan.dimension + 8) + TINY,
        )

    @cached_property
    def coarse(self) -> tuple[Array, float, float]:
        """Of tents (u, b)/half-width in single precision, (d + 1, K); the greatest length of a
        column; and the most that rounding can add to |t|/half-width, over that length and that
        of (x, 1)."""
        plan, d = self.plan, self.plan.dimension
        low, high = self._knots
        rows = np.empty((d + 1, len(self)), dtype=np.float32)
        rows[:d] = (plan.u[self.first] / self.scales[:, None]).T
        rows[d] = (low + high) / 2 / self.scales
        lengths = np.sqrt((rows.astype(np.float64) ** 2).sum(axis=0)) * SLACK
        # Cauchy and Schwarz: γ_{d+6}·⟨|u|,|x|⟩, with the unit roundoff of single precision
        return rows, float(lengths.max()), 2 * (d + 6) * 2.0**-24

    @cached_property
    def layers(self) -> tuple[Array, Array, Array, Array, Array]:
        """u, |u|, b, w and |w| of the layers."""
        plan, k = self.plan, self.first
        return plan.u[k], plan.absolute_u[k], plan.b[k][:, None], plan.w[k], plan.absolute_w[k]

    @cached_property
    def norms(self) -> Array:
        """|u|₁ of the layers, (K,)."""
        return np.asarray(self.layers[1].sum(axis=1))

    @cached_property
    def rounding(self) -> float:
        """γ of ⟨u,x⟩ + b: d products and sums, and a correction for each layer before."""
        return gamma(self.plan.dimension + 2 * len(self) + 8)

    @cached_property
    def couplings(self) -> tuple[Array, Array]:
        """⟨w_i,u_k⟩ for layers i, k, zero unless i < k, and bounds on their absolute values;
        both (K, K)."""
        u, size_u, _, w, size_w = self.layers
        return np.triu(w @ u.T, 1), np.triu(size_w @ size_u.T, 1) * SLACK

    @cached_property
    def consequent(self) -> list[tuple[int, int, Array]]:
        """Layers that change what a later one of the panel sees: their place, that of the first
        such one, and the couplings from there on."""
        return self._from_first(self.couplings[0])

    @cached_property
    def consequences(self) -> list[tuple[int, int, Array]]:
        """The same, with the bounds."""
        return self._from_first(self.couplings[1])

    def _from_first(self, table: Array) -> list[tuple[int, int, Array]]:
        touched = self.couplings[1] > 0
        first = touched.argmax(axis=1).tolist()
        places = np.flatnonzero(touched.any(axis=1)).tolist()
        return [(i, first[i], np.ascontiguousarray(table[i, first[i] :])) for i in places]

    def errors(self, reach: float, rises: Array) -> Array:
        """A bound on the error of every t, (K,), for all points of at most this reach, where
        the computed max(0, t) are at most ``rises``."""
        bound = self.norms * reach + self._offset_errors
        return np.asarray(
            (self._growth @ (bound + (self.rounding * rises) @ self.couplings[1])) * SLACK
        )

    @cached_property
    def _offset_errors(self) -> Array:
        return np.asarray(self.rounding * np.abs(self.layers[2][:, 0]) + TINY)

    @cached_property
    def _growth(self) -> Array:
        """(I − C)⁻¹, C the bounds of the couplings, transposed: what an error comes to by the
        time of a later layer. Sums of products of numbers ≥ 0, so as exact as SLACK needs."""
        count = len(self)
        growth = np.eye(count)
        for k in range(1, count):
            growth[k] += self.couplings[1][:k, k] @ growth[:k]
        return growth

    @cached_property
    def cuts(self) -> tuple[slice | Array, Array, Array]:
        """Of clips the coordinates, the signs of u and the levels, (K,) each."""
        u, _, b, _, _ = self.layers
        where = np.abs(u).argmax(axis=1)
        signs = u[np.arange(len(u)), where]
        start, count = int(where[0]), len(where)
        run = bool((where == np.arange(start, start + count)).all())
        return slice(start, start + count) if run else where, signs, -signs * b[:, 0]


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
    nothing.

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
    memory: dict[object, object] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, model: Transformer) -> Plan:
        """The plan of a model of rank-1 blocks; compiled once, then remembered."""
        if model.parameters is None:
            raise InputError("only models of rank-1 blocks have a plan")
        held = model.parameters.__dict__  # as functools.cached_property does it
        if "plan" not in held:
            held["plan"] = _compile(model.parameters)
        return cast("Plan", held["plan"])

    def kept(self, kind: Callable[[Plan], T]) -> T:
        """Something made of this plan once, and remembered."""
        if kind not in self.memory:
            self.memory[kind] = kind(self)
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
    if not len(zeros) or p.dimension > WIDEST or not all(map(_moderate, arrays)):
        return Plan(p, (), None, moves, rests, (), *floats)
    collapse = int(zeros[0])
    prefix = tuple(np.flatnonzero((moves | ~rests)[: collapse + 1]).tolist())
    plan = Plan(p, prefix, collapse, moves, rests, (), *floats)
    steps: list[Panel | Scaling] = []
    start = collapse + 1
    for end in np.flatnonzero(~rests).tolist():
        if end > collapse:
            steps += [*_panels(plan, start + np.flatnonzero(moves[start : end + 1])), Scaling(end)]
            start = end + 1
    steps += _panels(plan, start + np.flatnonzero(moves[start:]))
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


def _panels(plan: Plan, run: Array) -> list[Panel]:
    """Cut consecutive layers into panels of tents, of straight layers, and of others."""
    if not len(run):
        return []
    tents = _tents(plan, run)
    straight = (plan.u[run] != 0).sum(axis=1) <= 1
    kinds = np.where(tents > 0, 3, np.where(_clips(plan, run), 2, straight.astype(int)))
    kinds = _long(_long(kinds, 2, 1), 1, 0)  # short runs are not worth a panel
    if len(run) <= _BRIEF and not tents.any():
        kinds = np.ones_like(kinds)  # and a short one is not worth more than one
    edges = [0, *(np.flatnonzero(np.diff(kinds)) + 1).tolist(), len(run)]
    panels = []
    for a, b in pairwise(edges):
        kind = _KINDS[int(kinds[a])]
        first = run[a:b:3] if kind == "tents" else run[a:b]
        if kind == "clips":
            panels += [Panel(kind, part, plan) for part in _apart(plan, first)]
            continue
        size = _TENTS if kind == "tents" else _ITEMS
        panels += [Panel(kind, first[i : i + size], plan) for i in range(0, len(first), size)]
    return panels


def _long(kinds: Array, kind: int, otherwise: int) -> Array:
    """Kinds of layers, with short runs of one kind turned into another."""
    edges = [0, *(np.flatnonzero(np.diff(kinds)) + 1).tolist(), len(kinds)]
    lengths = np.diff(edges)
    short = np.repeat(lengths < _STRAIGHT, lengths) & (kinds == kind)
    return np.where(short, otherwise, kinds)


def _clips(plan: Plan, run: Array) -> Array:
    """Which layers have u = ±e_i and w = −u, exactly."""
    u, w = plan.u[run], plan.w[run]
    found = (np.abs(u).sum(axis=1) == 1) & (np.abs(u).max(axis=1) == 1) & (w == -u).all(axis=1)
    for array in (plan.parameters.u, plan.parameters.w):
        if array.exact:
            found &= ~np.isin(run, [k // plan.dimension for k in array.exact])
    return np.asarray(found)


def _apart(plan: Plan, run: Array) -> list[Array]:
    """Consecutive clips in groups that cut every coordinate at most once, by coordinate."""
    groups: list[list[tuple[int, int]]] = []
    seen: set[int] = set()
    for k, i in zip(run.tolist(), np.abs(plan.u[run]).argmax(axis=1).tolist(), strict=True):
        if i in seen or not groups:
            groups.append([])
            seen = set()
        seen.add(i)
        groups[-1].append((i, k))
    return [np.array([k for _, k in sorted(group)]) for group in groups]


def _tents(plan: Plan, run: Array) -> Array:
    """For each layer of a run 1, 2 or 3 where it is that layer of a tent, else 0.

    A tent is three consecutive blocks with the same u, ⟨u,w⟩ = 0, w = (1, −2, 1)·w₁ and
    b₁ + b₃ = 2b₂, exactly: outside |t + b₂| < |b₁ − b₂| its layers add up to nothing.
    """
    found = np.zeros(len(run), dtype=int)
    if len(run) < 3:
        return found
    p = plan.parameters
    u, b, w = plan.u[run], plan.b[run], plan.w[run]
    same = (u[1:] == u[:-1]).all(axis=1)
    level = (np.abs(u) * np.abs(w)).sum(axis=1) == 0  # so ⟨u,w⟩ is exactly 0
    first, second, third = slice(0, -2), slice(1, -1), slice(2, None)
    candidates = same[:-1] & same[1:] & level[first] & (run[third] - run[first] == 2)
    candidates &= (w[second] == -2 * w[first]).all(axis=1) & (w[third] == w[first]).all(axis=1)
    left, rest = _difference(b[first], b[second])
    right, remainder = _difference(b[second], b[third])
    candidates &= (left == right) & (rest == remainder) & (left != 0)
    for array, width in ((p.u, plan.dimension), (p.w, plan.dimension), (p.b, 1)):
        for k in array.exact:  # overrides are not what the floats say
            at = int(np.searchsorted(run, k // width))
            candidates[max(at - 2, 0) : at + 1] = False
    i = 0
    places = np.flatnonzero(candidates)
    for i_next in places.tolist():
        if i_next >= i:
            found[i_next : i_next + 3] = 1, 2, 3
            i = i_next + 3
    return found


def _difference(x: Array, y: Array) -> tuple[Array, Array]:
    """X − y as a float and its rounding error, exactly (Knuth's TwoSum)."""
    total = x - y
    part = total - x
    return total, (x - (total - part)) + (-y - part)
