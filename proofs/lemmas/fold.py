"""Slopes and folds: what one neuron does in the construction of depth about sqrt(N)."""

import sympy

from proofs.checking import relu, require_equal, require_nonnegative
from proofs.sources import THEORY

SOURCE = THEORY
PLACE = "Slopes and folds, Theorem 10"
STATEMENT = (
    "Folds r -> c - |r - c| at a + 2^(n-1)U, ..., a + 2U, a + U take [a, a + 2^n U] to [a, a + U] "
    "by r -> a + U T((r - a)/U), T(t) = dist(t, 2Z). A fold that also writes -L to s' makes the "
    "select s + max(0, s' - s) equal s' where h <= c and s where L(h - c) >= s' - s. Two blocks "
    "take the bands above a cut down by D, add v to their points and leave the others."
)
HYPOTHESES = "U, D, L > 0; for a select s' > s; for a cut, low <= y <= low + D(1 - 1/K) below it."
PROVED = (
    "The induction step of the wave and its ends; both cases of a select; a shift; a kill; both "
    "blocks of a cut, above and below it; the slopes that one point needs."
)
LEFT = "That slopes exist for many points at once is Theorem 11, an argument of probability."

P, Q, R = sympy.symbols("p q r", nonnegative=True)
A, Y, S = sympy.symbols("a y s", real=True)
U, D, E = sympy.symbols("U D e", positive=True)


def fold(r: sympy.Expr, excess: sympy.Expr) -> sympy.Expr:
    """The block r + w max(0, r - c) with w = -2, from r and r - c."""
    return sympy.expand(r - 2 * relu(excess))


def prove_wave_step() -> str:
    """A fold at the middle c = a + H of [a, a + 2H] is r - a -> H - |r - a - H|: in [0, H], and
    T of period 2U does not change when r - a becomes 2H - (r - a), H a multiple of U.
    """
    # below the middle nothing moves
    require_equal(fold(A + P, -Q), A + P, "r <= c stays")
    # above it, r = a + H + p with p <= H = p + q
    middle = P + Q
    moved = fold(A + middle + P, P)
    require_equal(moved, A + middle - P, "r = c + p goes to c - p")
    require_nonnegative(moved - A, "no point leaves the interval below")
    require_equal((moved - A) + (A + middle + P - A), 2 * middle, "r and its image add up to 2H")
    return "r -> c - |r - c| maps [a, a + 2H] to [a, a + H] and keeps T((r - a)/U) for U | H"


def prove_wave_ends() -> str:
    """Below a no fold acts; from a + 2H on the first one ends at or below a."""
    require_equal(fold(A - P, -P - Q), A - P, "r <= a stays")
    require_nonnegative(A - fold(A + 2 * U + P, U + P), "r >= a + 2H goes to a or below")
    return "outside of [a, a + 2H] at most the first fold acts"


def prove_select() -> str:
    """Both cases of h; s' = s + e with e > 0."""
    require_equal(S + relu(E), S + E, "h <= c: the maximum is s'")
    excess, wide = sympy.symbols("excess wide", positive=True)
    gap = wide * excess - E  # L(h - c) >= s' - s
    more = sympy.Symbol("more", nonnegative=True)
    require_equal(sympy.expand(S + relu(-more)).subs(more, gap), S, "L(h - c) >= s' - s: s stays")
    return "s + max(0, s' - s - L max(0, h - c)) is s' or s"


def prove_shift() -> str:
    """y + (2^q - 1) max(0, y + e p) = 2^q y + (2^q - 1) e p where y + e p > 0, else y."""
    q = sympy.Symbol("q", positive=True)
    y, noise = sympy.symbols("y noise", positive=True)
    require_equal(
        sympy.expand(y + (q - 1) * relu(y + noise)), sympy.expand(q * y + (q - 1) * noise), "acts"
    )
    require_equal(y + (q - 1) * relu(-P), y, "rests")
    return "y becomes 2^q y + known, or stays"


def prove_kill() -> str:
    """u = e_r, b = -t, w = -e_r makes every r >= t equal to t; likewise from above."""
    t = sympy.Symbol("t", real=True)
    require_equal(sympy.expand(t + P - relu(P)), t, "from below")
    require_equal(sympy.expand(t - P + relu(P)), t, "from above")
    return "r -> t on r >= t, and on r <= t"


def prove_cut() -> str:
    """y = f + g + p above the cut, g > 0 with K g >= D; y = f - p below it, K p <= (K - 1) D."""
    steep, vector = sympy.symbols("K v", positive=True)
    floor = sympy.Symbol("f", real=True)
    # above: the excess x = y - f, with K x >= D
    excess = sympy.Symbol("x", positive=True)
    first = sympy.expand(floor + excess - steep * relu(excess))
    second = sympy.expand(-steep / (steep - 1) * (first - floor) - D)
    require_equal(sympy.simplify(second), steep * excess - D, "the second block reads K x - D")
    more = sympy.Symbol("more", nonnegative=True)
    moved = sympy.expand((first + relu(more)).subs(more, steep * excess - D))
    require_equal(sympy.simplify(moved - (floor + excess - D)), sympy.Integer(0), "y -> y - D")
    added = vector * steep / D * excess - vector / D * (steep * excess - D)
    require_equal(sympy.expand(added), vector, "and v is added")
    # below: the second block reads K p/(K - 1) - D <= 0
    below = sympy.expand(-steep / (steep - 1) * (-P) - D)
    require_equal(
        sympy.simplify(below * (steep - 1) - (steep * P - (steep - 1) * D)),
        sympy.Integer(0),
        "at rest where K p <= (K - 1) D",
    )
    return "above the cut y -> y - D and z -> z + v; below it nothing moves"


def prove_one_point() -> str:
    """A group of one point: y runs through R X/W >= 4U if W <= 9X/8 and R >= 9U/2."""
    x, range_, width = sympy.symbols("x R W", positive=True)
    worst = (range_ * x / width).subs(width, sympy.Rational(9, 8) * x)
    require_equal(
        sympy.simplify(worst.subs(range_, sympy.Rational(9, 2) * U)), 4 * U, "two periods"
    )
    return "one point meets every phase of the wave"
