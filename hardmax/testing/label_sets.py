"""Pairwise disjoint label sets of every kind, at random."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from random import Random

from ..exact.numbers import Vector, dot
from ..labels import Ball, Box, Halfspace, LabelSet, Point, Polyhedron

KINDS = ("point", "ball", "box", "halfspace", "polyhedron")
_WIDTH = Fraction(4)


def disjoint_sets(
    names: Sequence[str], dimension: int, rng: Random, kinds: Sequence[str] = KINDS
) -> dict[str, LabelSet]:
    """One set for each name, pairwise disjoint, of kinds drawn from ``kinds``.

    Space is cut into parallel slabs 4k < ⟨n,x⟩ < 4(k+1), n a random integer vector, and
    each set lies in a slab of its own; it may fill it, so neighbours can touch. Half-spaces
    fit only at the two ends: elsewhere a slab takes their place.

    >>> sets = disjoint_sets(["a", "b", "c"], 2, Random(0), ["box"])
    >>> sorted(sets), sets["a"].kind
    (['a', 'b', 'c'], 'box')
    """
    normal = tuple(Fraction(rng.randint(-2, 2)) for _ in range(dimension))
    if not any(normal):
        normal = (Fraction(1), *normal[1:])
    places = list(range(len(names)))
    rng.shuffle(places)
    sets: dict[str, LabelSet] = {}
    for name, place in zip(names, places, strict=True):
        kind = rng.choice(list(kinds))
        if kind == "halfspace" and 0 < place < len(names) - 1:
            kind = "polyhedron"
        sets[name] = _MAKE[kind](normal, place * _WIDTH, place == 0, rng)
    return sets


def _center(normal: Vector, low: Fraction, rng: Random) -> Vector:
    """A random point in the middle of the slab."""
    x = tuple(Fraction(rng.randint(-6, 6), rng.choice((1, 2, 3))) for _ in normal)
    shift = (low + _WIDTH / 2 - dot(normal, x)) / dot(normal, normal)
    return tuple(a + shift * n for a, n in zip(x, normal, strict=True))


def _point(normal: Vector, low: Fraction, first: bool, rng: Random) -> LabelSet:
    return Point(_center(normal, low, rng))


def _ball(normal: Vector, low: Fraction, first: bool, rng: Random) -> LabelSet:
    # |n| ≤ |n|₁, so this radius keeps the ball inside; along an axis it touches both sides
    radius = _WIDTH / 2 / sum(map(abs, normal))
    return Ball(_center(normal, low, rng), radius / rng.choice((1, 1, 3)))


def _box(normal: Vector, low: Fraction, first: bool, rng: Random) -> LabelSet:
    center = _center(normal, low, rng)
    half = _WIDTH / 2 / sum(map(abs, normal)) / rng.choice((1, 1, 5))
    return Box(tuple(c - half for c in center), tuple(c + half for c in center))


def _halfspace(normal: Vector, low: Fraction, first: bool, rng: Random) -> LabelSet:
    if first:  # the slab and everything below it
        return Halfspace(tuple(-x for x in normal), -low - _WIDTH)
    return Halfspace(normal, low)


def _polyhedron(normal: Vector, low: Fraction, first: bool, rng: Random) -> LabelSet:
    """The slab, cut by half-spaces that keep its centre."""
    center = _center(normal, low, rng)
    rows = [normal, tuple(-x for x in normal)]
    bounds = [low + _WIDTH, -low]
    for _ in range(rng.randint(0, 3)):
        row = tuple(Fraction(rng.randint(-2, 2)) for _ in normal)
        rows.append(row)
        bounds.append(dot(row, center) + rng.randint(1, 3))
    return Polyhedron(tuple(rows), tuple(bounds))


_MAKE: dict[str, Callable[[Vector, Fraction, bool, Random], LabelSet]] = {
    "point": _point,
    "ball": _ball,
    "box": _box,
    "halfspace": _halfspace,
    "polyhedron": _polyhedron,
}
