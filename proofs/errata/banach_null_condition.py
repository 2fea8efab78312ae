"""The example after Theorem 3.1 never satisfies the null conditions of the theorem unless G is
square.
"""

import sympy

from proofs.checking import require, require_equal
from proofs.sources import BANACH

SOURCE = BANACH
PLACE = "Theorem 3.1 and the example after it"
CLAIM = (
    "H1, H2 of the same cardinality suffice for the null conditions (3); for instance H1 = "
    "R^m, H2 = R^n with <v, w> = v^T G w and an arbitrary matrix G."
)
MENDED = (
    "The pairing must be non-degenerate: for R^m and R^n this means m = n and G invertible "
    "(equal Hilbert dimension, not cardinality)."
)


def witness() -> str:
    """Show that for every 3 x 2 matrix G a non-zero vector annihilates the whole other space."""
    G = sympy.Matrix(3, 2, sympy.symbols("g1:7", real=True))
    v = G[:, 0].cross(G[:, 1])
    require_equal(
        (v.T * G)[0], sympy.Integer(0), "v^T G e1 = 0 for v the cross product of the columns"
    )
    require_equal((v.T * G)[1], sympy.Integer(0), "v^T G e2 = 0")
    example = sympy.Matrix([[1, 0], [0, 1], [1, 1]])
    n = example[:, 0].cross(example[:, 1])
    require(
        any(x != 0 for x in n) and (n.T * example) == sympy.zeros(1, 2),
        "(3) fails for every pair of feature maps",
    )
    require(
        all(x == 0 for x in (sympy.Matrix([1, 2, 3]).cross(sympy.Matrix([2, 4, 6])))),
        "v = 0 only if the columns are dependent: then some w has G w = 0",
    )
    return (
        "R^3 and R^2 have the same cardinality; for G = [[1,0],[0,1],[1,1]] the vector v = "
        "(-1,-1,1) has v^T G = 0, so the second condition of (3) fails for all feature maps; "
        "for every 3 x 2 matrix the cross product of its columns does the same, or the "
        "columns are dependent and the first condition fails."
    )
