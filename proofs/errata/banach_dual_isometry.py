"""Some regular Banach spaces are isometrically isomorphic to their duals."""

import sympy

from proofs.checking import require_equal
from proofs.sources import BANACH

SOURCE = BANACH
PLACE = "Section 2.2"
KIND = "Remark"
FAILS = 'the wording: "need not be" is meant'
PRINTED = (
    (
        62,
        "An RBS is, however, not isometrically isomorphic to its dual space, and the "
        "continuity of point-evaluation functionals does not guarantee the existence "
        "of a kernel.",
    ),
)
CLAIM = "An RBS is, however, not isometrically isomorphic to its dual space."
MENDED = (
    "An RBS need not be. Every reproducing kernel Hilbert space is an RBS and is "
    "isometrically isomorphic to its dual."
)


def witness() -> str:
    """Check the definition of an RBS and the isometry for R^2 as functions on two points."""
    a, b, c, d = sympy.symbols("a b c d", real=True)
    require_equal(
        (a**2 + b**2) - a**2,
        b**2,
        "|f(x)| <= |f|, so point evaluations are continuous with C_x = 1",
    )
    require_equal(
        (a**2 + b**2) * (c**2 + d**2) - (a * c + b * d) ** 2,
        (a * d - b * c) ** 2,
        "Lagrange: |nu(f)| <= |nu| |f|, so |nu|_* <= |nu|",
    )
    require_equal(
        (a * c + b * d).subs({c: a, d: b}), a**2 + b**2, "equality at f = nu, so |nu|_* = |nu|"
    )
    return (
        "B = R^2 with the Euclidean norm, as functions on two points, is an RBS (C_x = 1), "
        "and nu -> <., nu> is an isometry of B onto B* by Lagrange's identity."
    )
