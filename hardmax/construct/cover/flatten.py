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

from ...exact.array import Array
from ...exact.numbers import Vector, power_of_two_below, short_between
from ...labels import LabelSet, Point
from ...labels.inner_radius import inner_radius
from ...model.layers import RankOneBlock
from ...model.tokens import Tokens
from ..shared.filtered_cloud import FilteredCloud
from ..shared.filtered_means import Means
from .height_slice import HeightSlice

# This many vectors f are drawn; the one that hides least is chosen.
_VECTORS_DRAWN = 64
_LEAST = Fraction(1, 2**200)
# This many of them, the best first, are tried in turn.
_VECTORS_TRIED = 8
_POINTS_AT_A_TIME = 2**15
# Fractional bits of the entries of a vector f that is fitted to the labels.
_FITTED_BITS = 8
# f is fitted to the labels where every short vector hides this many times more than it would of
# random labels.
_CLEAR_DIFFERENCE = 16
# It is used where it hides less than 1/4 of what the best short vector hides.
_LEAST_GAIN = 4
# Least entries of a fitted f, tried in turn: the first that hides little more is taken.
_SMALLEST_ENTRIES = (2.0**-2, 2.0**-4, 2.0**-8)
# Largest entry of a fitted f.
_LARGEST_ENTRY = 8


def flatten(
    batch: Tokens | Means,
    labels: Sequence[str],
    targets: Mapping[str, Vector],
    seed: int = 0,
    sets: Mapping[str, LabelSet] | None = None,
    power: int = 0,
) -> tuple[RankOneBlock, HeightSlice]:
    """Return the block that flattens, and the height slice behind it.

    Different labels stay at different points. Differently labelled sequences must have different
    means, and d ≥ 2. The height's coordinate is one in which the targets agree, if there is one,
    and in which the labels differ least. B is a power of two so large that f_i B exceeds all other
    terms. If all ``sets`` are open, α is so small that no point leaves its set when it stays as far
    from its target as it is from the middle of all points. With a ``power`` j > 0, the entries of f
    are 2^j, 4^j, … or those of a larger j (docs/theory.md, section 8: general position).

    >>> F = Fraction
    >>> batch = Tokens.from_sequences([[(F(0), F(1))], [(F(2), F(1))]])
    >>> block, rest = flatten(batch, ["a", "b"], {"a": (F(0), F(0)), "b": (F(1), F(0))})
    >>> rest.axis, rest.height, len(rest)
    (1, Fraction(32, 1), 2)
    """
    rng = Random(seed)
    means = batch if isinstance(batch, Means) else Means.of_tokens(batch)
    names, codes = coded(labels)
    d = means.cloud.dimension
    scatter = _scatter(means.cloud, codes)
    axis = _axis(means.cloud, scatter, list(targets.values()))
    fixed = {i for i in range(d) if i != axis and _settled(means.cloud, i, targets)}
    if power:
        f, cloud, kept = _steep(means.cloud, codes, axis, power)
    else:
        f, cloud, kept = _projection(means.cloud, codes, scatter, axis, fixed, rng)
    unit = [Fraction(-int(i == axis)) for i in range(d)]
    inside = max(means.reach(axis), 2 * cloud.points.scale, _LEAST)
    outside = max(max(abs(t) for y in targets.values() for t in y), _LEAST)
    factor, middle = Fraction(1), None
    if sets is not None and all(not isinstance(chosen, Point) for chosen in sets.values()):
        factor, middle = _shrunk(cloud, targets, sets)
    room = 8 / power_of_two_below(min(abs(g) for g in f if g))
    height = room * max(factor * power_of_two_below(inside), power_of_two_below(outside))
    block = RankOneBlock.of(d, u=unit, b=height / factor, w=f, rho=0, alpha=factor)
    return block, HeightSlice(
        axis, f, height, cloud.scaled(factor), names, codes[kept], kept, middle
    )


def coded(labels: Sequence[str]) -> tuple[list[str], Array]:
    """Different labels in order of first appearance, and for each label its place among them.

    >>> coded("cabac")
    (['c', 'a', 'b'], array([0, 1, 2, 1, 0]))
    """
    names = list(dict.fromkeys(labels))
    place = {name: i for i, name in enumerate(names)}
    return names, np.fromiter(map(place.__getitem__, labels), dtype=np.int64, count=len(labels))


