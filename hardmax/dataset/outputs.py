"""Output sequences: what the first tokens of a sequence must become, in place of a label.

Sequence j asks for m_j outputs, 1 ≤ m_j ≤ n_j; its token i, i = 1 … m_j, must become the point, or
lie in the set of the label, that is its entry i (docs/certificate.md, section 1).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import InputError
from ..exact.array import Array
from ..exact.numbers import Vector, as_vector, show_vector
from ..labels import LabelSet, Point, read_labels
from ..words import kind

Entry = str | Vector  # the name of a label, or a point


@dataclass(frozen=True)
class Outputs:
    """The outputs that the sequences of a data set ask for, one after another.

    Entry k belongs to token ``place[k]`` (from 0) of sequence ``owner[k]``, and asks for the set
    ``regions[codes[k]]``, which messages call ``names[codes[k]]``.
    """

    owner: Array
    place: Array
    codes: Array
    regions: tuple[LabelSet, ...]
    names: tuple[str, ...]

    def __len__(self) -> int:
        """Σ m_j, the number of outputs."""
        return len(self.codes)

    @classmethod
    def of(
        cls, given: Sequence[Sequence[Entry]], sets: Mapping[str, LabelSet], more: int = 0
    ) -> Outputs:
        """Outputs from the entries of every sequence; ``sets`` are those of the labels.

        The sets have the dimension that the model sees; points get ``more`` zero coordinates.

        >>> found = Outputs.of([[(0,), "a"], ["a"]], {"a": Point((5,))})
        >>> found.owner, found.place, found.codes, found.names
        (array([0, 0, 1]), array([0, 1, 0]), array([0, 1, 1]), ('the point (0)', "the label 'a'"))
        """
        known: dict[Entry, int] = {}
        codes = [known.setdefault(entry, len(known)) for entries in given for entry in entries]
        regions, names = [], []
        for entry in known:
            if isinstance(entry, str):
                regions.append(sets[entry])
                names.append(f"the label {entry!r}")
            else:
                regions.append(Point(entry).lifted(more))
                names.append(f"the point {show_vector(entry)}")
        counts = [len(entries) for entries in given]
        owner = np.repeat(np.arange(len(given)), counts)
        place = np.arange(len(codes)) - np.repeat(np.cumsum(counts) - counts, counts)
        return cls(owner, place, np.array(codes), tuple(regions), tuple(names))


def read_outputs(outputs: Any, lengths: Array, dimension: int) -> list[tuple[Entry, ...]]:
    """Outputs of N sequences as entries; raises InputError where something does not fit.

    >>> read_outputs([[[1, "1/2"], "a"], [3]], np.array([2, 4]), 2)
    [((Fraction(1, 1), Fraction(1, 2)), 'a'), ('3',)]
    """
    if isinstance(outputs, str | Mapping) or not isinstance(outputs, Iterable):
        raise InputError(f"the outputs are {kind(outputs)}; give a list for each sequence")
    given = list(outputs)
    if len(given) != len(lengths):
        raise InputError(f"{len(given)} lists of outputs for {len(lengths)} sequences")
    found = []
    for j, (entries, length) in enumerate(zip(given, lengths.tolist(), strict=True)):
        place = f"sequence {j + 1}"
        if isinstance(entries, str | Mapping) or not isinstance(entries, Iterable):
            raise InputError(f"{place}: its outputs are {kind(entries)}; give a list")
        row = [_entry(x, f"{place}, output {i + 1}", dimension) for i, x in enumerate(entries)]
        if not 1 <= len(row) <= length:
            raise InputError(
                f"{place} has {len(row)} outputs for {length} tokens; output i belongs to token i, "
                f"so from 1 to {length} are possible"
            )
        found.append(tuple(row))
    return found


def _entry(value: Any, place: str, dimension: int) -> Entry:
    listed = value.tolist() if hasattr(value, "tolist") else value
    try:
        if isinstance(listed, list | tuple):
            point = as_vector(listed)
            if len(point) != dimension:
                raise InputError(f"it has {len(point)} coordinates, the tokens have {dimension}")
            return point
        name = read_labels([listed])[1][0]
    except InputError as problem:
        raise InputError(f"{place}: {problem}") from None
    if name is None:
        raise InputError(f"{place} is None; give a point or a label")
    return name
