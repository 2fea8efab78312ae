"""B1: feed-forward blocks that make all means distinct."""

from fractions import Fraction

import sympy

from proofs.checking import require, require_nonnegative
from proofs.definition import mean, rank_one, token, transformer
from proofs.sources import THEORY
from proofs.vectors import vectors

SOURCE = THEORY
PLACE = "Theorem B, step B1"
STATEMENT = (
    "K <= N - #distinct means blocks, each a feed-forward layer injective on the finite "
    "set of tokens, make the means of N sequences with distinct empirical measures "
    "distinct."
)
HYPOTHESES = (
    "(u, b) from lemma_3_4 for one tied pair; w = tau w0 with w0 != 0; tau outside a finite set."
)
PROVED = (
    "One bad tau at most for each pair of tokens and each pair of untied means; none for "
    "the chosen pair; the count; why injectivity is needed."
)
LEFT = (
    "Avoiding finitely many values of tau; images of different measures under an injective "
    "map are different."
)


def prove_tokens_stay_apart() -> str:
    """x - y + tau (r - s) w0 vanishes for at most one tau when x != y."""
    tau, r, s = sympy.symbols("tau r s", real=True)
    x, y, w = vectors("x y w0")
    difference = (x + (tau * r) * w) - (y + (tau * s) * w)
    require(difference.equals((x - y) + (tau * (r - s)) * w), "affine in tau")
    first, second = sympy.symbols("tau1 tau2", real=True)
    # two bad values would give (tau1 - tau2)(r - s) w0 = 0, so r = s, and then x = y
    bad = ((x - y) + (first * (r - s)) * w) - ((x - y) + (second * (r - s)) * w)
    require(bad.equals(((first - second) * (r - s)) * w), "the difference of two bad equations")
    return (
        "different tokens collide for at most one tau: two bad values give (tau1 - tau2)(r - "
        "s) w0 = 0, then r = s and x = y"
    )


def prove_means_stay_apart() -> str:
    """The same for untied means; a tied pair with different integrals parts for every tau != 0."""
    tau, i, j = sympy.symbols("tau i j", real=True)
    m, k, w = vectors("m k w0")
    moved = (m + (tau * i) * w) - (k + (tau * j) * w)
    require(moved.equals((m - k) + (tau * (i - j)) * w), "affine in tau")
    tied = (m + (tau * i) * w) - (m + (tau * j) * w)
    require(tied.equals((tau * (i - j)) * w), "tied means part by tau (i - j) w0")
    return (
        "untied means collide for at most one tau; tied means with different integrals of "
        "relu part by tau (i - j) w0 for every tau != 0"
    )


def prove_count() -> str:
    """Each block raises the number of distinct means by at least 1, from D to N."""
    n, dist = sympy.symbols("N D", positive=True, integer=True)
    blocks, gain = sympy.symbols("K gain", nonnegative=True)
    # after K blocks there are at least D + K distinct means, and at most N: D + K + gain = N
    most = sympy.solve(sympy.Eq(dist + blocks + gain, n), blocks)[0]
    require_nonnegative((n - dist) - most, "K <= N - D")
    require_nonnegative(
        ((n - 1) - most).subs(dist, 1 + sympy.Symbol("g", nonnegative=True)),
        "D >= 1, so K <= N - 1",
    )
    return "K <= N - #distinct means <= N - 1"


def prove_injectivity_is_needed() -> str:
    """Without it two tied measures can become equal: {1,3,-4} and {2,2,-4} under u = 1, b = 0,
    w = -1.
    """
    zs = [
        [token(-5), token(5), token(0)],
        [token(1), token(3), token(-4)],
        [token(2), token(2), token(-4)],
    ]
    block = rank_one(token(1), 0, token(-1))
    moved = [sorted(transformer([block], z)) for z in zs]
    require({mean(z) for z in zs} == {token(0)}, "all three means are 0")
    require(
        moved[1] == moved[2] == [token(-4), token(0), token(0)],
        "two measures become equal: no later block parts them",
    )
    require(
        [mean(z)[0] for z in moved] == [Fraction(-5, 3), Fraction(-4, 3), Fraction(-4, 3)],
        "though the first mean is parted",
    )
    return (
        "{-5,5,0}, {1,3,-4}, {2,2,-4} with u = 1, b = 0, w = -1: the first mean is "
        "parted, the other two measures become equal"
    )
