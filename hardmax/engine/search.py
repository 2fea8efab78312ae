"""When to stop looking for wrong outputs: a refutation should not take longer than a proof.

An exact output is expensive if the point passes many layers. So the cheapest outputs are computed
first. Once one is wrong, the others are computed only as long as little work remains.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ..exact.array import Array

Row = tuple[int, ...]
Wrong = Callable[[int, Array, Sequence[Row], dict[int, Row]], list[int]]

_WORK = 4 * 10**4  # squared layers for each witness asked for, once there is one
_FIRST, _GROWTH = 64, 4  # outputs of the first batch, and how many times as many each next one has


@dataclass
class Tally:
    """How many outputs were found wrong so far."""

    wrong: int = 0


@dataclass(frozen=True)
class Search:
    """A search for at most ``most`` wrong outputs.

    ``wrong(start, number, constants, points)`` lists the wrong ones among the sequences start,
    start + 1, …, given as in `Outputs`.
    """

    wrong: Wrong
    most: int
    first: int = _FIRST  # outputs that are worked out at once, before any is known to be wrong

    @property
    def work(self) -> int:
        """The sum of squared layer counts that may be spent once something wrong is known."""
        return _WORK * self.most

    def batches(self, cost: Array, found: Tally) -> Iterator[Array]:
        """Yield batches of places, cheapest first; stop where enough wrong outputs are ``found``.

        >>> search = Search(lambda *_: [], 2, first=1)
        >>> [some.tolist() for some in search.batches(np.array([5, 3, 4]), Tally())]
        [[1], [2, 0]]
        >>> list(search.batches(np.array([5, 3, 4]), Tally(3)))
        []
        """
        order = np.argsort(cost, kind="stable")
        done, size, spent = 0, self.first, 0
        while done < len(order):
            some = order[done : done + size]
            dear = np.cumsum(cost[some])
            if found.wrong:
                some = some[spent + dear <= self.work]
                if found.wrong > self.most or not len(some):
                    return
            else:  # no batch takes much longer than all before it
                some = some[: max(1, np.count_nonzero(dear <= max(spent, self.work)))]
            yield some
            done, size = done + len(some), size * _GROWTH
            spent += int(cost[some].sum())
