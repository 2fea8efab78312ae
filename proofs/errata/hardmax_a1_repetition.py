"""A1, second half. With repeated tokens only the empirical measure counts, not even the
multiset.
"""

from proofs.checking import require
from proofs.definition import attention, dot, readout, token, transformer
from proofs.errata.hardmax_a1_order import some_blocks
from proofs.sources import HARDMAX

SOURCE = HARDMAX
PLACE = "Remark 2.6 and (2.7)"
KIND = "Refuted"
FAILS = "the statement of the remark: more than assumption ii) is used"
PRINTED = (
    (
        107,
        "However, it can also be removed with relatively straightforward modifications "
        "to the proof, but more cumbersome notation.",
    ),
)
CLAIM = (
    "Assumption ii) (tokens within each sequence are pairwise distinct) can be removed with "
    "straightforward modifications: a repeated token becomes one token with more mass, the "
    "weights become (2.7)."
)
MENDED = (
    "The weights (2.7) depend on the masses only up to a common factor, so Z and the "
    "concatenation of Z with itself have the same output under every transformer. Without "
    "ii) the sequences must have distinct empirical measures; distinct sequences, and "
    "distinct multisets, are not enough."
)

a, b = token(2, 1), token(-1, 3)


def witness() -> str:
    """Show that (a, b) and (a, a, b, b) have equal outputs under general two-block transformers."""
    once, twice = [a, b], [a, a, b, b]
    for first, second in zip(some_blocks(), reversed(some_blocks()), strict=True):
        require(
            readout(transformer([first, second], once))
            == readout(transformer([first, second], twice)),
            "equal outputs",
        )
    A = (token(1, 0), token(0, 1))
    weights, mass = attention(twice, A)[0], attention(once, A)[0]
    require(
        [weights[0] + weights[1], weights[2] + weights[3]] == mass,
        "the weights (2.7) with w = (2, 2) and w = (1, 1) agree",
    )
    require(dot(a, b) != dot(a, a), "the example has no accidental tie")
    return (
        "Z = (a, b) and Y = (a, a, b, b), a = (2, 1), b = (-1, 3), are different sequences, even "
        "different multisets; R(T(Z)) = R(T(Y)) on 171 two-block transformers with general "
        "matrices, and for every T by docs/theory.md, Proposition 1. With different point labels "
        "no solution exists."
    )
