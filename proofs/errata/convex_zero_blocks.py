"""Uncorrelated features do not force the corresponding blocks of an optimal Z to vanish."""

from fractions import Fraction

import sympy

from proofs.checking import require, require_equal
from proofs.sources import CONVEX

SOURCE = CONVEX
PLACE = "Section 3, after Corollary 3.2"
KIND = "Refuted"
FAILS = 'the statement: "will be" should be "may be"'
PRINTED = (
    (
        157,
        r"In particular, the blocks of \mathbf{Z} corresponding to values of 0 in the "
        r"Gram matrix \mathbf{G}_i will be set to 0, eliminating interactions between "
        "uncorrelated features.",
    ),
)
CLAIM = "The blocks of Z corresponding to values of 0 in the Gram matrix G_i will be set to 0."
MENDED = (
    "The optimal value may be sought among block-diagonal Z (the corollary), but other "
    "minimisers with non-zero off-diagonal blocks can have the same value. Hence heads can "
    "be shared between blocks: max_b rank Z^(b) of them suffice."
)


def witness() -> str:
    """Give an optimal Z of (13) with non-zero blocks at zero Gram entries, and certify its
    optimality.
    """
    # n = 1, X = I_2, c = 1: G = I, prediction Z^(1,1) + Z^(2,2) in R^2. Z is 4 x 2, row (k, a),
    # column l.
    beta, y, x = Fraction(1, 10), (Fraction(1), Fraction(0)), (Fraction(3, 5), Fraction(4, 5))
    p = tuple((1 - beta) * t for t in y)
    Z = {(k, a, l): x[k] * x[l] * p[a] for k in range(2) for a in range(2) for l in range(2)}
    prediction = tuple(sum(Z[k, a, k] for k in range(2)) for a in range(2))
    require(prediction == p, "the diagonal blocks add up to p = (1 - beta) y")
    require(Z[0, 0, 1] == Fraction(12, 25) * Fraction(9, 10), "the block at G[1,2] = 0 is not zero")
    # Z = (x kron p) x^T has rank one and Frobenius norm |x|^2 |p| = 9/10 = its nuclear norm.
    squares = sum(v * v for v in Z.values())
    require(
        squares == Fraction(81, 100)
        and all(
            Z[k, a, 0] * Z[j, c, 1] == Z[k, a, 1] * Z[j, c, 0]
            for k in range(2)
            for a in range(2)
            for j in range(2)
            for c in range(2)
        ),
        "rank one, |Z|_* = 9/10",
    )
    value = sum((s - t) ** 2 for s, t in zip(prediction, y, strict=True)) / 2 + beta * Fraction(
        9, 10
    )
    # Lower bound: M^(k,l) = delta_kl y has orthonormal columns, so |Z|_* >= <Z, M> = <y,
    # prediction> for every Z; minimise over q = prediction:
    q1, q2, t = sympy.symbols("q1 q2 t", real=True)
    require_equal(
        ((q1 - 1) ** 2 + q2**2) / 2 + t * q1,
        ((q1 - (1 - t)) ** 2 + q2**2) / 2 + t - t**2 / 2,
        "the bound for Y = e1, t = beta",
    )
    require(
        value == beta - beta**2 / 2,
        "the value equals the lower bound beta - beta^2/2, so Z is optimal",
    )
    return (
        "X = I, c = 1, Y = e1, beta = 1/10: Z^(k,l) = x_k x_l (9/10) e1 with x = (3/5, 4/5) "
        "is optimal (value 19/200, matched by a dual bound) and Z^(1,2) = (54/125) e1 is not "
        "0 although G[1,2] = 0."
    )
