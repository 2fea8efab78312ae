"""Match labels: the points of one label meet in one point (Section 3.1).

The paper moves one extreme point at a time. Here the points are taken in the order of one direction
v on which all of them differ: the highest point is extreme, and the hyperplane between it and the
next one separates it. Points only move down, so the order of the others stays. Repaired as in
theory A5: a point that joins its class lands on another *current* point of the class; a class that
is complete but in the way is moved to its own target, which lies below all points.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from ...exact.numbers import Vector
from ...exact.points import IntegerPoints, falling
from ...exact.rows import Row, row_of, vector_of
from ...model.parameters import Parameters
from ...stages import tell
from ..shared.moves import Moves


@dataclass
class LabelledPoints:
    """Collapsed sequences, one point each with its label, sorted from the highest down.

    ``v`` is the direction of the sweep: ⟨v,·⟩ differs on all points, ``heights``, and is larger
    than on every target. The points before ``next`` have left.
    """

    rows: list[Row]
    labels: list[str]
    heights: list[Fraction]
    v: Vector
    next: int = 0

    @classmethod
    def of(
        cls, points: Sequence[Vector] | IntegerPoints, labels: Sequence[str], v: Vector
    ) -> LabelledPoints:
        """Sort points along v."""
        if not isinstance(points, IntegerPoints):
            points = IntegerPoints.of_vectors(points)
        heights = points.values(v)
        order = falling(heights)
        rows, labels = points.select(order).rows, [labels[j] for j in order]
        return cls(rows, labels, [heights[j] for j in order], v)

    @property
    def points(self) -> list[tuple[Vector, str]]:
        """The points that have not left, with their labels."""
        left = slice(self.next, None)
        return [
            (vector_of(row), label)
            for row, label in zip(self.rows[left], self.labels[left], strict=True)
        ]


def match_labels(state: LabelledPoints, targets: Mapping[str, Vector]) -> Parameters:
    """Blocks after which each label has one point; ``state`` keeps the points not on a target.

    At most N − 1 blocks: every block but those of Case 1 merges two points, and Case 1 parks
    a class only while another class still has points to merge.

    >>> F = Fraction
    >>> state = LabelledPoints.of([(F(3),), (F(2),), (F(1),)], ["a", "b", "a"], (F(1),))
    >>> len(match_labels(state, {"a": (F(-1),), "b": (F(-2),)})), len(state.points)
    (1, 2)
    """
    left = Counter(state.labels)
    unmatched = sum(count > 1 for count in left.values())
    lowest = dict(zip(state.labels, state.rows, strict=True))
    v, aims = row_of(state.v), {label: row_of(target) for label, target in targets.items()}
    moves = Moves(len(state.v))
    while unmatched:
        tell("match", len(state.rows) - state.next)
        k, label = state.next, state.labels[state.next]
        target = lowest[label] if left[label] > 1 else aims[label]
        moves.add(state.rows[k], target, v, state.heights[k] - state.heights[k + 1])
        left[label] -= 1
        unmatched -= left[label] == 1
        state.next += 1
    return moves.packed()
