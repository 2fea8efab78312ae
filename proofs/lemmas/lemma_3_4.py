"""Lemma 3.4, mended: a feed-forward layer parts the means of any two sequences with different
empirical measures.
"""

import sympy

from proofs.checking import relu, require, require_equal, require_nonnegative, require_positive
from proofs.sources import HARDMAX
from proofs.vectors import Vector, mean, vectors

SOURCE = HARDMAX
PLACE = "Lemma 3.4, (3.17)-(3.19)"
STATEMENT = (
    "Let nu = mu_j - mu_j' be the difference of the empirical measures, not 0, and m^j "
    "= m^j'. For x extreme in the hull of supp nu and (u, beta) with <u, x> + beta > 0 "
    "and <= 0 on supp nu minus x, the means after FF differ by w nu({x})(<u, x> + "
    "beta), which is not 0. Extreme tokens stay extreme for small w."
)
HYPOTHESES = (
    "Any lengths, repeated tokens allowed, w != 0. For (3.19) as printed: equal "
    "lengths and distinct tokens."
)
PROVED = (
    "(3.19) for equal lengths, its mended form for signed measures, the direction 'extreme "
    "stays extreme', and that (3.18) need not be strict on the rest."
)
LEFT = (
    "supp nu has at least two points since nu has total mass 0; existence of (u, beta) by "
    "separation; the converse about extreme tokens can fail (errata)."
)


def prove_3_19_equal_lengths() -> str:
    """Shared tokens cancel when both lengths are n; d is general."""
    n, a, s1, s2 = sympy.symbols("n a s1 s2", real=True)
    (w,) = vectors("w")
    # sums of relu over both sequences: shared tokens contribute s1 + s2 to both, z contributes a =
    # <u, z> + b, all others 0
    k = sympy.Symbol("k", positive=True)
    difference = (1 / n) * ((s1 + s2 + a) * w) - (1 / k) * ((s1 + s2) * w)
    (rest,) = vectors("rest")
    require(
        (difference + rest).equals((a / n + (s1 + s2) * (1 / n - 1 / k)) * w + rest),
        "lengths n and k",
    )
    left = (a / n + (s1 + s2) * (1 / n - 1 / k)).subs(k, n)
    require_equal(left, a / n, "(3.19) for k = n")
    return "(3.19), lengths both n: m~^j - m~^j' = (w/n)(<u, z> + b)"


def prove_3_19_needs_equal_lengths() -> str:
    """With lengths n and k the shared part leaves (1/n - 1/k) times its sum."""
    n, k, a, s = sympy.symbols("n k a s", positive=True)
    (w,) = vectors("w")
    difference = (1 / n) * ((s + a) * w) - (1 / k) * (s * w)
    require(difference.equals((a / n + s / n - s / k) * w), "the shared tokens remain")
    require_equal(
        (a / n + s / n - s / k).subs({n: 4, k: 2, s: 1, a: 1}),
        sympy.Integer(0),
        "and can cancel the wanted term",
    )
    return (
        "lengths n and k: m~^j - m~^j' = w(a/n + s/n - s/k), which vanishes for n = 4, k = "
        "2, s = a = 1"
    )


def prove_mended_form() -> str:
    """Integrate z + w relu(<u, z> + beta) against nu on four points, only the first active;
    general d.
    """
    zs, (w,) = vectors("x z1 z2 z3"), vectors("w")
    nu = sympy.symbols("nu_x nu_1:4", real=True)
    a, t = (
        sympy.Symbol("a", positive=True),
        sympy.symbols("t1:4", nonpositive=True),
    )  # <u, .> + beta at x and on the rest
    before = sum((n * z for n, z in zip(nu, zs, strict=True)), 0 * w)
    after = sum((n * (z + relu(e) * w) for n, z, e in zip(nu, zs, (a, *t), strict=True)), 0 * w)
    require(
        (after - before).equals((nu[0] * a) * w),
        "the difference of the means changes by w nu({x}) a",
    )
    require((sympy.Symbol("p", nonzero=True, real=True) * a).is_nonzero, "nu({x}) a is not 0")
    return (
        "m~^j - m~^j' = (m^j - m^j') + w nu({x})(<u, x> + beta), for all lengths and "
        "multiplicities; it is not 0 if m^j = m^j'"
    )


def prove_mean_of_layer() -> str:
    """The mean of FF(Z) is the mean of Z plus w times the mean of relu; three tokens, general d."""
    zs = vectors("z1 z2 z3")
    (w,) = vectors("w")
    r = sympy.symbols("r1:4", nonnegative=True)
    moved: list[Vector] = [z + t * w for z, t in zip(zs, r, strict=True)]
    require(mean(moved).equals(mean(zs) + (sum(r) / 3) * w), "linearity of the mean")
    return "mean FF(Z) = mean Z + w mean relu(<u, .> + b)"


def prove_extreme_stays_extreme() -> str:
    """A separating functional with gap g still separates if all tokens move by at most g/4 in
    its direction.
    """
    g = sympy.Symbol("g", positive=True)
    p, q = sympy.symbols("p q", nonnegative=True)
    # <f, z_i> - <f, z_l> >= g; moves change each side by at most g/4: write the changes as g/4 - p
    # and g/4 - q in the worst direction
    after = g - (g / 4 - p) - (g / 4 - q)
    require_positive(after, "the gap stays positive")
    require_nonnegative(after - g / 2, "the gap stays at least g/2")
    return (
        "a gap g of a separating functional stays at least g/2 if no token moves by more "
        "than g/4 along it"
    )
