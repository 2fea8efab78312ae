"""L is not the square of the single operator D."""

from fractions import Fraction

from proofs.checking import require
from proofs.sources import BANACH

SOURCE = BANACH
PLACE = "B.2, L = D~ D"
KIND = "Gap"
FAILS = "a step of the proof, with the sums over n that (the second form of) D~ has"
PRINTED = (
    (
        392,
        r"\mathbf{L} = \tilde{\mathbf{D}}\mathbf{D} = \sum_{n=0}^{\infty} (-1)^n "
        r"\alpha_n \nabla^{2n}, \qquad \alpha_n = \frac{\sigma_i^{2n}}{n!2^n}$$",
    ),
    (
        404,
        r"The self-adjoint operator \mathbf{L} is then constructed as the composition "
        r"$\tilde{\mathbf{D}}\mathbf{D}$, resulting in an infinite series of even-order "
        "Laplacian-type operators weighted by α_n .",
    ),
)
CLAIM = (
    "L = D~ D = sum_n (-1)^n alpha_n Laplace^n with D = sum alpha_n^{1/2} d^n and D~ = "
    "sum (-1)^n alpha_n^{1/2} d^n."
)
MENDED = (
    "L is the sum of the squares of the single terms of D, not the square of their sum; "
    "the cross terms do not cancel."
)


def witness() -> str:
    """Compare the coefficients of w^2 in |D(iw)|^2 and in the symbol of L, for d = 1, sigma = 1."""
    alpha = [Fraction(1), Fraction(1, 2), Fraction(1, 8)]
    # D(iw) = sum alpha_n^{1/2} (iw)^n, so |D(iw)|^2 = (1 - alpha_2^{1/2} w^2 + ...)^2 +
    # (alpha_1^{1/2} w - ...)^2 has w^2-coefficient alpha_1 - 2 sqrt(alpha_0 alpha_2). Equality
    # with alpha_1, the coefficient in L, would need alpha_0 alpha_2 = 0.
    require(alpha[0] * alpha[2] != 0, "the cross term 2 sqrt(alpha_0 alpha_2) is not 0")
    require(
        4 * alpha[0] * alpha[2] > alpha[1] ** 2,
        "the coefficient alpha_1 - 2 sqrt(alpha_0 alpha_2) is negative, that of L is 1/2",
    )
    return (
        "d = 1, sigma = 1: the coefficient of w^2 is 1/2 in the symbol exp(w^2/2) of L and "
        "1/2 - 2/sqrt 8 < 0 in that of D~ D."
    )
