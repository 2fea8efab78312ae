"""How many blocks almost all data need, by counting parameters; no verdict asks for it."""

from __future__ import annotations

from collections.abc import Sequence
from math import e, log2

from ..exact.matrix import Matrix
from ..exact.numbers import Vector


def lower_block_bound(count: int, dimension: int) -> int:
    """Depth that almost all choices of N point targets need: ⌈(Nd−1)/(2d+1)⌉ (Theorem 7).

    For fixed sequences it holds for all tuples of targets outside a set of measure zero, and for
    every construction of the paper's architecture: on a fixed activation pattern a block has
    2d+1 effective parameters, and there is one overall scale. It says nothing about a single
    tuple of targets: some, such as targets on a line for d ≥ 3 and many sequences in general
    position, need fewer blocks (Theorem 6d). For fewer labels than sequences it says nothing.

    >>> lower_block_bound(270, 12)
    130
    """
    return -((1 - count * dimension) // (2 * dimension + 1))


def counting_lower_bound(count: int, dimension: int, labels: int) -> int:
    """Depth below which no points let half of all labellings be realised (theory, Theorem 13).

    N log₂M − 1 ≤ L + 1 + (2d+1)(½L(L+1) log₂(4eN/(2d+1)) + L log₂(4eN(M−1)/(2d+1))), N ≥ d;
    0 where that says nothing. It is about labellings, not about one: some data need less. It is
    about points: of longer sequences, about what a collapse leaves and the blocks behind it.

    >>> counting_lower_bound(10**6, 8, 2), counting_lower_bound(5, 8, 2)
    (77, 0)
    """
    if labels < 2 or count < dimension:
        return 0
    size = 2 * dimension + 1
    signs = log2(4 * e * count / size)
    classes = log2(4 * e * count * (labels - 1) / size)
    depth = 0
    while True:
        most = depth + 1 + size * (depth * (depth + 1) / 2 * signs + depth * classes)
        if count * log2(labels) - 1 <= most:
            return depth
        depth += 1


def spread_out(points: Sequence[Vector]) -> bool:
    """Whether points in dimension d lie in no smaller affine subspace than such points must.

    Almost all tuples of points do. The default targets 0, e₁, 2e₁, … do not, from the third on.

    >>> from fractions import Fraction
    >>> spread_out([(Fraction(0), Fraction(0)), (Fraction(1), Fraction(0))])
    True
    >>> spread_out([(Fraction(k), Fraction(0)) for k in range(3)])
    False
    """
    if len(points) < 2:
        return True
    first, *rest = points
    wanted = min(len(rest), len(first))
    steps = [[x - y for x, y in zip(point, first, strict=True)] for point in rest]
    return Matrix(steps).rank() == wanted
