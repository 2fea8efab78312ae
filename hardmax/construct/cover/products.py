"""Products of very many points with some hyperplanes, a block at a time.

A point is a row (x, 1) of X, shape (n, d), a hyperplane t = ⟨u,x⟩ + beta a column (u, beta) of W,
shape (d, k). The blocks of X W are as small as the cache; nothing of size n·k is ever kept.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ...exact.array import Array
from ...threads import in_threads

# Rows and columns of one block of a product.
BLOCK = 512, 512
# Rows that one thread takes at a time.
_PIECE = 1 << 15
# A product with fewer entries than this is not worth several threads.
_WORTH = 1e7


def homogeneous(X: Array) -> Array:
    """(x, 1) for every row x."""
    rows = np.empty((len(X), X.shape[1] + 1))
    rows[:, :-1] = X
    rows[:, -1] = 1.0
    return rows


def _pieces(X: Array, W: Array) -> list[slice]:
    """Split the rows of X among threads, if the product is large enough."""
    step = len(X) if len(X) * W.shape[1] < _WORTH else _PIECE
    return [slice(i, min(i + step, len(X))) for i in range(0, len(X), max(step, 1))] or [
        slice(0, 0)
    ]


def _blocks(
    X: Array, W: Array, piece: slice, block: tuple[int, int]
) -> Iterator[tuple[slice, slice, Array]]:
    """Yield the product X W in blocks that fit the cache; each block overwrites the one before."""
    height, width = block
    for j in range(0, W.shape[1], width):
        columns = slice(j, min(j + width, W.shape[1]))
        some = np.ascontiguousarray(W[:, columns])
        space = np.empty((height, some.shape[1]))
        for i in range(piece.start, piece.stop, height):
            rows = slice(i, min(i + height, piece.stop))
            T = space[: rows.stop - i]
            np.matmul(X[rows], some, out=T)
            yield rows, columns, T


def nearest(X: Array, W: Array, block: tuple[int, int] = BLOCK) -> tuple[Array, Array]:
    """For every column of X W the largest negative and the least positive entry, or infinities.

    The bits of floats, read as integers, order the positive ones; read as unsigned integers
    all negative ones lie above them, read as signed integers those nearest to zero come first.
    The product is computed in blocks of so many rows and columns.
    """
    far = np.array([-np.inf, np.inf])

    def some(piece: slice) -> tuple[Array, Array]:
        below = np.full(W.shape[1], far.view(np.int64)[0])
        above = np.full(W.shape[1], far.view(np.uint64)[1])
        for _, columns, T in _blocks(X, W, piece, block):
            np.minimum(below[columns], T.view(np.int64).min(axis=0), out=below[columns])
            np.minimum(above[columns], T.view(np.uint64).min(axis=0), out=above[columns])
        return below, above

    belows, aboves = zip(*in_threads(some, _pieces(X, W)), strict=True)
    below, above = np.min(belows, axis=0), np.min(aboves, axis=0)
    return np.where(below < 0, below.view(np.float64), -np.inf), above.view(np.float64)


def beyond(
    X: Array, W: Array, within: Array, block: tuple[int, int] = BLOCK
) -> tuple[Array, Array]:
    """For every column of X W the number of entries with |t| ≤ within, and the least other |t|."""

    def some(piece: slice) -> tuple[Array, Array]:
        found = np.zeros(W.shape[1], dtype=np.int64)
        least = np.full(W.shape[1], np.inf)
        for _, columns, T in _blocks(X, W, piece, block):
            np.abs(T, out=T)
            inside = within[columns] >= T
            found[columns] += np.count_nonzero(inside, axis=0)
            T[inside] = np.inf
            np.minimum(least[columns], T.min(axis=0), out=least[columns])
        return found, least

    counts, leasts = zip(*in_threads(some, _pieces(X, W)), strict=True)
    return np.asarray(sum(counts)), np.min(leasts, axis=0)


def within_slabs(
    X: Array, W: Array, within: Array, block: tuple[int, int] = BLOCK
) -> tuple[Array, Array]:
    """Rows and columns of the entries of X W with |t| ≤ within."""

    def some(piece: slice) -> Array:
        found = [np.zeros((0, 2), dtype=np.int64)]
        for rows, columns, T in _blocks(X, W, piece, block):
            np.abs(T, out=T)
            at, column = np.divmod(np.flatnonzero(within[columns] >= T), T.shape[1])
            found.append(np.stack([at + rows.start, column + columns.start], axis=1))
        return np.concatenate(found)

    places = np.concatenate(list(in_threads(some, _pieces(X, W))))
    return places[:, 0], places[:, 1]
