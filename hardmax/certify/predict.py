"""Predictions: the label whose set holds the output, else the nearest set."""

from __future__ import annotations

from collections.abc import Mapping

from ..errors import InputError
from ..exact.numbers import Vector
from ..labels import LabelSet


def predict(output: Vector, sets: Mapping[str, LabelSet]) -> str:
    """Label of an exact output; the nearest set (Euclidean) where none holds it.

    Ties go to the set that comes first.

    >>> from hardmax.labels import Point
    >>> predict((3,), {"a": Point((0,)), "b": Point((5,))})
    'b'
    """
    if not sets:
        raise InputError("there are no label sets to predict from")
    for name, label_set in sets.items():
        if label_set.contains(output):
            return name
    distances = {name: label_set.distance(output) for name, label_set in sets.items()}
    best = min(distances.values())
    return next(name for name, distance in distances.items() if distance == best)
