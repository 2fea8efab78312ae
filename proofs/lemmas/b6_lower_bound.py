"""B6: for generic singleton targets every transformer of this form has at least (Nd - 1)/(2d +
1) blocks.
"""

import sympy

from proofs.checking import relu, require, require_equal, require_nonnegative
from proofs.sources import THEORY
from proofs.vectors import gram, inner, vectors

SOURCE = THEORY
PLACE = "Theorem B, remark B6"
STATEMENT = (
    "For M = N singleton targets outside a null set, L blocks of the rank-one form "
    "suffice only if Nd <= (2d + 1) L + 1."
)
HYPOTHESES = (
    "Blocks with u, w in R^d, b, rho, alpha, and any v; a fixed activation pattern and "
    "fixed sets of maximisers."
)
PROVED = (
    "Two scalings that change no output: (u, b, w) -> (k u, k b, w/k), and a factor k "
    "passed from (rho, alpha) of one block to the next. Hence 2d + 1 effective parameters "
    "a block and one overall. The bound and the exact factor to Theorem B."
)
LEFT = (
    "On each of finitely many patterns the outputs are polynomial in the parameters, so "
    "their image has dimension at most the number of effective parameters (Sard), a null set "
    "if that is below Nd."
)


def prove_inner_scaling() -> str:
    """k > 0: (k u, k b, w/k) is the same layer."""
    k, a = sympy.Symbol("k", positive=True), sympy.Symbol("a", nonnegative=True)
    z, w = vectors("z w")
    require((z + relu(k * a) * ((1 / k) * w)).equals(z + relu(a) * w), "active points")
    require((z + relu(-k * a) * ((1 / k) * w)).equals(z + relu(-a) * w), "inactive points")
    return (
        "(k u, k b, w/k) gives the same feed-forward layer for every k > 0: 2d effective "
        "parameters of 2d + 1"
    )


def prove_outer_scaling() -> str:
    """Scaling all tokens by k is absorbed by the next block: u/k, b, k w; the maximisers stay."""
    k = sympy.Symbol("k", positive=True)
    z, u, w, v, y = vectors("z u w v y")
    b = sympy.Symbol("b", real=True)
    require_equal(inner((1 / k) * u, k * z) + b, gram("u", "z") + b, "<u/k, k z> + b = <u, z> + b")
    a = sympy.Symbol("a", nonnegative=True)
    require((k * z + relu(a) * (k * w)).equals(k * (z + relu(a) * w)), "FF'(k z) = k FF(z)")
    require_equal(
        inner(v, k * z) * inner(v, k * y),
        sympy.expand(k**2 * inner(v, z) * inner(v, y)),
        "scores are multiplied by k^2 > 0",
    )
    return (
        "a common factor of (rho, alpha) is absorbed by the next block, up to one overall "
        "factor at the end"
    )


def prove_bound() -> str:
    """Effective parameters: 2d (u, b, w) + 2 (rho, alpha) - 1 for each block, + 1 overall."""
    d, n, length = sympy.symbols("d N L", positive=True, integer=True)
    shapes = {"u": d, "b": 1, "w": d, "rho": 1, "alpha": 1}  # v acts through the maximisers only
    scalings = 2  # prove_inner_scaling, prove_outer_scaling
    effective = length * (sum(shapes.values()) - scalings) + 1
    require_equal(
        sympy.solve(effective - n * d, length)[0], (n * d - 1) / (2 * d + 1), "solve for L"
    )
    return "Nd <= (2d + 1)L + 1, that is L >= (Nd - 1)/(2d + 1)"


def prove_factor() -> str:
    """N <= (2 + 1/d) L + 1/d, so N <= (2 + 2/d) L for L >= 1; the factor 2 + 1/d alone does not
    follow.
    """
    d, more = sympy.Symbol("d", positive=True, integer=True), sympy.Symbol("more", nonnegative=True)
    length = 1 + more
    bound = ((2 * d + 1) * length + 1) / d
    require_nonnegative(sympy.expand((2 + 2 / d) * length - bound), "N <= (2 + 2/d) L")
    largest, slope = bound.subs({d: 1, more: 0}), (2 + 1 / d).subs(d, 1)
    require((largest, slope) == (4, 3), "d = 1, L = 1: N = 4 is allowed, while (2 + 1/d) L = 3")
    return (
        "for almost all targets peeling is within the factor (2 + 2/d)(K + N)/N of every "
        "construction (2 + 1/d + 1/(dL) precisely); nothing follows for a single tuple of targets"
    )
