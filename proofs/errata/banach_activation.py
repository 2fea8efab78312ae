"""Inequality (18) needs an activation with |sigma(z)| <= |z|."""

from fractions import Fraction

from proofs.checking import require
from proofs.sources import BANACH

SOURCE = BANACH
PLACE = "B.3, (18) and (23)-(24)"
KIND = "Gap"
FAILS = "a hypothesis is missing: |sigma(z)| <= |z|"
PRINTED = (
    (
        450,
        r"For the FFN component, which takes the form $FFN(z) = W_2\sigma(W_1z)$, we "
        "can apply the submultiplicative property of the norm:",
    ),
    (
        452,
        r"\|\text{FFN}(\text{LN}(\tilde{f}_{\tau}^*))\|_{\ell^2} \le \|W_2\| \cdot "
        r"\|W_1\| \cdot \|\text{LN}(\tilde{f}_{\tau}^*)\|_{\ell^2}",
    ),
)
CLAIM = (
    "For FFN(z) = W_2 sigma(W_1 z) the submultiplicative property gives |FFN(LN(f))| <= "
    "|W_2||W_1||LN(f)|."
)
MENDED = (
    "True if |sigma(z)| <= |z| for all z (ReLU, GELU, SiLU, tanh) and there are no biases; "
    "false for the sigmoid, where |sigma(0)| sqrt(h) |W_2| must be added."
)


def witness() -> str:
    """Take the sigmoid, sigma(0) = 1/2, and W_1 = 0."""
    f, W2 = (Fraction(1), Fraction(-1)), Fraction(100)
    ffn = (W2 / 2, -W2 / 2)  # W_2 = 100 diag(1, -1), W_1 = 0
    left = sum((a + b) ** 2 for a, b in zip(f, ffn, strict=True))
    right = sum(a * a for a in f)  # the factor is 1 + 0
    require(
        sum(x * x for x in ffn) > 0 and left == 5202 and right == 2,
        "the left side of (18) is positive, the right side 0",
    )
    return (
        "f = (1,-1), W_1 = 0, W_2 = 100 diag(1,-1), sigmoid: |FFN(LN(f))|^2 = 5000 against 0 "
        "in (18), and |f + FFN|^2 = 5202 against 2 in (24)."
    )
