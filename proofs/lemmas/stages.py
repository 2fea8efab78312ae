"""The five stages: translation, clustering, the matching moves (3.4)-(3.5), and a sweep that
classifies.
"""

import sympy

from proofs.checking import relu, require, require_equal, require_positive
from proofs.sources import HARDMAX
from proofs.vectors import gram, inner, vectors

SOURCE = HARDMAX
PLACE = "Section 3.1, (3.1)-(3.6)"
STATEMENT = (
    "Preprocessing translates; clustering collapses each sequence to its leader; "
    "(3.4)-(3.5) move one point exactly and no other; one sweep sends N points to their "
    "targets in N blocks."
)
HYPOTHESES = (
    "General d. Clustering: C_l = {i_j}. Moves: (3.3). Sweep: <v, .> differs on all "
    "points and is smaller on all targets than on all points."
)
PROVED = (
    "Each stage's formula; the move lands exactly and leaves inactive points fixed; the "
    "sweep's landing and inactivity."
)
LEFT = (
    "Existence of the hyperplanes; matching merges equal labels and needs y different from "
    "all current points (errata A5)."
)


def prove_translation() -> str:
    """U = 0, b = 1, W = s translates by s; rho = 1, V = 0 is the identity."""
    z, s, m = vectors("z s m")
    ff = z + relu(sympy.Integer(1)) * s
    require(ff.equals(z + s), "FF is the translation")
    rho, alpha = 1, 0  # the identity attention, of a mean m over any maximisers
    require((rho * ff + alpha * m).equals(z + s), "the identity attention changes nothing")
    require(not (rho * ff + 1 * m).equals(z + s), "with V = I it would")
    return "U = 0, b = 1, W = s, rho = 1, V = 0: the block is the translation by s"


def prove_clustering() -> str:
    """rho = 0, V = I, C_l = {i_j}: every token becomes the shifted leader."""
    z, leader, s = vectors("z leader s")
    require((0 * (z + s) + 1 * (leader + s)).equals(leader + s), "SA(FF(z)) = leader + s")
    return "rho = 0, V = I: every token of Z^j becomes z_{i_j} + s"


def prove_matching_move() -> str:
    """W = (<u, x> + b)^{-1} (y - x) moves x to y exactly and fixes every p with <u, p> + b <= 0."""
    x, y, p, u = vectors("x y p u")
    h, q, b = (
        sympy.Symbol("h", positive=True),
        sympy.Symbol("q", nonnegative=True),
        sympy.Symbol("b", real=True),
    )
    w = (1 / h) * (y - x)
    require_equal((inner(u, x) + b).subs(b, h - gram("u", "x")), h, "h = <u, x> + b > 0")
    require((x + relu(h) * w).equals(y), "x lands on y")
    require((p + relu(-q) * w).equals(p), "inactive points stay")
    return "(3.4), (3.5): FF(x) = y exactly, FF(p) = p wherever <u, p> + b <= 0"


def prove_sweep() -> str:
    """Thresholds at consecutive values: the top point is active, earlier landings and later
    points are not.
    """
    gap, below, rest = (
        sympy.Symbol("gap", positive=True),
        sympy.Symbol("below", positive=True),
        sympy.Symbol("rest", nonnegative=True),
    )
    # heights <v, .>: top point t, next t - gap, later ones t - gap - rest, targets lower than all
    # points: t - gap - rest - below
    t = sympy.Symbol("t", real=True)
    b = -(t - gap)
    require_positive(t + b, "the top point is active with h = gap")
    require_equal(
        relu(t - gap + b), sympy.Integer(0), "the next point is on the hyperplane, inactive"
    )
    require_equal(relu(t - gap - rest + b), sympy.Integer(0), "later points are inactive")
    require_equal(
        relu(t - gap - rest - below + b), sympy.Integer(0), "points that landed are inactive"
    )
    # for the last point the threshold lies between it and all targets
    b_last = -(t - below)
    require_positive(t + b_last, "the last point is active")
    require_equal(relu(t - below - rest + b_last), sympy.Integer(0), "every target is inactive")
    return (
        "sweep along v: with b = -(next value) exactly the top point is active; landed "
        "points lie below every later threshold; N blocks in all"
    )


def prove_targets_below() -> str:
    """The translation of the cluster block can put all points above all targets."""
    v, x, y = vectors("v x y")
    k, slack = sympy.symbols("k slack", positive=True)
    lifted = x + (k / gram("v", "v")) * v
    require_equal(sympy.simplify(inner(v, lifted)), gram("v", "x") + k, "<v, x> rises by k")
    height = sympy.simplify(inner(v, lifted) - inner(v, y))
    height = sympy.expand(height.subs(k, gram("v", "y") - gram("v", "x") + slack))
    require_positive(height, "for every k > <v, y> - <v, x> the point is above the target")
    return (
        "adding k v/|v|^2 raises <v, .> by k: for large k all points are above all targets, "
        "at no extra block"
    )
