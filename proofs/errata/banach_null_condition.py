"""The example after Theorem 3.1 allows pairings for which no feature maps satisfy the null
conditions."""

import sympy

from proofs.checking import require, require_equal
from proofs.sources import BANACH

SOURCE = BANACH
PLACE = "Theorem 3.1 and the example after it"
KIND = "Gap"
FAILS = "the example: for m and n different (3) never holds, for m = n only with G invertible"
PRINTED = (
    (
        129,
        r"It is necessary for the Hilbert spaces \mathcal{H}_1 and \mathcal{H}_2 to "
        "have the same cardinality, as the null conditions may otherwise fail to hold.",
    ),
    (
        131,
        r"For instance, consider Hilbert spaces $\mathcal{H}_1 = \mathbb{R}^m$ and "
        r"$\mathcal{H}_2 = \mathbb{R}^n$, endowed with a weighted dot product defined as",
    ),
    (
        135,
        r"where $\mathbf{G} \in \mathbb{R}^{m \times n}$ is an arbitrary (possibly "
        "indefinite) matrix.",
    ),
)
CLAIM = (
    "The two spaces must have the same cardinality for the null conditions (3); as an "
    "example of spaces, R^m and R^n with <v, w> = v^T G w and an arbitrary matrix G."
)
MENDED = (
    "(3) makes the pairing non-degenerate: for R^m and R^n this means m = n and G "
    "invertible. In general the Hilbert dimensions must agree; that the cardinalities do "
    "is necessary, as the paper says, but not enough."
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
