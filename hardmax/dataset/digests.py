"""SHA-256 of labelled sequences and of empirical measures, and the Merkle tree over sequences.

docs/certificate.md, section 5.1, fixes the bytes. The tree is that of RFC 6962: its root depends on
the sequences and their order alone, not on how they are cut into shards.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from math import gcd

import numpy as np

from ..exact.array import ExactArray
from .dataset import Dataset
from .reading import Reading

_LEAF, _NODE, _DATA = b"\x00", b"\x01", b"\x02"


@dataclass(frozen=True)
class Node:
    """The digest of the 2^level sequences from number index·2^level on."""

    level: int
    index: int
    digest: bytes


class _Bytes:
    """Exact tokens as bytes: nearest floats, then as texts the entries that no float holds."""

    def __init__(self, tokens: ExactArray) -> None:
        self.width = tokens.shape[1]
        self.floats = np.ascontiguousarray(tokens.values + 0.0, dtype="<f8")  # no −0
        self.exact = tokens.exact
        self.places = np.sort(np.fromiter(tokens.exact, np.int64, len(tokens.exact)))

    def of(self, start: int, end: int) -> bytes:
        """The bytes of some rows."""
        found = self.floats[start:end].tobytes()
        if not len(self.places):
            return found
        first, last = start * self.width, end * self.width
        mine = self.places[np.searchsorted(self.places, first) : np.searchsorted(self.places, last)]
        numbers = ((k - first, self.exact[k]) for k in mine.tolist())
        return found + b"".join(
            f"{k} {x.numerator:x}/{x.denominator:x}\n".encode() for k, x in numbers
        )


def leaves(data: Dataset) -> list[bytes]:
    """The digest of every sequence with its label, tokens as the file holds them.

    >>> data = Dataset([[(1,), (2,)], [(1,)]], ["a", "a"])
    >>> [digest.hex()[:8] for digest in leaves(data)]
    ['e9001800', 'f38a9a42']
    """
    written = data.read_as(Reading()) if data.reading != Reading() else data
    content = _Bytes(written.tokens)
    heads: dict[tuple[int, str], bytes] = {}
    found = []
    bounds = written.offsets.tolist()
    for label, start, end in zip(data.need_labels(), bounds, bounds[1:], strict=False):
        head = heads.get((end - start, label))
        if head is None:
            name = label.encode()
            sizes = (end - start, written.dimension, len(name))
            head = _LEAF + b"".join(x.to_bytes(8, "little") for x in sizes) + name
            heads[end - start, label] = head
        found.append(sha256(head + content.of(start, end)).digest())
    return found


def subtrees(digests: Sequence[bytes], start: int) -> list[Node]:
    """The largest whole subtrees over leaves number start, start + 1, …; at most two a level.

    >>> [(node.level, node.index) for node in subtrees([b"leaf"] * 6, 3)]
    [(0, 3), (0, 8), (2, 1)]
    """
    found, level, row = [], 0, list(digests)
    while row:
        if start % 2:
            found.append(Node(level, start, row.pop(0)))
            start += 1
        if len(row) % 2:
            found.append(Node(level, start + len(row) - 1, row.pop()))
        row = [_pair(a, b) for a, b in zip(row[::2], row[1::2], strict=True)]
        start, level = start // 2, level + 1
    return found


def root(nodes: Iterable[Node], count: int) -> bytes:
    """The Merkle root over leaves 0 … count − 1, of subtrees that hold each of them once.

    Raises ValueError where they do not: a leaf is missing, or stands there twice.

    >>> root(subtrees([b"a", b"b"], 0) + subtrees([b"c"], 2), 3) == root(
    ...     subtrees([b"a"], 0) + subtrees([b"b", b"c"], 1), 3)
    True
    """
    known: dict[tuple[int, int], bytes] = {}
    covered = 0
    for node in sorted(nodes, key=lambda each: each.level):
        covered += 1 << node.level
        if (node.level, node.index) in known or (node.index + 1) << node.level > count:
            raise ValueError("a sequence stands in two shards")
        known[node.level, node.index] = node.digest
    if covered != count:
        raise ValueError(f"{covered} of {count} sequences are there")
    for level in range(count.bit_length()):
        for _, index in sorted(place for place in known if place[0] == level and place[1] % 2):
            if (level, index - 1) in known:
                if (level + 1, index // 2) in known:
                    raise ValueError("a sequence stands in two shards")
                pair = _pair(known.pop((level, index - 1)), known.pop((level, index)))
                known[level + 1, index // 2] = pair
    peaks, at = [], 0
    for level in reversed(range(count.bit_length())):
        if count >> level & 1:
            if (level, at >> level) not in known:
                raise ValueError("a sequence is missing")
            peaks.append(known.pop((level, at >> level)))
            at += 1 << level
    if known or not peaks:
        raise ValueError("a sequence stands in two shards" if known else "there is no sequence")
    found = peaks.pop()
    while peaks:
        found = _pair(peaks.pop(), found)
    return found


def data_digest(tree: bytes, label_sets: str) -> str:
    """What a certificate calls ``merkle``: the root of the sequences with the label sets' text.

    >>> data_digest(bytes(32), "{}")[:8]
    'fe9a9075'
    """
    return sha256(_DATA + sha256(label_sets.encode()).digest() + tree).hexdigest()


def measure_digest(data: Dataset, j: int) -> bytes:
    """A digest of the empirical measure of sequence j, of its tokens as they are read.

    >>> data = Dataset([[(1,), (2,)], [(2,), (1,), (2,), (1,)]])
    >>> measure_digest(data, 0) == measure_digest(data, 1)
    True
    """
    content = _Bytes(data.tokens) if len(data) == 1 else _Bytes(data.part(np.array([j])).tokens)
    counts = Counter(content.of(i, i + 1) for i in range(len(content.floats)))
    divisor = gcd(*counts.values())
    digest = sha256()
    for token, count in sorted(counts.items()):
        digest.update(len(token).to_bytes(8, "little") + token)
        digest.update((count // divisor).to_bytes(8, "little"))
    return digest.digest()


def order_digest(data: Dataset, j: int) -> bytes:
    """A digest of sequence j as masked transformers see it: a repeated token counts once."""
    tokens = _Bytes(data.part(np.array([j])).tokens)
    rows = [tokens.of(i, i + 1) for i in range(len(tokens.floats))]
    rows = rows[:1] if rows.count(rows[0]) == len(rows) else rows
    digest = sha256()
    for row in rows:
        digest.update(len(row).to_bytes(8, "little") + row)
    return digest.digest()


def _pair(a: bytes, b: bytes) -> bytes:
    return sha256(_NODE + a + b).digest()
