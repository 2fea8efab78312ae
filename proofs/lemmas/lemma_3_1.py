"""Lemma 3.1: a token is a leader for some A if and only if it is an extreme point."""

import sympy

from proofs.checking import require_equal, require_positive
from proofs.sources import HARDMAX
from proofs.vectors import gram, inner, vectors

SOURCE = HARDMAX
PLACE = "Lemma 3.1, (3.7)-(3.10)"
STATEMENT = (
    "There is A such that the non-zero token z_p is a leader iff z_p is extreme for the hull of Z."
)
HYPOTHESES = (
    "Tokens pairwise distinct, z_p not 0; for the converse (3.8): <v, z_p> > alpha > <v, z_l>."
)
PROVED = (
    "(3.9), (3.10) and their version after a translation (no sign case); the contradiction "
    "in the direct part."
)
LEFT = "Existence of v (separation of a point from a compact convex set)."


def prove_direct_part() -> str:
    """A leader is not a convex combination of the other tokens."""
    s, t, g, h = sympy.symbols("s t g h", positive=True)
    # a = A z_p beats z_1, z_2 by gaps g, h > 0: <a, z_1> = m - g, <a, z_2> = m - h, <a, z_p> = m.
    # If z_p = (s z_1 + t z_2)/(s + t):
    m = sympy.Symbol("m", real=True)
    combination = (s * (m - g) + t * (m - h)) / (s + t)
    require_equal(
        m - combination, (s * g + t * h) / (s + t), "the combination falls short by the mean gap"
    )
    require_positive(
        sympy.simplify((m - combination) * (s + t)),
        "the mean gap is positive, so z_p is not the combination",
    )
    return (
        "(3.7) implies that z_p is no convex combination of other tokens: the value falls "
        "short by the mean gap > 0"
    )


def prove_3_9() -> str:
    """A = v v^T with <v, z_p> > 0."""
    v, zp, zl = vectors("v zp zl")
    c, gap = sympy.symbols("c gap", positive=True)
    difference = inner(v, zp) * inner(v, zp) - inner(v, zp) * inner(v, zl)
    value = difference.subs({gram("v", "zl"): gram("v", "zp") - gap}).subs({gram("v", "zp"): c})
    require_equal(value, c * gap, "(3.9)")
    require_positive(value, "(3.9)")
    return (
        "(3.9): <A z_p, z_p> - <A z_p, z_l> = <v, z_p>(<v, z_p> - <v, z_l>) > 0 for A = v "
        "v^T, <v, z_p> > 0"
    )


def prove_3_10() -> str:
    """A = -v v^T with <v, z_p> < 0."""
    v, zp, zl = vectors("v zp zl")
    c, gap = sympy.symbols("c gap", positive=True)
    difference = -inner(v, zp) * inner(v, zp) + inner(v, zp) * inner(v, zl)
    value = difference.subs({gram("v", "zl"): gram("v", "zp") - gap}).subs({gram("v", "zp"): -c})
    require_equal(value, c * gap, "(3.10)")
    require_positive(value, "(3.10)")
    return (
        "(3.10): <A z_p, z_p> - <A z_p, z_l> = -<v, z_p>(<v, z_p> - <v, z_l>) > 0 for A = -v "
        "v^T, <v, z_p> < 0"
    )


def prove_translated() -> str:
    """After a translation by s with <v, z_p + s> > 0, A = v v^T works whatever the sign of <v,
    z_p>.
    """
    v, zp, zl, s = vectors("v zp zl s")
    c, gap = sympy.symbols("c gap", positive=True)
    difference = inner(v, zp + s) * (inner(v, zp + s) - inner(v, zl + s))
    value = difference.subs({gram("v", "zl"): gram("v", "zp") - gap}).subs(
        {gram("s", "v"): c - gram("v", "zp")}
    )
    require_equal(value, c * gap, "the difference of scores after the translation")
    require_positive(c * gap, "it is positive")
    return (
        "after a translation with <v, z_p + s> = c > 0 the score of z_p beats that of z_l by "
        "c(<v, z_p> - <v, z_l>) > 0 with A = v v^T"
    )