def _settled(cloud: FilteredCloud, i: int, targets: Mapping[str, Vector]) -> bool:
    """Whether coordinate i is the same for all means and all targets."""
    values = {y[i] for y in targets.values()}
    return len(values) == 1 and cloud.constant(i) in values


def _shrunk(
    cloud: FilteredCloud, targets: Mapping[str, Vector], sets: Mapping[str, LabelSet]
) -> tuple[Fraction, Vector]:
    """A power of two λ, and the middle of λ·points: y + λ·x − middle lies in the set of each."""
    scale = cloud.points.scale
    center, square = [], Fraction(0)
    for i in range(cloud.dimension):
        low, high = cloud.points.column(i)
        first, last = Fraction(float(low.min())), Fraction(float(high.max()))
        known = cloud.constant(i)
        center.append(
            known if known is not None
            else short_between((3 * first + last) / 4 * scale, (first + 3 * last) / 4 * scale)
        )  # fmt: skip
        if known is None:
            square += max(last * scale - center[-1], center[-1] - first * scale) ** 2
    radii = [inner_radius(sets[name], y) for name, y in targets.items()]
    least = min((r for r in radii if r is not None), default=None)
    factor = Fraction(1)
    while least is not None and factor * factor * square >= least * least:
        factor /= 2
    factor /= 4  # room for what comes from elsewhere
    return factor, tuple(factor * t for t in center)


def _projection(
    cloud: FilteredCloud,
    codes: Array,
    scatter: tuple[Array, Array],
    axis: int,
    fixed: set[int],
    rng: Random,
) -> tuple[list[Fraction], FilteredCloud, Array]:
    """A vector f along which no two labels meet, with entries as small as possible.

    Return also the points m_i − f_i m_k for i ≠ k, each once, and the indices of those kept.
    """
    size = 1
    while True:  # only finitely many directions join two points
        for f in _hidden(scatter, axis, fixed, size, rng, codes):
            found = _along(cloud, codes, axis, f)
            if found is not None:
                return f, *found
        size *= 2


def _along(
    cloud: FilteredCloud, codes: Array, axis: int, f: list[Fraction]
) -> tuple[FilteredCloud, Array] | None:
    """The projected points, each once, and the indices kept; None where two labels meet."""
    points = cloud.project(axis, f)
    first = points.first_equal()
    if not (codes[first] == codes).all():
        return None
    kept = np.flatnonzero(first == np.arange(len(first)))
    return points.select(kept), kept


def _steep(
    cloud: FilteredCloud, codes: Array, axis: int, power: int
) -> tuple[list[Fraction], FilteredCloud, Array]:
    """`_projection` along f with entries k, k², … for a power of two k: whatever can happen to a
    direction by chance is a polynomial in k, and happens to finitely many k only."""
    while True:
        f = [Fraction(1 << power * (i + (i < axis))) for i in range(cloud.dimension)]
        f[axis] = Fraction(1)
        found = _along(cloud, codes, axis, f)
        if found is not None:
            return f, *found
        power += 1


def _axis(cloud: FilteredCloud, scatter: tuple[Array, Array], targets: list[Vector]) -> int:
    d = cloud.dimension
    agree = [i for i in range(d) if len({y[i] for y in targets}) == 1] or list(range(d))
    constant = next((i for i in reversed(agree) if cloud.constant(i) is not None), None)
    if constant is not None:
        return constant
    within, between = scatter
    share = np.diag(between) / (np.diag(within) + 1e-12)
    return min(reversed(agree), key=lambda i: float(share[i]))


