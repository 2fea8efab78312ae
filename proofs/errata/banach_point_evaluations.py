"""In a Hilbert space the functionals nu_j may be, but need not be, point evaluations."""

from proofs.checking import rank, require
from proofs.sources import BANACH

SOURCE = BANACH
PLACE = "Section 3.2, after (5)"
KIND = "Remark"
FAILS = 'the wording: "may be chosen as" is meant'
PRINTED = ((152, r"Note that $\nu_j = \delta_{x_j}$ when \mathcal{B} is a Hilbert space."),)
CLAIM = "Note that nu_j = delta_{x_j} when B is a Hilbert space."
MENDED = (
    "The functionals are data of the problem. Point evaluations are one choice, in Hilbert "
    "and Banach spaces alike."
)


def witness() -> str:
    """Take the sum and the difference of two point evaluations."""
    nu = [[1, 1], [1, -1]]
    require(rank(nu) == 2, "linearly independent, as the theorem asks")
    require(
        all(sorted(map(abs, n)) != [0, 1] for n in nu),
        "neither is a point evaluation of functions on two points",
    )
    return (
        "B = R^2 (functions on two points, a Hilbert space): nu_1 = (1, 1), nu_2 = (1, -1) "
        "are linearly independent functionals and no point evaluations."
    )
