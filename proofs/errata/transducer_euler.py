"""The stated time stepping is unstable for typical coefficients."""

from fractions import Fraction

from proofs.checking import require
from proofs.sources import TRANSDUCER

SOURCE = TRANSDUCER
PLACE = "S.10.1, (31) and the paragraph after it"
KIND = "Gap"
FAILS = (
    "the choice of the step, where |u| is near 1 (for central differences; the text names no "
    "scheme in space)"
)
PRINTED = (
    (
        735,
        "We use an explicit forward Euler method with step-size 1e~2, storing all "
        "intermediate solutions on a spatial mesh of 100 equally spaced points.",
    ),
    (
        746,
        "as well as a boundary mask function m : [0, 1] — [0, 1], m(x) = 1 — (2o — "
        "1)19 (to comply with Dirichlet boundary condition and preserve numerical "
        "computation stability)",
    ),
)
CLAIM = (
    "The diffusion delta(x) = 0.01 u(x)^2 m(x), u a Gaussian field of variance 1, is "
    "integrated by explicit Euler with step 1e-2 on 100 equally spaced points; m preserves "
    "stability."
)
MENDED = (
    "Explicit Euler needs a step of at most dx^2/(2 max delta), about 5e-3 where u is 1; "
    "sub-steps or an implicit step are needed."
)


def amplification(exponent: int) -> Fraction:
    """Rayleigh quotient of one step (conservative differences, nu = k = 0, u = 1) at an
    alternating grid vector.
    """
    n, dt = 100, Fraction(1, 100)
    dx = Fraction(1, n - 1)

    def delta(x: Fraction) -> Fraction:
        return Fraction(1, 100) * (1 - (2 * x - 1) ** exponent)

    w = [(-1) ** i if 25 <= i < 75 else 0 for i in range(n)]
    energy = (
        sum(delta((i + Fraction(1, 2)) * dx) * (w[i + 1] - w[i]) ** 2 for i in range(n - 1)) / dx**2
    )
    return 1 - dt * energy / sum(x * x for x in w)


def witness() -> str:
    """Show that one step, a symmetric matrix, has an eigenvalue below -2.8, for both readings
    of m.
    """
    for exponent in (10, 19):
        quotient = amplification(exponent)
        require(
            quotient < Fraction(-28, 10), "the least eigenvalue is at most the Rayleigh quotient"
        )
    require(
        Fraction(28, 10) ** 100 > 10**44, "a hundred steps amplify this mode by more than 10^44"
    )
    ratio = Fraction(1, 100) * Fraction(1, 100) * 99**2
    require(ratio > Fraction(1, 2), "delta dt/dx^2 = 0.98 exceeds the stability limit 1/2")
    return (
        f"u = 1: delta dt/dx^2 = {float(ratio):.4f} > 1/2; one step has an eigenvalue below "
        "-2.8 (Rayleigh quotient at an alternating vector, exponents 10 and 19 of m), so 100 "
        "steps amplify it by more than 10^44."
    )
