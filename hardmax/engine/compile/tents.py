"""Tents: consecutive layers that move only the points inside a slab (theory C3).

The layers of a tent share u up to a factor, u_k = s_k u, and do not change what they read:
⟨u,w_k⟩ = 0. So they map z to z + g(⟨u,z⟩) with a piecewise linear g, which is affine far out on
either side:

    g(t) = Σ_{s_k > 0} (s_k t + b_k) w_k for large t, the same sum over s_k < 0 for small t.

If both sums vanish, nothing moves outside the slab between the least and the largest knot
t = −b_k/s_k.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from ...enclosure.rounding import LEAST, MOST, SLACK, gamma
from ...exact.array import Array, ExactArray, ranges
from .arrays import BlockArrays

_NEARLY_PARALLEL = 2.0**-48  # relative difference, far above the rounding of two products

Rational = int | Fraction
State = frozenset[tuple[tuple[bool, int], tuple[Rational, Rational]]]


@dataclass(frozen=True)
class _Layers:
    """Parallel layers: the sign of s_k, the quotient b_k/s_k, and the change of each coordinate.

    A change is a slope and an offset. All slopes are multiples of one unit, and so are all offsets.
    """

    rising: list[bool]
    knots: list[float]
    changes: list[list[tuple[int, Rational, Rational]]]

    def part(self, a: int, b: int) -> _Layers:
        """The layers from a to b."""
        return _Layers(self.rising[a:b], self.knots[a:b], self.changes[a:b])


def find_tents(arrays: BlockArrays, run: Array) -> list[tuple[int, int]]:
    """List the tents among consecutive layers, in order: the place of the first layer in ``run``
    and the place behind the last one.
    """
    stretches = list(_parallel(arrays, run))
    if not stretches:
        return []
    starts, stops = np.array(stretches).T
    blocks = run[ranges(starts, stops - starts)]
    firsts = np.repeat(run[starts], stops - starts)
    layers = _layers(arrays, blocks, firsts)
    found: list[tuple[int, int]] = []
    end = 0
    for start, stop in stretches:
        begin, end = end, end + stop - start
        found += [(start + a, start + b) for a, b in _shortest(layers.part(begin, end))]
    return found


def knots(arrays: BlockArrays, blocks: Array, leads: Array) -> Array:
    """The quotients b_k/s_k in float64, where u_k = s_k u and u is that of ``leads``; at most 6
    roundings.
    """
    pivots = arrays.absolute_u[leads].argmax(axis=1)
    own, ratios = arrays.u[blocks, pivots], np.ones(len(blocks))
    np.divide(arrays.u[leads, pivots], own, out=ratios, where=own != 0)  # a translation is its own
    return np.asarray(arrays.b[blocks] * ratios)


def _parallel(arrays: BlockArrays, run: Array) -> Iterator[tuple[int, int]]:
    """Yield the longest stretches of layers that share u up to a factor and do not change ⟨u,z⟩.

    Floats name the candidates, exact numbers decide.
    """
    if len(run) < 2:
        return
    p, d = arrays.parameters, arrays.dimension
    u, w = arrays.u[run], arrays.w[run]
    before, after, row = u[:-1], u[1:], np.arange(len(run) - 1)
    pivots = np.abs(before).argmax(axis=1)
    left = after * before[row, pivots][:, None]
    right = before * after[row, pivots][:, None]
    near = (np.abs(left - right) <= _NEARLY_PARALLEL * np.abs(right)).all(axis=1)
    near &= after.any(axis=1) & before.any(axis=1) & (np.diff(run) == 1)
    if not near.any():
        return
    equal = (after == before).all(axis=1)
    rounded = np.isin(run, np.fromiter(p.u.exact, np.int64, len(p.u.exact)) // d)
    for i in np.flatnonzero(near & ~(equal & ~rounded[:-1] & ~rounded[1:])).tolist():
        x, y = p.u.row(int(run[i])), p.u.row(int(run[i + 1]))
        j = int(pivots[i])
        near[i] = all(a * y[j] == b * x[j] for a, b in zip(x, y, strict=True))
    mine = np.r_[False, near] | np.r_[near, False]
    size = np.zeros(len(run))
    size[mine] = (np.abs(u[mine]) * np.abs(w[mine])).sum(axis=1)
    total = np.einsum("ij,ij->i", u, w)
    level = mine & (np.abs(total) <= gamma(d + 8) * SLACK * size)
    for i in np.flatnonzero(level & (size > 0)).tolist():
        x, y = p.u.row(int(run[i])), p.w.row(int(run[i]))
        level[i] = not sum(a * b for a, b in zip(x, y, strict=True))
    together = np.r_[False, near & level[:-1] & level[1:], False]
    edges = np.flatnonzero(together[1:] != together[:-1]).tolist()
    yield from ((a, b + 1) for a, b in zip(edges[::2], edges[1::2], strict=True))


def _layers(arrays: BlockArrays, blocks: Array, firsts: Array) -> _Layers:
    """The layers ``blocks`` as `_Layers`, with u taken from the blocks ``firsts``."""
    p, d = arrays.parameters, arrays.dimension
    pivots = arrays.absolute_u[firsts].argmax(axis=1)
    rising = (arrays.u[blocks, pivots] > 0) == (arrays.u[firsts, pivots] > 0)
    rows, coordinates = np.nonzero(arrays.w[blocks])
    sizes = [x if x > 0 else -x for x in _exact(p.u, blocks * d + pivots)]
    offsets = _exact(p.b, blocks)
    weights = _exact(p.w, blocks[rows] * d + coordinates)
    changes: list[list[tuple[int, Rational, Rational]]] = [[] for _ in sizes]
    for k, i, w in zip(rows.tolist(), coordinates.tolist(), weights, strict=True):
        changes[k].append((i, sizes[k] * w, offsets[k] * w))
    places = knots(arrays, blocks, firsts).tolist()
    return _Layers(rising.tolist(), places, changes)


def _shortest(layers: _Layers) -> list[tuple[int, int]]:
    """The tents among parallel layers, as short as possible: between their ends, what the layers
    add far out is the same on both sides."""
    tents: list[tuple[int, int]] = []
    states = _states(layers)
    seen = {next(states): 0}
    for i, state in enumerate(states, 1):
        start = seen.get(state)
        if start is not None and _wide(layers.knots[start:i]):
            tents.append((start, i))
            seen = {}
        seen[state] = i
    return tents


def _states(layers: _Layers) -> Iterator[State]:
    """Yield what the layers so far add far out on either side, for every coordinate where it is not
    zero.

    The first state is that before any layer.
    """
    sums: dict[tuple[bool, int], tuple[Rational, Rational]] = {}
    yield frozenset()
    for side, changes in zip(layers.rising, layers.changes, strict=True):
        for i, slope, offset in changes:
            old_slope, old_offset = sums.pop((side, i), (0, 0))
            slope, offset = old_slope + slope, old_offset + offset
            if slope or offset:
                sums[side, i] = slope, offset
        yield frozenset(sums.items())


def _exact(array: ExactArray, places: Array) -> Sequence[Rational]:
    """Some entries, by flat index, as multiples of one unit."""
    numbers = array.values.reshape(-1)[places].tolist()
    if array.exact:
        places = places.tolist()
        return [Fraction(array.exact.get(k, x)) for k, x in zip(places, numbers, strict=True)]
    ratios = [x.as_integer_ratio() for x in numbers]
    common = max(q for _, q in ratios)  # powers of two
    return [p * (common // q) for p, q in ratios]


def _wide(places: list[float]) -> bool:
    """Whether the knots differ, as far as floats can tell, and have sizes for which the rounding
    bounds hold.
    """
    moderate = all(x == 0 or LEAST < abs(x) < MOST for x in places)
    return max(places) > min(places) and moderate
