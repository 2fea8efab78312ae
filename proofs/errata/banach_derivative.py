"""A partial derivative at a point is a continuous functional on some function spaces only."""

from fractions import Fraction

from proofs.checking import require
from proofs.sources import BANACH

SOURCE = BANACH
PLACE = "Section 2.2"
KIND = "Remark"
FAILS = "a hypothesis that the example leaves out"
PRINTED = (
    (
        56,
        r"A specific example of an element (operator) in the dual space \mathcal{B}^* "
        r"is the partial derivative operator evaluated at a point $x \in \mathbb{R}^d$, "
        r"denoted by $\nu_x^j := \frac{\partial}{\partial x_i} \Big|_x$.",
    ),
)
CLAIM = (
    "A specific example of an element of B* is the partial derivative at a point, nu_x = "
    "d/dx_j at x."
)
MENDED = (
    "It is in B* only if B consists of differentiable functions with |f'(x)| <= C |f|_B, "
    "for instance B = C^1; not for C[0, 1]."
)


def witness() -> str:
    """Give functions of sup norm at most 1 on [0, 1] whose derivatives at 0 are unbounded."""
    for n in (1, 10, 10**6, 10**30):

        def f(x: Fraction, n: int = n) -> Fraction:
            return Fraction(n) * x / (1 + n * x)

        # 1 - f = 1/(1 + n x) is in (0, 1], so 0 <= f < 1; f'(0) = n because f(x)/x = n/(1 + n x)
        # tends to n.
        require(
            all(
                1 - f(Fraction(i, 50)) == Fraction(1) / (1 + n * Fraction(i, 50)) for i in range(51)
            ),
            "1 - f = 1/(1 + n x)",
        )
        x = Fraction(1, n * n)
        require(
            n - f(x) / x == n * n * x / (1 + n * x),
            "n - f(x)/x = n^2 x/(1 + n x), which tends to 0 with x",
        )
    return (
        "C[0,1] with the sup norm is an RBS (|f(x)| <= |f|); f_n(x) = n x/(1 + n x) has norm "
        "below 1 and f_n'(0) = n."
    )
