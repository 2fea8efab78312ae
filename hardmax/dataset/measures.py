"""Empirical measures: what a transformer of this form can see of a sequence (theory A1).

Every layer and the readout depend on a sequence only through μ = (1/n) Σ δ_{z_l}. So equal
measures need equal labels, and then one sequence can stand for all of them (Remark 2.5).
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from ..errors import HardmaxError
from ..exact.numbers import Vector, show_vector
from .dataset import Dataset
from .grouping import Merged

__all__ = ["ContradictionError", "Merged", "TiedSequences", "count_measures", "merge"]


@dataclass(frozen=True)
class TiedSequences:
    """Two sequences with equal empirical measures and different labels: a proof of impossibility.

    ``measure`` lists the distinct tokens with their masses; ``ordered`` says whether the two
    differ as lists, so that positions (``--positional``) would tell them apart. If a ``masked``
    transformer was asked for, the two are equal or repeat one token (Theorem 8).
    """

    first: str
    second: str
    labels: tuple[str, str]
    measure: tuple[tuple[Vector, Fraction], ...]
    ordered: bool
    masked: bool = False

    def sentence(self) -> str:
        """The proof in words."""
        labels = f"but the labels {self.labels[0]!r} and {self.labels[1]!r}"
        if self.masked:
            same = "repeat the same token" if self.ordered else "are equal token by token"
            advice = ". --positional would tell them apart" if self.ordered else ""
            return (
                f"{self.first} and {self.second} {same} {labels}; no masked transformer can tell "
                f"them apart{advice}."
            )
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
            f"{labels}; no transformer of this form can tell them apart. {advice}"
        )


class ContradictionError(HardmaxError):
    """Two sequences with equal empirical measures and different labels (theory A1).

    No transformer of this form classifies both; ``tied`` is the proof.
    """

    exit_code = 1

    def __init__(self, tied: TiedSequences) -> None:
        super().__init__(tied.sentence())
        self.tied = tied


def count_measures(data: Dataset) -> int:
    """N, the number of distinct empirical measures."""
    return len(data.merged)


def merge(data: Dataset) -> Merged:
    """Merge sequences with equal empirical measures.

    Raises ContradictionError where two such sequences have different labels.
    """
    data.need_labels()
    merged = data.merged
    check_labels(data, merged)
    return merged


def check_labels(data: Dataset, merged: Merged, masked: bool = False) -> None:
    """Raise ContradictionError where two merged sequences have different labels."""
    if len(merged) < len(data):
        codes, _ = data.label_codes
        first = np.array(merged.representatives)[merged.group]
        wrong = np.flatnonzero(codes != codes[first])
        if len(wrong):
            raise ContradictionError(_tied(data, int(first[wrong[0]]), int(wrong[0]), masked))


def _tied(data: Dataset, first: int, second: int, masked: bool) -> TiedSequences:
    tokens, others = data.sequence(first), data.sequence(second)
    counts = Counter(tokens)
    label, other = data.need_labels()[first], data.need_labels()[second]
    return TiedSequences(
        data.name(first),
        data.name(second),
        (label, other),
        tuple((z, Fraction(count, len(tokens))) for z, count in counts.items()),
        tokens != others,
        masked,
    )
