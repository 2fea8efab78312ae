"""The iterated Laplacian is not the Laplacian."""

import sympy

from proofs.checking import require_equal
from proofs.sources import BANACH

SOURCE = BANACH
PLACE = "B.2, 'where nabla^{2n} is the iterated Laplacian'"
KIND = "Remark"
FAILS = "the formula: the right side is the case n = 1 (a slip)"
PRINTED = (
    (
        400,
        r"where ∇^{2n} is the iterated Laplacian operator given by $$\nabla^{2n} = "
        r"\frac{\partial^2}{\partial x_1^2} + \frac{\partial^2}{\partial x_2^2} + \dots "
        r"+ \frac{\partial^2}{\partial x_d^2}$$",
    ),
)
CLAIM = "nabla^{2n} = d^2/dx_1^2 + ... + d^2/dx_d^2, for the n-th term of L."
MENDED = "The right side is the case n = 1; nabla^{2n} is its n-th power."


def witness() -> str:
    """Apply both to x^4 for d = 1, n = 2."""
    x = sympy.Symbol("x")
    require_equal(sympy.diff(x**4, x, 4), sympy.Integer(24), "the square of the Laplacian")
    require_equal(sympy.diff(x**4, x, 2), 12 * x**2, "the printed right side")
    return "d = 1, n = 2, f = x^4: the iterated Laplacian gives 24, the printed sum gives 12 x^2."
