"""Labelled sequences of exact tokens (Problem 2.1)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from copy import copy
from dataclasses import replace
from functools import cached_property
from os import PathLike
from typing import Any, cast

import numpy as np

from ..errors import InputError
from ..exact.array import ExactArray
from ..exact.numbers import Vector
from ..exact.quotients import frozen
from ..labels import (
    LabelSet,
    NamedSets,
    Separations,
    argmax_sets,
    check_disjoint,
    check_size,
    default_points,
    in_order,
    read_labels,
    read_sets,
)
from ..words import html_table, plural
from .arrays import is_table, packed
from .grouping import Merged, group_measures
from .long_form import read_table
from .outputs import Entry, Outputs, read_outputs
from .parts import chosen, halves, taken
from .reading import Reading

Sets = Mapping[Any, Any]
_OWN = "the data hold label sets of their own; for label sets argmax leave them out"


class Dataset:
    """N sequences of tokens in ℚ^d with labels, and the sets S^c that the labels stand for.

    ``sequences`` is an array (N, n, d), a list of arrays (n_j, d), or of lists of tokens; or a
    frame of pandas or polars in long form, one row a token, with the columns sequence, label, x1,
    x2, … (then ``labels`` may be left out).
    ``labels`` are N texts or numbers (None where there is none), kept as they are in ``labels``
    and as texts in ``names``. ``sets`` maps each label to a `LabelSet`, or a list of numbers, a
    point; or it is another data set, whose sets are taken. By default the labels, sorted
    (integers by value, then text), get the points 0·e₁, 1·e₁, 2·e₁, …
    ``reading`` says how the tokens given become those of a model (`Reading`); with ``positional``
    every token gets its position 1, 2, 3, … as one more coordinate, with ``label_sets="argmax"``
    the sets are open cones, one a label, and zeros make up for coordinates that these lack.
    In place of labels ``outputs`` may give N lists; entry i of a list, a label or a point, says
    what token i of its sequence must become (`hardmax.dataset.outputs`).
    Raises InputError where something does not fit, and where two label sets meet.

    A data set is a list of its sequences: ``data[j]`` holds exact tokens, ``data[2:5]`` and
    ``data[[0, 3]]`` are data sets with the same label sets.

    >>> data = Dataset([[(0, 1), (2, 3)], [("1/2", 0)]], ["a", "b"])
    >>> data[1], data.sets["b"].point
    (((Fraction(1, 2), Fraction(0, 1)),), (Fraction(1, 1), Fraction(0, 1)))
    >>> train, test = data.split(0.5)
    >>> test.sets == train.sets == data.sets
    True
    """

    sets: NamedSets
    own_sets: bool
    given_sets: NamedSets  # before the reading: those of the file, or the cones of argmax in ℚ^M
    reading: Reading
    tokens: ExactArray  # as the model sees them
    offsets: np.ndarray
    _classes: tuple[str, ...] = ()
    given_outputs: list[tuple[Entry, ...]] | None  # labels and points, in place of one label
    first: int = 0  # number of the first sequence, where this is a shard of a larger whole

    def __init__(
        self,
        sequences: Any,
        labels: Iterable[Any] | None = None,
        sets: Sets | Dataset | None = None,
        *,
        ids: Iterable[str | None] | None = None,
        positional: bool = False,
        label_sets: str = "points",
        reading: Reading | None = None,
        outputs: Any = None,
    ) -> None:
        if isinstance(sequences, Dataset):
            raise InputError("this is a data set already; data.with_sets(sets) changes its sets")
        if is_table(sequences):
            tokens, offsets, own, names = read_table(sequences)
            labels, ids = own if labels is None else labels, names if ids is None else ids
        else:
            tokens, offsets = packed(sequences)
        reading = Reading.of(reading, positional, label_sets)
        self._fill(tokens, offsets, labels, sets, ids, reading, {}, outputs)

    @classmethod
    def from_arrays(
        cls,
        tokens: ExactArray,
        offsets: np.ndarray,
        labels: Iterable[Any] | None = None,
        sets: Sets | Dataset | None = None,
        *,
        ids: Iterable[str | None] | None = None,
        positional: bool = False,
        reading: Reading | None = None,
        source: Mapping[str, Any] | None = None,
        classes: Iterable[str] = (),
        outputs: Any = None,
    ) -> Dataset:
        """Dataset of packed tokens (T, d): sequence j is ``tokens[offsets[j]:offsets[j+1]]``.

        ``classes`` are labels that have a default set whether they occur or not.
        """
        self = cls.__new__(cls)
        self._classes = tuple(classes)
        reading = Reading.of(reading, positional)
        self._fill(tokens, offsets, labels, sets, ids, reading, source or {}, outputs)
        return self

    def _fill(
        self,
        tokens: ExactArray,
        offsets: np.ndarray,
        labels: Iterable[Any] | None,
        sets: Sets | Dataset | None,
        ids: Iterable[str | None] | None,
        reading: Reading,
        source: Mapping[str, Any],
        outputs: Any,
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
        self.labels, names = read_labels([None] * count if labels is None else labels)
        self._named = self.labels.copy(), names
        self._coded: tuple[list[str | None], np.ndarray, list[str]] | None = None
        if len(self.labels) != count:
            raise InputError(f"{len(self.labels)} labels for {count} sequences")
        self.ids = list(ids) if ids is not None else [None] * count
        if len(self.ids) != count:
            raise InputError(f"{len(self.ids)} ids for {count} sequences")
        self.given_outputs = None
        if outputs is not None:
            if any(name is not None for name in names):
                raise InputError("a data set has labels or outputs; give one of the two")
            self.given_outputs = read_outputs(outputs, lengths, tokens.shape[1])
        self.source = dict(source)  # sha256 of the file, numbers: how it was read
        self._written = tokens, frozen(np.array(offsets, dtype=np.int64))
        self._choose_sets(sets, reading)
        self.tokens, self.offsets = self.reading.tokens(*self._written)

    def __getstate__(self) -> dict[str, Any]:
        """What pickle and copy take: all but what is remembered."""
        return {key: value for key, value in self.__dict__.items() if key != "merged"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.offsets = frozen(self.offsets)
        self._written = self._written[0], frozen(self._written[1])

    def _choose_sets(self, sets: Sets | Dataset | None, reading: Reading) -> None:
        """Take ``sets``, or else those that the sorted labels have by default."""
        self.has_sets = sets is not None  # given, not those by default
        # neither those by default, here or in the data set that they come from, nor those of argmax
        chosen_there = not isinstance(sets, Dataset) or sets.own_sets
        self.own_sets = self.has_sets and chosen_there and reading.label_sets == "points"
        own = {
            name: label
            for name, label in zip(self.names, self.labels, strict=True)
            if name is not None
        }
        asked = [[x for x in each if isinstance(x, str)] for each in self.given_outputs or ()]
        own |= {name: name for each in asked for name in each}
        if sets is None:
            own = dict(zip(self._classes, self._classes, strict=True)) | own
            self._take_sets(self._default_sets(in_order(own), reading), own, reading)
            return
        chosen = read_sets(sets.given_sets if isinstance(sets, Dataset) else sets)
        if reading.label_sets == "argmax":
            cones = argmax_sets(in_order(chosen))
            if chosen != cones:
                raise InputError(_OWN)
            chosen = NamedSets(cones, chosen.labels)
        dimension = self.written_dimension
        for name, label_set in chosen.items() if reading.label_sets == "points" else ():
            if label_set.dimension != dimension:
                lifted = label_set.dimension == reading.dimension(dimension)
                advice = "; give the data set itself, sets=other" if lifted else ""
                raise InputError(
                    f"label {name!r} has dimension {label_set.dimension}, "
                    f"the tokens have {dimension}{advice}"
                )
        unknown = next((name for name in own if name not in chosen), None)
        if unknown is not None:
            held = asked or [[name or ""] for name in self.names]
            j = next(j for j, each in enumerate(held) if unknown in each)
            raise InputError(
                f"{self.name(j)} has the label {unknown!r}, which is not among the labels"
            )
        labels = {name: own.get(name, chosen.label(name)) for name in chosen}
        self._take_sets(chosen, labels, reading)

    def _default_sets(self, names: list[str], reading: Reading) -> Mapping[str, LabelSet]:
        if reading.label_sets == "argmax" and names:
            return argmax_sets(names)
        return default_points(names, self.written_dimension)

    def _take_sets(
        self, chosen: Mapping[str, LabelSet], own: Mapping[str, Any], reading: Reading
    ) -> None:
        """Extend the sets to the coordinates that the model sees; lift the tokens for argmax."""
        if self.given_outputs is not None and (
            reading.stride > 1 or reading.label_sets != "points"
        ):
            raise InputError("outputs belong to tokens: leave out the stride and label sets argmax")
        width = reading.dimension(self.written_dimension)
        if reading.label_sets == "argmax":
            missing = max(0, len(chosen) - width)
            reading, width = replace(reading, lift=reading.lift + missing), width + missing
            check_size(len(chosen), width)
            self.separations = Separations({}, {})  # cones are disjoint as they stand
        else:
            self.separations = check_disjoint(chosen)
        self.reading = reading
        self.given_sets = self.sets = NamedSets(chosen, own)
        if any(each.dimension < width for each in chosen.values()):
            more = {name: each.lifted(width - each.dimension) for name, each in chosen.items()}
            self.sets = NamedSets(more, own)

    def with_sets(self, sets: Sets | Dataset, origin: str = "given apart") -> Dataset:
        """The same sequences and labels with other label sets.

        ``origin`` says where they come from. A certificate needs data from one file alone, so
        none can be written for the result; save it, and load it again.
        """
        other = self._twin()
        other.source = {**self.source, "sets": origin}
        other._choose_sets(sets, self.reading)
        return other._read_after(self.reading)

    def read_as(self, reading: Reading) -> Dataset:
        """The same sequences, their tokens read as ``reading`` says, whatever was done before.

        Data with label sets of their own can't be read with those of argmax: InputError.

        >>> data = Dataset([[(5,), (7,), (9,)]], ["a"])
        >>> data.read_as(Reading(window=3, stride=2))[0] == ((5, 5, 7), (7, 9, 9))
        True
        """
        other, reading = self._twin(), Reading.of(reading)
        sets, own = self.given_sets, dict(self.given_sets.labels)
        if reading.label_sets != self.reading.label_sets:
            if self.own_sets:
                raise InputError(_OWN)
            other._take_sets(self._default_sets([*sets], reading), own, reading)
        elif reading != self.reading:
            other._take_sets(sets, own, reading)
        return other._read_after(self.reading)

    def windowed(self, width: int, dilations: Iterable[int] = (1,), stride: int = 1) -> Dataset:
        """The same sequences, each token with its neighbours beside it (`Reading`).

        >>> Dataset([[(5,), (7,)]], ["a"]).windowed(2)[0] == ((5, 7), (7, 7))
        True
        """
        window = {"window": width, "dilations": dilations, "stride": stride}
        return self.read_as(replace(self.reading, **window))  # type: ignore[arg-type]

    def _twin(self) -> Dataset:
        other = copy(self)
        other.labels = self.labels.copy()
        return other

    def _read_after(self, before: Reading) -> Dataset:
        """Itself, with the tokens read anew where the reading is not as before."""
        if self.reading != before:
            self.tokens, self.offsets = self.reading.tokens(*self._written)
        return self

    @property
    def positional(self) -> bool:
        """Whether the tokens have their positions as a coordinate."""
        return self.reading.positional

    @property
    def written_dimension(self) -> int:
        """Dimension d₀ of the tokens before the reading, as a file holds them."""
        return self._written[0].shape[1]

    def written_length(self, j: int) -> int:
        """Number of tokens of sequence j before the reading."""
        return int(self._written[1][j + 1] - self._written[1][j])

    @property
    def names(self) -> list[str | None]:
        """The labels as texts, as files hold them; they follow ``labels``."""
        if self._named[0] != self.labels:
            self._named = self.labels.copy(), read_labels(self.labels)[1]
        return self._named[1]

    @property
    def dimension(self) -> int:
        """Dimension d of the tokens as the model sees them (`Reading.dimension`)."""
        return self.tokens.shape[1]

    def __len__(self) -> int:
        """Number of sequences."""
        return len(self.labels)

    def __iter__(self) -> Iterator[tuple[Vector, ...]]:
        """Exact tokens of every sequence."""
        return (self.sequence(j) for j in range(len(self)))

    def __getitem__(self, which: Any) -> Any:
        """Exact tokens of sequence j, or the data set of the sequences of a slice or list."""
        rows = chosen(len(self), which)
        return self.sequence(rows) if isinstance(rows, int) else self.part(rows)

    def part(self, rows: np.ndarray) -> Dataset:
        """The data set of some sequences, with all label sets."""
        if not len(rows):
            raise InputError("a data set needs at least one sequence; none is chosen")
        part = copy(self)
        part._coded, part.first = None, 0
        part._written = taken(*self._written, rows)
        part.tokens, part.offsets = part._written
        if not self.reading.keeps_tokens:
            part.tokens, part.offsets = taken(self.tokens, self.offsets, rows)
        part.labels = [self.labels[j] for j in rows.tolist()]
        part._named = [], []
        part.ids = [self.ids[j] for j in rows.tolist()]
        if self.given_outputs is not None:
            part.given_outputs = [self.given_outputs[j] for j in rows.tolist()]
        part.source = {key: x for key, x in self.source.items() if key != "sha256"}
        part.has_sets = self.has_sets or bool(self.sets)
        return part

    def split(self, fraction: float = 0.8, seed: int = 0) -> tuple[Dataset, Dataset]:
        """Two data sets with the same label sets: a random ``fraction`` of the sequences, the rest.

        Both keep the order of the sequences; equal seeds give equal parts. Each has at least
        one sequence.
        """
        first, second = halves(len(self), fraction, seed)
        return self.part(first), self.part(second)

    def save(self, path: str | PathLike[str], shards: int | None = None) -> None:
        """Write a data file, which `hardmax.load` reads as the same data; its name says the form.

        .json and .json.gz hold everything; .parquet too (extra ``parquet``), with long numbers
        as texts. .npz holds numbers that float64 holds, and no ids. .csv holds labels and ids as
        texts, and no label sets but the default points. With ``shards`` the path is a folder, or
        "folder/*.parquet", and gets so many files (docs/scale-out.md). Raises InputError for other
        names, and where a form can't hold the data.
        """
        from .. import save_data, save_shards

        save_data(self, path) if shards is None else save_shards(self, path, shards)

    def __repr__(self) -> str:
        counts = (plural(len(self), "sequence"), plural(len(self.tokens), "token"))
        return (
            f"<Dataset: {', '.join(counts)}, dimension {self.dimension}, "
            f"{plural(len(self.sets), 'label')}>"
        )

    def _repr_html_(self) -> str:
        shown = [(label_set.kind, repr(name)) for name, label_set in self.given_sets.items()]
        rows = [
            ("sequences", str(len(self))),
            ("tokens", str(len(self.tokens))),
            ("dimension", str(self.dimension)),
            ("labels", ", ".join(f"{name} ({kind})" for kind, name in shown[:8])
             + (f", … {len(shown) - 8} more" if len(shown) > 8 else "")),
        ]  # fmt: skip
        return html_table("Dataset", rows)

    def name(self, j: int) -> str:
        """How messages call sequence j: by position from 1 and, where it has one, its id."""
        given = self.ids[j]
        return f"sequence {self.first + j + 1}" + (f" (id {given!r})" if given is not None else "")

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

    @property
    def outputs(self) -> Outputs | None:
        """The outputs that the sequences ask for in place of labels; None for data with labels."""
        if self.given_outputs is None:
            return None
        return Outputs.of(self.given_outputs, self.sets, self.dimension - self.written_dimension)

    def refuse_outputs(self, what: str) -> None:
        """Raise InputError where sequences ask for outputs: ``what`` speaks of labels."""
        if self.given_outputs is not None:
            raise InputError(f"{what} speak of labels; this data set asks for outputs")

    def need_labels(self) -> list[str]:
        """The names of the labels; raises InputError where a sequence has none."""
        if self.given_outputs is not None:
            raise InputError("the data set asks for outputs, and this needs labels in their place")
        if None in self.names:
            j = self.names.index(None)
            raise InputError(f"{self.name(j)} has no label; this needs one for each sequence")
        return cast("list[str]", self.names.copy())

    @property
    def label_codes(self) -> tuple[np.ndarray, list[str]]:
        """Labels as numbers: codes (N,) int64, and the names they stand for, by first appearance.

        A sequence without a label has the code −1. Remembered while the labels stay.

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

    @cached_property
    def merged(self) -> Merged:
        """Sequences grouped by their empirical measures, whatever their labels."""
        return group_measures(self.tokens, self.offsets)
