"""Theorem B as a program: tie splitting, collapse and radial peeling, in at most 2N - 1 blocks,
by exact arithmetic.

It serves the errata as the mended construction and the lemma file `lemmas/theorem_b.py` as an
executable proof.
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import combinations

from proofs.checking import EXHAUSTED, TRIES, Refuted
from proofs.definition import (
    Block,
    Sequence,
    Token,
    add,
    dot,
    mean,
    rank_one,
    scale,
    token,
    transformer,
    translation,
)


def empirical_measure(Z: Sequence) -> dict[Token, Fraction]:
    """Map each token to its share of the positions."""
    return {z: Fraction(k, len(Z)) for z, k in Counter(Z).items()}


def minus(x: Token, y: Token) -> Token:
    """Subtract two tokens."""
    return add(x, scale(-1, y))


def generic_direction(points: list[Token]) -> Token:
    """Find an integer vector (1, k, k^2, ...) whose inner products with the (distinct) points
    differ.
    """
    d, distinct = len(points[0]), set(points)
    for k in range(TRIES):
        g = token(*(k**i for i in range(d)))
        if len({dot(g, p) for p in distinct}) == len(distinct):
            return g
    raise Refuted(EXHAUSTED)


def tie_hyperplane(Z: Sequence, Y: Sequence) -> tuple[Token, Fraction]:
    """Find (u, b) with <u, x> + b > 0 at one point x of supp(mu_Z - mu_Y) and <= 0 on the rest
    (A2).
    """
    p, q = empirical_measure(Z), empirical_measure(Y)
    support = [z for z in p.keys() | q.keys() if p.get(z, 0) != q.get(z, 0)]
    if not support:
        raise ValueError(
            "two sequences have the same empirical measure: no transformer tells them apart"
        )
    u = generic_direction(support)
    return u, -sorted(dot(u, z) for z in support)[-2]


def split_one_tie(Zs: list[Sequence]) -> Block:
    """Part the means of the first two tied sequences, keep all others apart and the layer
    injective on tokens.
    """
    u, b = tie_hyperplane(*next((Z, Y) for Z, Y in combinations(Zs, 2) if mean(Z) == mean(Y)))
    tokens, means = {z for S in Zs for z in S}, {mean(S) for S in Zs}
    untied = [(i, j) for i, j in combinations(range(len(Zs)), 2) if mean(Zs[i]) != mean(Zs[j])]
    for k in range(TRIES):
        # against u, so that the layer need not be injective
        block = rank_one(u, b, token(Fraction(-1, 2**k), *[0] * (len(u) - 1)))
        moved = [transformer([block], S) for S in Zs]
        injective = len({z for S in moved for z in S}) == len(tokens)
        apart = all(mean(moved[i]) != mean(moved[j]) for i, j in untied)
        if injective and apart and len({mean(S) for S in moved}) > len(means):
            return block
    raise Refuted(EXHAUSTED)


def split_ties(Zs: list[Sequence]) -> list[Block]:
    """Make all means distinct: at most N - (number of distinct means) blocks (B1)."""
    blocks: list[Block] = []
    while len({mean(Z) for Z in Zs}) < len(Zs):
        blocks.append(split_one_tie(Zs))
        Zs = [transformer(blocks[-1:], Z) for Z in Zs]
    return blocks


def collapse(means: list[Token], targets: list[Token]) -> Block:
    """One block that makes sequence j the point c + lambda (m_j - m_0), c the target of
    sequence 0 (B2).
    """
    c = targets[0]
    far = max(dot(minus(y, c), minus(y, c)) for y in targets)
    near = min(
        (dot(minus(m, means[0]), minus(m, means[0])) for m in means[1:]), default=Fraction(1)
    )
    lam = next(Fraction(2**k) for k in range(TRIES) if 4**k * near > far)
    return translation(minus(scale(1 / lam, c), means[0]), rho=0, alpha=lam)


def power_of_two_below(x: Fraction) -> Fraction:
    """Return the largest power of two that is at most x > 0."""
    if x <= 0:
        raise Refuted(f"the gap {x} of a peeling step is not positive")
    power = Fraction(2) ** (x.numerator.bit_length() - x.denominator.bit_length())
    return power if power <= x else power / 2


def peel(points: list[Token], targets: list[Token], c: Token) -> list[Block]:
    """Send distinct points to their targets, farthest from c first, one block each (B3); a
    point at c stays.
    """

    def radius(j: int) -> Fraction:
        return dot(minus(points[j], c), minus(points[j], c))

    order = sorted((j for j in range(len(points)) if points[j] != c), key=radius, reverse=True)
    blocks = []
    for n, j in enumerate(order):
        u = minus(points[j], c)
        others = [points[i] for i in order[n + 1 :]] + targets + [c]
        gap = radius(j) - max(dot(u, minus(x, c)) for x in others)
        h = power_of_two_below(gap / 2)
        blocks.append(
            rank_one(u, h - dot(u, points[j]), scale(1 / h, minus(targets[j], points[j])))
        )
    return blocks


def build(Zs: list[Sequence], targets: list[Token]) -> list[Block]:
    """Build at most 2N - 1 blocks with R(T(Z^j)) = y_j, for sequences with distinct empirical
    measures.
    """
    ties = split_ties(Zs)
    means = [mean(transformer(ties, Z)) for Z in Zs]
    gather = collapse(means, targets)
    points = [transformer([*ties, gather], Z)[0] for Z in Zs]
    return [*ties, gather, *peel(points, targets, targets[0])]
