"""The separating hyperplanes of a certificate: proofs that the label sets are disjoint."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from math import gcd, lcm
from typing import Any

from ..dataset import Dataset
from ..exact.numbers import MAX_DIGITS, MAX_EXPONENT, json_number, json_vector
from ..labels import Point, Polyhedron, Separation

_LISTED_POINTS = 100  # pairs of points need no proof; up to so many labels they are shown
_LONG = 10**MAX_DIGITS


def separation_entries(data: Dataset) -> tuple[dict[str, Any], ...]:
    """Entries of the certificate's ``separation`` (docs/certificate.md, section 6).

    One for each pair of labels, pairs of points left out where there are many labels, and where
    their hyperplane needs numbers past the limits of the format.

    >>> data = Dataset([[(0,)], [(1,)]], ["a", "b"])
    >>> separation_entries(data)
    ({'a': 'a', 'b': 'b', 'normal': [1], 'offset': '1/2'},)
    """
    found = data.separations
    pairs = found if len(data.given_sets) <= _LISTED_POINTS else found.without_points()
    entries = (_entry(data, a, b, found[a, b]) for a, b in pairs)
    return tuple(entry for entry in entries if entry is not None)


def unwritable(data: Dataset) -> tuple[str, str] | None:
    """Two labels whose disjointness no certificate can state within the limits of the format."""
    found = data.separations
    pairs = ((a, b) for a, b in found.without_points() if _scale(found[a, b]) is None)
    return next(pairs, None)


def _entry(data: Dataset, a: str, b: str, found: Separation) -> dict[str, Any] | None:
    factor = _scale(found)
    if factor is None:
        if all(isinstance(data.given_sets[name], Point) for name in (a, b)):
            return None
        factor = Fraction(1)
    entry: dict[str, Any] = {
        "a": a,
        "b": b,
        "normal": json_vector(factor * x for x in found.normal),
        "offset": json_number(factor * found.offset),
    }
    for key, name, weights in (
        ("multipliers_a", a, found.first),
        ("multipliers_b", b, found.second),
    ):
        if isinstance(data.given_sets[name], Polyhedron) and weights is not None:
            entry[key] = json_vector(factor * x for x in weights)
    return entry


def _scale(found: Separation) -> Fraction | None:
    """A positive factor that brings all numbers within the limits of the format, 1 if it can be.

    A multiple of a hyperplane is the same hyperplane, with as many times the multipliers.
    """
    numbers = [*found.normal, found.offset, *(found.first or ()), *(found.second or ())]
    for factor in _factors([x for x in numbers if x]):
        if all(_fits(factor * x) for x in numbers):
            return factor
    return None


def _factors(numbers: list[Fraction]) -> Iterator[Fraction]:
    yield Fraction(1)
    whole = Fraction(lcm(*(x.denominator for x in numbers)), gcd(*(x.numerator for x in numbers)))
    for factor in (Fraction(1), whole):  # as they are; as integers
        sizes = [factor * abs(x) for x in numbers]
        excess = max(int(x).bit_length() for x in sizes) - MAX_EXPONENT
        yield factor / 2 ** max(0, excess)


def _fits(number: Fraction) -> bool:
    p, q = abs(number.numerator), number.denominator
    return p < _LONG and q < _LONG and p < q << MAX_EXPONENT
