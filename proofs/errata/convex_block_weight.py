"""The weight 1/G[k, l] of a block is not defined for several samples or a zero entry."""

from fractions import Fraction

from proofs.checking import require
from proofs.sources import CONVEX

SOURCE = CONVEX
PLACE = "Section 3, after Theorem 3.1"
KIND = "Gap"
FAILS = "a definition: the weight depends on the sample i, and where an entry is 0 there is none"
PRINTED = (
    (
        142,
        "One may also view the convex model as a set of linear models with a weighted "
        r"nuclear norm, where each block $\mathbf{Z}^{(k,\ell)}$ has a corresponding "
        r"weight of $1/\mathbf{G}_i[k,\ell]$.",
    ),
)
CLAIM = (
    "One may view the convex model as a set of linear models with a weighted nuclear norm, "
    "where each block Z^(k,l) has a corresponding weight of 1/G_i[k,l]."
)
MENDED = (
    "For one sample with no zero entry in G the blocks can be rescaled by G[k,l]; for "
    "several samples there is no common factor, and for a zero entry none at all."
)


def witness() -> str:
    """Give two samples with different Gram entries at the same block, and one with a zero entry."""

    def gram(X: list[list[int]]) -> list[list[Fraction]]:
        return [[Fraction(sum(row[k] * row[l] for row in X)) for l in range(2)] for k in range(2)]

    first, second = gram([[1, 1], [0, 1]]), gram([[1, -1], [0, 1]])
    require(
        first[0][1] == 1 and second[0][1] == -1, "the block (1,2) would have the weights 1 and -1"
    )
    require(gram([[1, 0], [0, 1]])[0][1] == 0, "for X = I the weight is 1/0")
    return (
        "X_1 = [[1,1],[0,1]], X_2 = [[1,-1],[0,1]]: the weight of block (1,2) is 1 by the "
        "first and -1 by the second sample; for X = I it is 1/0."
    )
