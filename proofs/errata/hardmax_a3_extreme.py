"""A3. A token that was not extreme can become extreme under every small W of the proof."""

from fractions import Fraction

import sympy

from proofs.checking import require, require_equal
from proofs.definition import dot, mean, rank_one, token, transformer
from proofs.sources import HARDMAX

SOURCE = HARDMAX
PLACE = "Lemma 3.4, last sentence of the statement and of the proof"
KIND = "Gap"
FAILS = "the last sentence of the proof. The lemma asks for some layer only and is not refuted"
PRINTED = (
    (
        278,
        r"Moreover, ||w|| can be chosen small enough that $FF(z_i^j) \in "
        r"\operatorname{ext} \overline{\operatorname{co}}(FF(Z^j))$ if and only if "
        r"$z_i^j \in \operatorname{ext} \overline{\operatorname{co}}(Z^j)$.",
    ),
)
CLAIM = (
    "In the layer of the proof ||w|| can be chosen small enough that FF(z) is extreme for"
    " the hull of FF(Z^j) if and only if z is extreme for that of Z^j."
)
MENDED = (
    "For the layer of the proof one direction holds for all small w: an extreme token "
    "stays extreme (strict separation survives small changes). A token on a face, such as"
    " the midpoint of an edge, can become extreme for every w off that edge, however "
    "short. The lemma asks for one layer only; here w = (s, 0) serves. Only the true "
    "direction is used."
)

Z1 = [token(-1, 0), token(0, 0), token(1, 0)]
Z2 = [token(-2, 0), token(0, 0), token(2, 0)]
u, beta = token(1, 0), Fraction(-3, 2)


def area(p: tuple, q: tuple, r: tuple) -> object:
    """Twice the signed area of a triangle; not 0 exactly when no point lies between the two
    others.
    """
    return (q[0] - p[0]) * (r[1] - p[1]) - (q[1] - p[1]) * (r[0] - p[0])


def witness() -> str:
    """Show that the midpoint (0,0) of Z2 becomes extreme for every w = (s, t) with t not 0."""
    S = set(Z1) ^ set(Z2)
    require(mean(Z1) == mean(Z2) and (0, 0) in Z2, "equal centres of mass")
    require(
        all((dot(u, x) + beta > 0) == (x == token(2, 0)) and dot(u, x) + beta != 0 for x in S),
        "(3.18) holds for z = (2,0)",
    )
    require_equal(
        area(*Z2), 0, "before the layer (0,0) lies between its neighbours: it is not extreme"
    )
    for k in range(0, 200, 10):
        for w in (token(0, Fraction(1, 2**k)), token(Fraction(1, 2**k), Fraction(-1, 2**k))):
            require(
                area(*transformer([rank_one(u, beta, w)], Z2)) != 0,
                "three points in general position: all are extreme",
            )
    s, t = sympy.symbols("s t", real=True)
    moved = [(-2, 0), (0, 0), (2 + s / 2, t / 2)]
    require_equal(
        area(*moved),
        t,
        "the area is |t| for every w = (s, t), so every t other than 0 makes (0,0) extreme",
    )
    return (
        "Z1 = {(-1,0), (0,0), (1,0)}, Z2 = {(-2,0), (0,0), (2,0)}, u = (1,0), beta = "
        "-3/2 satisfy (3.18) with z = (2,0). Under w = (s, t) the three tokens of Z2 span a "
        "triangle of twice the area |t|: (0,0), not extreme before, is extreme for every t "
        "other than 0, however small w is."
    )
