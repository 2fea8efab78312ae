"""Open label sets: push every label into a ball inside its own set.

Source: Theorem B, step B4, and Theorem 6b in docs/theory.md. All sequences collapse to points
closer than r/4 to y_base, a point of the set of one label, the base. Every other label c is pushed
along p_c = y_c − y_base. In general position one tent of three blocks pushes at least d − 1 of its
points. So 1 + K + 3 Σ ⌈N_c/(d−1)⌉ blocks suffice, with K blocks of tie splitting and the sum taken
over all labels but the base. No clamps and no ending are needed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from ....enclosure.enclosed import Enclosed
from ....enclosure.rounding import SLACK
from ....exact.array import Array
from ....exact.numbers import Vector, dot, power_of_two_below, root, short_between
from ....labels import LabelSet
from ....labels.inner_radius import inner_radius
from ....model.layers import RankOneBlock
from ....stages import tell
from ...shared.filtered_cloud import FilteredCloud
from ..height_slice import TooClose
from .greedy_pushes import greedy_pushes, groups
from .open_pushes import Crowd

# This many choices of the points y_c are tried.
_CHOICES_OF_Y = 6
# A push may miss the vector p by at most this share of its length.
_LARGEST_MISS = 0.5
# The collapse multiplies by at most this, so that all parameters are float64 numbers.
_LARGEST_FACTOR = 2**900
# Past this many times the allowed number of blocks, only linear labels could still end below it.
_HOPELESS_RATIO = 2


@dataclass(frozen=True)
class OpenCover:
    """The collapse, the pushes with their stages, and the bound on the pushes' blocks.

    ``bound`` is 3 Σ ⌈N_c/(d−1)⌉, and 3 more for each of the ``small`` groups, those of fewer
    than d − 1 points that degenerate positions ask for.
    """

    collapse: RankOneBlock
    pushes: list[tuple[str, RankOneBlock]]
    bound: int
    small: int
    base: str


def open_cover(
    cloud: FilteredCloud,
    codes: Array,
    names: Sequence[str],
    sets: Mapping[str, LabelSet],
    seed: int,
    limit: int,
) -> OpenCover | None:
    """Classify distinct means by pushes into open sets; None past ``limit`` of their blocks.

    Mean j has the label ``names[codes[j]]``. The points y_c are witnesses of the sets, rounded;
    where lines along p_c hold points of different labels, others near them. Raises TooClose
    where float64 can't tell the points apart.

    >>> from hardmax.labels import Ball
    >>> cloud = FilteredCloud.of_vectors([(Fraction(k), Fraction(k * k)) for k in range(6)])
    >>> sets = {"a": Ball((0, 0), 1), "b": Ball((2, 0), 1)}
    >>> found = open_cover(cloud, np.array([0, 0, 0, 1, 0, 0]), ["a", "b"], sets, 0, 9)
    >>> found.base, len(found.pushes), found.bound
    ('a', 3, 3)
    """
    rng = np.random.default_rng(seed)
    best: OpenCover | None = None
    failed: TooClose | None = None
    for attempt in range(_CHOICES_OF_Y):
        chosen = aims(sets, rng, attempt)
        try:
            found = _cover(cloud, codes, names, sets, chosen, limit, rng)
        except TooClose as error:
            failed = error
            continue
        if found is None:
            return best
        best, limit = found, len(found.pushes) - 1
        if not found.small:
            return best
    if best is None and failed is not None:
        raise failed
    return best


def aims(
    sets: Mapping[str, LabelSet], rng: np.random.Generator, attempt: int, bits: int = 3
) -> dict[str, Vector]:
    """A point y_c in each set, on a grid; from the second attempt on at random near a witness.

    Every coordinate is one of 2·2^bits + 1 numbers then.
    """
    witnesses = {name: chosen.witness() for name, chosen in sets.items()}
    radii = [inner_radius(sets[name], y) for name, y in witnesses.items()]
    least = min((r for r in radii if r is not None), default=Fraction(1))
    d = len(next(iter(witnesses.values())))
    reach = least / (4 * root(Fraction(d), up=True))  # so far along all axes is a quarter of it
    most = 1 << bits
    grid = power_of_two_below(reach) / (2 * most if attempt else 1)
    found = {}
    for name, y in witnesses.items():
        noise = rng.integers(-most, most + 1, d).tolist() if attempt else [0] * d
        found[name] = tuple((round(t / grid) + k) * grid for t, k in zip(y, noise, strict=True))
    return found


def _cover(
    cloud: FilteredCloud,
    codes: Array,
    names: Sequence[str],
    sets: Mapping[str, LabelSet],
    aims: Mapping[str, Vector],
    limit: int,
    rng: np.random.Generator,
) -> OpenCover | None:
    order = np.argsort(-np.bincount(codes, minlength=len(names)), kind="stable").tolist()
    base = names[order[0]]
    radii = {name: inner_radius(sets[name], y) or Fraction(1) for name, y in aims.items()}
    collapse, crowd, spread = collapsed(cloud, aims[base], min(radii.values()))
    pushes: list[tuple[str, RankOneBlock]] = []
    bound = small = 0
    rest = sum(groups(int((codes == c).sum()), cloud.dimension - 1) for c in order[1:])
    for name, members in ((names[c], codes == c) for c in order[1:]):
        p = tuple(s - t for s, t in zip(aims[name], aims[base], strict=True))
        length = root(dot(p, p), up=True)
        tolerance = min(_LARGEST_MISS, float((radii[name] - spread) / length) * (1 - 2.0**-20))
        needed = groups(int(members.sum()), len(p) - 1)
        bound, rest = bound + 3 * needed, rest - needed
        for found in greedy_pushes(crowd, p, members, tolerance, rng):
            tell("tents", found.left)
            pushes += [(found.push.stage, block) for block in found.push.blocks()]
            if not found.full:
                small, bound = small + 1, bound + 3
            soon = 3 * (rest + groups(found.left, len(p) - 1))
            if len(pushes) > limit or (
                not found.fitted and len(pushes) + soon > _HOPELESS_RATIO * limit
            ):
                return None
    return OpenCover(collapse, pushes, bound, small, base)


def collapsed(
    cloud: FilteredCloud, base: Vector, radius: Fraction
) -> tuple[RankOneBlock, Crowd, Fraction]:
    """Translation and uniform attention, ρ = 0, α = λ, a power of two: all points come closer
    to ``base`` than radius/4; the block, the points, and how close they are."""
    center = _center(cloud)
    points = cloud.points
    if cloud.vectors is not None:
        near = [tuple(t - c for t, c in zip(x, center, strict=True)) for x in cloud.vectors]
        points = Enclosed(near)
    else:
        middle = np.array([float(c / points.scale) for c in center])
        points = points.minus(middle)
    reach = float((points.sizes + np.sqrt(cloud.dimension) * points.radius).max()) * SLACK
    spread = Fraction(reach) * points.scale
    factor = power_of_two_below(radius / (4 * spread))
    shift = [y / factor - c for y, c in zip(base, center, strict=True)]
    if factor > _LARGEST_FACTOR:
        raise TooClose
    crowd = Crowd(points, base, factor * points.scale)
    return RankOneBlock.translation(shift, rho=0, alpha=factor), crowd, factor * spread


def _center(cloud: FilteredCloud) -> Vector:
    """A point near the middle of the cloud, with few bits."""
    if cloud.vectors is not None:
        columns = [(min(column), max(column)) for column in zip(*cloud.vectors, strict=True)]
    else:
        X, scale = cloud.points.values, cloud.points.scale
        corners = zip(X.min(axis=0).tolist(), X.max(axis=0).tolist(), strict=True)
        columns = [(Fraction(low) * scale, Fraction(high) * scale) for low, high in corners]
    return tuple(
        low if low == high else short_between((3 * low + high) / 4, (low + 3 * high) / 4)
        for low, high in columns
    )
