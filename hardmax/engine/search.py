"""When to stop looking for wrong outputs: a refutation needs one, and should be no slower to find
than a proof.

Exact outputs are dear where a point meets many layers, as in a model with one wrong number it may.
So the cheapest are worked out first, and where one of them is wrong, the others only as long as
little work is left to do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from .rounding import Array

Row = tuple[int, ...]
Wrong = Callable[[int, Array, Sequence[Row], dict[int, Row]], list[int]]

_WORK = 2 * 10**6  # bits times layers for each witness asked for, once there is one
_GROWTH = 4  # of what is worked out at once


@dataclass
class Tally:
    """How many outputs were found wrong so far."""

    wrong: int = 0


@dataclass(frozen=True)
class Search:
    """``wrong(start, number, constants, points)`` says which of the sequences start, start + 1, …
    are wrong, as in `Outputs`; enough is known where there are more than ``most``."""

    wrong: Wrong
    most: int

    @property
    def work(self) -> int:
        """Bits times layers that may be spent where something wrong is known."""
        return _WORK * self.most

    def batches(self, cost: Array, found: Tally) -> Iterator[Array]:
        """Places of costs, cheapest first, a few at a time; ends early where enough is ``found``.

        >>> search = Search(lambda *_: [], 2)
        >>> [some.tolist() for some in search.batches(np.array([5, 3, 4]), Tally())]
        [[1], [2, 0]]
        >>> list(search.batches(np.array([5, 3, 4]), Tally(3)))
        []
        """
        order = np.argsort(cost, kind="stable")
        done, size, spent = 0, 1, 0
        while done < len(order):
            some = order[done : done + size]
            if found.wrong:
                within = spent + np.cumsum(cost[some]) <= self.work
                some = some[within]
                if found.wrong > self.most or not len(some):
                    return
            yield some
            done, size = done + len(some), size * _GROWTH
            spent += int(cost[some].sum())
