"""The parameter count of the linear self-attention head is not that of the program it is said
to solve.
"""

from proofs.checking import require
from proofs.sources import CONVEX

SOURCE = CONVEX
PLACE = "Table 2 against Theorem 3.1, (13)"
KIND = "Remark"
FAILS = "nothing in the table; the number is not the size of Z in Theorem 3.1"
PRINTED = (
    (1120, "SELF-ATTENTION MLP-MIXER B-FNO FNO MLP LINEAR LINEAR 50.5M"),
    (1123, "Table 2. Parameter count for convex heads used for the experiments in Table 1."),
)
CLAIM = "The linear self-attention head has 50.5M parameters at d = c = 100."
MENDED = (
    "Z in R^{d^2 x dc} has 100M entries. 50.5M is (d(d+1)/2) dc, the number that is left if "
    "Z^(k,l) and Z^(l,k) are added up; this keeps the fit but changes the nuclear norm."
)


def witness() -> str:
    """Count the entries of Z, and those of the folded blocks."""
    d = c = 100
    require(d**2 * d * c == 100_000_000, "entries of Z in (13)")
    require(d * (d + 1) // 2 * d * c == 50_500_000, "entries after folding the symmetric blocks")
    # A pattern of scalar blocks: antisymmetric, so both singular values are 1, while folding
    # cancels it.
    Z = [[0, 1], [-1, 0]]
    folded = [[Z[0][0], Z[0][1] + Z[1][0]], [0, Z[1][1]]]
    require(folded == [[0, 0], [0, 0]], "an antisymmetric Z of nuclear norm 2 folds to 0")
    return (
        "d = c = 100: d^2 * dc = 100 000 000, while 50 500 000 = (d(d+1)/2) * dc; an "
        "antisymmetric pattern of blocks has positive nuclear norm but folds to 0."
    )
