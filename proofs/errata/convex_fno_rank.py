"""Merging the two weight matrices of the Fourier operator changes what it can express."""

import sympy

from proofs.checking import require, require_equal
from proofs.sources import CONVEX

SOURCE = CONVEX
PLACE = "Lemma 4.3, (22) and (23)"
KIND = "Refuted"
FAILS = (
    'the statement, if "equivalently" means the same functions: (23) has more of them. Every (22) '
    "is a (23)"
)
PRINTED = (
    (
        262,
        r"Lemma 4.3. For weights $\mathbf{W}_1 \in \mathbb{R}^{sd \times m}$, "
        r"$\mathbf{W}_2 \in \mathbb{R}^{m \times c}$, the FNO block (22) can be "
        "equivalently represented as",
    ),
)
CLAIM = "The FNO block (22) can be equivalently represented as (23) with weights W_1 in R^{sd x m}."
MENDED = (
    "(22) gives weights of the form L W_1 with L in R^{sd x d}, of rank at most d; (23) "
    "allows every W_1 in R^{sd x m}. The lemma holds as an inclusion; the classes are "
    "equal for m <= d, or if (23) is taken as the definition."
)


def witness() -> str:
    """Fit Y = I_3 with (23) for s = 3, d = 1, c = 3 and show that every (22) has rank at most 2."""
    # X = e1, so circ(X) = I_3 (the circular convolution with a delta is the identity). (23) with
    # w_1j = w_2j = e_j is relu(I) I = I.
    identity = sympy.eye(3)
    heads = [identity[:, j] * identity[:, j].T for j in range(3)]
    require(sum(heads, sympy.zeros(3)) == identity, "(23) with three heads predicts I_3")
    # (22) with d = 1: the inner factor is a vector g in R^3 (the kernel itself), times a row W_1
    # in R^{1 x m}; relu(g w) = relu(g) relu(w) + relu(-g) relu(-w).
    g, w = sympy.symbols("g w", real=True)
    for gs in (1, -1):
        for ws in (1, -1):
            p, q = sympy.symbols("p q", positive=True)
            both = [max_zero(e.subs({g: gs * p, w: ws * q})) for e in (g * w, g, w, -g, -w)]
            require_equal(
                both[0],
                both[1] * both[2] + both[3] * both[4],
                "relu(g w) = relu(g) relu(w) + relu(-g) relu(-w)",
            )
    a, b = sympy.Matrix(3, 1, sympy.symbols("a1:4")), sympy.Matrix(3, 1, sympy.symbols("b1:4"))
    c, d = sympy.Matrix(1, 3, sympy.symbols("c1:4")), sympy.Matrix(1, 3, sympy.symbols("d1:4"))
    require_equal(
        (a * c + b * d).det(), sympy.Integer(0), "so every prediction of (22) has determinant 0"
    )
    require(identity.det() == 1, "the target has determinant 1")
    return (
        "s = 3, d = 1, c = 3, X = e1 (circ(X) = I_3), Y = I_3: (23) with three heads "
        "predicts Y, every prediction of (22) is relu(g) a^T + relu(-g) b^T with determinant "
        "0."
    )


def max_zero(e: sympy.Expr) -> sympy.Expr:
    """Evaluate relu for a monomial of known sign."""
    return e if e.is_positive else sympy.Integer(0)
