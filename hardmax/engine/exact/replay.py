"""Exact outputs by going forward: each sequence through its own active layers, in integers.

A point X/q is z = (X, q). An active layer with (u, b) = U/s and w = W/t takes it to
stz + ⟨U,z⟩(W, 0); attention with ρ + α = p/r takes it to pz + q(0, r − p). So integers are enough
(theory C2).
"""

from __future__ import annotations

from fractions import Fraction
from math import lcm
from threading import Lock

import numpy as np

from ...exact.array import Array, ExactArray, ranges
from ...exact.sums import Limbs, single_tokens, sums_of_tokens
from ..compile.plan import Plan
from ..forward.collapse import Collapsed
from ..forward.enclosed_tokens import Layer
from ..forward.points import RESTS, UNCLEAR
from .history import ActivationHistory

_SHORT_BITS = 2000  # fractions with shorter denominators are not reduced


def replay(
    plan: Plan,
    tokens: ExactArray,
    offsets: Array,
    first: int,
    collapsed: Collapsed,
    rows: Array,
    history: ActivationHistory,
) -> list[list[int]]:
    """The exact outputs (X, q) of some sequences, from their tokens through their own layers.

    ``rows`` are their places in ``collapsed``, whose first sequence is number ``first`` of the
    data set; ``history`` are the layers that their points meet behind the collapse.
    """
    behind = history.blocks + len(plan) * (history.states == RESTS)
    before = [part.block for part in collapsed.story if isinstance(part, Layer)]
    wanted = np.concatenate([np.array(before, dtype=np.int64), behind])
    layers = plan.kept(IntegerLayers).rows(wanted)
    z = np.empty((1, len(rows), plan.dimension + 1), dtype=object)
    far = np.array([j in collapsed.starts for j in rows.tolist()], dtype=bool)
    if far.any():
        z[0, far] = [collapsed.starts[j] for j in rows[far].tolist()]
    if not far.all():
        z[:, ~far] = _collapsed(plan, tokens, offsets, first, collapsed, rows[~far], layers)
    points = _Integers(z)
    for at, places in history.steps():
        points.layers(at, layers[behind[places]], history.states[places] == UNCLEAR)
    return list(points.z[0].tolist())


def _collapsed(
    plan: Plan,
    tokens: ExactArray,
    offsets: Array,
    first: int,
    collapsed: Collapsed,
    rows: Array,
    layers: Array,
) -> Array:
    """The points behind the collapse, (1, n, d + 1), by its story; ``layers`` holds its layers."""
    p, end = plan.parameters, plan.collapse or 0
    if collapsed.means is None:
        points = _Integers(_start(tokens, offsets, first + rows, collapsed.leaders, rows))
    else:
        points = _Integers(collapsed.means.integers(rows)[None])
    for part in collapsed.story:
        if isinstance(part, Layer):
            at = np.flatnonzero(part.active[rows])
            points.layers(at, layers[[part.block]])
        else:
            points.attend(p.rho.entry(part.block), p.alpha.entry(part.block))
    points.times(p.alpha.entry(end))
    return points.z


class _Integers:
    """Points z = (X, q), C of each of n sequences over one q: ``z`` (C, n, d + 1)."""

    def __init__(self, z: Array) -> None:
        self.z = z
        self.limits = np.full(z.shape[1], _SHORT_BITS)  # bits of q from which a point is reduced

    def layers(self, at: Array, layers: Array, unclear: Array | None = None) -> None:
        """Take the points of the sequences ``at`` through one layer each, or all through one.

        A layer that is ``unclear`` moves a point only where ⟨u,x⟩ + b > 0.
        """
        if not len(at):
            return
        whole = len(at) == self.z.shape[1]
        z = self.z if whole else self.z[:, at]
        size = z.shape[-1]
        u, w, factor = layers[:, :size], layers[:, size:-1], layers[:, -1]
        value = np.einsum("nd,cnd->cn", u, z)
        if unclear is not None and not (moves := ~unclear | (value[0] > 0)).all():
            self.layers(at[moves], layers[moves])
            return
        common = np.gcd(np.gcd.reduce(value, axis=0), factor)
        value, factor = value // common, factor // common
        z = self._shortened(z * factor[:, None] + w * value[..., None], at)
        if whole:
            self.z = z
        else:
            self.z[:, at] = z

    def _shortened(self, z: Array, at: Array) -> Array:
        """The points ``z`` of the sequences ``at``; those with long numbers in lowest terms.

        Common divisors of long numbers take long to find. So a point that was reduced is reduced
        again only when its q has twice as many bits.
        """
        long = _bits(z) > self.limits[at]
        if not long.any():
            return z
        z[:, long] //= np.gcd.reduce(z[:, long], axis=(0, 2))[:, None]
        self.limits[at[long]] = np.maximum(_SHORT_BITS, 2 * _bits(z[:, long]))
        return z

    def times(self, factor: Fraction) -> None:
        """Multiply by a rational."""
        up, down = factor.as_integer_ratio()
        self.z = np.concatenate([self.z[..., :-1] * up, self.z[..., -1:] * down], axis=-1)

    def attend(self, rho: Fraction, alpha: Fraction) -> None:
        """Apply attention with ρ ≠ 0: ρ times each of the points but the first, plus α times the
        first.

        The first point is dropped.
        """
        common = lcm(rho.denominator, alpha.denominator)
        kept = self.z[1:]
        moved = kept * int(rho * common) + self.z[:1] * int(alpha * common)
        moved[..., -1:] = kept[..., -1:] * common
        self.z = moved


