"""An inverse margin of plain logits says nothing about the decision boundary."""

from fractions import Fraction

from proofs.checking import require
from proofs.sources import BANACH

SOURCE = BANACH
PLACE = "Section 4.2, Table 2"
KIND = "Remark"
FAILS = (
    "nothing, if the margin is normalised; the text does not define it, and a margin of "
    "plain logits depends on their scale"
)
PRINTED = (
    (
        261,
        "To quantify decision boundary smoothness, we employed the widely-used "
        "inverse-margin (IM) (Pitas et al., 2017; Jiang et al.), where a lower IM "
        "value corresponds to a smoother decision boundary.",
    ),
)
CLAIM = "A lower inverse margin corresponds to a smoother decision boundary."
MENDED = (
    "The margin of logits scales with the logits, the decision boundary does not; a "
    "normalised margin must be compared."
)


def witness() -> str:
    """Scale the logits of a two-class model by 10."""

    def logits(x: Fraction, factor: int) -> tuple[Fraction, Fraction]:
        return factor * (x - 1), -factor * (x - 1)

    grid = [Fraction(k, 10) for k in range(-30, 51)]
    same = all(
        (logits(x, 1)[0] > logits(x, 1)[1]) == (logits(x, 10)[0] > logits(x, 10)[1]) for x in grid
    )
    margin = [
        min(abs(a - b) for a, b in (logits(x, f) for x in (Fraction(0), Fraction(3))))
        for f in (1, 10)
    ]
    require(
        same and margin == [2, 20], "the same boundary x = 1, margins 2 and 20 on the data 0 and 3"
    )
    return (
        "Logits (x - 1, 1 - x) and ten times these have the same boundary x = 1; on the data "
        "0, 3 the margins are 2 and 20, the inverse squared margins 1/4 and 1/400."
    )
