"""When to stop looking for wrong outputs: a refutation should not take longer than a proof.

An exact output takes long to compute if many layers are active on its point. So outputs with few
layers are computed first. Once one is wrong, the search spends only a fixed amount of work on
others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ..exact.array import Array

Row = tuple[int, ...]
Wrong = Callable[[int, Array, Sequence[Row], dict[int, Row]], list[int]]

_WORK_PER_WITNESS = 4 * 10**4  # squared layer counts, spent once an output is known to be wrong
_FIRST_BATCH = 64  # outputs of the first batch
_BATCH_GROWTH = 4  # each later batch is so many times as large


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
    first: int = (
        _FIRST_BATCH  # outputs that are worked out at once, before any is known to be wrong
    )

    @property
    def work(self) -> int:
        """The sum of squared layer counts that may be spent once something wrong is known."""
        return _WORK_PER_WITNESS * self.most

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
            else:  # a batch may cost about as much as all batches before it, not much more
                some = some[: max(1, np.count_nonzero(dear <= max(spent, self.work)))]
            yield some
            done, size = done + len(some), size * _BATCH_GROWTH
            spent += int(cost[some].sum())
