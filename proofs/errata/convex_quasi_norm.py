"""A stray square in the penalty of the constrained nuclear norm."""

from fractions import Fraction

from proofs.checking import require
from proofs.sources import CONVEX

SOURCE = CONVEX
PLACE = "Section 2.1, after (4)"
KIND = "Remark"
FAILS = "the formula: the square (a slip)"
PRINTED = (
    (
        80,
        "In convex ReLU neural networks, K is chosen to enforce the existence of "
        r"$\{\mathbf{u}_k, \mathbf{v}_k\}$ such that $\mathbf{Z} = \sum_k \mathbf{u}_k "
        r"\mathbf{v}_k^{\mathsf{T}}$ and $\mathbf{D}_j \mathbf{X} \mathbf{Z} = \sum_k "
        r"(\mathbf{X} \mathbf{u}_k)_+ \mathbf{v}_k^{\mathsf{T}}$, and penalizes $\sum_k "
        r"\|\mathbf{u}_k\|_2 \|\mathbf{v}_k\|_2^2$.",
    ),
)
CLAIM = (
    "K is chosen to enforce the existence of u_k, v_k with Z = sum_k u_k v_k^T, and the "
    "norm penalises sum_k |u_k|_2 |v_k|_2^2."
)
MENDED = "It penalises sum_k |u_k|_2 |v_k|_2."


def witness() -> str:
    """Rescale one factorisation: the product stays, the printed penalty tends to 0."""
    for k in range(1, 30):
        u, v = Fraction(2) ** k, Fraction(1, 2**k)
        require(u * v == 1 and u * v**2 == Fraction(1, 2**k), "Z = 1 with penalty 2^-k")
    return (
        "Z = (1): the factorisations u = 2^k, v = 2^-k have the printed penalty 2^-k, so its "
        "infimum is 0 for every Z."
    )
