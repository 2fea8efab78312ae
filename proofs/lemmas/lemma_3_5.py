"""Lemma 3.5: the three cases of the separation, with the exact finite sets of forbidden
parameters.
"""

import sympy

from proofs.checking import require, require_equal
from proofs.sources import HARDMAX
from proofs.vectors import vectors

SOURCE = HARDMAX
PLACE = "Lemma 3.5, (3.20)-(3.28)"
STATEMENT = (
    "Case 1 (pull to the leaders), Case 2 (pull to the means) and Case 3 (a "
    "feed-forward layer before Case 2) part sequences, for all alpha, beta outside a "
    "finite set."
)
HYPOTHESES = (
    "General d. Leaders l_j, l_k of two sequences; tokens x in Z^j, y in Z^k. 0 < "
    "alpha, beta < 1 in the construction."
)
PROVED = (
    "(3.21); x and y collide iff x - y = c(l_j - l_k) with alpha = c/(c - 1) "
    "(3.22)-(3.23); only c < 0 matters in (0,1); a shared token parts iff the leaders "
    "differ; the same for (3.24)."
)
LEFT = (
    "The finite union over pairs, and the induction or the component count of lemmas/separation.py."
)


def prove_3_21() -> str:
    """rho = 1 - alpha, V = alpha I after the shift s: (1 - alpha)(z + s) + alpha (l + s) = z +
    alpha (l - z) + s.
    """
    alpha = sympy.Symbol("alpha", real=True)
    z, l, s = vectors("z l s")
    require(((1 - alpha) * (z + s) + alpha * (l + s)).equals(z + alpha * (l - z) + s), "(3.21)")
    return "(3.21): SA(FF(z)) = z + alpha (l - z) + s"


def prove_3_22() -> str:
    """The difference of two images is (1 - alpha)(x - y) + alpha (l - k); the shift cancels."""
    alpha = sympy.Symbol("alpha", real=True)
    x, y, l, k, s = vectors("x y l k s")
    images = (x + alpha * (l - x) + s) - (y + alpha * (k - y) + s)
    require(images.equals((1 - alpha) * (x - y) + alpha * (l - k)), "(3.22)")
    return "(3.22): the images differ by (1 - alpha)(x - y) + alpha (l_j - l_k)"


def prove_3_23() -> str:
    """With x - y = c e, e = l - k != 0, the coefficient of e vanishes for alpha = c/(c - 1)
    only, never for c = 1.
    """
    alpha, c = sympy.symbols("alpha c", real=True)
    coefficient = (1 - alpha) * c + alpha
    solutions = sympy.solve(coefficient, alpha)
    require(solutions == [c / (c - 1)], "the only root")
    require_equal(coefficient.subs(c, 1), sympy.Integer(1), "for c = 1 there is no forbidden alpha")
    require_equal(
        sympy.simplify((alpha / (alpha - 1)).subs(alpha, c / (c - 1))),
        c,
        "alpha/(alpha - 1) = c, which is (3.23)",
    )
    return (
        "(3.23): x and y collide iff x - y = c(l_j - l_k), c != 1 and alpha = c/(c - 1): at "
        "most one alpha for each pair"
    )


def prove_independent_directions() -> str:
    """If x - y is not a multiple of e != 0 there is no forbidden alpha (alpha = 1 included)."""
    alpha = sympy.Symbol("alpha", real=True)
    f, e, y, k = vectors("f e y k")
    x, l = y + f, k + e
    combination = (1 - alpha) * f + alpha * e
    require(
        ((x + alpha * (l - x)) - (y + alpha * (k - y))).equals(combination),
        "the images differ by (1 - alpha) f + alpha e",
    )
    roots = [set(sympy.solve(c, alpha)) for c in combination.terms.values()]
    require(
        set.intersection(*roots) == set(),
        "the coefficients 1 - alpha and alpha never vanish together",
    )
    return "if x - y and l_j - l_k are linearly independent, (3.22) holds for every alpha"


def prove_relevant_range() -> str:
    """alpha = c/(c - 1) lies in (0, 1) iff c < 0."""
    t = sympy.Symbol("t", positive=True)
    c = sympy.Symbol("c", real=True)
    forbidden = c / (c - 1)
    require_equal(forbidden.subs(c, -t), t / (1 + t), "c = -t < 0: 0 < alpha = 1 - 1/(1 + t) < 1")
    require_equal(forbidden.subs(c, 1 + t), 1 + 1 / t, "c > 1: alpha > 1")
    require_equal(forbidden.subs(c, 1 / (1 + t)), -1 / t, "0 < c < 1: alpha < 0")
    require_equal(forbidden.subs(c, 0), sympy.Integer(0), "c = 0 (a shared token): alpha = 0")
    return (
        "within (0, 1) the forbidden alphas are c/(c - 1) with c < 0; a shared token (c = 0) "
        "forbids alpha = 0 only"
    )


def prove_equal_leaders() -> str:
    """With equal leaders different tokens stay different and equal tokens stay equal, for every
    alpha < 1.
    """
    alpha = sympy.Symbol("alpha", real=True)
    x, y, l = vectors("x y l")
    difference = (x + alpha * (l - x)) - (y + alpha * (l - y))
    require(difference.equals((1 - alpha) * (x - y)), "the difference is scaled by 1 - alpha")
    return "equal leaders: the images differ by (1 - alpha)(x - y)"


def prove_3_24() -> str:
    """Case 2 with v_2 = 0: the shared token moves apart by beta (m - m'), for every beta != 0."""
    beta = sympy.Symbol("beta", real=True)
    z, m, k = vectors("z m k")
    require(((1 - beta) * z + beta * m).equals(z + beta * (m - z)), "(3.24)")
    require(
        ((z + beta * (m - z)) - (z + beta * (k - z))).equals(beta * (m - k)),
        "the shared token parts by beta (m - k)",
    )
    return "(3.24): SA(z) = z + beta (m - z); a shared token parts by beta (m^1 - m^2)"


def prove_case_2_keeps_means() -> str:
    """Pulling to the mean keeps the mean: three tokens with masses p, q, s, general d."""
    beta = sympy.Symbol("beta", real=True)
    p, q, s = sympy.symbols("p q s", positive=True)
    x, y, z = vectors("x y z")
    total = p + q + s
    m = (p / total) * x + (q / total) * y + (s / total) * z
    pulled = [(1 - beta) * t + beta * m for t in (x, y, z)]
    require(
        ((p / total) * pulled[0] + (q / total) * pulled[1] + (s / total) * pulled[2]).equals(m),
        "the mean is fixed",
    )
    return "pulling every token to its mean leaves the mean unchanged"
