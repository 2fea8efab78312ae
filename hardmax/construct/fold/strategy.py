"""Strategy `fold`: about 2√(N log₂M/(d−2)) blocks for random labels (docs/theory.md).

Tie splitting and collapse, then waves: every point gets its class from the band in which a steep
triangle wave ends, and slopes of a few hundred bits, shared by hundreds of points, say
where that is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from fractions import Fraction
from math import ceil, inf
from typing import Any

import numpy as np

from ...dataset import Dataset
from ...dataset.measures import Merged
from ...errors import ConstructionError
from ...exact.numbers import Vector
from ...labels import LabelSet
from ...model.transformer import Transformer
from . import blocks
from .address import Points, addressed
from .common import Staged, build_peel, collapse_to_zero, distinct, representatives, untied
from .end import Ending, end, ending, shrinking
from .frame import Frame
from .layout import Layout
from .load import Effort, Loader
from .plan import Plan, plans

_SPREADS = range(7)  # folds of the hash that are compared
_PLANS = 12  # plans that are compared on some of the points


def expected_blocks(count: int, targets: Mapping[str, Vector]) -> int:
    """About how many blocks `build_fold` will need for ``count`` points, d ≥ 2, without building.

    >>> from fractions import Fraction
    >>> two = {"a": (Fraction(0),) * 8, "b": (Fraction(1),) + (Fraction(0),) * 7}
    >>> 100 < expected_blocks(10_000, two) < 130
    True
    """
    dimension = len(next(iter(targets.values())))
    beam = Effort.of(count).beam
    closing = ending(targets).closing
    return ceil(plans(count, dimension, len(targets), closing, beam)[0][0])


def build_fold(
    data: Dataset,
    merged: Merged,
    seed: int = 0,
    on_block: Callable[[str], None] | None = None,
    most: float = inf,
) -> Transformer:
    """Build the transformer of the fold theorem for data without contradictions.

    It is the one of `peel` in dimension 1, and where so few sequences have so many dimensions that
    fixing the coordinates alone would break 8N + 4, the bound of Theorem 2.4.
    Raises `TooDeepError` as soon as the search sees that it would have more than ``most`` blocks.
    """
    chosen, labels = representatives(data, merged)

    def peel(why: str) -> Transformer:
        model = build_peel(data, merged, seed, on_block)
        model.meta |= {"form": "peel", "why": f"built as peel: {why}"}
        return model

    if data.dimension < 2:
        return peel("the dimension is 1")
    targets = {name: data.sets[name].witness() for name in dict.fromkeys(labels)}
    staged = Staged()
    meta: dict[str, Any] = {"bound": 2}
    if len(targets) == 1:
        staged.add("collapse", collapse_to_zero(next(iter(targets.values()))))
    else:
        split, means = untied(data, chosen, labels, seed)
        means, labels = distinct(means, labels)
        staged.extend(("split", block) for block in split)
        form = ending(targets, {name: data.sets[name] for name in targets})
        of = {name: c for c, name in enumerate(form.names)}
        codes = np.array([of[label] for label in labels])
        points = addressed(means, codes, list(targets.values()), form.axis, seed)
        del means  # as long as the data themselves
        made, meta = _folded(points, form, data.sets, targets, seed, most - len(split))
        staged.extend(made)
        meta["bound"] += len(split)
        meta["tie_splitting"] = len(split)
    if len(staged) > 8 * len(chosen) + 4:
        return peel(f"fold takes {len(staged)} blocks, more than 8N+4 = {8 * len(chosen) + 4}")
    return staged.transformer(data.dimension, meta, on_block)


def _folded(
    points: Points,
    form: Ending,
    sets: Mapping[str, LabelSet],
    targets: Mapping[str, Vector],
    seed: int,
    most: float,
) -> tuple[Staged, dict[str, Any]]:
    """The blocks behind tie splitting, and what `info` tells of them."""
    bands = len(form.names)
    effort = Effort.of(len(points))
    frame = Frame.of(points, _best(points, bands, form.closing, seed, effort), bands)
    plan = frame.plan
    loads = Loader(points, frame, seed, effort).run(most - plan.fixed(form.closing))
    layout = Layout.of(frame, points, form.base)
    staged = Staged([("collapse", points.collapse(layout.start))])
    staged.extend(blocks.load(layout, loads))
    if plan.hashed:
        staged.extend(blocks.select(layout, loads))
    if plan.b:
        staged.extend(blocks.shift(layout, loads))
    shrink = Fraction(1)
    if form.loose:
        shrink = shrinking(form, layout, blocks.reach(layout, loads), sets)
    folds, ground = blocks.fold(layout, loads, shrink)
    staged.extend(folds)
    if not form.loose:
        staged.extend(blocks.kill(layout, loads))
    heights = [frame.wave.height(y) for y in loads.ys]
    staged.extend(end(form, layout, heights, points.codes, ground, shrink, sets, targets))
    meta = {
        "groups": len(loads.hinges),
        "strings": plan.strings,
        "windows": plan.windows,
        "spread": plan.spread,
        "folds": len(folds),
        "bound": plan.fixed(form.closing) + len(loads.hinges),
    }
    if len(staged) > meta["bound"]:
        raise ConstructionError(f"{len(staged)} blocks break the bound {meta['bound']}")
    return staged, meta


def _best(points: Points, bands: int, closing: int, seed: int, effort: Effort) -> Plan:
    """The plan with the fewest blocks, by the groups that some of the points would make."""
    d = points.registers.dimension
    found: dict[Plan, float] = {}

    def compare(some: Iterable[Plan]) -> Plan:
        for plan in some:
            if plan not in found:
                loader = Loader(points, Frame.of(points, plan, bands), seed, effort)
                groups = len(points) / loader.typical()
                found[plan] = plan.fixed(closing) + groups
        return min(found, key=lambda plan: found[plan])

    likely = [plan for _, plan in plans(len(points), d, bands, closing, effort.beam)[:_PLANS]]
    best = compare(likely)
    return compare(replace(best, spread=n) for n in _SPREADS) if best.hashed else best
