"""Collapse: every sequence becomes one point, in one block (Theorem B, step B2).

Source: docs/theory.md. A translation by s, then uniform attention with ρ = 0 and α = λ:
sequence j goes to λ(m_j + s), m_j its mean.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from ...enclosure.enclosed import Enclosed
from ...exact.numbers import Vector, power_of_two_below
from ...exact.points import IntegerPoints
from ...model.layers import RankOneBlock

# The centre is chosen among this many points near the middle.
_CENTRE_CANDIDATES = 16


@dataclass(frozen=True)
class CollapsedPoints:
    """Collapsed sequences around ``center``: ``offsets[j]`` + center is point j.

    The *free* point needs no further move: it lies on its own target, the center, so its offset is
    zero. All other offsets are more than twice as long as every |target − center|.
    """

    center: Vector
    offsets: IntegerPoints
    labels: list[str]


def collapse(
    means: IntegerPoints, labels: list[str], targets: Mapping[str, Vector]
) -> tuple[RankOneBlock, CollapsedPoints]:
    """Collapse so that all points but the free one lie farther out than the targets.

    The ``means`` are distinct, mean j has ``labels[j]``. The free point l is chosen near the
    middle: the center is its target y_l, and the shift s = y_l/λ − m_l puts it there. λ is a power
    of two with λ|m_j − m_l| > 2·max |y_k − y_l| for all j ≠ l.

    >>> means, nine, one = IntegerPoints([[1, 1], [2, 1]]), (Fraction(9),), (Fraction(1),)
    >>> block, cloud = collapse(means, ["a", "b"], {"a": nine, "b": one})
    >>> block.alpha, cloud.center, cloud.offsets.vectors()
    (Fraction(32, 1), (Fraction(9, 1),), [(Fraction(0, 1),), (Fraction(32, 1),)])
    """
    free = _middle(means)
    center, middle = targets[labels[free]], means.vector(free)
    apart = means.affine(Fraction(1), tuple(-t for t in middle))
    squares = apart.squares()
    nearest = min((x for j, x in enumerate(squares) if j != free), default=Fraction(1))
    reach = max(_square(_minus(y, center)) for y in targets.values())
    factor = _factor(4 * reach, nearest)
    block = RankOneBlock.translation(
        [y / factor - m for y, m in zip(center, middle, strict=True)], rho=0, alpha=factor
    )
    nowhere = (Fraction(0),) * len(middle)
    return block, CollapsedPoints(center, apart.affine(factor, nowhere), labels)


def collapse_to_zero(target: Vector) -> list[RankOneBlock]:
    """Two blocks that take every sequence to one target: ρ = α = 0, then a translation.

    >>> [block.alpha for block in collapse_to_zero((Fraction(1),))]
    [Fraction(0, 1), Fraction(0, 1)]
    """
    return [RankOneBlock.of(len(target), rho=0), RankOneBlock.translation(target)]


def _factor(reach: Fraction, nearest: Fraction) -> Fraction:
    """Least power of two λ ≥ 1 with λ²·nearest > reach."""
    if nearest > reach:
        return Fraction(1)
    exponent = power_of_two_below(reach / nearest).numerator.bit_length() // 2
    factor = Fraction(2**exponent)
    while factor * factor * nearest <= reach:
        factor *= 2
    return factor


def _middle(means: IntegerPoints) -> int:
    """A point near the middle, and as far as possible from its nearest neighbour."""
    rows = Enclosed.of_ratios(list(means.ratios()), means.dimension).values
    order = np.argsort(np.linalg.norm(rows - rows.mean(axis=0), axis=1), kind="stable")
    best, width = int(order[0]), -1.0
    for j in order[:_CENTRE_CANDIDATES].tolist():
        distance = np.linalg.norm(rows - rows[j], axis=1)
        distance[j] = np.inf
        if len(rows) > 1 and distance.min() > width:
            best, width = j, float(distance.min())
    return best


def _minus(x: Vector, y: Vector) -> Vector:
    return tuple(a - b for a, b in zip(x, y, strict=True))


def _square(x: Vector) -> Fraction:
    return sum((t * t for t in x), Fraction(0))
