"""The operators between uniform spaces do not form a uniform space."""

from fractions import Fraction

from proofs.checking import require
from proofs.sources import TRANSDUCER

SOURCE = TRANSDUCER
PLACE = "S.8.1, proof of Proposition 1"
KIND = "Gap"
FAILS = "a step of the proof"
PRINTED = ((573, "hypothesis, VV and I/ are a uniform Banach space and so is £(V,U)."),)
CLAIM = "By hypothesis V and U are uniform Banach spaces, and so is L(V, U)."
MENDED = (
    "L(V, U) with the operator norm is not strictly convex as soon as both dimensions are "
    "at least 2."
)


def witness() -> str:
    """Give two operators of norm 1 on R^2 whose midpoint has norm 1."""
    A, B = (Fraction(1), Fraction(1)), (Fraction(1), Fraction(0))
    middle = tuple((a + b) / 2 for a, b in zip(A, B, strict=True))

    def norm(diagonal: tuple) -> Fraction:
        return max(
            abs(x) for x in diagonal
        )  # operator norm of a diagonal matrix on Euclidean space

    require(A != B and norm(A) == norm(B) == norm(middle) == 1, "a segment on the unit sphere")
    return (
        "On R^2: diag(1,1), diag(1,0) and their midpoint diag(1,1/2) all have operator norm "
        "1, so the unit sphere contains a segment."
    )
