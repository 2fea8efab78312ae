"""B2: one block turns every sequence into a single point, an affine image of its mean."""

import sympy

from proofs.checking import require, require_equal
from proofs.sources import THEORY
from proofs.vectors import Vector, inner, mean, vectors

SOURCE = THEORY
PLACE = "Theorem B, step B2"
STATEMENT = (
    "FF = translation by s, then rho = 0, V = lambda I, A = 0: every token of Z^j "
    "becomes x_j = lambda (m_j + s). With s = c/lambda - m_l the point x_l is c, and "
    "|x_j - c| grows with lambda."
)
HYPOTHESES = "lambda > 0; distinct means; general d."
PROVED = (
    "The formula (three tokens, any masses by measure_invariance), x_l = c, |x_j - c|^2 = "
    "lambda^2 |m_j - m_l|^2, and that softmax agrees with hardmax for A = 0 at every "
    "temperature."
)
LEFT = "Choosing lambda larger than a finite set of ratios."


def prove_formula() -> str:
    """With A = 0 every position is a maximiser, so SA averages."""
    lam = sympy.Symbol("lambda", positive=True)
    zs, (s,) = vectors("z1 z2 z3"), vectors("s")
    shifted = [z + s for z in zs]
    out = [0 * z + lam * mean(shifted) for z in shifted]
    require(all(x.equals(lam * (mean(zs) + s)) for x in out), "x = lambda (m + s)")
    return (
        "A = 0, rho = 0, V = lambda I after the translation by s: every token becomes lambda "
        "(m + s)"
    )


def prove_centre() -> str:
    """s = c/lambda - m_l puts sequence l on c and the others at lambda (m_j - m_l) from it."""
    lam = sympy.Symbol("lambda", positive=True)
    c, ml, mj = vectors("c ml mj")
    s = (1 / lam) * c - ml

    def point(m: Vector) -> Vector:
        return lam * (m + s)

    require(point(ml).equals(c), "x_l = c")
    require((point(mj) - c).equals(lam * (mj - ml)), "x_j - c = lambda (m_j - m_l)")
    require_equal(
        inner(point(mj) - c, point(mj) - c),
        sympy.expand(lam**2 * inner(mj - ml, mj - ml)),
        "the squared distance",
    )
    return (
        "s = c/lambda - m_l: x_l = c and |x_j - c|^2 = lambda^2 |m_j - m_l|^2, larger than "
        "any bound for large lambda"
    )


def prove_softmax_agrees() -> str:
    """For A = 0 all scores are 0, so softmax weights are 1/n for every temperature and every n."""
    tau = sympy.Symbol("tau", positive=True)
    n = sympy.Symbol("n", positive=True, integer=True)
    own, seen = sympy.symbols("own seen", real=True)
    for count in range(1, 6):
        a = sympy.Symbol("a", real=True)
        tokens = sympy.symbols(f"z1:{count + 1}", real=True)
        scores = [a * own * z for z in (seen, *tokens)]
        weight = sympy.exp(tau * scores[0]) / sum(sympy.exp(tau * s) for s in scores)
        require_equal(weight.subs(a, 0), sympy.Rational(1, count + 1), "uniform weights for A = 0")
        require(weight.subs({a: 1, own: 1}) != sympy.Rational(1, count + 1), "not for A = 1")
    require_equal(sympy.exp(0) / (n * sympy.exp(0)), 1 / n, "for any number of equal scores")
    return "A = 0: exp(tau 0)/(n exp(tau 0)) = 1/n, so hardmax and softmax agree exactly"
