"""Exact points through the layers that are not at rest on them, in Python integers (theory C2)."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from math import gcd
from operator import mul

import numpy as np

from ..arithmetic import clear_denominators
from ..exact_array import ExactArray, ranges
from ..numbers import Vector
from .collapse import Collapsed, Focus, Layer
from .plan import Plan
from .points import ACTIVE, RESTS
from .rounding import Array
from .sums import rows_as_integers, sums_as_integers

Point = tuple[list[int], int]  # numerators, and their positive denominator

_LONG = 2000  # bits of a denominator from which fractions are reduced


class IntegerBlocks:
    """Layers as integers (U, B, W, s t), (u, b) = (U, B)/s and w = W/t; remembered."""

    def __init__(self, plan: Plan) -> None:
        self.parameters = plan.parameters
        self._known: dict[int, tuple[list[int], int, list[int], int]] = {}

    def prepare(self, blocks: Iterable[int]) -> None:
        """Convert many blocks at once, which is faster than one by one."""
        new = np.array([k for k in dict.fromkeys(blocks) if k not in self._known], dtype=int)
        if len(new) < 2:
            return
        p = self.parameters
        left = _beside(p.u.take(new), p.b.take(new)).integer_rows()
        right = p.w.take(new).integer_rows()
        for k, (*u, b, s), (*w, t) in zip(new.tolist(), left, right, strict=True):
            self._known[k] = u, b, w, s * t

    def __getitem__(self, k: int) -> tuple[list[int], int, list[int], int]:
        found = self._known.get(k)
        if found is None:
            p = self.parameters
            (*u, b), s = clear_denominators([*p.u.row(k), p.b.entry(k)])
            w, t = clear_denominators(p.w.row(k))
            found = self._known[k] = u, b, w, s * t
        return found

    def layer(self, point: Point, k: int, state: int) -> Point:
        """The layer of block k, ACTIVE on the point or to be asked."""
        return self.follow(point, [(k, state)])

    def follow(self, point: Point, story: Iterable[tuple[int, int]]) -> Point:
        """One layer after another, given by its block and its state; where that is RESTS, the
        attention of the block instead, the factor ρ + α."""
        x, q = point
        for k, state in story:
            if state == RESTS:
                x, q = multiplied((x, q), self.factor(k))
                continue
            u, b, w, factor = self._known.get(k) or self[k]
            value = sum(map(mul, u, x)) + b * q  # q·s·(⟨u,x⟩ + b)
            if state != ACTIVE and value <= 0:
                continue
            common = gcd(value, factor)
            value //= common
            if factor == common:
                x = [a + value * c for a, c in zip(x, w, strict=True)]
            else:
                factor //= common
                x = [factor * a + value * c for a, c in zip(x, w, strict=True)]
                q *= factor
                if q.bit_length() > _LONG:
                    x, q = reduced(x, q)
        return x, q

    def factor(self, k: int) -> Fraction:
        """ρ + α of block k."""
        return self.parameters.rho.entry(k) + self.parameters.alpha.entry(k)


def _beside(u: ExactArray, b: ExactArray) -> ExactArray:
    """(u, b), (n, d + 1)."""
    d = u.shape[1]
    exact = {k // d * (d + 1) + k % d: q for k, q in u.exact.items()}
    exact |= {k * (d + 1) + d: q for k, q in b.exact.items()}
    return ExactArray(np.c_[u.values, b.values], exact)


def reduced(x: list[int], q: int) -> Point:
    """The point in lowest terms, once the numbers are long."""
    if q.bit_length() < _LONG:
        return x, q
    divisor = gcd(q, *x)
    return [a // divisor for a in x], q // divisor


def multiplied(point: Point, factor: Fraction) -> Point:
    """A point times a rational."""
    if factor == 1:
        return point
    x, q = point
    common = gcd(factor.numerator, q)
    p = factor.numerator // common
    return reduced([p * a for a in x] if p != 1 else x, q // common * factor.denominator)


def moved(x: Array, scales: list[int], shift: Vector, factor: Fraction) -> list[Point]:
    """factor·(x_j/scales_j + shift), most scales being alike; x of int64 or of integers (n, d)."""
    t, s = clear_denominators([factor * a for a in shift])
    known: dict[int, tuple[int, list[int], int]] = {}
    for q in set(scales):
        left, right = factor.numerator * s, factor.denominator * q
        common = gcd(left, right)
        known[q] = left // common, [a * (right // common) for a in t], s * (right // common)
    found = [known[q] for q in scales]
    largest = max(max(abs(p), *map(abs, step)) for p, step, _ in known.values())
    if x.dtype == np.int64 and largest < 2**62 // (1 + int(np.abs(x).max())):
        factors = np.array([p for p, _, _ in found])[:, None]
        numerators = (x * factors + np.array([step for _, step, _ in found])).tolist()
    else:
        numerators = [
            [p * a + c for a, c in zip(row, step, strict=True)]
            for row, (p, step, _) in zip(x.tolist(), found, strict=True)
        ]
    return [(row, q) for row, (_, _, q) in zip(numerators, found, strict=True)]


def plus(x: Point, y: Point) -> Point:
    """The sum of two points."""
    (a, p), (b, q) = x, y
    if p == q:
        return [s + t for s, t in zip(a, b, strict=True)], p
    return reduced([s * q + t * p for s, t in zip(a, b, strict=True)], p * q)


def starting_points(
    blocks: IntegerBlocks,
    plan: Plan,
    tokens: ExactArray,
    offsets: Array,
    sequences: Array,
    collapsed: Collapsed,
    rows: Array,
) -> list[Point]:
    """Exact points behind the collapse of some uniform sequences.

    ``rows`` are their places in ``collapsed``. The mean of a sequence and the tokens that it was
    pulled to go through the layers like every other token.
    """
    p = plan.parameters
    end = plan.collapse or 0
    pulls = [part for part in collapsed.story if isinstance(part, Focus)]
    leaders = [part.leader for part in pulls] + [collapsed.leader]
    given = [
        _means(tokens, offsets, sequences) if leader is None else _tokens(tokens, leader[rows])
        for leader in leaders
    ]
    alpha = p.alpha.entry(end)
    if all(isinstance(part, Layer) and _shifts(plan, part) for part in collapsed.story):
        shift = [Fraction(0)] * p.dimension
        for part in collapsed.story:
            b = p.b.entry(part.block)
            shift = [a + b * w for a, w in zip(shift, p.w.row(part.block), strict=True)]
        return moved(*given[0], tuple(shift), alpha)
    followed = [list(zip(x.tolist(), scales, strict=True)) for x, scales in given]
    for part in collapsed.story:
        if isinstance(part, Layer):
            active = part.active[rows].tolist()
            followed = [
                [
                    blocks.layer(x, part.block, ACTIVE) if on else x
                    for x, on in zip(points, active, strict=True)
                ]
                for points in followed
            ]
        else:
            rho, pull = p.rho.entry(part.block), p.alpha.entry(part.block)
            focus = [multiplied(x, pull) for x in followed[0]]
            followed = [
                [plus(multiplied(x, rho), y) for x, y in zip(points, focus, strict=True)]
                for points in followed[1:]
            ]
    return [multiplied(x, alpha) for x in followed[0]]


def _shifts(plan: Plan, layer: Layer) -> bool:
    """Whether a layer is a translation of all tokens."""
    return not plan.u[layer.block].any() and bool(layer.active.all())


def _tokens(tokens: ExactArray, rows: Array) -> tuple[Array, list[int]]:
    numerators, q = rows_as_integers(tokens, rows)
    return numerators, [q] * len(rows)


def _means(tokens: ExactArray, offsets: Array, sequences: Array) -> tuple[Array, list[int]]:
    first = offsets[sequences]
    lengths = offsets[sequences + 1] - first
    which, starts = ranges(first, lengths), np.cumsum(lengths) - lengths
    numerators, q = sums_as_integers(tokens, which, starts)
    return numerators, [q * n for n in lengths.tolist()]
