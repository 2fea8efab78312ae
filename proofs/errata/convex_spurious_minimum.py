"""The factorised problem can have a spurious local minimum although its width exceeds the
optimal rank.
"""

import sympy

from proofs.checking import require
from proofs.sources import CONVEX

SOURCE = CONVEX
PLACE = "Appendix B, after (121)"
KIND = "Refuted"
FAILS = "the statement"
PRINTED = (
    (
        1139,
        r"One can also show that if the solution \mathbf{Z}^* to (120) has a rank less "
        "than the new latent dimension b, the problem (121) has no spurious local "
        "minima (Burer & Monteiro, 2005).",
    ),
)
CLAIM = (
    "If the solution Z* of (120) has a rank less than the latent dimension b, the problem "
    "(121) has no spurious local minima."
)
MENDED = (
    "Not so. A local minimum is global if it satisfies (122); a safe sufficient condition "
    "is b >= min(a, c) with L twice differentiable."
)

BETA, ROOT = sympy.Rational(19, 100), sympy.Rational(9, 10)


def objective(U: sympy.Matrix, V: sympy.Matrix) -> sympy.Expr:
    """(121) with a = c = 3 and the fits Z_11 + Z_33 -> 1, Z_22 + Z_33 -> 1, Z_ij -> 0 (i != j),
    squared loss.
    """
    Z = U * V.T
    fit = [
        Z[0, 0] + Z[2, 2] - 1,
        Z[1, 1] + Z[2, 2] - 1,
        *(Z[i, j] for i in range(3) for j in range(3) if i != j),
    ]
    return sum(f**2 for f in fit) / 2 + BETA / 2 * sum(x**2 for x in [*U, *V])


def witness() -> str:
    """Certify the optimum of (120) (rank 1) and a local minimum of (121) with b = 2 and a
    larger value.
    """
    # (120): Z* = z E_33, z = 1 - beta/2. Gradient of the loss: (z - 1) on Z_11, Z_22, 2 (z - 1) on
    # Z_33, 0 elsewhere.
    z = 1 - BETA / 2
    require(
        2 * (z - 1) == -BETA and abs(z - 1) <= BETA,
        "-gradient = beta E_33 + (beta/2)(E_11 + E_22), a subgradient of beta |.|_* at Z*",
    )
    optimum = (z - 1) ** 2 + BETA * z
    names = sympy.symbols("x1:13", real=True)
    U, V = sympy.Matrix(3, 2, names[:6]), sympy.Matrix(3, 2, names[6:])
    f = objective(U, V)
    at = dict.fromkeys(names, 0) | {U[0, 0]: ROOT, U[1, 1]: ROOT, V[0, 0]: ROOT, V[1, 1]: ROOT}
    require(all(sympy.diff(f, x).subs(at) == 0 for x in names), "a stationary point")
    H = sympy.hessian(f, names).subs(at)
    eigenvalues = sympy.Poly(H.charpoly().as_expr()).all_coeffs()
    # charpoly = x^12 - ... : all eigenvalues are >= 0 iff the signs alternate; exactly one is 0.
    require(
        all((-1) ** k * c > 0 for k, c in enumerate(eigenvalues[:-1])) and eigenvalues[-1] == 0,
        "the Hessian is >= 0 with a kernel of dimension 1",
    )
    # The kernel is the orbit of (U, V) under rotations (U Q, V Q), along which f is constant; so
    # the point is a local minimum.
    turn = sympy.Matrix([[0, -1], [1, 0]])
    tangent = sympy.Matrix([*(U.subs(at) * turn), *(V.subs(at) * turn)])
    require(
        H * tangent == sympy.zeros(12, 1) and tangent != sympy.zeros(12, 1),
        "the kernel is the tangent of the orbit of rotations",
    )
    value = f.subs(at)
    require(value > optimum, "the local minimum is not global")
    require(2 * BETA > BETA, "there |gradient|_2 = 2 beta > beta, so (122) detects it")
    return (
        "a = c = 3, b = 2, beta = 19/100, loss half the squares of Z_11 + Z_33 - 1, Z_22 + "
        f"Z_33 - 1 and the off-diagonal entries: (120) has the optimum {optimum} of rank 1 < "
        f"b, (121) has a local minimum of value {value} at U = V = (9/10)(e1, e2), certified "
        "by its exact Hessian."
    )
