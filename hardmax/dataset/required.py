"""Which tokens must become what: outputs of sequences with equal measures belong together.

A transformer sees a sequence only through its empirical measure, and equal tokens of a sequence
stay equal. So what a token becomes is a function of the pair (token, measure of its sequence):
equal pairs need a common output. This is the only condition (theory, Theorem 16).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from ..exact.array import Array
from ..exact.numbers import Vector, show_vector
from ..labels import Point
from .dataset import Dataset
from .grouping import token_keys
from .measures import ContradictionError, Merged, TiedSequences
from .outputs import Outputs


@dataclass(frozen=True)
class Required:
    """The different pairs (token, measure) for which an output is asked.

    Pair k: token number ``rows[k]`` of the packed data, in measure ``group[k]``, must go to region
    ``codes[k]`` of the data's outputs.
    """

    rows: Array
    group: Array
    codes: Array

    def __len__(self) -> int:
        """R, the number of pairs."""
        return len(self.rows)


@dataclass(frozen=True)
class TiedOutputs(TiedSequences):
    """Two equal tokens, in sequences with equal measures, that must become different things."""

    token: Vector = ()

    def sentence(self) -> str:
        """The proof in words."""
        both = f"{self.first} and {self.second} have the same empirical measure, and"
        if self.first == self.second:
            both = f"In {self.first}"
        advice = (
            "--positional would tell them apart."
            if self.ordered
            else "They agree token by token, so positions would not tell them apart either."
        )
        return (
            f"{both} the token {show_vector(self.token, 4)} must become both {self.labels[0]} and "
            f"{self.labels[1]}; no transformer of this form does that. {advice}"
        )


def required(data: Dataset, outputs: Outputs) -> Required:
    """The different pairs; raises ContradictionError where a pair must become two things.

    Where one output is a point in the set of the other, the point serves both.

    >>> data = Dataset([[(0,), (1,)], [(1,), (0,)]], outputs=[[[5]], [[7], [5]]])
    >>> required(data, data.outputs).rows
    array([0, 2])
    """
    merged: Merged = data.merged
    starts = data.offsets[:-1]
    rows = starts[outputs.owner] + outputs.place
    groups = np.array(merged.group)[outputs.owner]
    keys = token_keys(data.tokens, rows.tolist())
    first: dict[tuple[int, Hashable], int] = {}
    codes = outputs.codes.copy()
    for k, pair in enumerate(zip(groups.tolist(), keys, strict=True)):
        here = first.setdefault(pair, k)
        if codes[here] != codes[k]:
            both = [int(codes[here]), int(codes[k])]
            common = _common(outputs, *both)
            if common is None:
                raise ContradictionError(_tied(data, outputs, here, k))
            codes[here] = common
    chosen = np.array(sorted(first.values()))
    return Required(rows[chosen], groups[chosen], codes[chosen])


def _common(outputs: Outputs, a: int, b: int) -> int | None:
    """The region of two that is a point of the other."""
    for one, other in ((a, b), (b, a)):
        region = outputs.regions[one]
        if isinstance(region, Point) and outputs.regions[other].contains(region.point):
            return one
    return None


def _tied(data: Dataset, outputs: Outputs, a: int, b: int) -> TiedOutputs:
    j, k = int(outputs.owner[a]), int(outputs.owner[b])
    tokens, others = data.sequence(j), data.sequence(k)
    counts = Counter(tokens)
    return TiedOutputs(
        data.name(j),
        data.name(k),
        (outputs.names[outputs.codes[a]], outputs.names[outputs.codes[b]]),
        tuple((z, Fraction(count, len(tokens))) for z, count in counts.items()),
        not data.positional and (tokens != others or outputs.place[a] != outputs.place[b]),
        token=tokens[outputs.place[a]],
    )
