"""Lemma 3.3: after one translation every token attends to the leader of its sequence."""

import sympy

from proofs.checking import require_equal, require_positive
from proofs.sources import HARDMAX
from proofs.vectors import gram, inner, vectors

SOURCE = HARDMAX
PLACE = "Lemma 3.3, (3.13)-(3.16)"
STATEMENT = (
    "With W = v/|v|^2, U = 0 and b from (3.14), C_l(FF(Z^j), v v^T) = {i_j} for all l "
    "and j, and no FF(z) is 0."
)
HYPOTHESES = (
    "v from Lemma 3.2 ii), iii) only; epsilon > 0 arbitrary. Zero tokens and <v, z_p> "
    "= 0 are allowed."
)
PROVED = (
    "(3.15), the sign argument of (3.16), FF(z) != 0, and that the translation changes no "
    "difference."
)
LEFT = "Nothing beyond taking the maximum over finitely many tokens in (3.14)."


def prove_3_15() -> str:
    """<v, FF(z)> = <v, z> + b >= epsilon."""
    v, z = vectors("v z")
    eps, m = sympy.symbols("eps m", positive=True)
    slack = sympy.Symbol("slack", nonnegative=True)
    b = m + eps  # (3.14), m = max |<v, .>|; so <v, z> = -m + slack
    value = sympy.simplify(inner(v, z + (b / gram("v", "v")) * v))
    value = sympy.expand(value.subs(gram("v", "z"), -m + slack))
    require_positive(value, "(3.15)")
    require_equal(inner(v, 0 * z), sympy.Integer(0), "<v, 0> = 0, so FF(z) != 0")
    require_equal(value, eps + slack, "(3.15)")
    return (
        "(3.15): <v, FF(z)> = <v, z> + b >= epsilon > 0 = <v, 0> for b = max|<v, .>| + epsilon, so "
        "FF(z) != 0 without a condition on epsilon"
    )


def prove_3_16() -> str:
    """Dividing by the positive <v, FF(z_l)> leaves the maximisers unchanged."""
    v, own, leader, other = vectors("v own leader other")
    c, gap = sympy.symbols("c gap", positive=True)  # <v, own> by (3.15); <v, leader - other>
    scores = [inner(v, own) * inner(v, z) for z in (leader, other)]
    lead = (scores[0] - scores[1]).subs(gram("v", "leader"), gram("v", "other") + gap)
    lead = lead.subs(gram("v", "own"), c)
    require_equal(lead, c * gap, "by c times the gap of <v, .>")
    require_positive(sympy.expand(lead), "the leader has the largest score for every l")
    return (
        "(3.16): <A FF(z_l), FF(z_r)> = c <v, FF(z_r)> with c > 0, so the unique maximiser "
        "of <v, .> is the only element of C_l"
    )


def prove_differences_kept() -> str:
    """A translation changes no difference of tokens, so ii) and iii) of Lemma 3.2 survive."""
    v, x, y, s = vectors("v x y s")
    require_equal(inner(v, (x + s) - (y + s)), inner(v, x - y), "<v, FF(x) - FF(y)> = <v, x - y>")
    return "<v, FF(x) - FF(y)> = <v, x - y>"
