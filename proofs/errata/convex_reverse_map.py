"""The printed map from heads to Z transposes the second factor, and is not one to one."""

from itertools import product

from proofs.checking import require
from proofs.sources import CONVEX

SOURCE = CONVEX
PLACE = "Appendix A.2, last display, and footnote 4"
KIND = "Refuted"
FAILS = 'the formula (a transpose), and "one-to-one"'
PRINTED = (
    (
        587,
        "Lastly, we also demonstrate that there is a one-to-one mapping between the "
        "solution to (13) and (12).",
    ),
    (
        611,
        r"\mathbf{Z}^* = \sum_{j=1}^m \operatorname{vec}(\mathbf{W}_{1j}^*) "
        r"\operatorname{vec}(\mathbf{W}_{2j}^*)^\top",
    ),
)
CLAIM = (
    "Z* = sum_j vec(W_1j) vec(W_2j)^T maps solutions of (12) to solutions of (13); there is "
    "a one-to-one mapping between the solutions."
)
MENDED = (
    "With column-major vec it must be vec(W_1j) vec(W_2j^T)^T. The maps preserve values "
    "both ways but are not one to one: (W_1j, W_2j) and (-W_1j, -W_2j) give the same Z."
)

D = C = 2


def vec(M: list[list[int]]) -> list[int]:
    """Stack the columns, as in vec(ABC) = (C^T kron A) vec(B)."""
    return [M[i][j] for j in range(len(M[0])) for i in range(len(M))]


def transpose(M: list[list[int]]) -> list[list[int]]:
    """Transpose a list of rows."""
    return [list(row) for row in zip(*M, strict=True)]


def predict(u: list[int], v: list[int]) -> list[list[int]]:
    """Prediction of (13) for X = I, G = I: sum_k Z^(k,k), Z^(k,l)[a,p] = u[k d + a] v[l c + p]."""
    result = [[0] * C for _ in range(D)]
    for k, a, p in product(range(D), range(D), range(C)):
        result[a][p] += u[k * D + a] * v[k * C + p]
    return result


def witness() -> str:
    """Compare both maps on X = I, W_1 = I, W_2 = e1 e2^T, where the head predicts W_1 W_2 = W_2."""
    W1, W2 = [[1, 0], [0, 1]], [[0, 1], [0, 0]]
    require(
        predict(vec(W1), vec(W2)) == transpose(W2) and transpose(W2) != W2,
        "the printed map predicts W_2^T",
    )
    require(predict(vec(W1), vec(transpose(W2))) == W2, "the mended map predicts W_2")

    def lift(A: list[list[int]], B: list[list[int]]) -> list[list[int]]:
        return [[x * y for y in vec(transpose(B))] for x in vec(A)]

    def negative(M: list[list[int]]) -> list[list[int]]:
        return [[-x for x in row] for row in M]

    require(lift(W1, W2) == lift(negative(W1), negative(W2)), "two different heads have the same Z")
    return (
        "X = I_2, W_1 = I_2, W_2 = e1 e2^T: the network predicts W_2, the printed Z predicts "
        "W_2^T. The heads (W_1, W_2) and (-W_1, -W_2) have the same Z."
    )
