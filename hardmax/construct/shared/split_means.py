"""Split equal means by a feed-forward layer: Lemma 3.4, repaired (theory A2)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from random import Random

from ...errors import InputError
from ...exact.numbers import Vector, as_vector, dot, short_between
from .directions import directions


@dataclass(frozen=True)
class MeanSplit:
    """Parameters (u, b) of a ReLU: of all tokens in supp ν it is positive on one, x, only.

    ν = μ − μ' is the difference of the two empirical measures. For every w the means of
    FF(Z) and FF(Z') differ by their old difference plus w·ν({x})·(⟨u,x⟩ + b), and
    ``gap`` = ν({x})(⟨u,x⟩ + b) ≠ 0.
    """

    u: Vector
    b: Fraction
    token: Vector
    gap: Fraction


def split_means(
    first: Sequence[Sequence[object]],
    second: Sequence[Sequence[object]],
    rng: Random | None = None,
) -> MeanSplit:
    """Find a ReLU under which two sequences have different means (Lemma 3.4, mended).

    The printed (3.19) needs equal lengths; the signed measure ν = μ − μ' does not. For a
    generic integer vector u the token of supp ν with the largest ⟨u,·⟩ is extreme, and a
    hyperplane between the two largest values separates it. Raises InputError where the two
    empirical measures are equal: then nothing can split them (theory A1).

    >>> plus = [(0, 1), (0, -1), (1, 0), (-1, 0)]
    >>> split_means(plus, plus[:2]).gap != 0
    True
    """
    difference: dict[Vector, Fraction] = defaultdict(Fraction)
    for sequence, sign in ((first, 1), (second, -1)):
        for z in sequence:
            difference[as_vector(z)] += Fraction(sign, len(sequence))
    support = [z for z, mass in difference.items() if mass]
    if not support:
        raise InputError("the two sequences have equal empirical measures")
    for u in directions(rng or Random(0), len(support[0])):
        ranked = sorted(((dot(u, z), z) for z in support), key=lambda pair: pair[0])
        (runner_up, _), (top, token) = ranked[-2:]
        if runner_up < top:
            b = -short_between(runner_up, top)
            return MeanSplit(u, b, token, difference[token] * (top + b))
    raise AssertionError("unreachable: directions never end")
