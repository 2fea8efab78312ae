"""The accuracy in Table 2 does not rise consistently."""

from fractions import Fraction

from proofs.checking import require
from proofs.sources import BANACH

SOURCE = BANACH
PLACE = "Section 4.2 and Table 2"
KIND = "Refuted"
FAILS = "the sentence, against the numbers of Table 2"
PRINTED = ((271, "in Table 2, we observe a consistent improvement in test accuracy."),)
CLAIM = (
    "As the strength of the regularisation increases, we observe a consistent improvement "
    "in test accuracy."
)
MENDED = "It improves up to lambda = 0.5 and falls from 0.5 to 1.0."


def witness() -> str:
    """Compare the printed accuracies."""
    accuracy = [Fraction(x) for x in ("71.99", "74.39", "75.51", "75.46")]
    require(
        accuracy[0] < accuracy[1] < accuracy[2] and accuracy[3] < accuracy[2],
        "the last step goes down",
    )
    return "CUB-200-2011, lambda = 0, 0.1, 0.5, 1.0: 71.99, 74.39, 75.51, 75.46."
