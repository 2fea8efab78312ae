"""A9. Lemma 3.1 uses A = -v v^T, the construction A = v v^T only; both are right in their place."""

from fractions import Fraction

from proofs.checking import require
from proofs.definition import Token, add, maximisers, scale, token
from proofs.sources import HARDMAX

SOURCE = HARDMAX
PLACE = "Lemma 3.1, (3.10), against Remark 2.7"
KIND = "Remark"
FAILS = "nothing where it stands; the two sentences seem to disagree"
PRINTED = (
    (
        114,
        "in the self-attention layers we always choose V as a multiple of the identity "
        r"and $A = vv^{\top}$ for some $v \in \mathbb{R}^d$.",
    ),
    (
        196,
        r"If, instead, $\langle v, z_p \rangle < 0$, then we set $A = -vv^{\top}$ and "
        "obtain",
    ),
)
CLAIM = (
    "The layers of the construction have A = v v^T (Remark 2.7); Lemma 3.1 sets A = -v "
    "v^T if <v, z_p> < 0."
)
MENDED = (
    "Lemma 3.1 with A = v v^T alone would be false without a shift, so its second case is"
    " needed. The layers of the construction come from Lemma 3.3, whose shift makes <v, "
    "z> positive, so A = v v^T suffices there."
)


def outer(v: Token) -> tuple[Token, ...]:
    """Return v v^T."""
    return tuple(scale(x, v) for x in v)


def witness() -> str:
    """Show that the extreme token (1, 0) of {(1, 0), (2, 0)} is a leader for -v v^T and for no
    v v^T.
    """
    Z = [token(1, 0), token(2, 0)]
    # with v = (a, b) the two scores of the first token are a^2 and 2 a^2
    grid = [Fraction(p, q) for p in range(-6, 7) for q in range(1, 4)]
    require(
        all(maximisers(Z, outer((a, b)), 0) != [0] for a in grid for b in grid),
        "the scores of (1, 0) under v v^T are a^2 <= 2 a^2",
    )
    v = token(1, 0)
    negative = tuple(scale(-1, row) for row in outer(v))
    require(maximisers(Z, negative, 0) == [0], "A = -v v^T makes it a leader")
    shifted = [add(z, token(-3, 0)) for z in Z]
    require(maximisers(shifted, outer(v), 0) == [0], "after the shift by (-3, 0), v v^T does")
    return (
        "d = 2, Z = ((1,0), (2,0)): under v v^T with v = (a, b) the token (1,0) has the scores "
        "a^2 and 2 a^2, so it is never a leader; it is one for A = -v v^T, v = (1,0), and for A = "
        "v v^T after the shift by (-3,0)."
    )
