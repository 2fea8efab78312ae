"""A5, Case 2. A point may be mapped onto itself, and a third point is then never extreme."""

from fractions import Fraction

from proofs.checking import require
from proofs.definition import token, transformer
from proofs.errata.hardmax_a5_parked import move, separates
from proofs.sources import HARDMAX

SOURCE = HARDMAX
PLACE = "Section 3.1, Matching Labels, Case 2, (3.5)"
KIND = "Gap"
FAILS = "a step of the construction: the choice of j and of i_k. T_lab exists"
PRINTED = (
    (
        154,
        r"$$\exists j \in [N] \setminus \{i_1\}$$ such that $S^{c(j)} = S^{c(i_1)}$. "
        "Then, we set",
    ),
    (
        164,
        r"k-1. One picks $i_k \in [N] \setminus \{i_0, \ldots, i_{k-1}\}$ such that "
        r"$\tilde{z}^{i_k} \in \text{ext } \overline{\text{co}}(\tilde{z}^1, \ldots, "
        r"\tilde{z}^N)$ satisfies $\langle u_0, \tilde{z}^{i_k} \rangle + b_0 < 0$,",
    ),
)
CLAIM = (
    "If another index j has the label of i_k, map z^{i_k} onto z^j; then pick i_{k+1} "
    "among the indices not used so far with z extreme and on the far side of the hyperplane "
    "of i0."
)
MENDED = (
    "z^j must be another current point with the same label; if there is none, use Case 1. "
    "Every block then lowers the number of current points beyond the hyperplane of i0, and "
    "one of these is always extreme."
)

i0, b_1, b_2, c = token(0, 0), token(-3, 0), token(-2, 0), token(-1, 0)


def witness() -> str:
    """Run the literal procedure on four collinear points; it stops with a point that is not
    extreme.
    """
    require(separates(token(1, 0), Fraction(1, 2), i0, [b_1, b_2, c]), "(3.3) for i0")
    first = move(token(-1, 0), Fraction(-5, 2), b_1, b_2)
    require(
        separates(token(-1, 0), Fraction(-5, 2), b_1, [i0, b_2, c]),
        "(3.3) for i1 = b1, an extreme point",
    )
    points = transformer([first], [i0, b_1, b_2, c])
    require(points == [i0, b_2, b_2, c], "Case 2 maps b1 onto b2")
    second = move(token(-1, 0), Fraction(-3, 2), b_2, points[1])
    require({x for row in second.W for x in row} == {0}, "Case 2 for i2 = b2 with j = b1: W = 0")
    points = transformer([second], points)
    require(
        min(points) < c < max(points),
        "the last index c is not extreme: the third block cannot be built",
    )
    mended = move(token(-1, 0), Fraction(-3, 2), b_2, token(1, 0))
    require(
        transformer([mended], points) == [i0, token(1, 0), token(1, 0), c],
        "Case 1 instead parks both and makes c extreme",
    )
    return (
        "On the line: i0 at 0, b1 = -3 and b2 = -2 with one label, c = -1 with another. "
        "Block 1 maps b1 onto b2, block 2 'maps' b2 onto b1 with W = 0, and c = -1 lies "
        "between -2 and 0: no hyperplane exists for it."
    )
