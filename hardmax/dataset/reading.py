"""How the tokens of a file become the tokens of a model: windows, stride, positions, lift."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from operator import index
from typing import Any

import numpy as np

from ..errors import InputError
from ..exact.array import ExactArray, ranges
from ..exact.quotients import frozen

MAX_DIMENSION = 1 << 20  # coordinates of a token, and neighbours that a window names
MAX_NUMBERS = 1 << 30  # coordinates of all tokens as read
_MAX = 10**9  # dilations, stride, lift stay below it
_ROOM = 1 << 53
LABEL_SETS = ("points", "argmax")


@dataclass(frozen=True, repr=False)
class Reading:
    """The one description of how tokens of a file become tokens of a model.

    In this order:

    1. ``window`` W and ``dilations`` δ: a token becomes the coordinates of its neighbours, side by
       side. They stand δ·(k − ⌊(W−1)/2⌋) tokens away, k = 0 … W−1, for each δ; every distance
       counts once, in rising order. Past an end the first or last token stands in.
    2. ``stride`` S: of each sequence the tokens 1, 1+S, 1+2S, … stay.
    3. ``positional``: the position 1, 2, 3, … among these is one more coordinate.
    4. ``lift``: so many coordinates 0 follow.

    ``label_sets`` are "points", the file's sets or its default points, or "argmax": class c, the
    c-th of the sorted labels, has the cone of all x with x_c > x_e for all other classes e.
    Raises InputError for what is not one of these, or past the limits.

    >>> Reading(window=3, dilations=(1, 4)).offsets
    (-4, -1, 0, 1, 4)
    >>> Reading(window=2, positional=True).dimension(5)
    11
    """

    positional: bool = False
    window: int = 1
    dilations: tuple[int, ...] = (1,)
    stride: int = 1
    lift: int = 0
    label_sets: str = "points"

    def __post_init__(self) -> None:
        if type(self.positional) is not bool:
            raise InputError(f"'positional' is {self.positional!r}, expected true or false")
        given: Any = self.dilations
        if isinstance(given, str) or not isinstance(given, Iterable):
            given = (given,)
        dilations = tuple(sorted({_whole("dilations", x, 1) for x in given}))
        object.__setattr__(self, "dilations", dilations)
        for name, least in (("window", 1), ("stride", 1), ("lift", 0)):
            object.__setattr__(self, name, _whole(name, getattr(self, name), least))
        if not dilations:
            raise InputError("'dilations' is empty; 1 stands for neighbours side by side")
        if self.window * len(dilations) > MAX_DIMENSION:
            raise InputError(
                f"a window of {self.window} tokens and {len(dilations)} dilations name more than "
                f"{MAX_DIMENSION} neighbours; take a smaller window"
            )
        if self.label_sets not in LABEL_SETS:
            raise InputError(f"'label_sets' is {self.label_sets!r}, expected points or argmax")

    def __repr__(self) -> str:
        said = (f"{key}={value!r}" for key, value in self._changes().items())
        return f"Reading({', '.join(said)})"

    def _changes(self) -> dict[str, Any]:
        """The fields that are not the default."""
        values = {field: getattr(self, field.name) for field in fields(self)}
        return {field.name: x for field, x in values.items() if x != field.default}

    @classmethod
    def of(
        cls, reading: Reading | None, positional: bool = False, label_sets: str = "points"
    ) -> Reading:
        """The reading given, with what the two short forms add to it."""
        found = cls() if reading is None else reading
        if not isinstance(found, Reading):
            raise InputError(f"{reading!r} is no Reading; give hardmax.Reading(window=9)")
        if positional is not False:
            found = replace(found, positional=positional)
        return found if label_sets == "points" else replace(found, label_sets=label_sets)

    @classmethod
    def from_meta(cls, meta: Mapping[str, Any]) -> Reading:
        """The reading that a model's meta says; raises InputError where it says nonsense.

        >>> Reading.from_meta({"strategy": "paper", "window": 9, "dilations": [1, 4]})
        Reading(window=9, dilations=(1, 4))
        """
        said = {field.name: meta[field.name] for field in fields(cls) if field.name in meta}
        try:
            found = cls(**said)
            if said.get("dilations", [*found.dilations]) != [*found.dilations]:
                raise InputError("'dilations' is not a list of rising numbers")
        except InputError as problem:
            raise InputError(f"the model's meta: {problem}") from None
        return found

    def to_meta(self) -> dict[str, Any]:
        """What a model's meta says: ``positional``, and what else is not the default."""
        return {"positional": self.positional, **self.to_certificate()}

    def to_certificate(self) -> dict[str, Any]:
        """The value of ``reading`` in a certificate: all but ``positional`` that is not default."""
        found = {key: value for key, value in self._changes().items() if key != "positional"}
        return found | ({"dilations": [*self.dilations]} if "dilations" in found else {})

    @property
    def keeps_tokens(self) -> bool:
        """Whether the tokens stay as they are in the file."""
        return self.window == self.stride == 1 and not self.positional and not self.lift

    @property
    def offsets(self) -> tuple[int, ...]:
        """How far away the neighbours stand whose coordinates a token gets, rising."""
        steps = range(-((self.window - 1) // 2), self.window // 2 + 1)
        return tuple(sorted({step * dilation for step in steps for dilation in self.dilations}))

    def dimension(self, written: int) -> int:
        """Coordinates of a token of the model where a token of the file has ``written``.

        Raises InputError past `MAX_DIMENSION`.
        """
        width = written * len(self.offsets) + self.positional + self.lift
        if width > MAX_DIMENSION:
            raise InputError(
                f"{self!r} makes tokens of {width} coordinates; allowed are {MAX_DIMENSION}"
            )
        return width

    def tokens(self, tokens: ExactArray, offsets: np.ndarray) -> tuple[ExactArray, np.ndarray]:
        """Packed tokens (T, d₀) of a file as the model sees them, (T', d), and their offsets.

        Nothing is rounded: entries change their places, exact ones as well. Raises InputError
        past the limits, before any memory is asked for.
        """
        if self.keeps_tokens:
            return tokens, offsets
        starts, lengths = offsets[:-1], np.diff(offsets)
        kept = -(-lengths // self.stride)
        width, count = self.dimension(tokens.shape[1]), int(kept.sum())
        if width * count > MAX_NUMBERS:
            raise InputError(
                f"{self!r} makes {count} tokens of {width} coordinates; allowed are "
                f"{MAX_NUMBERS} numbers in all"
            )
        try:
            places = ranges(np.zeros_like(kept), kept)
            first, last = np.repeat(starts, kept), np.repeat(offsets[1:] - 1, kept)
            centres = first + self.stride * places
            neighbours = [np.clip(centres + x, first, last) for x in self.offsets]
            read = _side_by_side(tokens, neighbours, places + 1 if self.positional else None, width)
        except MemoryError:
            raise InputError(f"{self!r} needs more memory than this machine has") from None
        return read, frozen(np.concatenate([[0], np.cumsum(kept)]))


def _whole(name: str, value: Any, least: int) -> int:
    """An integer ≥ ``least`` and below 10⁹; a truth value is none."""
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise InputError(f"'{name}' is {str(value)[:40]!r}, expected a whole number")
    if not least <= (found := index(value)) < _MAX:
        raise InputError(f"'{name}' is {str(found)[:40]}, allowed are {least} to {_MAX - 1}")
    return found


def _side_by_side(
    tokens: ExactArray, neighbours: list[np.ndarray], positions: np.ndarray | None, width: int
) -> ExactArray:
    """Rows of the tokens beside one another, then the positions, then zeros."""
    count, size = len(neighbours[0]), tokens.shape[1]
    scaled = tokens.scaled() if tokens.exact else None
    longest = 1 if positions is None else int(positions.max(initial=1))
    whole = scaled is not None and scaled[1] * longest < _ROOM
    source, unit = scaled if scaled is not None and whole else (tokens.values, 1)
    out = np.zeros((count, width), source.dtype)
    for k, rows in enumerate(neighbours):
        out[:, k * size : (k + 1) * size] = source[rows]
    if positions is not None:
        out[:, len(neighbours) * size] = positions * unit
    if whole:
        return ExactArray.of_quotients(out, unit)
    return ExactArray.owning(out, _moved(tokens, neighbours, width))


def _moved(tokens: ExactArray, neighbours: list[np.ndarray], width: int) -> dict[int, Any]:
    """The entries that no float holds, at their new places, by flat index."""
    if not tokens.exact:
        return {}
    size, count = tokens.shape[1], len(tokens.exact)
    known = np.fromiter(tokens.exact, np.int64, count)
    numbers = np.empty(count, dtype=object)
    numbers[:] = list(tokens.exact.values())
    order = np.argsort(known)
    known, numbers = known[order], numbers[order]
    ends = np.searchsorted(known, np.arange(len(tokens) + 1) * size)  # of each row
    places, taken = [], []
    for k, rows in enumerate(neighbours):
        found = ends[rows + 1] - ends[rows]
        which = ranges(ends[rows], found)
        left = np.repeat(np.arange(len(rows)) * width + k * size, found)
        places.append(left + known[which] % size)
        taken.append(which)
    flat, which = np.concatenate(places), np.concatenate(taken)
    rising = np.argsort(flat)
    return dict(zip(flat[rising].tolist(), numbers[which[rising]].tolist(), strict=True))
