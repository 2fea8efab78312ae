"""Under average pooling the linear Fourier head, the linear MLP and the linear model are one
function class."""

import sympy

from proofs.checking import require, require_equal
from proofs.sources import CONVEX

SOURCE = CONVEX
PLACE = "Sections 2 and 5: global average pooling absorbed in the loss"
KIND = "Remark"
FAILS = "nothing: the sentence is a suggestion. For the linear FNO head it has another explanation"
PRINTED = (
    (
        349,
        "This suggests that the higher-order information and additional degrees of "
        "freedom of the attention architectures provide advantages for difficult",
    ),
)
CLAIM = (
    "That the attention variants have higher accuracy in Table 1 suggests that their "
    "higher-order information and additional degrees of freedom help."
)
MENDED = (
    "With global average pooling, circ(X) Z has the mean x^T sum_t Z_t, x the mean token:"
    " the linear FNO predicts with the same functions as the linear model on mean tokens."
    " For this pair a difference is one of regularisation or optimisation; about the "
    "other heads this says nothing."
)


def witness() -> str:
    """Average circ(X) Z over the tokens for general X and Z, s = 3, d = 2, c = 1."""
    s, d = 3, 2
    X = sympy.Matrix(s, d, sympy.symbols("x1:7"))
    Z = sympy.Matrix(s * d, 1, sympy.symbols("z1:7"))
    circ = sympy.Matrix.hstack(
        *(sympy.Matrix(s, d, lambda i, k, t=t: X[(i + t) % s, k]) for t in range(s))
    )
    pooled = sympy.ones(1, s) * circ * Z / s
    mean_token, summed = (
        sympy.ones(1, s) * X / s,
        sum((Z[d * t : d * t + d, :] for t in range(s)), sympy.zeros(d, 1)),
    )
    require_equal(
        sympy.expand(pooled[0]),
        sympy.expand((mean_token * summed)[0]),
        "(1/s) 1^T circ(X) Z = x^T sum_t Z_t",
    )
    require(s * d == 6 and d == 2, "six parameters, two of which count")
    return (
        "s = 3, d = 2, c = 1, general X and Z: (1/s) 1^T circ(X) Z = x^T (Z_1 + Z_2 + Z_3), "
        "a linear function of the mean token x; six parameters act as two."
    )