def _start(
    tokens: ExactArray,
    offsets: Array,
    sequences: Array,
    leaders: list[Array | None],
    rows: Array,
) -> Array:
    """The integers to start from, over one denominator for each sequence, (C, n, d + 1).

    There is one for each token or mean that attention pulls towards, in order, and one for the
    token or mean that the sequence becomes.
    """
    first = offsets[sequences]
    lengths = offsets[sequences + 1] - first
    found: dict[int, Limbs] = {}  # a leader, or the mean, may occur twice
    for leader in leaders:
        if id(leader) in found:
            continue
        if leader is None:
            bounds = np.concatenate([[0], np.cumsum(lengths)])
            found[id(leader)] = sums_of_tokens(tokens, ranges(first, lengths), bounds)
        else:
            found[id(leader)] = single_tokens(tokens, leader[rows])
    common = lcm(*(limbs.denominator for limbs in found.values()))
    counts = lengths.astype(object)[:, None]
    divided = any(leader is None for leader in leaders)
    z = np.empty((len(leaders), len(rows), tokens.shape[1] + 1), dtype=object)
    z[..., -1:] = common * counts if divided else common
    for i, leader in enumerate(leaders):
        limbs = found[id(leader)]
        numerators = limbs.integers() * (common // limbs.denominator)
        z[i, :, :-1] = numerators * counts if divided and leader is not None else numerators
    return z


def _bits(z: Array) -> Array:
    """How many bits the denominators of points have, (n,)."""
    return np.array([q.bit_length() for q in z[0, :, -1].tolist()], dtype=np.int64)


class IntegerLayers:
    """Exact layers of a plan of L blocks, for points z = (X, q) that stand for X/q.

    Row k is the feed-forward layer of block k where it is active, row L + k the factor ρ + α of
    its attention. A row holds U (d+1), W (d+1) and an integer f: the layer takes z to
    fz + ⟨U,z⟩W.
    """

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        count, d = len(plan), plan.dimension
        self._rows = np.empty((2 * count, 2 * d + 3), dtype=object)
        self._known = np.zeros(2 * count, dtype=bool)
        self._lock = Lock()

    def rows(self, wanted: Array) -> Array:
        """All rows, (2L, 2d + 3), of which the ``wanted`` ones are filled."""
        if not self._known[wanted].all():
            with self._lock:
                new = np.unique(wanted[~self._known[wanted]])
                self._rows[new] = self._integers(new)
                self._known[new] = True
        return self._rows

    def _integers(self, rows: Array) -> Array:
        p, count, d = self.plan.parameters, len(self.plan), self.plan.dimension
        layers, factors = rows[rows < count], rows[rows >= count] - count
        left = _beside(p.u.take(layers), p.b.take(layers)).integer_rows()
        right = p.w.take(layers).integer_rows()
        found = [[*u, *w, 0, s * t] for (*u, s), (*w, t) in zip(left, right, strict=True)]
        for k in factors.tolist():
            factor = p.rho.entry(k) + p.alpha.entry(k)
            more = factor.denominator - factor.numerator  # of q than of X
            found.append([*[0] * d, 1, *[0] * d, more, factor.numerator])
        return np.array(found, dtype=object).reshape(len(rows), 2 * d + 3)


def _beside(u: ExactArray, b: ExactArray) -> ExactArray:
    """(u, b), (n, d + 1)."""
    d = u.shape[1]
    exact = {k // d * (d + 1) + k % d: q for k, q in u.exact.items()}
    exact |= {k * (d + 1) + d: q for k, q in b.exact.items()}
    return ExactArray.owning(np.c_[u.values, b.values], exact)
