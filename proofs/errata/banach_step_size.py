"""The text prints no condition on the step of the two-step proximity algorithm, and needs one."""

from fractions import Fraction

from proofs.checking import require
from proofs.errata.banach_fixed_point import orbit
from proofs.sources import BANACH

SOURCE = BANACH
PLACE = "Appendix D, Data and Parameters"
KIND = "Remark"
FAILS = "nothing is refuted: the text prints no condition on the step"
PRINTED = (
    (
        528,
        "The matrix B is constructed from the training data (X, y_{labels}) as $B = "
        r"\text{diag}(y_{\text{labels}})[X, 1]$.",
    ),
    (535, r"The algorithm's hyperparameters are set to C=1, $\beta=1$, and $\lambda=1$."),
)
CLAIM = "The oracle is run with C = beta = lambda = 1 on n = 64 samples and B = diag(labels)[X, 1]."
MENDED = (
    "The corrected iteration converges for (C beta/lambda)|B|^2 < 1, by the theory of "
    "such iterations. The last column of B, the labels, alone gives |B|^2 >= 64, so this "
    "asks for lambda > 64."
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
        "For every data set |B|^2 >= 64 > 1. Without such a condition the iteration need not "
        "converge: for the 1 x 1 matrix B = (2), which is not of the form above, and C = beta = "
        "lambda = 1 the corrected one cycles, (w, y) = (0, -1), (3, 0), (0, -1), ... from (0, 0)."
    )
