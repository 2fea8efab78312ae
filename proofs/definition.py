"""The transformer of arXiv 2502.02270v1, equations (2.2)-(2.5), word for word over the
rationals.

A token is a tuple of Fractions, a sequence a list of tokens; matrices are tuples of rows. `max`
and the set of maximisers are exact, so hardmax ties are ties. Nothing is shared with the package
that this folder checks.
"""

from __future__ import annotations

from collections.abc import Sequence as Seq
from fractions import Fraction
from typing import NamedTuple

Token = tuple[Fraction, ...]
Matrix = tuple[Token, ...]
Sequence = list[Token]


class Block(NamedTuple):
    """The parameters of SA after FF: W (d, d'), U (d', d), b (d'), rho, V (d, d), A (d, d)."""

    W: Matrix
    U: Matrix
    b: Token
    rho: Fraction
    V: Matrix
    A: Matrix


def token(*entries: Fraction | int | str) -> Token:
    """Make a token from integers, Fractions or strings such as "-20/3"."""
    return tuple(Fraction(x) for x in entries)


def dot(x: Token, y: Token) -> Fraction:
    """Compute the inner product of two tokens."""
    return sum((a * b for a, b in zip(x, y, strict=True)), Fraction(0))


def apply(M: Matrix, x: Token) -> Token:
    """Multiply a matrix and a token."""
    return tuple(dot(row, x) for row in M)


def add(*terms: Token) -> Token:
    """Add tokens."""
    return tuple(sum(column, Fraction(0)) for column in zip(*terms, strict=True))


def scale(c: Fraction | int, x: Token) -> Token:
    """Multiply a token by a number."""
    return tuple(Fraction(c) * a for a in x)


def mean(Z: Sequence) -> Token:
    """Average the tokens of a sequence."""
    return scale(Fraction(1, len(Z)), add(*Z))


def readout(Z: Sequence) -> Token:
    """R(Z), equation (2.2)."""
    return mean(Z)


def feed_forward(Z: Sequence, W: Matrix, U: Matrix, b: Token) -> Sequence:
    """FF(Z), equation (2.3): z + W relu(U z + b) for every token z."""
    return [add(z, apply(W, tuple(max(Fraction(0), x) for x in add(apply(U, z), b)))) for z in Z]


def maximisers(Z: Sequence, A: Matrix, i: int) -> list[int]:
    """C_i(Z, A), equation (2.4a): the indices l at which <A z_i, z_l> is maximal."""
    scores = [dot(apply(A, Z[i]), z) for z in Z]
    return [l for l, s in enumerate(scores) if s == max(scores)]


def attention(Z: Sequence, A: Matrix) -> list[list[Fraction]]:
    """The matrix Lambda(Z, A), equation (2.4b), read as "l in C_i" (see the erratum on (2.4b))."""
    C = [maximisers(Z, A, i) for i in range(len(Z))]
    return [
        [Fraction(1, len(C_i)) if l in C_i else Fraction(0) for l in range(len(Z))] for C_i in C
    ]


def self_attention(Z: Sequence, rho: Fraction, V: Matrix, A: Matrix) -> Sequence:
    """SA(Z), equation (2.4c)."""
    rows = attention(Z, A)
    return [
        add(scale(rho, z), apply(V, add(*(scale(w, y) for w, y in zip(row, Z, strict=True)))))
        for z, row in zip(Z, rows, strict=True)
    ]


def transformer(blocks: Seq[Block], Z: Sequence) -> Sequence:
    """T(Z), equation (2.5): the blocks from first to last, in each FF before SA."""
    for W, U, b, rho, V, A in blocks:
        Z = self_attention(feed_forward(Z, W, U, b), rho, V, A)
    return Z


def rank_one(
    u: Token,
    b: Fraction | int,
    w: Token,
    rho: Fraction | int = 1,
    alpha: Fraction | int = 0,
    v: Token | None = None,
) -> Block:
    """The block of Remark 2.7: hidden width 1, V = alpha I, A = v v^T. The default attention is
    the identity.
    """
    d = len(u)
    v = v or token(*[0] * d)
    return Block(
        W=tuple((x,) for x in w),
        U=(u,),
        b=token(b),
        rho=Fraction(rho),
        V=tuple(token(*(Fraction(alpha) if i == j else 0 for j in range(d))) for i in range(d)),
        A=tuple(scale(x, v) for x in v),
    )


def translation(
    s: Token, rho: Fraction | int = 1, alpha: Fraction | int = 0, v: Token | None = None
) -> Block:
    """A block whose FF is the translation by s (u = 0, b = 1, w = s)."""
    return rank_one(token(*[0] * len(s)), 1, s, rho, alpha, v)
