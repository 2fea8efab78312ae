"""Select: the string of each point's cell becomes y, by a binary tree of selects.

Folding h from n cells to ⌈n/2⌉ joins cell i with cell 2⌈n/2⌉ − 1 − i. The neuron that folds takes
Λ(h − c) from the string of cell i on all points of the second half, so that there the maximum of
both strings is that of the other cell. Every register that is read here is free afterwards.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise


@dataclass(frozen=True)
class Level:
    """One fold of h to ``cells`` cells, and the pairs (register, register that it may become)."""

    cells: int
    selects: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Tree:
    """Levels in order; ``string[cell]`` ends in register 0; ``rank`` orders the offsets.

    Where a select takes the second of two strings, that string has the higher rank.
    """

    levels: tuple[Level, ...]
    string: tuple[int, ...]
    rank: tuple[int, ...]


@lru_cache
def tree(k: int) -> Tree:
    """The tree for k strings, in registers 0 … k−1.

    >>> tree(3).levels
    (Level(cells=2, selects=((0, 2),)), Level(cells=1, selects=((0, 1),)))
    >>> tree(3).string, tree(3).rank
    ((1, 2, 0), (0, 2, 1))
    """
    sizes = [k]
    while sizes[-1] > 1:
        sizes.append(-(-sizes[-1] // 2))
    registers, new = [0], 1
    levels: list[Level] = []
    for cells, joined in reversed(list(pairwise(sizes))):
        selects, before = [], registers + [0] * (cells - joined)
        for i in range(joined):
            other = 2 * joined - 1 - i
            if joined <= other < cells:
                selects.append((registers[i], new))
                before[i], before[other] = new, registers[i]
                new += 1
        levels.append(Level(joined, tuple(selects)))
        registers = before
    levels.reverse()
    string, order = [], []
    for cell in range(k):
        content, stays, at = list(range(k)), [], cell
        for level in levels:
            stays.append(at >= level.cells)
            if stays[-1]:
                at = 2 * level.cells - 1 - at
            else:
                for register, other in level.selects:
                    content[register] = content[other]
        string.append(content[0])
        order.append((tuple(not stay for stay in reversed(stays)), content[0]))
    rank = [0] * k
    for place, (_, name) in enumerate(sorted(order)):
        rank[name] = place
    return Tree(tuple(levels), tuple(string), tuple(rank))
