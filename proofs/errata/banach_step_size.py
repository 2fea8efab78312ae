"""The stated parameters violate the step-size condition of the two-step proximity algorithm."""

from fractions import Fraction

from proofs.checking import require
from proofs.errata.banach_fixed_point import orbit
from proofs.sources import BANACH

SOURCE = BANACH
PLACE = "Appendix D, Data and Parameters"
CLAIM = (
    "The oracle is run with C = beta = lambda = 1 on n = 64 samples, B = diag(labels)[X, "
    "1], and converges (Table 6)."
)
MENDED = (
    "The corrected iteration needs (C beta/lambda)|B|^2 < 1. The column of labels alone "
    "gives |B|^2 >= 64, so lambda must exceed 64."
)


def witness() -> str:
    """Show |B|^2 >= 64 for all data, and a cycle of the corrected iteration where the condition
    fails.
    """
    for labels in ([1] * 64, [1, -1] * 32):
        require(
            sum(y * y for y in labels) == 64,
            "the last column of B has squared norm 64, whatever X is",
        )
    states = orbit(Fraction(1), 2, 40)
    require(
        all(s == ((0, -1), (3, 0))[k % 2] for k, s in enumerate(states)),
        "B = (2), lambda = 1: a cycle of length two",
    )
    return (
        "For every data set |B|^2 >= 64 > 1. For B = (2) and C = beta = lambda = 1 even the "
        "corrected iteration cycles: (w, y) = (0, -1), (3, 0), (0, -1), ... from (0, 0)."
    )
