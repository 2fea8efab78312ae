"""Tokens with one coordinate: fold, park, place (Theorem 9, any dimension).

On a line no tent has room, but N sequences take at most three blocks each. First the last token of
each sequence in turn is made the largest, by folding what lies above it into the gap below it, and
is parked below all others. Then only the parked tokens move: the topmost one to its target, those
below it along, so far that they stay outside of all others. Numbers grow with every block.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import floor

from ...errors import ResourceLimitError
from ...exact.numbers import power_of_two_below, short_between
from ...model.layers import RankOneBlock

# Parameters stay below this; float64 holds numbers up to 2^1024.
_LARGEST_NUMBER = 2**1000


def place_on_line(
    points: Sequence[Fraction], paths: Sequence[Sequence[int]], targets: Sequence[Fraction]
) -> list[RankOneBlock]:
    """Blocks that give each sequence the mean ``targets[j]``, at most three for each.

    ``points`` are different numbers, ``paths[j]`` says which of them are the tokens of sequence j.
    No path holds the last point of a later one. Raises ResourceLimitError past 2^1000.

    >>> points, targets = [Fraction(0), Fraction(1)], [Fraction(5), Fraction(7)]
    >>> blocks = place_on_line(points, [[0], [0, 1]], targets)
    >>> from hardmax.model.transformer import Transformer
    >>> model = Transformer(blocks)
    >>> [int(model.output(Z)[0]) for Z in ([(0,)], [(0,), (1,)])]
    [5, 7]
    """
    line = _Line(list(points))
    ends = [path[-1] for path in paths]
    for end in ends:
        line.fold_above(end)
        line.park(end)
    side = 1  # the parked points are below all others, times the side
    for k, (path, target) in enumerate(zip(paths, targets, strict=True)):
        rest = sum((line.points[p] for p in path if p != ends[k]), Fraction(0))
        to = (len(path) * target - rest) / path.count(ends[k])
        side = line.place(ends[k], to, ends[k + 1 :], side)
    return line.blocks


class _Line:
    """Points, and the blocks that brought them where they are."""

    def __init__(self, points: list[Fraction]) -> None:
        self.points = points
        self.blocks: list[RankOneBlock] = []

    def _apply(self, u: int, b: Fraction, w: Fraction) -> None:
        if max(abs(b), abs(w)) >= _LARGEST_NUMBER:
            raise ResourceLimitError(
                "tokens with one coordinate take numbers past the range of float64 here; "
                "--positional gives them a second coordinate"
            )
        self.blocks.append(RankOneBlock.of(1, u=[u], b=b, w=[w]))
        self.points = [x + w * max(Fraction(0), u * x + b) for x in self.points]

    def fold_above(self, place: int) -> None:
        """Map what lies above a point into the gap below it, in reversed order."""
        x = self.points[place]
        above = [s - x for s in self.points if s > x]
        if not above:
            return
        gap = min((x - s for s in self.points if s < x), default=Fraction(1))
        slope = power_of_two_below(gap / max(above)) / 2
        c = x + power_of_two_below(min(above)) * min(Fraction(1), slope) / 4
        self._apply(1, -c, -1 - slope)  # s ↦ c − slope·(s − c) for s > c

    def park(self, place: int) -> None:
        """Put the largest point below all others."""
        x, others = self.points[place], [s for i, s in enumerate(self.points) if i != place]
        if not others:
            return
        c = short_between(max(others), x)
        self._apply(1, -c, (floor(min(others)) - 1 - x) / (x - c))

    def place(self, place: int, to: Fraction, waiting: Sequence[int], side: int) -> int:
        """Put the innermost parked point where it belongs; those ``waiting`` stay outside.

        Returns the side on which they are now.
        """
        flipped = [side * s for s in self.points]
        x, t = flipped[place], side * to
        if x == t:
            return side
        others = [s for i, s in enumerate(flipped) if i != place and i not in waiting]
        # the slope is a power of two, so that the waiting points grow by few bits
        slope = 2 * abs(t - x) / power_of_two_below(min(others, default=x + 1) - x)
        if t > x and waiting:  # they turn over, and must come out above the others
            least = min(x - flipped[i] for i in waiting)
            slope = max(slope, 1 + (max([t, *others]) - t + 1) / least)
        slope = 2 * power_of_two_below(slope)
        room = abs(t - x) / slope
        self._apply(-side, x + room, side * slope * (1 if t > x else -1))
        return -side if t > x else side
