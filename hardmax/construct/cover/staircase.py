"""From height bands to targets (beyond Theorem B, step B4; docs/theory.md).

Points of label i = 1 … M have heights within 1/4 of B + i. After the kills, one hinge at the
upper end of each band but the last and one at the lower end of each but the first lead from
target to target, and are flat on the bands; a last block kills the height.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import pairwise

from ...exact.numbers import Vector
from ...model.layers import RankOneBlock
from .ending import base_block, fix_coordinates
from .height_slice import HeightSlice
from .shells.tilt import BAND


def staircase_count(labels: int) -> int:
    """Blocks after the kills: two for each step between bands, one for the height.

    >>> staircase_count(2)
    3
    """
    return 2 * (labels - 1) + 1


def staircase(
    base: HeightSlice, order: Sequence[str], targets: Mapping[str, Vector]
) -> list[tuple[str, RankOneBlock]]:
    """Blocks, with stages, that take the band around height B + i + 1 to the target of order[i].

    All targets must agree in the coordinate of the height.
    """
    first = targets[order[0]]
    blocks = []
    for i, (a, b) in enumerate(pairwise(order), 1):
        step = [(y - x) / (1 - 2 * BAND) for x, y in zip(targets[a], targets[b], strict=True)]
        for start, sign in ((i + BAND, 1), (i + 1 - BAND, -1)):
            blocks.append(base_block(base, -base.height - start, [sign * x for x in step]))
    down = [-Fraction(int(i == base.axis)) for i in range(len(base.f))]
    blocks.append(base_block(base, -first[base.axis], down))
    return [*fix_coordinates(base, list(first)), *(("stair", block) for block in blocks)]
