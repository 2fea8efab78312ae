"""Label sets by the names of their labels, and the order of the names."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, cast

from ..errors import InputError
from ..words import kind
from .given import name_of, plain
from .polyhedral import Box, Halfspace, Polyhedron
from .sets import Ball, LabelSet, Point

_INTEGER = re.compile("0|-?[1-9][0-9]{0,9999}")
_REVERSED = str.maketrans("0123456789", "9876543210")


def in_order(names: Iterable[str]) -> list[str]:
    """Names sorted: integers by value, then text by code point.

    An integer is 0, or at most 10 000 digits that do not begin with 0, with or without "-".

    >>> in_order(["b", "10", "a", "9", "-1", "-2"])
    ['-2', '-1', '9', '10', 'a', 'b']
    """
    return sorted(names, key=_place)


def _place(name: str) -> tuple[int, int, str]:
    if not _INTEGER.fullmatch(name):
        return 3, 0, name
    if name[0] == "-":  # the more digits, the smaller
        return 1, -len(name), name.translate(_REVERSED)
    return 2, len(name), name


class NamedSets(Mapping[str, LabelSet]):
    """Label sets by name, which can't be changed; ``sets[1]`` finds the set of the name "1".

    >>> NamedSets({"1": Point((0,))})[1]
    Point(point=(Fraction(0, 1),))
    """

    def __init__(self, sets: Mapping[str, LabelSet], labels: Mapping[str, Any] | None = None):
        self._sets = MappingProxyType(dict(sets))
        self._labels = MappingProxyType(dict(labels or {}))

    def __reduce__(self) -> tuple[Any, ...]:
        return NamedSets, (dict(self._sets), dict(self._labels))

    def __getitem__(self, label: Any) -> LabelSet:
        found = self._sets.get(label)
        return found if found is not None else self._sets[str(plain(label))]

    def __iter__(self) -> Iterator[str]:
        return iter(self._sets)

    def __len__(self) -> int:
        return len(self._sets)

    def __contains__(self, label: object) -> bool:
        return label in self._sets or str(plain(label)) in self._sets

    def __repr__(self) -> str:
        return repr(dict(self._sets))

    @property
    def labels(self) -> Mapping[str, Any]:
        """The labels by their names, where they are not the names themselves."""
        return self._labels

    def label(self, name: str) -> Any:
        """The label of a name, in the type in which it was given."""
        return self._labels.get(name, name)


def read_sets(sets: Mapping[Any, Any]) -> NamedSets:
    """Label sets by name; a list of numbers is a point, an object {"kind": …} as files hold it.

    >>> read_sets({0: [1, 2], "b": Point((3, 4))})[0]
    Point(point=(Fraction(1, 1), Fraction(2, 1)))
    """
    if not isinstance(sets, Mapping):
        raise InputError(
            f"the label sets are {kind(sets)}; give a dict of label → set, "
            f"for instance {{'a': [0, 0], 'b': Ball((3, 0), 1)}}"
        )
    labels: dict[str, Any] = {}
    found: dict[str, LabelSet] = {}
    for label, entry in sets.items():
        name = str(name_of(plain(label)))
        if name in found:
            raise InputError(f"the labels {labels[name]!r} and {label!r} have one name, {name!r}")
        labels[name] = sets.label(name) if isinstance(sets, NamedSets) else plain(label)
        found[name] = _read_set(name, entry)
    return NamedSets(found, labels)


_KINDS: dict[str, Any] = {
    "point": Point, "ball": Ball, "box": Box, "halfspace": Halfspace, "polyhedron": Polyhedron,
}  # fmt: skip


def _read_set(name: str, entry: Any) -> LabelSet:
    if isinstance(entry, LabelSet):
        return entry
    try:
        if isinstance(entry, Mapping):
            fields = dict(entry)
            shape = fields.pop("kind", None)
            if shape not in _KINDS:
                raise InputError(f"the kind {shape!r} is unknown; known are {', '.join(_KINDS)}")
            return cast("LabelSet", _KINDS[shape](**fields))
        if not isinstance(entry, str | bytes) and isinstance(entry, Iterable):
            return Point(entry)  # type: ignore[arg-type]
    except (InputError, TypeError) as problem:
        raise InputError(f"label {name!r}: {problem}") from None
    raise InputError(
        f"label {name!r}: {kind(entry)} is no label set; give a list of numbers for a "
        f"point, or a Point, Ball, Box, Halfspace or Polyhedron"
    )
