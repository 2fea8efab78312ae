"""The means of all sequences, collected shard by shard: what the strategy `cover` starts from.

A worker turns a shard into exact sums: the sum S of the tokens of each sequence as hi + lo, two
floats with hi the float nearest to S (error-free additions; D. E. Knuth, The Art of Computer
Programming, vol. 2, 4.2.2, Theorem B). Sums that two floats do not hold are written out. So what a
worker returns is exact and does not depend on it. The floats that the strategy proposes with are
made of these in one process.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from ..construct.shared.filtered_cloud import FilteredCloud
from ..construct.shared.filtered_means import Means
from ..dataset.digests import leaves, measure_digest, subtrees
from ..dataset.hashes import measure_hashes
from ..enclosure.enclosed import Enclosed
from ..enclosure.rounding import LEAST, MOST, error
from ..errors import InputError
from ..exact.array import Array, ExactArray
from ..exact.numbers import Vector, nearest_float
from ..formats.files import sha256
from ..formats.npz import read_npz, text, write_npz
from ..formats.whole_files import write_whole
from .folder import Shard, Shards

_SMALL = 2**14  # entries of means up to which they are exact from the start
_LARGE = 2.0**900  # sums of larger tokens might overflow


@dataclass(frozen=True)
class Collapsed:
    """What the collapse of one shard comes back as; everything in it is JSON.

    ``low`` and ``high`` are the least and largest floats of each coordinate of its tokens, and
    ``exact`` says that the floats are the tokens. ``points`` is the SHA-256 of what was written.
    """

    start: int
    count: int
    sha256: str
    tokens: int
    nodes: list[list[Any]]
    low: list[float]
    high: list[float]
    exact: bool
    whole: bool  # all labels are integers
    points: str


def collapse_shard(frame: Shards, folder: str, shard: Shard) -> Collapsed:
    """Write the sums of a shard's sequences into the folder."""
    data = frame.read_labelled(shard)
    names = {name: code for code, name in enumerate(data.sets)}
    labels = data.need_labels()
    hi, lo, more = exact_sums(data.tokens, data.offsets)
    arrays = {
        "lengths": np.diff(data.offsets),
        "codes": np.fromiter(map(names.__getitem__, labels), np.int32, len(labels)),
        "hashes": measure_hashes(data.tokens, data.offsets),
        "more": np.frombuffer(json.dumps(more).encode(), dtype=np.uint8),
    }
    sums, rest = point_files(folder, shard)
    write_whole(sums, lambda temporary: _save(temporary, np.stack([hi, lo])))
    write_whole(rest, lambda temporary: write_npz(temporary, arrays))
    return Collapsed(
        shard.start,
        len(data),
        str(data.source["sha256"]),
        len(data.tokens),
        [[x.level, x.index, x.digest.hex()] for x in subtrees(leaves(data), shard.start)],
        data.tokens.values.min(axis=0).tolist(),
        data.tokens.values.max(axis=0).tolist(),
        not len(data.tokens.exact),
        set(map(type, data.labels)) == {int},
        points_sha256(folder, shard),
    )


def point_files(folder: str, shard: Shard) -> tuple[Path, Path]:
    """Where the sums of a shard lie, and the rest of what is known of its sequences."""
    name = f"{shard.start:012d}"
    return Path(folder) / f"{name}.npy", Path(folder) / f"{name}.npz"


def points_sha256(folder: str, shard: Shard) -> str:
    """SHA-256 of both files."""
    each = (sha256(path.read_bytes()) for path in point_files(folder, shard))
    return sha256("".join(each).encode())


def _save(path: Path, array: Array) -> None:
    with open(path, "wb") as file:
        np.save(file, array, allow_pickle=False)


