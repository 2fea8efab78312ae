"""Numbers over one denominator, made when they are asked for; arrays that nobody can change."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction

import numpy as np


class Quotients(Mapping[int, Fraction]):
    """Overrides of one denominator, each made when it is asked for."""

    def __init__(self, numerators: np.ndarray, denominator: int, places: np.ndarray) -> None:
        """Flat ``numerators`` of all entries, and the rising ``places`` of those overridden."""
        self.numerators, self.denominator = frozen(numerators), denominator
        self.places = frozen(places)

    def __getitem__(self, place: int) -> Fraction:
        at = int(np.searchsorted(self.places, place))
        if at == len(self.places) or self.places[at] != place:
            raise KeyError(place)
        return Fraction(int(self.numerators[place]), self.denominator)

    def __iter__(self) -> Iterator[int]:
        return iter(self.places.tolist())

    def __len__(self) -> int:
        return len(self.places)


def frozen(array: np.ndarray) -> np.ndarray:
    """The same memory as an array whose write flag can't be set.

    >>> frozen(np.ones(2)).setflags(write=True)
    Traceback (most recent call last):
    ...
    ValueError: cannot set WRITEABLE flag to True of this array
    """
    return np.asarray(array.data.toreadonly())
