"""Predictions: the label whose set holds the output, else the nearest set."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..dataset import Dataset
from ..errors import InputError
from ..exact.numbers import Vector, as_vector
from ..labels import LabelSet, NamedSets, read_sets
from ..model.transformer import Transformer
from ..words import kind


def predict(outputs: Any, sets: Any) -> Any:
    """Label of an exact output, or the list of labels of a batch of outputs (N, d).

    It is the label whose set holds the output; where none does, that of the nearest set
    (Euclidean), the first of them on a tie. ``sets`` is a dict of label → set, or a data set.
    Raises InputError where there are no sets, or of another dimension.

    >>> from hardmax.labels import Point
    >>> sets = {"a": Point((0,)), "b": Point((5,))}
    >>> predict((3,), sets), predict([(3,), (1,)], sets)
    ('b', ['b', 'a'])
    """
    named = sets.sets if isinstance(sets, Dataset) else sets
    named = named if isinstance(named, NamedSets) else read_sets(named)
    if not named:
        raise InputError("there are no label sets to predict from")
    dimension = next(iter(named.values())).dimension
    plain = outputs.tolist() if hasattr(outputs, "tolist") else outputs
    if not isinstance(plain, Sequence) or isinstance(plain, str):
        raise InputError(f"{kind(outputs)} is no output: give d numbers, or N times d")
    single = not plain or not isinstance(plain[0], Sequence) or isinstance(plain[0], str)
    if not plain and not hasattr(outputs, "shape"):
        return []
    found = []
    for output in [plain] if single else plain:
        exact = as_vector(output)
        if len(exact) != dimension:
            raise InputError(
                f"an output has {len(exact)} numbers, the label sets have dimension {dimension}"
            )
        found.append(named.label(predicted(exact, named)))
    return found[0] if single else found


def predicted(output: Vector, sets: Mapping[str, LabelSet]) -> str:
    """Name of the set that holds an exact output, or else is nearest.

    Raises InputError where there are no sets.
    """
    if not sets:
        raise InputError("there are no label sets to predict from")
    for name, label_set in sets.items():
        if label_set.contains(output):
            return name
    distances = {name: label_set.distance(output) for name, label_set in sets.items()}
    best = min(distances.values())
    return next(name for name, distance in distances.items() if distance == best)


def sets_for(model: Transformer, sequences: Any, sets: Any) -> Mapping[str, LabelSet]:
    """The label sets to predict from: those given, the data set's, or the model's."""
    if sets is not None:
        return sets.sets if isinstance(sets, Dataset) else read_sets(sets)
    if isinstance(sequences, Dataset) and sequences.has_sets:
        return sequences.sets
    from .. import label_sets_of_model

    found = label_sets_of_model(model)
    if not found:
        raise InputError("the model remembers no label sets; give some, for instance sets=data")
    try:
        whole = model.meta.get("label_type") == "integer"
        return NamedSets(found, {name: int(name) for name in found if whole})
    except ValueError:  # a meta that is wrong about this
        return NamedSets(found)
