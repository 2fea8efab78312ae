"""The counts that docs/theory.md states for means in general position, met exactly.

Where the forms that floats propose take more blocks, hyperplanes are found in exact arithmetic.
They give the stated count, or affinely dependent means: then the theorems promise less.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from fractions import Fraction
from itertools import count

import numpy as np

from ....errors import ResourceLimitError
from ....exact.array import Array
from ....exact.matrix import Matrix
from ....exact.rows import Row, row_of
from ....labels.inner_radius import inner_radius
from ....model.layers import RankOneBlock
from ....model.parameters import Parameters
from ...shared.filtered_cloud import FilteredCloud
from ...shared.staged import Staged
from ..ending import finish, polyline
from ..exact_variant import SHARE, extended, fewest_exact
from ..height_slice import HeightSlice
from ..open.greedy_pushes import groups
from ..open.open_cover import aims, collapsed
from ..staircase import staircase
from ..variants import Task, Variant, fewest_shells
from .facets import park_all
from .hyperplanes import DegenerateError
from .tents import tents

# This many choices of the points y_c are tried.
_CHOICES_OF_Y = 8

Flatten = Callable[[int], tuple[RankOneBlock, HeightSlice]]


def stated(task: Task) -> dict[str, int]:
    """Blocks after the flattening, or collapse, of each form that serves, in general position."""
    base = task.base
    sizes = sorted(np.bincount(base.codes, minlength=len(base.names)).tolist())
    pushes = 3 * sum(groups(size, base.dimension) for size in sizes[:-1])
    tented = pushes + len(sizes) - 1 + task.end(_by_size(task))
    found = {"tents": tented, "shells": fewest_shells(task), "exact": fewest_exact(task)}
    if task.means is not None and task.codes is not None:
        firsts = task.means.first_equal()
        means = task.codes[firsts == np.arange(len(firsts))]
        sizes = sorted(np.bincount(means, minlength=len(sizes)).tolist())
        found["open"] = 3 * sum(groups(size, base.dimension) for size in sizes[:-1])
    return found


def general_variant(
    task: Task, cloud: FilteredCloud, flatten: Flatten, room: int, best: Variant | None
) -> Variant | None:
    """A form in fewer than ``room`` blocks, those with the least stated counts tried first; None
    where there is none, the means are not in general position, or the task is too large for that.

    ``cloud`` are the means. ``flatten(0)`` is how the task is flattened, and ``flatten(j)`` for
    j ≥ 1 along f with entries 2^j, 4^j, …: if d means are affinely independent, their images are
    too, but for finitely many j. ``best`` is the best form so far: whole shells at exact heights
    are weighed where it has exact heights already, or where there is none.
    """
    if len(cloud) ** 2 * task.base.dimension > task.tuning.work:
        return None
    counts = stated(task)
    exact = counts.pop("exact")
    most = int(SHARE * min(room, *counts.values()))
    if best is None or best.name == "exact":
        exact, most = fewest_exact(task, whole=True), room if best else most
    names = sorted((name for name in counts if counts[name] < room), key=counts.__getitem__)
    if exact < most:
        names.insert(0, "exact")
    for name in names:
        if name == "open":  # may fail by chance; then the next form serves
            found = _open(task, cloud)
        else:
            found = _exactly(name, task, cloud, flatten)
        if found is not None and len(found.blocks) < room:
            return found
    return None


def _exactly(name: str, task: Task, cloud: FilteredCloud, flatten: Flatten) -> Variant | None:
    """A form, by exact hyperplanes; None where the means are not in general position."""
    for j in count():
        collapse, base = flatten(j)
        task = replace(task, base=base)
        try:
            staged, notes, share = _FORMS[name](task, cloud, collapse.alpha)
        except ResourceLimitError:
            return None  # points so close that parameters pass the range of float64
        except DegenerateError as error:
            places = error.places[: cloud.dimension]
            if places and dependent(cloud, base.rows[places]):
                return None
            continue
        w = [x - share * (i == base.axis) for i, x in enumerate(collapse.w)]
        collapse = replace(collapse, w=tuple(w))
        return Variant(name, staged, len(staged), notes | {"hyperplanes": "exact"}, collapse)
    raise AssertionError


def dependent(cloud: FilteredCloud, rows: Array) -> bool:
    """Whether some points are affinely dependent.

    >>> points = [(Fraction(k), Fraction(k * k)) for k in range(3)]
    >>> dependent(FilteredCloud.of_vectors(points), np.arange(3))
    False
    """
    return Matrix([[*x, 1] for x in cloud.exact(rows.tolist())]).rank() < len(rows)


def _by_size(task: Task) -> list[str]:
    """The labels, the one with most points first."""
    base = task.base
    sizes = np.bincount(base.codes, minlength=len(base.names))
    return sorted(task.names, key=lambda name: -int(sizes[base.names.index(name)]))


def _places(base: HeightSlice, heights: Iterable[Fraction]) -> list[Row]:
    """The points of a slice at these heights, with all their coordinates."""
    found = []
    for x, height in zip(base.exact, heights, strict=True):
        place = [a + b for a, b in zip(x, base.shift, strict=True)]
        place.insert(base.axis, height)
        found.append(row_of(place))
    return found


# Blocks, notes, and the share of its depth that the flattening has to leave each point.
Found = tuple[Staged, dict[str, object], Fraction]


def _tents(task: Task, _: FilteredCloud, __: Fraction) -> Found:
    """Half-spaces are never needed: a tent for every d − 1 points of each label but the largest."""
    base, order = task.base, _by_size(task)
    line, rows = polyline(order, task.targets), _places(base, [base.height] * len(base))
    rank = np.array([order.index(name) for name in base.names])[base.codes]
    staged = Staged()
    for i, name in enumerate(order[1:], 1):
        rise = line.heights[name]
        p = tuple(rise if k == base.axis else Fraction(0) for k in range(len(base.f)))
        members, done = np.flatnonzero(rank == i).tolist(), np.flatnonzero(rank < i).tolist()
        found = tents(rows, members, done, p, alone=False)
        staged.add("tent", Parameters.pack(found, len(base.f)))
        staged.add("clamp", [base.clamp(rise)])
    built = staged.stages().count("tent") // 3
    staged.extend(finish(base, line, task.targets, task.sets))
    return staged, {"base": order[0], "tents": built, "half-spaces": 0}, Fraction(0)


def _shells(task: Task, cloud: FilteredCloud, factor: Fraction) -> Found:
    """Every point at the rank of its label, then the staircase."""
    ranks = {name: Fraction(i) for i, name in enumerate(task.names, 1)}
    staged, share = _parked(task, cloud, factor, ranks)
    built = len(staged)
    staged.extend(staircase(task.base, task.names, task.targets))
    return staged, {"shells": built}, share


def _exact(task: Task, cloud: FilteredCloud, factor: Fraction) -> Found:
    """Every point at the height of its target, then the line."""
    found = extended(task)
    assert found is not None
    line, targets = found
    staged, share = _parked(task, cloud, factor, line.heights)
    built = len(staged)
    staged.extend(finish(task.base, line, targets, task.sets))
    return staged, {"shells": built}, share


def _parked(
    task: Task, cloud: FilteredCloud, factor: Fraction, heights: Mapping[str, Fraction]
) -> tuple[Staged, Fraction]:
    """Blocks that park all points, and the share of its depth below the slice that the flattening
    has to leave each: then those that wait lie in general position in all coordinates.

    ``factor`` is α of the block that flattens.
    """
    base = task.base
    if len(np.unique(cloud.first_equal())) > len(base):  # f takes different means to one point
        raise DegenerateError([])
    rows = _places(base, (factor * x[base.axis] for x in cloud.exact(base.rows.tolist())))
    aims = [heights[base.names[c]] for c in base.codes.tolist()]
    blocks, share = park_all(rows, base.axis, base.height, aims)
    staged = Staged()
    staged.add("shell", Parameters.pack(blocks, len(base.f)))
    return staged, share


def _open(task: Task, cloud: FilteredCloud) -> Variant | None:
    """Tents into open sets; None where no choice of the points y_c serves."""
    assert task.codes is not None
    first = cloud.first_equal()
    kept = np.flatnonzero(first == np.arange(len(first)))
    cloud, codes = cloud.select(kept), task.codes[kept]
    order = np.argsort(-np.bincount(codes, minlength=len(task.names)), kind="stable").tolist()
    names = [task.names[c] for c in order]
    rng = np.random.default_rng(task.seed)
    for draw in range(_CHOICES_OF_Y):
        y = aims(task.sets, rng, draw, 3 + 8 * draw)
        radii = [inner_radius(task.sets[name], y[name]) or Fraction(1) for name in names]
        collapse = collapsed(cloud, y[names[0]], min(radii))[0]
        places = [
            tuple(collapse.alpha * (a + b) for a, b in zip(x, collapse.w, strict=True))
            for x in cloud.exact(range(len(cloud)))
        ]
        blocks: list[RankOneBlock] = []
        try:
            for c, name in zip(order[1:], names[1:], strict=True):
                p = tuple(a - b for a, b in zip(y[name], y[names[0]], strict=True))
                members = np.flatnonzero(codes == c).tolist()
                others = np.flatnonzero(codes != c).tolist()
                rows = [row_of(x) for x in places]
                blocks += tents(rows, members, others, p, alone=True)
                for j in members:
                    places[j] = tuple(a + b for a, b in zip(places[j], p, strict=True))
        except DegenerateError as error:
            if dependent(cloud, np.array(error.places[: cloud.dimension])):
                return None
            continue
        staged = Staged()
        staged.add("tent", blocks)
        notes = {"base": names[0], "small groups": 0, "hyperplanes": "exact"}
        return Variant("open", staged, len(staged), notes, collapse)
    return None


_FORMS = {"tents": _tents, "shells": _shells, "exact": _exact}
