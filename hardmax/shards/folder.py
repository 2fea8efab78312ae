"""A data set in many files, its shards: a folder or a glob, with `labels.json` beside them.

The data set is the sequences of all shards, one shard after another in the order of their names.
Nothing here holds more than one shard in memory.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import accumulate
from os import PathLike
from typing import Any

import numpy as np

from ..dataset import Dataset, Reading
from ..errors import InputError
from ..formats.data import load
from ..formats.data.label_sets import read_label_sets
from ..formats.data.sidecar import SIDECAR
from ..formats.files import read_bytes, sha256
from ..formats.written import NumberReader
from ..labels import LabelSet, argmax_sets, default_points, in_order
from ..model.transformer import Transformer
from .listing import count_sequences, described, listed, promised_of

_ADVICE = (
    'write one beside the shards: {"labels": {"no": {"kind": "point", "point": [0]}, …}}, or '
    '{"labels": ["no", "yes"]} for the default points; or save the data again: '
    'data.save("folder", shards=16)'
)


@dataclass(frozen=True)
class Shard:
    """One file: its sequences have the numbers ``start`` … ``start + count − 1`` of the data set.

    ``sha256`` is what `labels.json` promises of the file; None where it promises nothing.
    """

    path: str
    start: int
    count: int
    sha256: str | None = None

    def content_sha256(self) -> str:
        """SHA-256 of the file as it is now."""
        return sha256(read_bytes(self.path))


@dataclass(frozen=True)
class Shards:
    """A data set in many files, read one file at a time.

    ``labels`` are label sets by name, or a list of labels, which stand for the default points (or
    the cones of argmax, if the ``reading`` says so); None where every file speaks for itself.

    >>> import tempfile
    >>> data = Dataset([[(0,)], [(1,)], [(2,)]], ["a", "b", "a"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     data.save(folder, shards=2)
    ...     shards = Shards.open(folder)
    ...     [(shard.start, shard.count) for shard in shards.shards], len(shards.load(1))
    ([(0, 2), (2, 1)], 1)
    """

    shards: tuple[Shard, ...]
    labels: Mapping[str, LabelSet] | tuple[str, ...] | None
    numbers: str = "exact"
    reading: Reading = field(default_factory=Reading)
    beside: bool = True  # whether the labels are those of `labels.json`
    dimension: int | None = None  # of the tokens in the first shard, and so in all of them

    @classmethod
    def open(
        cls,
        path: str | PathLike[str],
        *,
        numbers: str = "exact",
        reading: Reading | None = None,
        sets: Mapping[str, LabelSet] | None = None,
        need_sets: bool = True,
    ) -> Shards:
        """The data set of a folder of .npz and .parquet files, or of a glob, or of such a URL.

        ``sets`` take the place of those of `labels.json`. Without either, only ``need_sets=False``
        opens the folder. Raises InputError where a file is missing, or where `labels.json` counts
        other files than there are.
        """
        paths, beside = listed(path)
        said = described(beside)
        if sets is None and "labels" not in said and need_sets:
            raise InputError(f"{path}: the label sets are in no file {SIDECAR}; {_ADVICE}")
        promised = promised_of(said.get("shards"), paths, beside)
        counts = [
            entry[0] if entry else count_sequences(p)
            for p, entry in zip(paths, promised, strict=True)
        ]
        starts = [0, *accumulate(counts)]
        shards = tuple(
            Shard(p, start, count, entry[1] if entry else None)
            for p, start, count, entry in zip(paths, starts, counts, promised, strict=False)
        )
        reading = Reading.of(reading)
        first = cls(shards, None, numbers).read(shards[0]).written_dimension
        labels: Mapping[str, LabelSet] | tuple[str, ...] | None = sets
        if sets is None and "labels" in said:
            labels = _labels(said["labels"], beside, numbers, first)
        return cls(shards, labels, numbers, reading, sets is None, first)

    @classmethod
    def open_for(
        cls,
        model: Transformer,
        path: str | PathLike[str],
        *,
        sets: Mapping[str, LabelSet] | None = None,
        need_sets: bool = True,
    ) -> Shards:
        """The data set of a folder, read the way the model's was read."""
        numbers = model.meta.get("numbers", "exact")
        if numbers not in ("exact", "binary64"):
            raise InputError(
                "the model's meta does not say how numbers are read: exact or binary64"
            )
        found = cls.open(
            path, numbers=numbers, reading=model.reading, sets=sets, need_sets=need_sets
        )
        if found.example.dimension != model.dimension:
            raise InputError(
                f"{path}: the data set has dimension {found.example.dimension}, the model "
                f"{model.dimension}"
            )
        return found

    @property
    def sequences(self) -> int:
        """J, the number of sequences of all shards."""
        return sum(shard.count for shard in self.shards)

    @property
    def frame(self) -> Shards:
        """What it takes to read a shard: all but the list of them."""
        return replace(self, shards=())

    @cached_property
    def example(self) -> Dataset:
        """The data set of the first sequence, with all label sets."""
        return self.read(self.shards[0]).part(np.arange(1))

    def load(self, i: int) -> Dataset:
        """Shard i as a data set, with the label sets of the whole."""
        return self.read(self.shards[i])

    def __iter__(self) -> Iterator[Dataset]:
        """The shards as data sets, one after another."""
        return map(self.read, self.shards)

    def read(self, shard: Shard) -> Dataset:
        """A shard as a data set. Raises InputError where it is not the file that was promised."""
        data = load(shard.path, numbers=self.numbers)
        found = data.source.get("sha256") or shard.content_sha256()
        if shard.sha256 not in (None, found):
            raise InputError(
                f"{shard.path}: this is not the file whose SHA-256 {SIDECAR} names, so it is "
                f"corrupt or was changed; restore it, or take it out of the key 'shards' there"
            )
        if len(data) != shard.count:
            raise InputError(f"{shard.path}: {len(data)} sequences, expected {shard.count}")
        if self.dimension not in (None, data.written_dimension):
            raise InputError(
                f"{shard.path}: tokens of dimension {data.written_dimension}, those of the first "
                f"shard have {self.dimension}"
            )
        data.source["sha256"] = found
        sets = self.label_sets(data.written_dimension)
        try:
            if sets is None:
                return data.read_as(self.reading)
            if self.beside and data.own_sets and dict(data.given_sets) != dict(sets):
                raise InputError(f"its label sets are others than those of {SIDECAR}")
            return data.read_as(self.reading).with_sets(sets, SIDECAR)
        except InputError as problem:
            raise InputError(f"{shard.path}: {problem}") from None

    def read_labelled(self, shard: Shard) -> Dataset:
        """As `read`, with a label for each sequence; sequences are named by number in the whole."""
        data = self.read(shard)
        try:
            data.need_labels()
        except InputError as problem:
            raise InputError(f"{shard.path}: {problem}") from None
        data.first = shard.start
        return data

    def label_sets(self, dimension: int) -> Mapping[str, LabelSet] | None:
        """The sets that the labels stand for, before the reading; None where no file says them."""
        if not isinstance(self.labels, tuple):
            return self.labels
        if self.reading.label_sets == "argmax":
            return argmax_sets(self.labels)
        return default_points(self.labels, dimension)

    def labels_text(self) -> str:
        """The label sets as one line of JSON, in their order: part of what a certificate binds."""
        example = self.example
        sets: Any = [*example.given_sets]
        if self.reading.label_sets != "argmax":
            sets = {name: each.to_json() for name, each in example.given_sets.items()}
        return json.dumps(sets, ensure_ascii=False, separators=(",", ":"))


def _labels(
    found: Any, beside: str, numbers: str, dimension: int
) -> Mapping[str, LabelSet] | tuple[str, ...]:
    if isinstance(found, list):
        names = [str(name) for name in found if isinstance(name, str)]
        if len(set(names)) < len(found) or not names:
            raise InputError(f"{beside}: 'labels' is a list of different texts, or label sets")
        return tuple(in_order(names))
    try:
        return read_label_sets(found, NumberReader(numbers), dimension)
    except InputError as problem:
        raise InputError(f"{beside}: {problem}") from None
