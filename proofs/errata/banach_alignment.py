"""The alignment of Table 6 is not a cosine similarity."""

from fractions import Fraction

from proofs.checking import require
from proofs.sources import BANACH

SOURCE = BANACH
PLACE = "Appendix D, Table 6 and the text below it"
KIND = "Refuted"
FAILS = "the statement: the quotient is no cosine"
PRINTED = (
    (
        547,
        "The most remarkable result is the Alignment, which measures the cosine "
        "similarity between the direction of the predicted correction of FFN "
        r"$(\hat{\Delta}_k)$ and true correction of the oracle $(\Delta_k^{\rm ref})$.",
    ),
)
CLAIM = (
    "The alignment <D_hat, D_ref>/|D_ref|^2 measures the cosine similarity; a value of "
    "0.996 means almost perfectly aligned directions."
)
MENDED = (
    "It is the regression coefficient of D_hat on D_ref and ignores everything orthogonal "
    "to D_ref. The cosine divides by |D_hat||D_ref|."
)


def witness() -> str:
    """Give a correction of alignment 1 that is almost orthogonal to the reference."""
    ref, hat = (Fraction(1), Fraction(0)), (Fraction(1), Fraction(10))

    def dot(x: tuple, y: tuple) -> Fraction:
        return sum(a * b for a, b in zip(x, y, strict=True))

    alignment, cosine_squared = (
        dot(hat, ref) / dot(ref, ref),
        dot(hat, ref) ** 2 / (dot(ref, ref) * dot(hat, hat)),
    )
    require(
        alignment == 1 and cosine_squared == Fraction(1, 101), "alignment 1, squared cosine 1/101"
    )
    return "D_ref = (1, 0), D_hat = (1, 10): alignment 1, cosine 1/sqrt 101 < 0.1."
