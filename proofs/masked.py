"""Masked attention (4.2) as a program over the rationals: separate all prefixes, then move one
state at a time (D1).

The masked layer with A = 0 is SA_i(Z) = rho z_i + alpha mean(z_1..z_i). Order is visible, so
anagrams can be classified.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from typing import NamedTuple

from proofs.checking import EXHAUSTED, TRIES, Refuted
from proofs.definition import Sequence, Token, add, dot, feed_forward, mean, readout, scale, token
from proofs.theorem_b import minus, tie_hyperplane


class MaskedBlock(NamedTuple):
    """FF with (u, b, w), then rho z_i + alpha mean of the tokens up to i."""

    u: Token
    b: Fraction
    w: Token
    rho: Fraction
    alpha: Fraction


def layer(u: Token, b: Fraction, w: Token) -> MaskedBlock:
    """A feed-forward block with identity attention."""
    return MaskedBlock(u, b, w, Fraction(1), Fraction(0))


def run(blocks: list[MaskedBlock], Z: Sequence) -> Sequence:
    """Apply blocks of (2.3) and (4.2) with A = 0."""
    for u, b, w, rho, alpha in blocks:
        Z = feed_forward(Z, tuple((x,) for x in w), (u,), (Fraction(b),))
        Z = [add(scale(rho, z), scale(alpha, mean(Z[: i + 1]))) for i, z in enumerate(Z)]
    return Z


def tied_prefixes(Zs: list[Sequence]) -> tuple[Sequence, Sequence] | None:
    """Find two prefixes with equal last states but different measures of states; None if the
    partition is stable.
    """
    prefixes = {tuple(Z[: i + 1]) for Z in Zs for i in range(len(Z))}
    for p, q in combinations(sorted(prefixes), 2):
        if p[-1] == q[-1] and {z: Fraction(p.count(z), len(p)) for z in p} != {
            z: Fraction(q.count(z), len(q)) for z in q
        }:
            return list(p), list(q)
    return None


def separation_block(Zs: list[Sequence]) -> MaskedBlock:
    """Part one tied pair by a feed-forward layer and a masked mean that merge no different
    states.
    """
    p, q = tied_prefixes(Zs)
    u, b = tie_hyperplane(p, q)
    if mean(p) != mean(q):
        u, b = scale(0, u), Fraction(0)
    before = sorted({(tuple(Z[: i + 1]), Z[i]) for Z in Zs for i in range(len(Z))})
    for k in range(1, TRIES):
        small = Fraction(1, 2**k)
        # against u, so that the layer may merge states unless that is checked
        block = MaskedBlock(u, b, token(-small, *[0] * (len(u) - 1)), 1 - small, small)
        after = [run([block], list(prefix))[-1] for prefix, _ in before]
        old = [state for _, state in before]
        merged = any(
            old[i] != old[j] and after[i] == after[j] for i, j in combinations(range(len(old)), 2)
        )
        if not merged and run([block], p)[-1] != run([block], q)[-1]:
            return block
    raise Refuted(EXHAUSTED)


def directions(d: int) -> list[Token]:
    """List integer vectors to draw hyperplanes from."""
    return [token(*((k**i) * (-1) ** (i * (k % 2)) for i in range(d))) for k in range(-12, 13)]


def tent(x: Token, t: Token, others: set[Token]) -> list[MaskedBlock] | None:
    """Three blocks that add t - x at x and nothing at the other states, if a hyperplane exists
    (d >= 2).
    """
    e = minus(t, x)
    for g in directions(len(x)):
        u = minus(scale(dot(e, e), g), scale(dot(e, g), e))  # orthogonal to e
        if any(u) and all(dot(u, minus(z, x)) != 0 for z in others):
            eps = min((abs(dot(u, minus(z, x))) for z in others), default=Fraction(1))
            return [
                layer(u, s * eps - dot(u, x), scale(c / eps, e))
                for s, c in ((1, 1), (0, -2), (-1, 1))
            ]
    return None


def move(x: Token, t: Token, others: set[Token]) -> list[MaskedBlock]:
    """Move the state x to t and no other state: three blocks, or four by way of an extreme
    point.
    """
    if x == t:
        return []
    if t not in others and (blocks := tent(x, t, others)):
        return blocks
    for k in range(4, TRIES):
        for g in directions(len(x)):
            p = add(x, scale(2**k, g))
            blocks, gap = tent(x, p, others), min(dot(g, minus(p, z)) for z in {*others, t})
            if p not in others and gap > 0 and blocks:
                h = gap / 2  # active at p only: <g, p> + b = h, <= h - gap = -h elsewhere
                return [*blocks, layer(g, h - dot(g, p), scale(1 / h, minus(t, p)))]
    raise Refuted(EXHAUSTED)


def build(Zs: list[Sequence], targets: list[Token]) -> tuple[list[MaskedBlock], int]:
    """Return (blocks, S): separation blocks, one generic translation, and at most four blocks
    for each sequence.
    """
    blocks: list[MaskedBlock] = []
    states = Zs
    while tied_prefixes(states):
        blocks.append(separation_block(states))
        states = [run(blocks[-1:], Z) for Z in states]
    S, d = len(blocks), len(targets[0])
    blocks.append(
        layer(
            token(*[0] * d), Fraction(1), token(*(Fraction(97 + 11 * i, 101 + i) for i in range(d)))
        )
    )
    states = [run(blocks[-1:], Z) for Z in states]
    for j in sorted(range(len(Zs)), key=lambda j: (len(set(Zs[j])) > 1, len(Zs[j]))):
        Z, x = states[j], states[j][-1]
        k, rest = Z.count(x), add(*(z if z != x else scale(0, z) for z in Z))
        t = scale(Fraction(1, k), minus(scale(len(Z), targets[j]), rest))
        new = move(x, t, {z for Y in states for z in Y} - {x})
        blocks, states = blocks + new, [run(new, Y) for Y in states]
    if [readout(Z) for Z in states] != targets:
        raise ValueError("the masked construction failed")
    return blocks, S
