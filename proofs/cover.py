"""The cover construction (B4) with tents only, as a program over the rationals: depth follows
labels, not sequences.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

from proofs.checking import EXHAUSTED, TRIES, Refuted, matrix
from proofs.definition import (
    Block,
    Sequence,
    Token,
    add,
    dot,
    rank_one,
    scale,
    token,
    transformer,
)
from proofs.theorem_b import minus, split_ties


def unit(d: int, i: int, sign: int = 1) -> Token:
    """Return plus or minus the i-th unit vector."""
    return token(*(sign if j == i else 0 for j in range(d)))


def collapse_and_kill(Zs: list[Sequence], targets: list[Token]) -> tuple[Block, Fraction]:
    """u = -e_d, b = B, w = f with f_d = 1, then the mean: all points at height B, still
    distinct (B4 a).
    """
    d = len(targets[0])
    B = max(x[-1] for x in [*targets, *(z for Z in Zs for z in Z)]) + 1
    for k in range(TRIES):
        f = token(*(k ** (i + 1) for i in range(d - 1)), 1)
        block = rank_one(unit(d, d - 1, -1), B, f, 0, 1)
        if len({transformer([block], Z)[0] for Z in Zs}) == len(Zs):
            return block, B
    raise Refuted(EXHAUSTED)


def null_vector(rows: list[Token], d: int) -> Token:
    """Find u in E (last entry 0), not 0, orthogonal to all rows; integers from the exact null
    space.
    """
    M = matrix([row[: d - 1] for row in rows] or [[0] * (d - 1)])
    reduced, r = M.rref()
    if r == d - 1:
        return token(*[0] * d)
    pivots = [next(j for j in range(d - 1) if reduced[i, j] != 0) for i in range(r)]
    free = [j for j in range(d - 1) if j not in pivots]
    u = [Fraction(0)] * d
    for n, j in enumerate(free):  # a fixed combination of the basis vectors of the null space
        u[j] = Fraction(7**n)
        for i, p in enumerate(pivots):
            u[p] -= Fraction(int(reduced[i, j].p), int(reduced[i, j].q)) * 7**n
    return tuple(u)


def tent(group: list[Token], avoid: list[Token], height: Fraction) -> list[Block] | None:
    """Three blocks that raise the group by at least `height` and leave the points to be
    avoided; None if impossible.
    """
    d = len(group[0])
    u = null_vector([minus(x, group[0]) for x in group[1:]], d)
    b = -dot(u, group[0])
    clear = min((abs(dot(u, x) + b) for x in avoid), default=Fraction(1))
    if clear == 0:
        return None
    eps = clear / 2
    R = height / eps
    return [
        rank_one(u, b + 2 * s * eps, scale(c * R, unit(d, d - 1)))
        for s, c in ((1, 1), (0, -2), (-1, 1))
    ]


def raise_class(
    points: list[Token], own: list[int], avoid: list[int], height: Fraction
) -> tuple[list[Block], int]:
    """Push every point of a class by tents through d - 1 points at a time; return the blocks
    and their number T.
    """
    d, left, blocks, tents = len(points[0]), list(own), [], 0
    while left:
        for size in range(min(d - 1, len(left)), 0, -1):
            found = next(
                (
                    t
                    for g in combinations(left, size)
                    if (t := tent([points[i] for i in g], [points[i] for i in avoid], height))
                ),
                None,
            )
            if found:
                break
        base = {i: points[i][-1] for i in left}
        blocks, tents = blocks + found, tents + 1
        points[:] = [transformer(found, [p])[0] for p in points]
        left = [i for i in left if points[i][-1] < base[i] + height]
    return blocks, tents


def build_cover(
    Zs: list[Sequence], labels: list[int], targets: list[Token]
) -> tuple[list[Block], int, int]:
    """Return (blocks, K, sum of T_c); the readout of Z^j is targets[labels[j]]."""
    d, M = len(targets[0]), len(targets)
    ties = split_ties(Zs)
    Zs = [transformer(ties, Z) for Z in Zs]
    gather, B = collapse_and_kill(Zs, targets)
    points = [transformer([gather], Z)[0] for Z in Zs]
    blocks, tents = [*ties, gather], 0
    for c in range(1, M):
        own = [j for j, l in enumerate(labels) if l == c]
        new, used = raise_class(
            points, own, [j for j, l in enumerate(labels) if l < c], Fraction(c)
        )
        clamp = rank_one(unit(d, d - 1), -(B + c), unit(d, d - 1, -1))
        points = [transformer([clamp], [p])[0] for p in points]
        blocks, tents = [*blocks, *new, clamp], tents + used
    lowest = Fraction(1) + max(abs(x) for p in points for x in p)
    kills = [rank_one(unit(d, i), lowest, unit(d, i, -1)) for i in range(d - 1)]
    corner = token(*[-lowest] * (d - 1), 0)
    for c in range(M - 1, -1, -1):  # the line is peeled from the top
        x, below = (
            add(corner, scale(B + c, unit(d, d - 1))),
            B + c - 1 if c else max(y[-1] for y in targets),
        )
        kills.append(
            rank_one(unit(d, d - 1), -below, scale(1 / (B + c - below), minus(targets[c], x)))
        )
    return [*blocks, *kills], len(ties), tents


def general_position(n: int, d: int) -> list[Sequence]:
    """Two-token sequences whose means lie on the moment curve: any d of them span."""

    def curve(k: int) -> Token:
        return token(*(Fraction(k) ** (i + 1) for i in range(d)))

    return [[add(curve(k), unit(d, 0)), add(curve(k), unit(d, 0, -1))] for k in range(1, n + 1)]
