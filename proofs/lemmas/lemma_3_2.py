"""Lemma 3.2: one vector v that gives every sequence its own leader, and a prescribed one to one
sequence.
"""

import sympy

from proofs.checking import require_equal, require_nonnegative, require_positive
from proofs.sources import HARDMAX
from proofs.vectors import gram, inner, vectors

SOURCE = HARDMAX
PLACE = "Lemma 3.2, (3.11)-(3.12)"
STATEMENT = (
    "There is v with a unique maximiser of <v, .> in every sequence, equal to z_p^q in "
    "Z^q (i: <v, z_p> != 0, is not needed)."
)
HYPOTHESES = "z_p^q extreme in Z^q; tokens distinct within each sequence."
PROVED = (
    "(3.12), an explicit admissible range of epsilon, and that a generic direction near "
    "the given one works: each pair of tokens forbids at most one epsilon."
)
LEFT = "Existence of u in (3.11) (separation); a finite induction over the sequences."


def prove_3_12() -> str:
    """Among the tied tokens v + eps u prefers the one that u prefers, by eps times the gap."""
    v, u, z1, zr = vectors("v u z1 zr")
    eps, gap = sympy.symbols("eps gap", positive=True)
    w = v + eps * u
    difference = (
        (inner(w, z1) - inner(w, zr))
        .subs(gram("v", "zr"), gram("v", "z1"))
        .subs(gram("u", "zr"), gram("u", "z1") - gap)
    )
    require_equal(difference, eps * gap, "(3.12)")
    require_positive(difference, "(3.12)")
    return (
        "(3.12): <v + eps u, z_1 - z_r> = eps <u, z_1 - z_r> > 0 for tokens that v does not "
        "tell apart"
    )


def prove_range_of_epsilon() -> str:
    """A strict inequality <v, x - y> = g > 0 survives for 0 < eps <= g/(2 G), G >= |<u, x - y>|."""
    g, big = sympy.symbols("g G", positive=True)
    below, share = sympy.symbols("below share", nonnegative=True)
    # |<u, x - y>| = G - below in the worst sign, eps = g/(2G (1 + share)) <= g/(2G)
    small = big - below
    eps = g / (2 * big * (1 + share))
    value = g - eps * small
    room = sympy.simplify((value - g / 2) * 2 * big * (1 + share))  # of the sign of value - g/2
    require_equal(room, g * (below + share * big), "2G (1 + share)(value - g/2)")
    require_nonnegative(room, "<v + eps u, x - y> >= g/2")
    return (
        "0 < eps <= g/(2G) keeps <v + eps u, x - y> >= g/2 > 0 when <v, x - y> >= g and |<u, "
        "x - y>| <= G"
    )


def prove_generic_direction() -> str:
    """For x != y with <u, x - y> != 0 exactly one eps ties x and y under v + eps u."""
    v, u, x, y = vectors("v u x y")
    eps = sympy.Symbol("eps", real=True)
    tie = inner(v + eps * u, x - y)
    require_equal(tie, inner(v, x - y) + eps * inner(u, x - y), "affine in eps")
    root = -inner(v, x - y) / inner(u, x - y)
    require_equal(sympy.together(tie.subs(eps, root)), sympy.Integer(0), "its only root")
    return "v + eps u ties x and y for at most one eps, eps = -<v, x - y>/<u, x - y>"
