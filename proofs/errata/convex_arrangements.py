"""The bound on the number of hyperplane arrangements counts samples where it must count rows."""

from fractions import Fraction
from itertools import product

from flint import arb

from proofs.checking import require
from proofs.sources import CONVEX

SOURCE = CONVEX
PLACE = "Theorems 3.3, 4.2, 4.5 and 4.8"
KIND = "Refuted"
FAILS = "the constant: the rows of X must be counted, and n counts samples"
PRINTED = (
    (
        166,
        r"where $P \leq 2r \left(\frac{e(n-1)}{r}\right)^r$ and $r := "
        r"\operatorname{rank}(\mathbf{X})$.",
    ),
)
CLAIM = (
    "The number of arrangements is P <= 2r (e(n-1)/r)^r with r = rank(X) and n the number "
    "of samples."
)
MENDED = (
    "Count the rows of X, R of them: n s^2 for self-attention, n s d for the Mixer, n s for "
    "the FNO. (For the MLP of Section 2.1 samples are rows.) At most "
    "2 sum_{k<r} binom(R-1, k) patterns belong to cells with interior (Cover), for R = 1 as "
    "well, and only these are needed. The closed form is 0 for R = 1."
)


def patterns(rows: list[tuple[int, ...]]) -> int:
    """Count sign patterns 1{<row, u> >= 0} met by the integer vectors u in a box: a lower bound
    for P.
    """
    return len(
        {
            tuple(sum(a * b for a, b in zip(row, u, strict=True)) >= 0 for row in rows)
            for u in product(range(-2, 3), repeat=len(rows[0]))
        }
    )


def witness() -> str:
    """Count patterns for one sample, where the printed bound is 2r (e * 0 / r)^r = 0."""
    require(patterns([(1, 0), (0, 1)]) == 4, "FNO, X = (1,0)^T, circ(X) = I: P = 4, bound 0")
    kron = [tuple(a * b for a in x for b in y) for x, y in product([(1, 0), (0, 1)], repeat=2)]
    require(patterns(kron) == 16, "self-attention, X = I_2, X kron X = I_4: P = 16, bound 0")
    # Two samples X_1 = I, X_2 = 2 I: r = 4, the bound is 8 (e/4)^4 < 8 (11/16)^4 since e < 11/4.
    require(arb(1).exp() < arb(11) / 4, "e < 11/4")
    both = kron + [tuple(4 * x for x in row) for row in kron]
    require(
        patterns(both) == 16 and 8 * Fraction(11, 16) ** 4 < 2,
        "self-attention, n = 2: P = 16, bound below 2",
    )
    return (
        "Self-attention with the two samples X_1 = I_2, X_2 = 2I_2: the bound is below 2, "
        "while P = 16. One sample (n = 1) makes the bound 0, while P is 4 for the FNO with "
        "circ(X) = I_2 and 16 for self-attention with X = I_2."
    )