def exact_sums(tokens: ExactArray, offsets: Array) -> tuple[Array, Array, dict[str, list[str]]]:
    """Sums of the tokens of each sequence: hi + lo, both (N, d), hi nearest to the sum.

    Of sequences in the dictionary, hi and lo are not enough: it holds their sums, p/q in
    hexadecimal digits.

    >>> tokens = ExactArray(np.array([[1.0], [2.0**-60], [3.0]]))
    >>> hi, lo, more = exact_sums(tokens, np.array([0, 2, 3]))
    >>> hi.tolist(), (lo * 2.0**60).tolist(), more
    ([[1.0], [3.0]], [[1.0], [0.0]], {})
    """
    lengths = np.diff(offsets)
    order = np.argsort(-lengths, kind="stable")  # the longest first
    first = offsets[:-1][order]
    x = tokens.values
    hi, lo = x[first], np.zeros((len(order), x.shape[1]))
    wrong = ~(np.abs(hi) < _LARGE).all(axis=1)
    longer = np.searchsorted(-lengths[order], -np.arange(int(lengths.max()) + 1))
    with np.errstate(all="ignore"):
        for step in range(1, int(lengths.max())):
            some = slice(0, int(longer[step]))  # those with more tokens than that
            token = x[first[some] + step]
            wrong[some] |= ~(np.abs(token) < _LARGE).all(axis=1)
            hi[some], error = _sum(hi[some], token)
            lo[some], lost = _sum(lo[some], error)
            wrong[some] |= (lost != 0).any(axis=1)
        hi, lo = _sum(hi, lo)
    back = np.empty_like(order)
    back[order] = np.arange(len(order))
    hi, lo, wrong = hi[back], lo[back], wrong[back]
    if len(tokens.exact):
        rows = np.unique(np.fromiter(tokens.exact, np.int64, len(tokens.exact)) // x.shape[1])
        wrong[np.searchsorted(offsets, rows, side="right") - 1] = True
    more = {}
    for j in np.flatnonzero(wrong).tolist():
        given = [tokens.row(i) for i in range(int(offsets[j]), int(offsets[j + 1]))]
        sums = [sum(column, Fraction(0)) for column in zip(*given, strict=True)]
        hi[j] = [nearest_float(each) for each in sums]
        lo[j] = 0.0
        more[str(j)] = [f"{each.numerator:x}/{each.denominator:x}" for each in sums]
    return hi + 0.0, lo + 0.0, more


def _sum(a: Array, b: Array) -> tuple[Array, Array]:
    """The float nearest to a + b, and what it lacks, exactly."""
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


class Points:
    """The sums of all sequences, which stay on disk, and what is small of them, in memory.

    ``lengths``, ``codes`` (places of the labels among the label sets), ``hashes`` have shape (N,).
    """

    def __init__(self, shards: Shards, collapsed: Sequence[Collapsed], folder: str) -> None:
        self.shards, self.collapsed = shards, collapsed
        self.starts = np.array([*(each.start for each in collapsed), shards.sequences])
        self._sums: list[Array] = []
        self._more: list[dict[str, list[str]]] = []
        rest: dict[str, list[Array]] = {"lengths": [], "codes": [], "hashes": []}
        for shard, each in zip(shards.shards, collapsed, strict=True):
            place, other = point_files(folder, shard)
            sums, arrays = np.load(place, mmap_mode="r"), read_npz(other.read_bytes(), None)
            if len(sums[0]) != each.count or len(arrays["codes"]) != each.count:
                raise InputError(f"{place}: the file is not the one that was written")
            self._sums.append(sums)
            self._more.append(json.loads(text(arrays, "more")))
            for name, parts in rest.items():
                parts.append(arrays[name])
        self.lengths, self.codes, self.hashes = map(np.concatenate, rest.values())
        self.dimension = len(collapsed[0].low)

    def __len__(self) -> int:
        """N, the number of sequences."""
        return len(self.lengths)

    def exact(self, rows: Array) -> list[Vector]:
        """Exact means of some sequences."""
        shard = np.searchsorted(self.starts, rows, side="right") - 1
        return [
            self._mean(k, j - int(self.starts[k]), n)
            for k, j, n in zip(
                shard.tolist(), rows.tolist(), self.lengths[rows].tolist(), strict=True
            )
        ]

    def _mean(self, k: int, j: int, n: int) -> Vector:
        more = self._more[k].get(str(j))
        if more is not None:
            return tuple(_quotient(each) / n for each in more)
        hi, lo = (row.tolist() for row in self._sums[k][:, j])
        return tuple((Fraction(a) + Fraction(b)) / n for a, b in zip(hi, lo, strict=True))

    def floats(self, rows: Array) -> Enclosed | None:
        """Means of some rising sequences in float64 with bounds; None out of the range of these.

        Each is hi/n: a rounding of the sum, and one of the quotient.
        """
        values = np.empty((len(rows), self.dimension))
        bounds = np.searchsorted(rows, self.starts)
        for k, (a, b) in enumerate(pairwise(bounds.tolist())):
            values[a:b] = self._sums[k][0][rows[a:b] - self.starts[k]]
        largest = max(float(values.max()), -float(values.min()))
        if not LEAST < largest < MOST:
            return None
        values /= self.lengths[rows, None]
        room = error(2, np.abs(values).max(axis=1))
        return Enclosed.of_floats(values, room, Fraction(1))

    def means(self, rows: Array) -> Means:
        """Means of some rising sequences, and the reach of all tokens."""
        low = np.min([each.low for each in self.collapsed], axis=0)
        high = np.max([each.high for each in self.collapsed], axis=0)
        sizes = np.maximum(high, -low)
        points = self.floats(rows) if len(rows) * self.dimension > _SMALL else None
        if points is None:
            cloud = FilteredCloud.of_vectors(self.exact(rows))
        else:
            known = {}
            if all(each.exact for each in self.collapsed):
                known = {k: Fraction(low[k]) for k in np.flatnonzero(low == high).tolist()}
            cloud = FilteredCloud(points, lambda some: self.exact(rows[np.asarray(some)]), known)
        return Means(cloud, lambda k: Fraction(float(sizes[k])))


def measure_digests(frame: Shards, piece: tuple[Shard, Array]) -> list[bytes]:
    """Digests of the measures of some sequences of a shard, given by their numbers in the whole."""
    shard, rows = piece
    data = frame.read(shard)
    return [measure_digest(data, j) for j in (rows - shard.start).tolist()]


def _quotient(text: str) -> Fraction:
    p, q = text.split("/")
    return Fraction(int(p, 16), int(q, 16))
