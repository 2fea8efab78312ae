"""Collapse and flatten in one block: all points get the same height (Theorem B, step B4 a).

Source: docs/theory.md. One coordinate k becomes the height. With u = −e_k, b = B, w = f, f_k = 1
and uniform attention with ρ = 0, α = 1, a sequence of mean m goes to the point with height
x_k = B and x_i = m_i + f_i (B − m_k) for the other coordinates, which together are called E.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from random import Random

import numpy as np

from ..labels import LabelSet, Point
from ..model.layers import RankOneBlock
from ..model.tokens import Tokens
from ..numbers import Vector, power_of_two_below, short_between
from .filtered import Array, FilteredPoints
from .slice import Slice

_DRAWS = 64  # vectors f among which the one that hides least is chosen
_LEAST = Fraction(1, 2**200)
_KEPT = 8  # of them, tried in turn


def flatten(
    batch: Tokens,
    labels: Sequence[str],
    targets: Mapping[str, Vector],
    seed: int = 0,
    sets: Mapping[str, LabelSet] | None = None,
) -> tuple[RankOneBlock, Slice]:
    """The block, and the slice it leaves; different labels stay at different points.

    Differently labelled sequences must have different means, and d ≥ 2. The axis is one in
    which the targets agree, if there is one, and that carries least of what tells the labels
    apart. B is a power of two so large that the f_i B dwarf everything else. Where all
    ``sets`` are open, α is so small that no point leaves its set when it stays as far from
    its target as it is from the middle of all points.

    >>> F = Fraction
    >>> batch = Tokens.from_sequences([[(F(0), F(1))], [(F(2), F(1))]])
    >>> block, rest = flatten(batch, ["a", "b"], {"a": (F(0), F(0)), "b": (F(1), F(0))})
    >>> rest.axis, rest.height, len(rest)
    (1, Fraction(32, 1), 2)
    """
    rng = Random(seed)
    means = batch.means()
    floats = FilteredPoints(means).values
    axis = _axis(means, floats, labels, list(targets.values()))
    still = [i for i in range(batch.dimension) if len({m[i] for m in means}) == 1]
    fixed = {i for i in still if i != axis and all(y[i] == means[0][i] for y in targets.values())}
    f, points = _projection(means, floats, labels, axis, fixed, rng)
    unit = [Fraction(0)] * batch.dimension
    unit[axis] = Fraction(-1)
    inside = max(
        max(map(abs, batch.projections(unit))), 2 * FilteredPoints(list(points)).scale, _LEAST
    )
    outside = max(max(abs(t) for y in targets.values() for t in y), _LEAST)
    factor, middle = Fraction(1), None
    if sets is not None and all(not isinstance(chosen, Point) for chosen in sets.values()):
        factor, middle = _shrunk(points, axis, targets, sets)
    height = 8 * max(factor * power_of_two_below(inside), power_of_two_below(outside))
    block = RankOneBlock.of(
        batch.dimension, u=unit, b=height / factor, w=[Fraction(g) for g in f], rho=0, alpha=factor
    )
    if factor != 1:
        points = {tuple(factor * t for t in x): label for x, label in points.items()}
    return block, Slice(axis, f, height, points, middle)


def _shrunk(
    points: Mapping[Vector, str],
    axis: int,
    targets: Mapping[str, Vector],
    sets: Mapping[str, LabelSet],
) -> tuple[Fraction, Vector]:
    """A power of two λ, and the middle of λ·points: y + λ·x − middle lies in the set of each."""
    corners = [
        (min(column), max(column)) for column in zip(*points, strict=True)
    ]  # the box around the points
    center = tuple(_middle_of(low, high) for low, high in corners)
    factor = Fraction(1)
    while not all(
        sets[label].contains(
            tuple(
                y + (0 if i == axis else factor * (x[i - (i > axis)] - center[i - (i > axis)]))
                for i, y in enumerate(targets[label])
            )
        )
        for x, label in points.items()
    ):
        factor /= 2
    factor /= 4  # room for what comes from elsewhere
    return factor, tuple(factor * t for t in center)


def _middle_of(low: Fraction, high: Fraction) -> Fraction:
    """A short number near the middle of an interval, or its only point."""
    if low == high:
        return low
    return short_between((3 * low + high) / 4, (low + 3 * high) / 4)


def _projection(
    means: list[Vector],
    floats: Array,
    labels: Sequence[str],
    axis: int,
    fixed: set[int],
    rng: Random,
) -> tuple[list[int], dict[Vector, str]]:
    """A vector f along which no two labels meet; entries as small as possible."""
    size = 1
    while True:  # only finitely many directions join two points
        for f in _hidden(floats, labels, axis, fixed, size, rng):
            points = _projected(means, labels, axis, f)
            if points is not None:
                return f, points
        size *= 2


def _projected(
    means: list[Vector], labels: Sequence[str], axis: int, f: Sequence[int]
) -> dict[Vector, str] | None:
    """m_i − f_i m_k for i ≠ k, with labels; None where two labels meet."""
    points: dict[Vector, str] = {}
    for m, label in zip(means, labels, strict=True):
        x = tuple(t - g * m[axis] for i, (t, g) in enumerate(zip(m, f, strict=True)) if i != axis)
        if points.setdefault(x, label) != label:
            return None
    return points


def _axis(means: list[Vector], floats: Array, labels: Sequence[str], targets: list[Vector]) -> int:
    d = floats.shape[1]
    agree = [i for i in range(d) if len({y[i] for y in targets}) == 1] or list(range(d))
    constant = [i for i in agree if len({m[i] for m in means}) == 1]
    if constant:
        return constant[-1]
    within, between = _scatter(floats, labels)
    share = np.diag(between) / (np.diag(within) + 1e-12)
    return min(reversed(agree), key=lambda i: float(share[i]))


def _scatter(floats: Array, labels: Sequence[str]) -> tuple[Array, Array]:
    """Covariance within and between the labels."""
    names = np.array(labels)
    centered = floats - floats.mean(axis=0)
    centers = np.zeros_like(centered)
    for name in dict.fromkeys(labels):
        centers[names == name] = centered[names == name].mean(axis=0)
    rest = centered - centers
    return rest.T @ rest / len(floats), centers.T @ centers / len(floats)


def _hidden(
    floats: Array, labels: Sequence[str], axis: int, fixed: set[int], size: int, rng: Random
) -> list[list[int]]:
    """Some small integer vectors f, f_k = 1, first those along which the labels differ least;
    0 where ``fixed``."""
    within, between = _scatter(floats, labels)
    floor = 1e-6 * float(np.trace(within + between)) + 1e-12
    inverse = np.linalg.inv(within + floor * np.eye(len(within)))
    middle = inverse @ between @ inverse
    entries = [x for x in range(-size, size + 1) if x]
    scored = []
    for _ in range(_DRAWS):
        f = [0 if i in fixed else rng.choice(entries) for i in range(floats.shape[1])]
        f[axis] = 1
        row = np.array(f, dtype=float)
        scored.append((float(row @ middle @ row / (row @ inverse @ row)), f))
    return [f for _, f in sorted(scored)[:_KEPT]]
