"""A8. Non-zero tokens and <v, z_p> != 0 are not needed once the tokens are shifted."""

from fractions import Fraction

from proofs.checking import require
from proofs.definition import (
    Sequence,
    Token,
    add,
    dot,
    maximisers,
    scale,
    token,
    transformer,
    translation,
)
from proofs.sources import HARDMAX

SOURCE = HARDMAX
PLACE = "Lemmas 3.2 i), 3.3 and 3.5 (non-zero tokens), and the preprocessing block of Section 3.1"
KIND = "Remark"
FAILS = "nothing: the hypotheses and the first block are true as printed and not needed"
PRINTED = (
    (
        131,
        "Preprocessing. The transformer T_{pre} has a single block ensuring that "
        r"$T_{pre}(z_{\ell}^{j}) \neq 0$ for all $\ell \in [\operatorname{len}(Z^{j})]$ "
        r"and all $j \in [N]$.",
    ),
    (207, r"- i) $\langle v, z_p^q \rangle \neq 0.$"),
)
CLAIM = (
    "The lemmas assume non-zero tokens, Lemma 3.2 asks <v, z_p> != 0, and a first block "
    "makes all tokens non-zero."
)
MENDED = (
    "Lemma 3.3 needs ii) and iii) of Lemma 3.2 only: the translation of (3.14) makes every "
    "<v, FF(z)> positive. The hypotheses, i) and the preprocessing block can be dropped, "
    "so 8N + 3 blocks suffice where the paper has 8N + 4."
)


def outer(v: Token) -> tuple:
    """Return v v^T."""
    return tuple(scale(x, v) for x in v)


def witness() -> str:
    """Collapse sequences that contain 0, with a leader for which <v, z_p> = 0."""
    v = token(1, 0)
    Zs: list[Sequence] = [
        [token(0, 0), token(-1, 0)],
        [token(0, 0)],
        [token(-2, 5), token(-3, 0), token(0, 7)],
    ]
    leaders = [max(Z, key=lambda z: dot(v, z)) for Z in Zs]
    require(
        dot(v, leaders[0]) == 0 and leaders[0] == token(0, 0),
        "i) fails, the leader is the zero token",
    )
    require(
        len(maximisers(Zs[0], outer(v), 0)) == 2, "unshifted, the zero token attends to everything"
    )
    b = max(abs(dot(v, z)) for Z in Zs for z in Z) + 1
    s = scale(b / dot(v, v), v)
    for Z, leader in zip(Zs, leaders, strict=True):
        shifted = [add(z, s) for z in Z]
        require(
            all(maximisers(shifted, outer(v), i) == [Z.index(leader)] for i in range(len(Z))),
            "(3.13)",
        )
        require(
            transformer([translation(s, Fraction(0), 1, v)], Z) == [add(leader, s)] * len(Z),
            "the clustering block works",
        )
    return (
        "Z = {(0,0), (-1,0)} and others, v = (1,0): the leader is the zero token and <v, "
        "z_p> = 0, so i) and the hypothesis fail; after the shift (3.14) with epsilon = 1 "
        "every C_l is the leader alone and one block collapses each sequence."
    )
