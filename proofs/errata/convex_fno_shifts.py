"""A two-dimensional Fourier operator mixes by two-dimensional shifts."""

from fractions import Fraction

from proofs.checking import rank, require
from proofs.sources import CONVEX

SOURCE = CONVEX
PLACE = "Lemma 4.3 and (85): circ(X)"
KIND = "Refuted"
FAILS = "the statement, for the two-dimensional transform that the text defines"
PRINTED = (
    (
        253,
        r"Let us define the Fourier transform $\mathbf{F} := \mathbf{F}_h \otimes "
        r"\mathbf{F}_w$, that is a vectorized version of $h \times w$ 2D Fourier "
        "transform.",
    ),
    (
        267,
        r"where $\operatorname{circ}(\mathbf{X}_i) \in \mathbb{R}^{s \times sd}$ "
        r"denotes a matrix composed of all s circulant shifts of \mathbf{X}_i along its "
        "first dimension.",
    ),
)
CLAIM = (
    "With F = F_h kron F_w, circ(X_i) consists of all s circulant shifts of X_i along its "
    "first dimension."
)
MENDED = (
    "It consists of the s = h w two-dimensional shifts (block-circulant with circulant "
    "blocks). The printed form is right only for h = 1 or w = 1."
)


def operator(x: list[int], kernel_spectrum: list[int]) -> list[Fraction]:
    """F^{-1} (V * F x) for h = w = 2, where F_2 kron F_2 is the real Hadamard matrix with
    inverse itself over 4.
    """
    H = [[(-1) ** (bin(i & j).count("1")) for j in range(4)] for i in range(4)]
    spectrum = [v * sum(H[i][j] * x[j] for j in range(4)) for i, v in enumerate(kernel_spectrum)]
    return [Fraction(sum(H[i][j] * spectrum[j] for j in range(4)), 4) for i in range(4)]


def witness() -> str:
    """Compare the span of (22) with the span of the one-dimensional shifts for X = (1, 1, 0,
    0), h = w = 2, d = 1.
    """
    x = [1, 1, 0, 0]
    reach = [operator(x, [int(i == j) for j in range(4)]) for i in range(4)]
    one_d = [[x[(i - k) % 4] for i in range(4)] for k in range(4)]
    two_d = [
        [x[((i // 2 - p) % 2) * 2 + (i % 2 - q) % 2] for i in range(4)]
        for p in range(2)
        for q in range(2)
    ]
    require(
        rank(reach) == 2 and rank(two_d) == 2 and rank([*reach, *two_d]) == 2,
        "(22) spans exactly the two-dimensional shifts",
    )
    require(
        rank(one_d) == 3 and rank([*reach, [0, 1, 1, 0]]) == 3,
        "the one-dimensional shift (0,1,1,0) is out of reach of (22)",
    )
    return (
        "h = w = 2, d = 1, X = (1,1,0,0): the predictions of (22) span the plane of the 2-D "
        "shifts (1,1,0,0), (0,0,1,1); the printed circ(X) has rank 3 and contains (0,1,1,0)."
    )
