"""The blocks up to the collapse without any rounding, in integers that float64 holds.

One-hot words, counts and points of a grid are small integers, and so are the parameters in front
of the collapse of most models for them. Then no sign is unclear: not where ⟨u,z⟩ + b is zero, nor
where two tokens have the same score; and no sequence needs the same layers on all of its tokens.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import lcm

import numpy as np

from ...exact.array import Array, ExactArray
from ..compile.plan import Plan

_EXACT_BELOW = 2.0**53  # float64 holds integers below this, and adds them exactly
_REDUCE_FROM = 2.0**40  # from this size on a common divisor of all numbers is divided out


@dataclass
class ExactMeans:
    """Points ``sums``/``counts``, (d, n) and (n,): integers in float64, and which are ``known``.

    Where the last layer was active on all tokens, they are the points in front of that layer, and
    ``after`` those behind it.
    """

    sums: Array
    counts: Array
    known: Array
    after: ExactMeans | None = None

    def floats(self) -> Array:
        """The points, each coordinate rounded once, (n, d)."""
        return np.ascontiguousarray((self.sums / self.counts).T)

    def integers(self, rows: Array) -> Array:
        """Some points X/q as (X, q), Python integers, (n, d + 1)."""
        found = np.c_[self.sums[:, rows].T, self.counts[rows]].astype(np.int64)
        return np.asarray(found.astype(object))

    def moved(self, layer: _Layer) -> ExactMeans:
        """The points behind a layer that is active on all of them."""
        count = len(self.counts)
        top = float(np.abs(self.sums).max(initial=0.0))
        singles = _IntegerTokens(self.sums.copy(), self.counts, np.arange(count + 1), top)
        singles.layer(layer)
        return ExactMeans(singles.z, singles.q, self.known)


@dataclass(frozen=True)
class _Layer:
    """A feed-forward layer of integers: u and b times s, and w times t."""

    u: list[int]
    b: int
    s: int
    w: list[int]
    t: int


class _Prefix:
    """The layers up to the collapse, and v times some positive integer, for each block."""

    def __init__(self, plan: Plan) -> None:
        p, chosen = plan.parameters, np.array(plan.prefix, dtype=np.int64)
        tables = [array.take(chosen).integer_rows() for array in (p.u, p.w, p.v)]
        self.blocks: list[tuple[int, _Layer, list[int]]] = []
        for block, (*u, s), (*w, t), (*v, _) in zip(plan.prefix, *tables, strict=True):
            offset = p.b.entry(block)
            common = lcm(s, offset.denominator)
            u = [common // s * x for x in u]
            self.blocks.append((block, _Layer(u, int(offset * common), common, w, t), v))


def exact_means(plan: Plan, tokens: ExactArray, offsets: Array) -> ExactMeans | None:
    """The sequences ``offsets`` (n+1,) of packed tokens as points behind the collapse, but for its
    factor α; None where float64 does not hold the integers.

    Not ``known`` are sequences whose tokens have scores of different signs: they may not collapse.
    """
    scaled = tokens.scaled()
    if scaled is None or plan.collapse is None:
        return None
    numerators, denominator = scaled
    if not denominator < _EXACT_BELOW:
        return None
    first, end = int(offsets[0]), int(offsets[-1])
    z = np.empty((tokens.shape[1], end - first))
    z[:] = numerators[first:end].T
    top = float(max(z.max(initial=0.0), -z.min(initial=0.0)))
    state = _IntegerTokens(z, np.array([float(denominator)]), offsets - first, top)
    p = plan.parameters
    try:
        for block, layer, v in plan.kept(_Prefix).blocks:
            last = block == plan.collapse
            moves = bool(plan.moves[block])
            waits = moves and last and not any(v) and state.active_throughout(layer)
            if moves and not waits:
                state.layer(layer)
            if last:
                sums, counts = state.focus(v)
                means = ExactMeans(sums, counts * state.q, state.known)
                if waits:
                    means.after = means.moved(layer)
                return means
            if not plan.rests[block]:
                state.pull(p.rho.entry(block), p.alpha.entry(block), v)
    except OverflowError:
        return None
    raise AssertionError("the prefix of a plan ends with the collapse")


def _held(bound: float) -> None:
    """Raise OverflowError where integers of at most this absolute value may be rounded. ``bound``
    is itself rounded a few times, which the factor covers."""
    if not bound * (1 + 2.0**-40) < _EXACT_BELOW:
        raise OverflowError


@dataclass
class _IntegerTokens:
    """Tokens z/q as the columns of ``z`` (d, T), with ``q`` for each sequence (n,) or for all (1,):
    integers of at most ``top`` in absolute value, below 2^53."""

    z: Array
    q: Array
    bounds: Array  # the tokens of sequence j are columns bounds[j] … bounds[j+1] − 1 of z
    top: float

    def __post_init__(self) -> None:
        self.lengths = np.diff(self.bounds)
        self.known = np.ones(len(self.lengths), dtype=bool)

    def active_throughout(self, layer: _Layer) -> bool:
        """Whether ⟨u,z⟩ + b > 0 on all tokens."""
        return bool((self._values(layer) > 0).all())

    def _values(self, layer: _Layer) -> Array:
        """qs(⟨u,z⟩ + b) for all tokens, (T,)."""
        # bounds any sum of some of the products, in any order
        _held(sum(map(abs, layer.u)) * self.top + abs(layer.b) * float(self.q.max()))
        value = np.array(layer.u, dtype=np.float64) @ self.z
        value += self._each(float(layer.b) * self.q)
        return np.asarray(value)

    def layer(self, layer: _Layer) -> None:
        """Apply z ↦ z + w·max(0, ⟨u,z⟩ + b)."""
        direction, factor = layer.w, layer.s * layer.t
        rise = np.maximum(self._values(layer), 0.0)
        top = factor * self.top + max(map(abs, direction)) * float(rise.max(initial=0.0))
        _held(top)
        _held(factor * float(self.q.max()))
        self._times(float(factor))
        for i, weight in enumerate(direction):
            if weight:
                self.z[i] += rise if weight == 1 else float(weight) * rise
        self._grown(top)

    def pull(self, rho: Fraction, alpha: Fraction, v: list[int]) -> None:
        """Attention with ρ ≠ 0: z ↦ ρz + α·focus."""
        sums, counts = self.focus(v)
        common = lcm(rho.denominator, alpha.denominator)
        kept, moved = rho.numerator * (common // rho.denominator), int(alpha * common)
        most = float(counts.max())
        top = (abs(kept) + abs(moved)) * most * self.top
        _held(top)
        _held(common * most * float(self.q.max()))
        pulls = np.repeat(moved * sums, self.lengths, axis=1)  # sums may be a view of z
        self.z *= self._each(kept * counts)
        self.z += pulls
        self.q = self.q * (common * counts)
        self._grown(top)

    def focus(self, v: list[int]) -> tuple[Array, Array]:
        """The sum of the tokens that each sequence attends to, (d, n), and their number, (n,)."""
        _held(float(self.lengths.max()) * self.top)
        if not any(v):
            return self._sums(self.z, self.bounds), self.lengths.astype(np.float64)
        _held(sum(map(abs, v)) * self.top)
        score = np.array(v, dtype=np.float64) @ self.z
        starts = self.bounds[:-1]
        low, high = np.minimum.reduceat(score, starts), np.maximum.reduceat(score, starts)
        self.known &= np.sign(low) == np.sign(high)
        best = np.where(high > 0, high, low)  # −⟨v,·⟩ is largest where all scores are below 0
        chosen = np.flatnonzero(score == np.repeat(best, self.lengths))
        bounds = np.searchsorted(chosen, self.bounds)
        return self._sums(self.z[:, chosen], bounds), np.diff(bounds).astype(np.float64)

    def _sums(self, z: Array, bounds: Array) -> Array:
        if z.shape[1] == len(bounds) - 1:
            return z
        return np.asarray(np.add.reduceat(z, bounds[:-1], axis=1))

    def _each(self, numbers: Array) -> Array:
        """Numbers of the sequences, for all of their tokens."""
        return numbers if len(numbers) == 1 else np.repeat(numbers, self.lengths)

    def _times(self, factor: float) -> None:
        if factor != 1:
            self.z *= factor
            self.q = self.q * factor

    def _grown(self, top: float) -> None:
        """Note a new bound; where it is large, divide by what all numbers share, and look."""
        self.top = top
        if max(top, float(self.q.max())) < _REDUCE_FROM:
            return
        common = float(np.gcd(np.gcd.reduce(self.z.astype(np.int64), axis=None), _common(self.q)))
        if common > 1:
            self.z /= common
            self.q = self.q / common
        self.top = float(np.abs(self.z).max(initial=0.0))


def _common(q: Array) -> int:
    return int(np.gcd.reduce(q.astype(np.int64)))
