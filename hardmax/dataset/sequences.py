"""Sequences of exact tokens in one array, with their labels: what is asked of them by number."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from ..errors import InputError
from ..exact.array import ExactArray
from ..exact.numbers import Vector
from ..exact.quotients import frozen
from ..labels import read_ids, read_labels
from .grouping import Merged, group_measures

if TYPE_CHECKING:
    from .outputs import Entry


class Sequences:
    """N sequences of tokens in ℚ^d: ``tokens`` (T, d) holds all of them, one after another.

    Sequence j is ``tokens[offsets[j]:offsets[j+1]]``. ``labels`` and ``ids`` hold one entry for
    each sequence, None where it has none. `Dataset` adds label sets, and the reading.
    """

    tokens: ExactArray  # as the model sees them
    offsets: np.ndarray
    _written: tuple[ExactArray, np.ndarray]  # tokens and offsets before the reading
    labels: list[Any]
    ids: list[str | None]
    given_outputs: list[tuple[Entry, ...]] | None  # labels and points, in place of one label
    first: int = 0  # number of the first sequence, where this is a shard of a larger whole
    _named: tuple[list[Any], list[str | None]]  # labels, and what `names` makes of them
    _coded: tuple[list[str | None], np.ndarray, list[str]] | None  # names, and their codes

    def _take_labels(
        self, count: int, labels: Iterable[Any] | None, ids: Iterable[str | None] | None
    ) -> None:
        """Keep the labels and ids of so many sequences; InputError where there are more or less."""
        self.labels, names = read_labels([None] * count if labels is None else labels)
        self._named, self._coded = (self.labels.copy(), names), None
        if len(self.labels) != count:
            raise InputError(f"{len(self.labels)} labels for {count} sequences")
        self.ids = read_ids(ids) if ids is not None else [None] * count
        if len(self.ids) != count:
            raise InputError(f"{len(self.ids)} ids for {count} sequences")

    def __getstate__(self) -> dict[str, Any]:
        """What pickle and copy take: all but what is remembered."""
        return {key: value for key, value in self.__dict__.items() if key != "merged"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.offsets = frozen(self.offsets)
        self._written = self._written[0], frozen(self._written[1])

    def __len__(self) -> int:
        """Number of sequences."""
        return len(self.labels)

    def __iter__(self) -> Iterator[tuple[Vector, ...]]:
        """Exact tokens of every sequence."""
        return (self.sequence(j) for j in range(len(self)))

    @property
    def dimension(self) -> int:
        """Dimension d of the tokens as the model sees them (`Reading.dimension`)."""
        return self.tokens.shape[1]

    @property
    def written_dimension(self) -> int:
        """Dimension d₀ of the tokens before the reading, as a file holds them."""
        return self._written[0].shape[1]

    def written_length(self, j: int) -> int:
        """Number of tokens of sequence j before the reading."""
        return int(self._written[1][j + 1] - self._written[1][j])

    def sequence(self, j: int) -> tuple[Vector, ...]:
        """Exact tokens of sequence j."""
        return tuple(
            self.tokens.row(i) for i in range(int(self.offsets[j]), int(self.offsets[j + 1]))
        )

    @property
    def sequences(self) -> Iterator[tuple[Vector, ...]]:
        """Exact tokens of every sequence, one after another."""
        return iter(self)

    def arrays(self) -> list[np.ndarray]:
        """Float64 tokens of every sequence, each of shape (n_j, d)."""
        return np.split(self.tokens.values, self.offsets[1:-1])

    @cached_property
    def merged(self) -> Merged:
        """Sequences grouped by their empirical measures, whatever their labels."""
        return group_measures(self.tokens, self.offsets)

    def name(self, j: int) -> str:
        """How messages call sequence j: by position from 1 and, where it has one, its id."""
        given = self.ids[j]
        return f"sequence {self.first + j + 1}" + (f" (id {given!r})" if given is not None else "")

    @property
    def names(self) -> list[str | None]:
        """The labels as texts, as files hold them; they follow ``labels``."""
        if self._named[0] != self.labels:
            self._named = self.labels.copy(), read_labels(self.labels)[1]
        return self._named[1]

    def _labels_by_name(self) -> dict[str, Any]:
        """The labels that occur, also among the outputs, each in the type in which it was given."""
        pairs = zip(self.names, self.labels, strict=True)
        asked = (x for entries in self.given_outputs or () for x in entries if isinstance(x, str))
        return {name: label for name, label in pairs if name is not None} | {x: x for x in asked}

    def _first_with(self, name: str) -> int:
        """The number of the first sequence that has a label, or asks for it among its outputs."""
        held: Sequence[Sequence[object]] = self.given_outputs or [(own,) for own in self.names]
        return next(j for j, entries in enumerate(held) if name in entries)

    def need_labels(self) -> list[str]:
        """The names of the labels; raises InputError where a sequence has none."""
        if self.given_outputs is not None:
            raise InputError("the data set asks for outputs, and this needs labels in their place")
        if None in self.names:
            j = self.names.index(None)
            raise InputError(f"{self.name(j)} has no label; this needs one for each sequence")
        return cast("list[str]", self.names.copy())

    def refuse_outputs(self, what: str) -> None:
        """Raise InputError where sequences ask for outputs: ``what`` speaks of labels."""
        if self.given_outputs is not None:
            raise InputError(f"{what} speak of labels; this data set asks for outputs")

    @property
    def label_codes(self) -> tuple[np.ndarray, list[str]]:
        """Labels as numbers: codes (N,) int64, and the names they stand for, by first appearance.

        A sequence without a label has the code −1. Remembered while the labels stay.

        >>> from hardmax import Dataset
        >>> Dataset([[(1,)], [(2,)], [(3,)]], ["b", None, "a"]).label_codes
        (array([ 0, -1,  1]), ['b', 'a'])
        """
        if self._coded is None or self._coded[0] != self.names:
            names = [name for name in dict.fromkeys(self.names) if name is not None]
            code: dict[str | None, int] = {name: k for k, name in enumerate(names)}
            code[None] = -1
            codes = np.fromiter(map(code.__getitem__, self.names), np.int64, len(self))
            self._coded = self.names.copy(), codes, names
        return self._coded[1:]


def checked_lengths(tokens: ExactArray, offsets: np.ndarray) -> np.ndarray:
    """The number of tokens of each sequence, (N,); InputError where the offsets do not fit.

    >>> checked_lengths(ExactArray(np.array([[1.0], [2.0], [3.0]])), np.array([0, 1, 3]))
    array([1, 2])
    """
    if len(offsets) < 2:
        raise InputError("the data set has no sequences")
    lengths: np.ndarray = np.diff(offsets)
    if offsets[0] != 0 or offsets[-1] != len(tokens) or (lengths < 0).any():
        raise InputError("the offsets do not run from 0 to the number of tokens, rising")
    if (lengths == 0).any():
        raise InputError(f"sequence {int(np.argmin(lengths)) + 1} has no tokens")
    if tokens.shape[1] < 1:
        raise InputError("tokens need at least one coordinate")
    return lengths
