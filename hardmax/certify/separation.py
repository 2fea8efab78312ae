"""The separating hyperplanes of a certificate: proofs that the label sets are disjoint."""

from __future__ import annotations

from typing import Any

from ..dataset import Dataset
from ..exact.numbers import json_number, json_vector
from ..labels import Polyhedron, Separation

_LISTED_POINTS = 100  # pairs of points need no proof; up to so many labels they are shown


def separation_entries(data: Dataset) -> tuple[dict[str, Any], ...]:
    """Entries of the certificate's ``separation`` (docs/certificate.md, section 6).

    One for each pair of labels, pairs of points left out where there are many labels.

    >>> data = Dataset([[(0,)], [(1,)]], ["a", "b"])
    >>> separation_entries(data)
    ({'a': 'a', 'b': 'b', 'normal': [1], 'offset': '1/2'},)
    """
    found = data.separations
    pairs = found if len(data.given_sets) <= _LISTED_POINTS else found.without_points()
    return tuple(_entry(data, a, b, found[a, b]) for a, b in pairs)


def _entry(data: Dataset, a: str, b: str, found: Separation) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "a": a,
        "b": b,
        "normal": json_vector(found.normal),
        "offset": json_number(found.offset),
    }
    for key, name, weights in (
        ("multipliers_a", a, found.first),
        ("multipliers_b", b, found.second),
    ):
        if isinstance(data.given_sets[name], Polyhedron) and weights is not None:
            entry[key] = json_vector(weights)
    return entry