def _scatter(cloud: FilteredCloud, codes: Array) -> tuple[Array, Array]:
    """The covariance within the labels and between them, both (d, d)."""
    floats, count = cloud.points.values, len(cloud)
    middle = floats[:_POINTS_AT_A_TIME].mean(axis=0)
    sizes = np.bincount(codes)
    sums = np.zeros((len(sizes), floats.shape[1]))
    square = np.zeros((floats.shape[1],) * 2)
    for a in range(0, count, _POINTS_AT_A_TIME):
        rows, some = floats[a : a + _POINTS_AT_A_TIME] - middle, codes[a : a + _POINTS_AT_A_TIME]
        square += rows.T @ rows
        order = np.argsort(some, kind="stable")
        starts = np.flatnonzero(np.r_[True, np.diff(some[order]) != 0])
        sums[some[order[starts]]] += np.add.reduceat(rows[order], starts, axis=0)
    centers = sums / np.maximum(sizes, 1)[:, None]
    means = sums.T @ centers / count
    mean = sums.sum(axis=0) / count
    return square / count - means, means - np.outer(mean, mean)


def _hidden(
    scatter: tuple[Array, Array],
    axis: int,
    fixed: set[int],
    size: int,
    rng: Random,
    codes: Array,
) -> list[list[Fraction]]:
    """Vectors f with f_k = 1, first those along which the labels differ least.

    The entries are small integers, 0 for the coordinates ``fixed``. A vector with a few fractional
    bits comes first where the labels differ clearly along all of those with integers, and much less
    along this one.
    """
    within, between = scatter
    floor = 1e-6 * float(np.trace(within + between)) + 1e-12
    inverse = np.linalg.inv(within + floor * np.eye(len(within)))
    middle = inverse @ between @ inverse

    def difference(f: list[Fraction]) -> float:
        """What the projection along f hides of the squared distances between labels, in units of
        the variance within them."""
        row = np.array(f, dtype=float)
        return float(row @ middle @ row / (row @ inverse @ row))

    entries = [Fraction(x) for x in range(-size, size + 1) if x]
    scored = []
    for _ in range(_VECTORS_DRAWN):
        f = [Fraction(0) if i in fixed else rng.choice(entries) for i in range(len(within))]
        f[axis] = Fraction(1)
        scored.append((difference(f), f))
    scored.sort()
    kept = [f for _, f in scored[:_VECTORS_TRIED]]
    # about what labels without a meaning differ by
    rest = len(codes) - int(codes.max()) - 1 - len(within)
    least, chance = scored[0][0], float(codes.max()) / rest if rest > 0 else float("inf")
    if size == 1 and least > _CLEAR_DIFFERENCE * chance:
        proposed = [_fitted(middle, axis, fixed, smallest) for smallest in _SMALLEST_ENTRIES]
        fitted = [f for f in proposed if f is not None]
        hidden = [difference(f) for f in fitted]
        near = max(chance, _LEAST_GAIN * min(hidden, default=least))
        place = next((i for i, each in enumerate(hidden) if each <= near), None)
        if place is not None and _LEAST_GAIN * hidden[place] < least:
            kept.insert(0, fitted[place])
    return kept


def _fitted(middle: Array, axis: int, fixed: set[int], smallest: float) -> list[Fraction] | None:
    """The vector f with f_k = 1 that makes ⟨f, middle·f⟩ + ε|f|² least, in multiples of 2^-8.

    Entries that would be smaller than ``smallest`` have this size. ε is the first share of the mean
    eigenvalue for which no entry is large; None if there is none.
    """
    free = [i for i in range(len(middle)) if i not in fixed]
    some = middle[np.ix_(free, free)]
    for share in (0.0001, 0.01, 1.0):
        ridge = some + share * np.trace(some) / len(free) * np.eye(len(free))
        row = np.zeros(len(free))
        row[free.index(axis)] = 1.0
        given = row != 0
        while not given.all():  # the other entries follow from those that are given
            rest = ~given
            row[rest] = -np.linalg.solve(
                ridge[np.ix_(rest, rest)], ridge[rest][:, given] @ row[given]
            )
            small = rest & (np.abs(row) < smallest)
            if not small.any():
                break
            small &= np.abs(row) >= np.median(np.abs(row[small]))  # half of them, then again
            row[small] = np.copysign(smallest, row[small])
            given |= small
        row = np.round(row * 2.0**_FITTED_BITS) / 2.0**_FITTED_BITS
        if np.abs(row).max() <= _LARGEST_ENTRY:
            f = [Fraction(0)] * len(middle)
            for i, x in zip(free, row.tolist(), strict=True):
                f[i] = Fraction(x)
            return f
    return None
