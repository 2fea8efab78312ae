"""Empirical measures: what a transformer of this form can see of a sequence (theory A1).

Every layer and the readout depend on a sequence only through μ = (1/n) Σ δ_{z_l}. So equal
measures need equal labels, and then one sequence can stand for all of them (Remark 2.5).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import gcd

from ..errors import HardmaxError
from ..numbers import Vector, show_vector
from .dataset import Dataset

Measure = frozenset[tuple[Hashable, int]]


@dataclass(frozen=True)
class TiedSequences:
    """Two sequences with equal empirical measures and different labels: a proof of impossibility.

    ``measure`` lists the distinct tokens with their masses; ``ordered`` says whether the two
    differ as lists, so that positions (``--positional``) would tell them apart.
    """

    first: str
    second: str
    labels: tuple[str, str]
    measure: tuple[tuple[Vector, Fraction], ...]
    ordered: bool

    def sentence(self) -> str:
        """The proof in words."""
        shown = ", ".join(f"{mass} at {show_vector(z, 4)}" for z, mass in self.measure[:4])
        more = f", and {len(self.measure) - 4} more tokens" if len(self.measure) > 4 else ""
        advice = (
            "They differ in the order or number of their tokens: --positional would tell them "
            "apart."
            if self.ordered
            else "They are equal token by token, so positions would not tell them apart either."
        )
        return (
            f"{self.first} and {self.second} have the same empirical measure ({shown}{more}) "
            f"but the labels {self.labels[0]!r} and {self.labels[1]!r}; no transformer of this "
            f"form can tell them apart. {advice}"
        )


class ContradictionError(HardmaxError):
    """Two sequences with equal empirical measures and different labels (theory A1).

    No transformer of this form classifies both; ``tied`` is the proof.
    """

    exit_code = 1

    def __init__(self, tied: TiedSequences) -> None:
        super().__init__(tied.sentence())
        self.tied = tied


@dataclass(frozen=True)
class Merged:
    """Data with equal sequences merged: ``representatives`` lists one index for each measure,
    ``group`` (N,) the place in that list of every sequence."""

    representatives: list[int]
    group: list[int]

    def __len__(self) -> int:
        """Number of distinct measures."""
        return len(self.representatives)


def token_keys(data: Dataset) -> list[Hashable]:
    """A hashable key for every token; keys are equal exactly where the tokens are."""
    values = data.tokens.values
    width = values.shape[1]
    keys: list[Hashable] = [row.tobytes() for row in values]
    overridden: dict[int, list[tuple[int, Fraction]]] = {}
    for k in sorted(data.tokens.exact):
        overridden.setdefault(k // width, []).append((k % width, data.tokens.exact[k]))
    for i, extra in overridden.items():
        # equal numbers have equal nearest floats, so overrides only refine the bytes
        keys[i] = (keys[i], tuple((j, q.numerator, q.denominator) for j, q in extra))
    return keys


def measure(keys: list[Hashable]) -> Measure:
    """Empirical measure of a sequence given by the keys of its tokens, up to total mass.

    >>> measure(["a", "b"]) == measure(["b", "a", "b", "a"])
    True
    """
    counts = Counter(keys)
    divisor = gcd(*counts.values())
    return frozenset((key, count // divisor) for key, count in counts.items())


def measures(data: Dataset) -> list[Measure]:
    """Empirical measure of every sequence."""
    keys = token_keys(data)
    return [measure(keys[a:b]) for a, b in pairwise(data.offsets)]


def count_measures(data: Dataset) -> int:
    """N, the number of distinct empirical measures."""
    return len(set(measures(data)))


def merge(data: Dataset) -> Merged:
    """Merge sequences with equal empirical measures.

    Raises ContradictionError where two such sequences have different labels.
    """
    labels = data.need_labels()
    seen: dict[Measure, int] = {}
    representatives: list[int] = []
    group: list[int] = []
    for j, found in enumerate(measures(data)):
        place = seen.setdefault(found, len(representatives))
        if place == len(representatives):
            representatives.append(j)
        first = representatives[place]
        if labels[first] != labels[j]:
            raise ContradictionError(_tied(data, first, j))
        group.append(place)
    return Merged(representatives, group)


def _tied(data: Dataset, first: int, second: int) -> TiedSequences:
    tokens, others = data.sequence(first), data.sequence(second)
    counts = Counter(tokens)
    label, other = data.need_labels()[first], data.need_labels()[second]
    return TiedSequences(
        data.name(first),
        data.name(second),
        (label, other),
        tuple((z, Fraction(count, len(tokens))) for z, count in counts.items()),
        tokens != others,
    )
