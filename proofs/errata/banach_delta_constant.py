"""The operator L does not turn the Gaussian into a delta: a constant is missing, and the series
diverges.
"""

from fractions import Fraction
from math import comb, factorial

from flint import arb

from proofs.checking import require
from proofs.sources import BANACH

SOURCE = BANACH
PLACE = "B.2, proof of Theorem 3.3, before 'Now define the dual space operator'"
KIND = "Refuted"
FAILS = "the constant, and the convergence of the series"
PRINTED = (
    (406, "Then, under appropriate conditions, we have (Poggio & Girosi, 1990)"),
    (
        408,
        r"\langle \phi_1(\mathbf{x}_j), \mathbf{L} \rangle_{\mathcal{H}_1 \times "
        r"\mathcal{H}_2} = \delta_{\mathbf{x}_i}",
    ),
)
CLAIM = (
    "<phi_1(x_j), L> = delta_{x_j} for L = sum_n (-1)^n alpha_n Laplace^n, alpha_n = "
    "sigma^{2n}/(n! 2^n), and the Gaussian phi_1."
)
MENDED = (
    "The Fourier product is (2 pi sigma^2)^{d/2} at every frequency, so L phi_1 is (2 pi "
    "sigma^2)^{d/2} delta as a limit of distributions; the partial sums diverge at the "
    "centre."
)


def witness() -> str:
    """Compute the Fourier product for d = 1, sigma = 1 and the partial sums at the centre."""
    constant = (2 * arb.pi()).sqrt()
    for w in (arb(0), arb(1), arb(5)):
        gaussian, symbol = constant * (-w * w / 2).exp(), (w * w / 2).exp()
        require(abs(gaussian * symbol - constant) < arb(10) ** -9, "the product is sqrt(2 pi)")
    require(constant > 2, "sqrt(2 pi) is not 1")
    # phi^(2n)(0) = (-1)^n (2n)!/(n! 2^n), so the n-th term of (L phi)(0) is binom(2n, n)/4^n, of
    # the order n^{-1/2}.
    terms = [
        Fraction(factorial(2 * n), factorial(n) * 2**n) * Fraction(1, factorial(n) * 2**n)
        for n in range(81)
    ]
    require(
        all(t == Fraction(comb(2 * n, n), 4**n) for n, t in enumerate(terms)),
        "the terms are binom(2n, n)/4^n",
    )
    require(
        all(sum(terms[:n]) == 2 * n * terms[n] for n in range(1, 81)),
        "partial sums: 2 n binom(2n, n)/4^n",
    )
    require(
        all(t * t >= Fraction(1, 4 * n) for n, t in enumerate(terms) if n),
        "binom(2n, n)/4^n >= 1/(2 sqrt n), so the sums exceed sqrt n",
    )
    return (
        "d = 1, sigma = 1: the Fourier product is sqrt(2 pi) = 2.5066..., not 1; (L phi)(0) "
        "has the terms binom(2n,n)/4^n and partial sums 2n binom(2n,n)/4^n, which exceed "
        "sqrt n."
    )
