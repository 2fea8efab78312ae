"""C8: how far the tokens of softmax may lie from those of hardmax."""

import sympy

from proofs.checking import relu, require, require_equal, require_nonnegative
from proofs.sources import THEORY
from proofs.vectors import vectors

SOURCE = THEORY
PLACE = "Theorem 15"
STATEMENT = (
    "Bounds E on |softmax token - hardmax token| pass through feed-forward layers and attention; "
    "they fall as the inverse temperature grows."
)
HYPOTHESES = "|<v, z_i>| > eta_i; every token but the leaders has a positive gap."
PROVED = (
    "The rules for one coordinate: the three cases of a feed-forward layer, the gap of two scores, "
    "the weight of a token that is no leader, and the splitting of the mean (three tokens)."
)
LEFT = "Sums over coordinates and tokens; the robust radius behind the last attention layer."


def prove_feed_forward() -> str:
    """max(0, t + a) - max(0, t) is 0 at rest, a where active, at most |a| in any case."""
    p, q = sympy.symbols("p q", nonnegative=True)

    def change(t: sympy.Expr, a: sympy.Expr) -> sympy.Expr:
        return sympy.expand(relu(t + a) - relu(t))

    require_equal(change(p, q - p), q - p, "active: the change is a itself")
    require_equal(change(-p, p - q), sympy.Integer(0), "at rest: no change")
    # |a| = p + q is at least p and at least q
    require_equal(change(p, -(p + q)), -p, "from p down to rest: the change is -p")
    require_equal(change(-p, p + q), q, "from rest up to q: the change is q")
    t, e = sympy.symbols("t e", real=True)
    u, w, x = sympy.symbols("u w x", real=True)
    moved = (x + e) + w * (t + u * e) - (x + w * t)
    require_equal(moved, (1 + w * u) * e, "active: I + w u^T acts on the error")
    return "at rest E; active |I + w u^T| E; in any case E + |w| (|u| E)"


def prove_gap() -> str:
    """The score of the leader exceeds that of l by at least (p - eta)(gap - eta_c - eta_l)."""
    room, gap = sympy.symbols("room gap", nonnegative=True)
    own, lead, low = sympy.symbols("own lead low", nonnegative=True)  # how far errors stay away
    eta, eta_c, eta_l = sympy.symbols("eta eta_c eta_l", nonnegative=True)
    p = room + eta  # |<v, z_i>| = room + eta
    apart = gap + eta_c + eta_l  # <v, z_c> - <v, z_l>
    perturbed = (p - eta + own) * (apart - eta_c - eta_l + lead + low)
    require_nonnegative(sympy.expand(perturbed - room * gap), "score difference - g")
    least = perturbed.subs({own: 0, lead: 0, low: 0})
    require_equal(
        least, room * gap, "the bound is attained where all errors are as large as allowed"
    )
    return "(|p_i| - eta_i) (|p_c - p_l| - eta_c - eta_l) is at most the difference of the scores"


def prove_weight() -> str:
    """A score that is lower by at least g weighs at most exp(-beta g), less for larger beta."""
    beta, g, more, rest = sympy.symbols("beta g more rest", positive=True)
    s = sympy.Symbol("s", real=True)
    lead, other = sympy.exp(beta * s), sympy.exp(beta * (s - g))
    require_equal(sympy.simplify(other / lead), sympy.exp(-beta * g), "the ratio of two weights")
    weight = sympy.exp(-beta * g) / (1 + sympy.exp(-beta * g) + rest)  # over the leader's
    require(sympy.simplify(sympy.exp(-beta * g) - weight).is_positive, "at most the ratio")
    later = sympy.exp(-(beta + more) * g)
    require_equal(
        sympy.simplify(later / sympy.exp(-beta * g)), sympy.exp(-more * g), "falls with beta"
    )
    require((-more * g).is_negative, "by a factor below 1")
    return "omega_l <= exp(-beta g) omega_c, and exp(-beta g) falls as beta grows"


def prove_splitting() -> str:
    """Sum of omega_l z_l - c = sum over leaders omega (z - c) + sum over the others, weights 1."""
    a, b = sympy.symbols("a b", real=True)
    z, y, x, c = vectors("z y x c")
    whole = a * z + b * y + (1 - a - b) * x - c
    parts = a * (z - c) + b * (y - c) + (1 - a - b) * (x - c)
    require(whole.equals(parts), "the weights sum to 1")
    # two leaders of equal weight: their part of the sum vanishes where c is their mean
    half = sympy.Rational(1, 2)
    middle = half * (z + y)
    require((a * (z - middle) + a * (y - middle)).equals(0 * z), "leaders without error cancel")
    return "the weighted mean is the leaders' part plus the others'; tied leaders cancel"
