"""Labelled sequences of exact tokens (Problem 2.1)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any, cast

import numpy as np

from ..errors import InputError
from ..exact.array import ExactArray
from ..exact.numbers import Vector, as_vector
from ..labels import LabelSet, check_disjoint, default_points, lift
from .grouping import Merged, group_measures


class Dataset:
    """N sequences of tokens in ℚ^d with labels, and the sets S^c that the labels stand for.

    ``sequences`` holds N lists of tokens; ``labels`` N names (or None where there is none);
    ``sets`` maps each name to a `LabelSet`, by default the points 0·e₁, 1·e₁, … in order of
    first appearance. With ``positional`` every token gets its position 1, 2, 3, … as one
    more coordinate. Raises InputError where something does not fit, and where two label
    sets meet.

    >>> data = Dataset([[(0, 1), (2, 3)], [("1/2", 0)]], ["a", "b"])
    >>> data.sequence(1), data.sets["b"].point
    (((Fraction(1, 2), Fraction(0, 1)),), (Fraction(1, 1), Fraction(0, 1)))
    """

    def __init__(
        self,
        sequences: Iterable[Iterable[Iterable[object]]],
        labels: Iterable[object] | None = None,
        sets: Mapping[str, LabelSet] | None = None,
        *,
        ids: Iterable[str | None] | None = None,
        positional: bool = False,
    ) -> None:
        rows: list[Vector] = []
        offsets = [0]
        for j, sequence in enumerate(sequences):
            if not isinstance(sequence, Iterable):
                raise InputError(f"sequence {j + 1}: {sequence!r} is not a list of tokens")
            for k, token in enumerate(sequence):
                try:
                    rows.append(as_vector(token))
                except (TypeError, InputError) as problem:
                    raise InputError(f"sequence {j + 1}, token {k + 1}: {problem}") from None
                if len(rows[-1]) != len(rows[0]):
                    raise InputError(
                        f"sequence {j + 1}, token {k + 1} has {len(rows[-1])} coordinates, "
                        f"expected {len(rows[0])}"
                    )
            offsets.append(len(rows))
        tokens = ExactArray.from_rows(rows, len(rows[0]) if rows else 0)
        self._fill(tokens, np.array(offsets), labels, sets, ids, positional, {})

    @classmethod
    def from_arrays(
        cls,
        tokens: ExactArray,
        offsets: np.ndarray,
        labels: Iterable[object] | None = None,
        sets: Mapping[str, LabelSet] | None = None,
        *,
        ids: Iterable[str | None] | None = None,
        positional: bool = False,
        source: Mapping[str, Any] | None = None,
    ) -> Dataset:
        """Dataset of packed tokens (T, d): sequence j is ``tokens[offsets[j]:offsets[j+1]]``."""
        self = cls.__new__(cls)
        self._fill(tokens, offsets, labels, sets, ids, positional, source or {})
        return self

    def _fill(
        self,
        tokens: ExactArray,
        offsets: np.ndarray,
        labels: Iterable[object] | None,
        sets: Mapping[str, LabelSet] | None,
        ids: Iterable[str | None] | None,
        positional: bool,
        source: Mapping[str, Any],
    ) -> None:
        count = len(offsets) - 1
        if count < 1:
            raise InputError("the data set has no sequences")
        lengths = np.diff(offsets)
        if offsets[0] != 0 or offsets[-1] != len(tokens) or (lengths < 0).any():
            raise InputError("the offsets do not run from 0 to the number of tokens, rising")
        if (lengths == 0).any():
            raise InputError(f"sequence {int(np.argmin(lengths)) + 1} has no tokens")
        if tokens.shape[1] < 1:
            raise InputError("tokens need at least one coordinate")
        self.labels = _names([None] * count if labels is None else labels)
        self._coded: tuple[list[str | None], np.ndarray, list[str]] | None = None
        if len(self.labels) != count:
            raise InputError(f"{len(self.labels)} labels for {count} sequences")
        self.ids = list(ids) if ids is not None else [None] * count
        if len(self.ids) != count:
            raise InputError(f"{len(self.ids)} ids for {count} sequences")
        self.offsets = np.array(offsets, dtype=np.int64)
        self.positional = positional
        self.has_sets = sets is not None  # given, not the default points
        self.source = dict(source)  # sha256 of the file, numbers: how it was read
        self.sets = self._label_sets(sets, tokens.shape[1])
        self.tokens = _with_positions(tokens, self.offsets) if positional else tokens
        for array in (self.tokens.values, self.offsets):
            array.setflags(write=False)  # what is remembered of them stays true

    def _label_sets(
        self, sets: Mapping[str, LabelSet] | None, dimension: int
    ) -> dict[str, LabelSet]:
        used = [name for name in dict.fromkeys(self.labels) if name is not None]
        if sets is None:
            chosen: dict[str, LabelSet] = default_points(used, dimension)
        else:
            chosen = {str(name): label_set for name, label_set in sets.items()}
            for name, label_set in chosen.items():
                if label_set.dimension != dimension:
                    raise InputError(
                        f"label {name!r} has dimension {label_set.dimension}, "
                        f"the tokens have {dimension}"
                    )
            unknown = next((name for name in used if name not in chosen), None)
            if unknown is not None:
                raise InputError(
                    f"{self.name(self.labels.index(unknown))} has the label {unknown!r}, which "
                    f"is not among the labels"
                )
        self.separations = check_disjoint(chosen)
        self.given_sets = chosen  # before any lifting: what files hold
        if self.positional:
            return {name: lift(label_set) for name, label_set in chosen.items()}
        return chosen

    @property
    def dimension(self) -> int:
        """Dimension d of the tokens (with the position, where it was appended)."""
        return self.tokens.shape[1]

    def __len__(self) -> int:
        """Number of sequences."""
        return len(self.labels)

    def __repr__(self) -> str:
        return (
            f"<Dataset: {len(self)} sequences, {len(self.tokens)} tokens, "
            f"dimension {self.dimension}, {len(self.sets)} labels>"
        )

    def name(self, j: int) -> str:
        """How messages call sequence j: by position from 1 and, where it has one, its id."""
        given = self.ids[j]
        return f"sequence {j + 1}" + (f" (id {given!r})" if given is not None else "")

    def sequence(self, j: int) -> tuple[Vector, ...]:
        """Exact tokens of sequence j."""
        return tuple(
            self.tokens.row(i) for i in range(int(self.offsets[j]), int(self.offsets[j + 1]))
        )

    @property
    def sequences(self) -> Iterator[tuple[Vector, ...]]:
        """Exact tokens of every sequence, one after another."""
        return (self.sequence(j) for j in range(len(self)))

    def arrays(self) -> list[np.ndarray]:
        """Float64 tokens of every sequence, each of shape (n_j, d)."""
        return np.split(self.tokens.values, self.offsets[1:-1])

    def need_labels(self) -> list[str]:
        """The labels; raises InputError where a sequence has none."""
        if None in self.labels:
            j = self.labels.index(None)
            raise InputError(f"{self.name(j)} has no label; this command needs one for each")
        return cast("list[str]", self.labels.copy())

    @property
    def label_codes(self) -> tuple[np.ndarray, list[str]]:
        """Labels as numbers: codes (N,) int64, and the names they stand for, by first appearance.

        A sequence without a label has the code −1. Remembered while the labels stay.

        >>> Dataset([[(1,)], [(2,)], [(3,)]], ["b", None, "a"]).label_codes
        (array([ 0, -1,  1]), ['b', 'a'])
        """
        if self._coded is None or self._coded[0] != self.labels:
            names = [name for name in dict.fromkeys(self.labels) if name is not None]
            code: dict[str | None, int] = {name: k for k, name in enumerate(names)}
            code[None] = -1
            codes = np.fromiter(map(code.__getitem__, self.labels), np.int64, len(self))
            self._coded = self.labels.copy(), codes, names
        return self._coded[1:]

    @cached_property
    def merged(self) -> Merged:
        """Sequences grouped by their empirical measures, whatever their labels."""
        return group_measures(self.tokens, self.offsets)


def _names(labels: Iterable[object]) -> list[str | None]:
    given = list(labels)
    if set(map(type, given)) <= {str, type(None)}:
        return cast("list[str | None]", given)
    return [None if label is None else str(label) for label in given]


def _with_positions(tokens: ExactArray, offsets: np.ndarray) -> ExactArray:
    starts = np.repeat(offsets[:-1], np.diff(offsets))
    positions = np.arange(len(tokens)) - starts + 1.0
    width = tokens.shape[1]
    exact: Mapping[int, Any] = {
        k // width * (width + 1) + k % width: value for k, value in tokens.exact.items()
    }
    return ExactArray(np.c_[tokens.values, positions], exact)
