"""With the sup norm, C([0, 1]) is not a uniform Banach space."""

from fractions import Fraction

from proofs.checking import require
from proofs.sources import TRANSDUCER

SOURCE = TRANSDUCER
PLACE = "Section 3 (uniform spaces throughout) against Section 5.1, V in C([0,1], R)"
KIND = "Remark"
FAILS = "nothing: the text names no norm. With the sup norm the hypothesis fails"
PRINTED = (
    (116, "Namely, we will consider throughout uniform Banach spaces S"),
    (
        260,
        "First, we examine the problem of regressing operators O associating functions "
        "v from V < C([0,1],R) to their solutions u = O(v) < C([0,1],R) with respect "
        "to advection-diffusion-",
    ),
)
CLAIM = (
    "All Banach spaces are uniform; the operators of the first experiment act on "
    "subspaces of C([0,1], R), whose norm is not named."
)
MENDED = (
    "The sup norm of C([0,1]) is not strictly convex, so another norm must be meant: an "
    "L^p norm with 1 < p, or a norm on finitely many modes, to which the implementation "
    "truncates."
)


def witness() -> str:
    """Give two functions of norm 1 whose midpoint has norm 1."""

    def norm(a: Fraction, b: Fraction) -> Fraction:
        return max(abs(a), abs(a + b))  # sup norm of a + b x on [0, 1], attained at an end

    one, zero = Fraction(1), Fraction(0)
    require(
        norm(one, zero) == norm(zero, one) == norm(one / 2, one / 2) == 1,
        "1, x and (1 + x)/2 have norm 1",
    )
    return (
        "The functions 1, x and their midpoint (1 + x)/2 all have sup norm 1 on [0, 1], so "
        "the unit sphere contains a segment."
    )
