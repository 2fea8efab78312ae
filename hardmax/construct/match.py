"""Matching labels: collapsed sequences of one label meet in one point (Section 3.1).

The paper moves one extreme point at a time. Here the extreme points are taken in the order of
one direction v on which all points differ: the highest point is extreme, and the hyperplane
between it and the next separates it. Points only ever move down, so the order of the others
stays. Mended as in theory A5: a point that joins its class lands on another *current* point
of the class; a class that is whole but in the way is parked on its own target, which lies
below all points, so it meets no other.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..model.layers import RankOneBlock
from ..numbers import Vector, dot
from .move import move


@dataclass
class Points:
    """Collapsed sequences, one point each with its label, sorted from the highest down.

    ``v`` is the direction of the sweep: ⟨v,·⟩ differs on all points and is larger than on
    every target.
    """

    points: list[tuple[Vector, str]]
    v: Vector

    @classmethod
    def of(cls, points: Sequence[Vector], labels: Sequence[str], v: Vector) -> Points:
        """Sort points along v."""
        pairs = zip(points, labels, strict=True)
        return cls(sorted(pairs, key=lambda pair: dot(v, pair[0]), reverse=True), v)


def match_labels(state: Points, targets: Mapping[str, Vector]) -> list[RankOneBlock]:
    """Blocks after which each label has one point; ``state`` keeps the points not on a target.

    At most N − 1 blocks: every block but those of Case 1 merges two points, and Case 1 parks
    a class only while another class still has points to merge.

    >>> from fractions import Fraction as F
    >>> state = Points.of([(F(3),), (F(2),), (F(1),)], ["a", "b", "a"], (F(1),))
    >>> len(match_labels(state, {"a": (F(-1),), "b": (F(-2),)})), len(state.points)
    (1, 2)
    """
    left = Counter(label for _, label in state.points)
    lowest = {label: point for point, label in state.points}
    blocks = []
    while any(count > 1 for count in left.values()):
        (x, label), (next_point, _) = state.points[0], state.points[1]
        below = dot(state.v, next_point)
        target = lowest[label] if left[label] > 1 else targets[label]
        blocks.append(move(x, target, state.v, below))
        left[label] -= 1
        state.points.pop(0)
    return blocks
