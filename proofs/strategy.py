"""The paper's strategy with sharper stages, as a program: separate, cluster, sweep, in at most
(N - c) + 1 + N blocks.

c is the number of components of the graph that joins two sequences when they share a token. See
lemmas/separation.py and lemmas/stages.py for the proofs; this file runs them.
"""

from __future__ import annotations

from collections.abc import Callable
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
from proofs.theorem_b import generic_direction, minus, tie_hyperplane

Edges = list[tuple[int, int]]


def shared(Zs: list[Sequence]) -> Edges:
    """List the pairs of sequences that share a token."""
    sets = [set(Z) for Z in Zs]
    return [(j, k) for j, k in combinations(range(len(Zs)), 2) if sets[j] & sets[k]]


def components(n: int, edges: Edges) -> int:
    """Count connected components."""
    label = list(range(n))
    for j, k in edges:
        label = [label[k] if x == label[j] else x for x in label]
    return len(set(label))


def shift_above(v: Token, Zs: list[Sequence], extra: Fraction) -> Token:
    """The translation of (3.14) along v: every <v, z + s> is at least `extra` > 0."""
    b = max(abs(dot(v, z)) for Z in Zs for z in Z) + extra
    return scale(b / dot(v, v), v)


def first_good(make: Callable[[Fraction], Block], Zs: list[Sequence], keep: Edges) -> Block:
    """Try alpha = 1/2, 1/4, ... until exactly the edges `keep` remain: one of finitely many
    forbidden alphas fails.
    """
    for k in range(1, TRIES):
        block = make(Fraction(1, 2**k))
        if shared([transformer([block], Z) for Z in Zs]) == keep:
            return block
    raise Refuted(EXHAUSTED)


def separation_block(Zs: list[Sequence]) -> Block:
    """One block after which fewer sequences are connected: Case 1, Case 2, or Case 3 with Case
    2.
    """
    edges, d = shared(Zs), len(Zs[0][0])
    v, zero = generic_direction([z for Z in Zs for z in Z]), token(*[0] * d)
    leaders, means = [max(Z, key=lambda z: dot(v, z)) for Z in Zs], [mean(Z) for Z in Zs]

    def kept(keys: list[Token]) -> Edges:
        return [(j, k) for j, k in edges if keys[j] == keys[k]]

    if kept(leaders) != edges:
        s = shift_above(v, Zs, Fraction(1))
        return first_good(lambda a: translation(s, 1 - a, a, v), Zs, kept(leaders))
    if kept(means) != edges:
        return first_good(lambda a: rank_one(zero, 0, zero, 1 - a, a), Zs, kept(means))
    u, b = tie_hyperplane(*(Zs[j] for j in edges[0]))
    tokens = {z for Z in Zs for z in Z}
    for k in range(TRIES):
        w = token(Fraction(-1, 2**k), *[0] * (d - 1))  # against u: injective for small w only
        moved = [transformer([rank_one(u, b, w)], Z) for Z in Zs]
        means = [mean(Z) for Z in moved]
        if len({z for Z in moved for z in Z}) == len(tokens) and kept(means) != edges:
            return first_good(lambda a, w=w: rank_one(u, b, w, 1 - a, a), Zs, kept(means))
    raise Refuted(EXHAUSTED)


def separate(Zs: list[Sequence]) -> list[Block]:
    """Make all sequences disjoint; at most N - components(Zs) blocks."""
    blocks: list[Block] = []
    while shared(Zs):
        blocks.append(separation_block(Zs))
        Zs = [transformer(blocks[-1:], Z) for Z in Zs]
    return blocks


def sweep(points: list[Token], targets: list[Token], v: Token) -> list[Block]:
    """Send distinct points to targets that lie lower along v, from the top, one block each."""
    order = sorted(range(len(points)), key=lambda j: dot(v, points[j]), reverse=True)
    floor = max(dot(v, y) for y in targets)
    blocks = []
    for j, below in zip(order, [*(dot(v, points[i]) for i in order[1:]), floor], strict=True):
        h = dot(v, points[j]) - below
        blocks.append(rank_one(v, -below, scale(1 / h, minus(targets[j], points[j]))))
    return blocks


def build_strategy(Zs: list[Sequence], targets: list[Token]) -> list[Block]:
    """Separate, cluster above all targets, sweep."""
    blocks = separate(Zs)
    Zs = [transformer(blocks, Z) for Z in Zs]
    v = generic_direction([z for Z in Zs for z in Z])
    s = shift_above(v, Zs, 1 + max(abs(dot(v, y)) for y in targets))
    cluster = translation(s, 0, 1, v)
    points = [add(max(Z, key=lambda z: dot(v, z)), s) for Z in Zs]
    return [*blocks, cluster, *sweep(points, targets, v)]
