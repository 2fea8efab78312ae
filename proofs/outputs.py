"""Theorem 16 as a program: output sequences in at most K + R blocks, by exact arithmetic.

Token i of sequence j, i = 1 ... m_j, must become y^j_i. Tie splitting, one block that mixes every
token with the mean of its sequence, and radial peeling of the tokens that have an output.
"""

from __future__ import annotations

from fractions import Fraction

from proofs.checking import EXHAUSTED, TRIES, Refuted
from proofs.definition import (
    Block,
    Sequence,
    Token,
    add,
    dot,
    mean,
    scale,
    transformer,
    translation,
)
from proofs.theorem_b import empirical_measure, minus, peel, split_ties

Pair = tuple[Token, int]  # a token, and the first sequence with the measure of its own


def pairs(Zs: list[Sequence], Ys: list[list[Token]]) -> dict[Pair, Token]:
    """Map each pair (token, measure) that has an output to it; refuse two different ones."""
    measures = [empirical_measure(Z) for Z in Zs]
    found: dict[Pair, Token] = {}
    for Z, Y, measure in zip(Zs, Ys, measures, strict=True):
        for z, y in zip(Z, Y, strict=False):
            if found.setdefault((z, measures.index(measure)), y) != y:
                raise ValueError("equal tokens of equal measures must become different things")
    return found


def mixing(points: list[Token], means: list[Token]) -> Fraction:
    """Find beta in (0, 1) for which all (1 - beta) x + beta m are different."""
    for k in range(1, TRIES):
        beta = Fraction(1, 2**k)
        mixed = {
            add(scale(1 - beta, x), scale(beta, m)) for x, m in zip(points, means, strict=True)
        }
        if len(mixed) == len(points):
            return beta
    raise Refuted(EXHAUSTED)


def build(Zs: list[Sequence], Ys: list[list[Token]]) -> list[Block]:
    """Build at most K + R blocks behind which token i of sequence j is Ys[j][i]."""
    asked = pairs(Zs, Ys)
    first = sorted({j for _, j in asked})
    ties = split_ties([Zs[j] for j in first])
    moved = {j: transformer(ties, Zs[j]) for j in first}
    points = [moved[j][Zs[j].index(z)] for z, j in asked]
    means = [mean(moved[j]) for _, j in asked]
    beta = mixing(points, means)
    mixed = [add(scale(1 - beta, x), scale(beta, m)) for x, m in zip(points, means, strict=True)]
    targets = list(asked.values())
    c = targets[0]
    far = max(dot(minus(y, c), minus(y, c)) for y in targets)
    near = min(
        (dot(minus(x, mixed[0]), minus(x, mixed[0])) for x in mixed[1:]), default=Fraction(1)
    )
    lam = next(Fraction(2**k) for k in range(TRIES) if 4**k * near > far)
    shift = minus(scale(1 / lam, c), mixed[0])
    mix = translation(shift, rho=lam * (1 - beta), alpha=lam * beta)
    placed = [scale(lam, add(x, shift)) for x in mixed]
    return [*ties, mix, *peel(placed, targets, c)]
