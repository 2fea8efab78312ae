"""Merging queries with keys drops the limit on the rank and changes the penalty."""

import sympy

from proofs.checking import require, require_equal
from proofs.sources import CONVEX

SOURCE = CONVEX
PLACE = "Section 3, (10)-(12)"
KIND = "Remark"
FAILS = "nothing as a model; the text does not say that the penalty changes"
PRINTED = (
    (
        120,
        r"For the purpose of our analysis, noting that both $\mathbf{Q}_j "
        r"\mathbf{K}_j^{\top}$ and $\mathbf{V}_j \mathbf{W}_j$ can be expressed by a "
        "single linear layer, we model the multi-head self-attention network as",
    ),
)
CLAIM = (
    "Multi-head self-attention is modelled with one matrix W_1j in place of Q_j K_j^T and"
    " one in place of V_j W_j."
)
MENDED = (
    "The two models have the same functions if the head dimension is at least d. Weight "
    "decay on Q and K is the nuclear norm of Q K^T, not half its squared Frobenius norm, "
    "so (12) is another training problem than weight decay on the factors."
)


def witness() -> str:
    """Take W_1 = I_2: no head of dimension 1 expresses it, and its penalty is 2 for the
    factors, 1 for the product.
    """
    q, k = sympy.Matrix(2, 1, sympy.symbols("q1 q2")), sympy.Matrix(2, 1, sympy.symbols("k1 k2"))
    require_equal((q * k.T).det(), sympy.Integer(0), "q k^T is singular, I_2 is not")
    Q, K = (
        sympy.Matrix(2, 2, sympy.symbols("a1:5", real=True)),
        sympy.Matrix(2, 2, sympy.symbols("b1:5", real=True)),
    )
    half = (sum(x**2 for x in Q) + sum(x**2 for x in K)) / 2
    require_equal(
        sympy.expand(half - (Q * K.T).trace()),
        sympy.expand(sum((x - y) ** 2 for x, y in zip(Q, K, strict=True)) / 2),
        "(|Q|^2 + |K|^2)/2 >= tr Q K^T",
    )
    require(sympy.eye(2).trace() == 2, "so the factors of I_2 cost at least 2")
    require(sum(x**2 for x in sympy.eye(2)) / 2 == 1, "(12) charges 1")
    return (
        "W_1 = I_2: rank 2, so no Q, K with one column; over all factorisations the least "
        "(|Q|^2 + |K|^2)/2 is tr I_2 = 2, while (12) charges |I_2|^2/2 = 1."
    )
