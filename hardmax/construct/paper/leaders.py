"""Leaders: Lemmas 3.1, 3.2 and 3.3."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from random import Random

from ...errors import InputError
from ...exact.alternatives import Combination, gordan
from ...exact.numbers import Vector, as_vector, power_of_two_below
from ...model.tokens import Tokens
from ..shared.directions import directions


@dataclass(frozen=True)
class Leader:
    """Direction v with ⟨v,z_p⟩ > ⟨v,z_l⟩ for every other token: z_p can lead."""

    v: Vector


@dataclass(frozen=True)
class NotExtreme:
    """Weights λ ≥ 0, Σλ = 1, λ_p = 0, with z_p = Σ λ_l z_l: z_p can never lead."""

    weights: Vector


def extreme_token(tokens: Sequence[Sequence[object]], p: int) -> Leader | NotExtreme:
    """Decide whether token p is extreme in the convex hull of its sequence (Lemma 3.1).

    A token can be a leader if and only if it is extreme; both answers carry their proof.
    Positions that repeat z_p count as z_p. ``tokens`` has shape (n, d), p counts from 0.

    >>> extreme_token([(0,), (1,), (2,)], 2)
    Leader(v=(Fraction(1, 1),))
    >>> extreme_token([(0,), (1,), (2,)], 1)
    NotExtreme(weights=(Fraction(1, 2), Fraction(0, 1), Fraction(1, 2)))
    """
    exact = [as_vector(z) for z in tokens]
    others = [l for l, z in enumerate(exact) if z != exact[p]]
    if not others:
        return Leader((Fraction(1),) + (Fraction(0),) * (len(exact[p]) - 1))
    found = gordan([tuple(a - b for a, b in zip(exact[l], exact[p], strict=True)) for l in others])
    if not isinstance(found, Combination):
        return Leader(found.v)
    weights = [Fraction(0)] * len(exact)
    for l, weight in zip(others, found.weights, strict=True):
        weights[l] = weight
    return NotExtreme(tuple(weights))


def common_direction(
    sequences: Sequence[Sequence[Sequence[object]]], q: int, p: int, seed: int = 0
) -> tuple[Vector, list[int]]:
    """Find v that gives every sequence one leader, and sequence q the leader p (Lemma 3.2).

    Returns v and the leaders' positions i_j (for repeated tokens the first), with i_q = p
    up to repetition. v is a multiple of the direction of Lemma 3.1 plus a small generic
    vector; every strict inequality is checked exactly. Raises InputError where token p of
    sequence q is not extreme.

    >>> common_direction([[(0, 0), (1, 0)], [(0, 0), (0, 1)]], q=0, p=1)[1][0]
    1
    """
    exact = [[as_vector(z) for z in sequence] for sequence in sequences]
    batch = Tokens.from_sequences(exact)
    start = extreme_token(exact[q], p)
    if isinstance(start, NotExtreme):
        raise InputError(f"token {p + 1} of sequence {q + 1} is not extreme, so it can't lead")
    weight = Fraction(1)
    for noise in directions(Random(seed), batch.dimension):
        v = tuple(weight * a + b for a, b in zip(start.v, noise, strict=True))
        leaders = batch.leaders(v)
        if None not in leaders:
            positions = [
                row - first
                for row, first in zip(leaders, batch.starts, strict=False)
                if row is not None
            ]
            if exact[q][positions[q]] == exact[q][p]:
                return v, positions
        weight *= 2  # less noise, so that p keeps its lead in the end
    raise AssertionError("unreachable: directions never end")


def leader_shift(batch: Tokens, v: Vector, at_least: Fraction = Fraction(0)) -> Vector:
    """Translation s = κv after which ⟨v,z⟩ > ``at_least`` ≥ 0 for every token (Lemma 3.3).

    Then ⟨v,z_i⟩⟨v,z_l⟩ is largest exactly where ⟨v,z_l⟩ is, (3.15)–(3.16). κ is 0 where
    nothing is needed, otherwise a power of two.

    >>> batch = Tokens.from_sequences([[(Fraction(-3),), (Fraction(1),)]])
    >>> leader_shift(batch, (Fraction(1),))
    (Fraction(4, 1),)
    """
    return shift_above(min(batch.projections(v)), v, at_least)


def shift_above(least: Fraction, v: Vector, at_least: Fraction = Fraction(0)) -> Vector:
    """The translation of `leader_shift` where the least ⟨v,z⟩ is known.

    >>> shift_above(Fraction(-3), (Fraction(1),))
    (Fraction(4, 1),)
    """
    missing = at_least - least
    if missing < 0:
        return tuple(Fraction(0) for _ in v)
    needed = missing / sum(x * x for x in v)
    factor = 2 * power_of_two_below(needed) if needed else Fraction(1)
    return tuple(factor * x for x in v)
