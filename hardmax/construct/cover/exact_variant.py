"""Shells at exact heights, then a block for each straight piece (docs/theory.md, Theorem 6c)."""

from __future__ import annotations

from ...exact.numbers import Vector
from ..shared.staged import Staged
from .ending import Polyline, agree, ending_count, finish, polyline
from .shells.exact_heights import park_exactly
from .shells.park import fewest
from .variants import Task, Variant

# Exact heights need long numbers, so they are used only where they save a tenth of the blocks.
SHARE = 0.9


def extended(task: Task) -> tuple[Polyline, dict[str, Vector]] | None:
    """The polyline through the targets that bends least, with a first point "" before them, and
    its targets; None where the height's coordinate or the number of bends forbids it.

    The first point leaves room below the lowest target: all heights are at least the path's
    length between the targets.
    """
    if not agree(task.targets, task.base.axis):
        return None
    line = min((polyline(o, task.targets) for o in task.orders()), key=lambda x: len(x.slopes))
    first, slope = task.targets[line.order[0]], line.slopes[0]
    far = line.heights[line.order[-1]]
    targets = {"": tuple(y - far * p for y, p in zip(first, slope, strict=True)), **task.targets}
    line = polyline(["", *line.order], targets)
    pieces = len(line.slopes)
    return (line, targets) if pieces + (pieces > 1) < len(line.order) else None


def fewest_exact(task: Task, whole: bool = False) -> int:
    """Blocks that shells at exact heights take at least, in general position.

    They hold d − 1 points, or d if they are ``whole`` (Theorem 6d).
    """
    found = extended(task)
    if found is None or "" in task.targets:
        return task.room
    line, targets = found
    points, held = len(task.base), task.base.dimension
    shells = -(-points // (held + 1)) if whole else fewest(points, held)
    return shells + task.fixing + ending_count(line, targets, task.base.axis)


def exact_variant(task: Task, room: int) -> Variant | None:
    """Facet by facet, at exact heights, at most ``room`` blocks (Theorem 6c)."""
    base, found = task.base, extended(task)
    if found is None:
        return None
    line, targets = found
    end = task.fixing + ending_count(line, targets, base.axis)
    heights = {name: line.heights[name] for name in task.names}
    blocks = park_exactly(base, heights, task.seed, room - end)
    if blocks is None:
        return None
    staged = Staged()
    staged.add("shell", blocks)
    staged.extend(finish(base, line, targets, task.sets))
    bound = len(blocks) + end
    return Variant("exact", staged, bound, {"shells": len(blocks)})
