"""Labelled sequences of exact tokens (Problem 2.1)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from copy import copy
from dataclasses import replace
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import InputError
from ..exact.array import ExactArray
from ..exact.quotients import frozen
from ..labels import LabelSet, NamedSets, Separations, in_order
from ..words import html_table, plural
from .label_sets import OWN_SETS, LabelSets, default_sets, read_given_sets
from .parts import chosen, halves, taken
from .reading import Reading
from .sequences import Sequences, checked_lengths

if TYPE_CHECKING:
    from .outputs import Outputs

Sets = Mapping[Any, Any]


class Dataset(Sequences):
    """N sequences of tokens in ℚ^d with labels, and the sets S^c that the labels stand for.

    ``sequences`` is an array (N, n, d), a list of arrays (n_j, d), or of lists of tokens; or a
    frame of pandas or polars in long form, one row a token, with the columns sequence, label, x1,
    x2, … (then ``labels`` may be left out).
    ``labels`` are N texts or numbers (None: no label), kept as they are in ``labels`` and as texts
    in ``names``. ``sets`` maps each label to a `LabelSet`, or a list of numbers, a point; or it is
    another data set, whose sets are taken. By default the sorted labels (integers by value, then
    text) get the points 0·e₁, 1·e₁, 2·e₁, …
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
    separations: Separations  # proofs that the sets are disjoint
    reading: Reading
    _classes: tuple[str, ...] = ()

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
        from .arrays import check_limits, is_table, packed

        if is_table(sequences):
            from .long_form import read_table

            tokens, offsets, own, names = read_table(sequences)
            labels, ids = own if labels is None else labels, names if ids is None else ids
        else:
            tokens, offsets = packed(sequences)
        reading = Reading.of(reading, positional, label_sets)
        self._fill(tokens, offsets, labels, sets, ids, reading, {}, outputs)
        check_limits(*self._written)

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
        lengths = checked_lengths(tokens, offsets)
        self._take_labels(len(lengths), labels, ids)
        self.given_outputs = None
        if outputs is not None:
            from .outputs import read_outputs

            if any(name is not None for name in self.names):
                raise InputError("a data set has labels or outputs; give one of the two")
            self.given_outputs = read_outputs(outputs, lengths, tokens.shape[1])
        self.source = dict(source)  # sha256 of the file, numbers: how it was read
        self._written = tokens, frozen(np.array(offsets, dtype=np.int64))
        self._choose_sets(sets, reading)
        self.tokens, self.offsets = self.reading.tokens(*self._written)

    def _choose_sets(self, sets: Sets | Dataset | None, reading: Reading) -> None:
        """Take ``sets``, or else those that the sorted labels have by default."""
        self.has_sets = sets is not None  # given, not those by default
        # chosen by somebody: no default points, here or in that other data set, and no cones
        chosen_there = not isinstance(sets, Dataset) or sets.own_sets
        self.own_sets = self.has_sets and chosen_there and reading.label_sets == "points"
        own = self._labels_by_name()
        if sets is None:
            own = dict(zip(self._classes, self._classes, strict=True)) | own
            found = default_sets(in_order(own), reading, self.written_dimension)
            self._take_sets(found, own, reading)
            return
        given = sets.given_sets if isinstance(sets, Dataset) else sets
        known = read_given_sets(given, reading, self.written_dimension)
        unknown = next((name for name in own if name not in known), None)
        if unknown is not None:
            who = self.name(self._first_with(unknown))
            raise InputError(f"{who} has the label {unknown!r}, which is not among the labels")
        labels = {name: own.get(name, known.label(name)) for name in known}
        self._take_sets(known, labels, reading)

    def _take_sets(
        self, sets: Mapping[str, LabelSet], labels: Mapping[str, Any], reading: Reading
    ) -> None:
        """Take these sets, in the coordinates that the model sees."""
        if self.given_outputs is not None and (
            reading.stride > 1 or reading.label_sets != "points"
        ):
            raise InputError("outputs belong to tokens: leave out the stride and label sets argmax")
        found = LabelSets.of(sets, labels, reading, self.written_dimension)
        self.given_sets, self.sets = found.given, found.seen
        self.separations, self.reading = found.separations, found.reading

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
                raise InputError(OWN_SETS)
            found = default_sets([*sets], reading, self.written_dimension)
            other._take_sets(found, own, reading)
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

        Both keep the order of the sequences, and neither is empty; equal seeds give equal parts.
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

    @property
    def outputs(self) -> Outputs | None:
        """The outputs that the sequences ask for in place of labels; None for data with labels."""
        if self.given_outputs is None:
            return None
        from .outputs import Outputs

        return Outputs.of(self.given_outputs, self.sets, self.dimension - self.written_dimension)
