"""The blocks of a solved plan, stage by stage (docs/theory.md, section on folds)."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from math import ceil

from ...model.layers import RankOneBlock
from .layout import Layout
from .load import Loads

Stages = Iterator[tuple[str, RankOneBlock]]


def load(layout: Layout, loads: Loads) -> Stages:
    """A hinge for each group: x ≥ x_g changes the slopes of the strings and of the hash."""
    frame, layer = layout.frame, layout.points.registers.layer
    unit = Fraction(1, 1 << frame.scale)
    before, old = [0] * len(layout.strings), 0
    for hinge, kappa, slopes in zip(loads.hinges, loads.kappas, loads.slopes, strict=True):
        w = {j: (new - was) * unit
             for j, new, was in zip(layout.strings, slopes, before, strict=True)}  # fmt: skip
        if layout.h >= 0:
            w[layout.h] = (kappa - old) * unit
        yield "load", layer({layout.x: 1}, -hinge - layout.start[layout.x], w)
        before, old = slopes, kappa


def select(layout: Layout, loads: Loads) -> Stages:
    """Spread h over the cells, then let the string of each point's cell become y."""
    frame, layer, h = layout.frame, layout.points.registers.layer, layout.h
    spread = frame.plan.spread
    for cut in frame.hash.cuts[:spread]:
        yield "hash", layer({h: 1}, -cut - layout.bottom, {h: -2})
    strings, tree = layout.strings, frame.hash.tree
    for level, cut, least in zip(tree.levels, frame.hash.cuts[spread:], loads.least, strict=False):
        penalty = _above(layout.top, least, frame.scale)
        w = {strings[new]: -penalty for _, new in level.selects}
        yield "select", layer({h: 1}, -cut - layout.bottom, {h: -2, **w})
        for register, new in level.selects:
            r, s = strings[register], strings[new]
            yield (
                "select",
                layer({s: 1, r: -1}, layout.offset(register) - layout.offset(new), {r: 1}),
            )


def shift(layout: Layout, loads: Loads) -> Stages:
    """Bit by bit of h: y ← 2^q y where the bit is 0; the address serves as the mark p."""
    frame, layer, h, x, y = (
        layout.frame, layout.points.registers.layer, layout.h, layout.x, layout.y,
    )  # fmt: skip
    small = Fraction(1, 1 << frame.grain)
    ground = layout.points.first + layout.start[x]  # p counts from here
    for q, (mark, doublings) in enumerate(_marks(layout, loads)):
        cut = frame.hash.cell >> (q + 1)
        yield "shift", layer({h: 1}, -cut - layout.bottom, {h: -2, x: -mark})
        yield "shift", layer({y: 1, x: small}, -small * ground, {y: (1 << doublings) - 1})
        if q + 1 < frame.plan.b:
            yield "shift", layer({x: -1}, ground, {x: 1})


def fold(
    layout: Layout, loads: Loads, shrink: Fraction
) -> tuple[list[tuple[str, RankOneBlock]], int]:
    """The triangle wave of y, the last block's attention shrinking everything; and the multiple
    of its period that it stands on, in 2^-scale."""
    frame, y, bits = layout.frame, layout.y, layout.frame.wave.bits
    ground = min(loads.ys) >> (bits + 1) << (bits + 1)
    count = max(0, (-((ground - max(loads.ys)) >> bits) - 1).bit_length())
    layer = layout.points.registers.layer
    base = Fraction(ground, 1 << frame.scale)
    folds = [
        (
            "fold",
            layer({y: 1}, -base - (frame.half << n), {y: -2}, 1 if n else shrink),
        )
        for n in range(count - 1, -1, -1)
    ]
    if shrink != 1 and not folds:
        folds = [("fold", layer({}, 0, {}, shrink))]
    return folds, ground


def reach(layout: Layout, loads: Loads) -> int:
    """No register is larger than this behind the folds, in absolute value."""
    frame, points = layout.frame, layout.points
    levels = len(frame.hash.tree.levels)
    starts = sum(ceil(abs(start)) for start in layout.start)
    marks = sum(_above(layout.top, least, frame.scale) for least in loads.least[:levels])
    marks += sum(mark for mark, _ in _marks(layout, loads))
    known = max(loads.ys) >> frame.scale
    return starts + known + 2 * (layout.top + points.last + points.width) + marks * frame.hash.top


def _marks(layout: Layout, loads: Loads) -> list[tuple[int, int]]:
    """For every bit, what a fold of h takes from p, and by how much y is doubled."""
    frame, points = layout.frame, layout.points
    levels, top = len(frame.hash.tree.levels), layout.top
    span = points.last - points.first
    found = []
    for q in range(frame.plan.b):
        least = loads.least[levels + q]
        mark = _above((top << frame.grain) + span, least, frame.scale)
        doublings = frame.plan.window << q
        found.append((mark, doublings))
        top = (top << doublings) + ((1 << doublings) - 1) * ((span >> frame.grain) + 1)
    return found


def kill(layout: Layout, loads: Loads) -> Stages:
    """Every register but y becomes what it is to be in the end."""
    layer = layout.points.registers.layer
    for j, value in enumerate(layout.rest):
        if j == layout.y or layout.fixed[j]:
            continue
        sign = -1 if j == layout.x or j in layout.strings else 1  # from above, or from below
        yield "kill", layer({j: sign}, -sign * value, {j: -sign})


def _above(reach: int, least: int, scale: int) -> int:
    """A power of two that times ``least``, in 2^-scale, is at least ``reach``."""
    if not least:
        return 0
    return 1 << max(0, -((-reach << scale) // least)).bit_length()
