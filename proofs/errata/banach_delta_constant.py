"""The operator L turns the Gaussian into a multiple of a delta: a constant is missing."""

import sympy

from proofs.checking import require, require_equal
from proofs.sources import BANACH

SOURCE = BANACH
PLACE = "B.2, proof of Theorem 3.3, before 'Now define the dual space operator'"
KIND = "Refuted"
FAILS = "the constant"
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
    "The product is (2 pi sigma^2)^{d/2} at every frequency, so L phi_1 is (2 pi "
    "sigma^2)^{d/2} delta, as a limit of distributions."
)


def witness() -> str:
    """Compute the Fourier product for d = 1, sigma = 1."""
    x, w = sympy.symbols("x w", real=True)
    n = sympy.Symbol("n", integer=True, nonnegative=True)
    gaussian = sympy.integrate(
        sympy.exp(-(x**2) / 2) * sympy.exp(-sympy.I * w * x), (x, -sympy.oo, sympy.oo)
    )
    symbol = sympy.summation((w**2 / 2) ** n / sympy.factorial(n), (n, 0, sympy.oo))
    constant = sympy.sqrt(2 * sympy.pi)
    require_equal(sympy.simplify(gaussian * symbol), constant, "the product")
    require(constant > 2, "sqrt(2 pi) is not 1")
    return (
        "d = 1, sigma = 1: the Fourier transforms of the Gaussian and of L have the product "
        "sqrt(2 pi) = 2.5066..., where delta has 1."
    )
