"""The Mixer program (18) is equivalent to (17) if vec stacks rows, not if it is the vec of the
appendix."""

from fractions import Fraction

from proofs.checking import rank, require
from proofs.sources import CONVEX

SOURCE = CONVEX
PLACE = "Theorem 4.1, (18)"
KIND = "Gap"
FAILS = "the meaning of vec: with the vec of the appendix (18) is another program"
PRINTED = (
    (202, r"f_p(\mathbf{X}_i) := \mathbf{Z}^{(p)} \mathbf{vec}(\mathbf{X}_i)$$"),
    (
        540,
        r"Due to the identity $\mathbf{vec}(\mathbf{ABC}) = (\mathbf{C}^{\top} \otimes "
        r"\mathbf{A})\mathbf{vec}(\mathbf{B})$",
    ),
)
CLAIM = (
    "With f_p(X) = Z^(p) vec(X) and the stated arrangement of the blocks Z^(p,t) in Z, the "
    "value of (18) is that of (17)."
)
MENDED = (
    "True if vec(X) stacks the rows of X (token by token), as (19) does; false if it "
    "stacks the columns, as in the identity vec(ABC) = (C^T kron A) vec(B) of the "
    "appendix."
)


def blocks(order: str) -> list[list[int]]:
    """Arrange the map X -> W_1 X W_2, W_1 = I_2, W_2 = e1 (s = d = 2, c = 1), as the 4 x 2
    matrix Z of (18).
    """
    W1, W2 = [[1, 0], [0, 1]], [1, 0]
    places = (
        [(t, k) for t in range(2) for k in range(2)]
        if order == "rows"
        else [(t, k) for k in range(2) for t in range(2)]
    )
    Zp = [[W1[o][t] * W2[k] for t, k in places] for o in range(2)]
    return [[Zp[o][2 * block + i] for i in range(2)] for block in range(2) for o in range(2)]


def witness() -> str:
    """Compare the values for the four samples X_i = e_t e_k^T, which determine Z, and targets
    X_i e1.
    """
    by_rows, by_columns = blocks("rows"), blocks("columns")
    require(
        rank(by_rows) == 1 and rank(by_columns) == 2,
        "one head is rank one by rows, rank two by columns",
    )
    gram = [[sum(row[i] * row[j] for row in by_columns) for j in range(2)] for i in range(2)]
    require(gram == [[1, 0], [0, 1]], "by columns the singular values are 1, 1")
    require(sum(x * x for row in by_rows for x in row) == 2, "by rows the singular value is sqrt 2")
    # The samples make the fit |Z - Z_0|^2/2, so the minimum is sum over singular values s of beta
    # s - beta^2/2 (soft threshold).
    beta, root2_upper = Fraction(1, 10), Fraction(99, 70)
    require(root2_upper**2 > 2, "sqrt 2 < 99/70")
    network = beta * root2_upper - beta**2 / 2  # one head, scaled: an upper bound for (17)
    program = 2 * (beta - beta**2 / 2)
    require(network < program, "(17) is smaller than (18) with columns stacked")
    return (
        "s = d = 2, c = 1, X_i the four unit matrices, Y_i = X_i e1, beta = 1/10: (17) is at "
        f"most {network}, (18) with columns stacked is {program}. The head W_1 = I, W_2 = e1 "
        "becomes a matrix of rank 2."
    )
