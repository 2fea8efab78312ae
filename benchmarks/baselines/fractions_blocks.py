"""B4, a frozen baseline: exact, in Python's Fractions, block by block.

What a careful user writes without any library: rank-1 attention in O(n d) per sequence, identity
layers skipped, zeros left out of every scalar product, and one token carried for a sequence
whose tokens have become equal.

Frozen: the ratios in results/ refer to this text, so it is not tuned along with the engine.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise

Vector = Sequence[Fraction]


def outputs(
    u: Sequence[Vector],
    b: Vector,
    w: Sequence[Vector],
    rho: Vector,
    alpha: Vector,
    v: Sequence[Vector],
    tokens: Sequence[Vector],
    offsets: Sequence[int],
) -> list[list[Fraction]]:
    """Outputs of the blocks u, w, v (L, d), b, ρ, α (L,) for packed tokens (T, d)."""
    found = []
    for start, end in pairwise(offsets):
        Z = [list(token) for token in tokens[start:end]]
        for block in zip(u, b, w, rho, alpha, v, strict=True):
            Z = apply(Z, *block)
        found.append(mean(Z))
    return found


def apply(
    Z: list[list[Fraction]],
    u: Vector,
    b: Fraction,
    w: Vector,
    rho: Fraction,
    alpha: Fraction,
    v: Vector,
) -> list[list[Fraction]]:
    """One block on one sequence; one token stands for it where all are equal for certain."""
    if any(w):
        for z in Z:
            value = product(u, z) + b
            if value > 0:
                for i, step in enumerate(w):
                    if step:
                        z[i] += step * value
    if rho == 1 and alpha == 0:
        return Z
    scores = [product(v, z) for z in Z]
    sides = [(score > 0) - (score < 0) for score in scores]
    focus = {side: leader(Z, scores, side) for side in set(sides)}
    if rho == 0 and len(focus) == 1:
        return [[alpha * x for x in focus[sides[0]]]]
    return [
        [rho * x + alpha * y for x, y in zip(z, focus[side], strict=True)]
        for z, side in zip(Z, sides, strict=True)
    ]


def leader(Z: list[list[Fraction]], scores: list[Fraction], side: int) -> list[Fraction]:
    """Mean of the tokens on which side·score is largest; of all tokens for side 0."""
    if side == 0:
        return mean(Z)
    top = max(scores) if side > 0 else min(scores)
    return mean([z for z, score in zip(Z, scores, strict=True) if score == top])


def mean(Z: list[list[Fraction]]) -> list[Fraction]:
    """Mean of the tokens."""
    return [sum(column, Fraction(0)) / len(Z) for column in zip(*Z, strict=True)]


def product(u: Vector, z: Vector) -> Fraction:
    """Scalar product ⟨u,z⟩."""
    return sum((x * y for x, y in zip(u, z, strict=True) if x), Fraction(0))
