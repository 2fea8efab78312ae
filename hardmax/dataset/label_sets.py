"""The label sets of a data set: those given, or those that labels have by default."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from ..errors import InputError
from ..labels import (
    LabelSet,
    NamedSets,
    Separations,
    argmax_sets,
    check_disjoint,
    check_size,
    default_points,
    in_order,
    read_sets,
)
from .reading import Reading

OWN_SETS = "the data hold label sets of their own; for label sets argmax leave them out"


@dataclass(frozen=True)
class LabelSets:
    """Label sets that are pairwise disjoint, with the proofs of that, ``separations``.

    The sets ``given`` have the dimension of the tokens in the file, or are the cones of argmax;
    the sets ``seen`` have the dimension of the tokens that the model sees. ``reading`` is the
    reading asked for, with the zero coordinates that argmax needs beside those of the tokens.
    """

    given: NamedSets
    seen: NamedSets
    separations: Separations
    reading: Reading

    @classmethod
    def of(
        cls,
        sets: Mapping[str, LabelSet],
        labels: Mapping[str, Any],
        reading: Reading,
        dimension: int,
    ) -> LabelSets:
        """Sets for tokens that have so many coordinates in the file; ``labels`` by their names.

        Raises InputError where two of the sets meet.

        >>> cones = argmax_sets(["a", "b", "c"])
        >>> LabelSets.of(cones, {}, Reading(label_sets="argmax"), 2).reading.lift
        1
        """
        width = reading.dimension(dimension)
        if reading.label_sets == "argmax":
            missing = max(0, len(sets) - width)
            reading, width = replace(reading, lift=reading.lift + missing), width + missing
            check_size(len(sets), width)
            separations = Separations({}, {})  # cones are disjoint as they stand
        else:
            separations = check_disjoint(sets)
        given = seen = NamedSets(sets, labels)
        if any(each.dimension < width for each in sets.values()):
            lifted = {name: each.lifted(width - each.dimension) for name, each in sets.items()}
            seen = NamedSets(lifted, labels)
        return cls(given, seen, separations, reading)


def default_sets(names: list[str], reading: Reading, dimension: int) -> Mapping[str, LabelSet]:
    """The sets of labels that are given none: points on the first axis, or the cones of argmax."""
    if reading.label_sets == "argmax" and names:
        return argmax_sets(names)
    return default_points(names, dimension)


def read_given_sets(sets: Mapping[Any, Any], reading: Reading, dimension: int) -> NamedSets:
    """Label sets as a user gives them, of the dimension of the tokens; InputError for others."""
    chosen = read_sets(sets)
    if reading.label_sets == "argmax":
        cones = argmax_sets(in_order(chosen))
        if chosen != cones:
            raise InputError(OWN_SETS)
        return NamedSets(cones, chosen.labels)
    for name, label_set in chosen.items():
        if label_set.dimension != dimension:
            lifted = label_set.dimension == reading.dimension(dimension)
            advice = "; give the data set itself, sets=other" if lifted else ""
            raise InputError(
                f"label {name!r} has dimension {label_set.dimension}, "
                f"the tokens have {dimension}{advice}"
            )
    return chosen
