"""A5, Case 1. Two points with different labels may be parked on the same spot."""

from fractions import Fraction

from proofs.checking import require
from proofs.definition import Token, add, dot, rank_one, scale, token, transformer
from proofs.sources import HARDMAX

SOURCE = HARDMAX
PLACE = "Section 3.1, Matching Labels, Case 1, (3.4)"
KIND = "Gap"
FAILS = "a step of the construction: the choice of y. T_lab exists"
PRINTED = (
    (
        151,
        r"where $y \neq \tilde{z}^{i_0}$ is any point such that $\langle u_0, y \rangle "
        "+ b_0 > 0$.",
    ),
    (162, r"The FF layers for blocks $k \in \{2, \ldots, N-1\}$ are constructed similarly."),
)
CLAIM = (
    "The only point of its class moves to any y other than z^{i0} with <u0, y> + b0 > 0; "
    "the later blocks are built similarly."
)
MENDED = (
    "Take y different from every current point (all but finitely many points of the open "
    "half-space are allowed)."
)

z0, z1, z2 = token(0, 0), token(-1, 1), token(-1, -1)
u0, b0, y = token(1, 0), Fraction(1, 2), token(1, 0)


def move(u: Token, b: Fraction, x: Token, target: Token) -> object:
    """Build the block (3.4): U = u, W = (target - x)/(<u, x> + b)."""
    return rank_one(u, b, scale(1 / (dot(u, x) + b), add(target, scale(-1, x))))


def separates(u: Token, b: Fraction, x: Token, others: list[Token]) -> bool:
    """Check (3.3): positive at x, negative at the others."""
    return dot(u, x) + b > 0 and all(dot(u, p) + b < 0 for p in others)


def witness() -> str:
    """Park z1 and z2, alone in their classes, on the same y by blocks that satisfy every
    printed condition.
    """
    require(separates(u0, b0, z0, [z1, z2]), "(3.3) for i0")
    require(y != z0 and dot(u0, y) + b0 > 0, "the printed conditions on y")
    u1, b1 = token(0, 1), Fraction(-1, 2)
    require(separates(u1, b1, z1, [z0, z2]), "(3.3) for i1")
    after = transformer([move(u1, b1, z1, y)], [z0, z1, z2])
    require(after == [z0, y, z2], "the first block moves z1 to y")
    u2, b2 = token(0, -1), Fraction(-1, 2)
    require(separates(u2, b2, z2, [z0, y]), "(3.3) for i2 among the current points")
    require(
        transformer([move(u2, b2, z2, y)], after) == [z0, y, y],
        "the second block moves z2 to the same y",
    )
    return (
        "z0 = (0,0), z1 = (-1,1), z2 = (-1,-1) with three different labels, u0 = (1,0), b0 = "
        "1/2, y = (1,0) for both moves: every printed condition holds and z1, z2 end on the "
        "same point (1,0), which no later block can part."
    )
