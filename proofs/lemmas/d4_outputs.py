"""D4: output sequences: every token goes to its output, in at most K + R blocks."""

import itertools
from fractions import Fraction

import sympy

from proofs.checking import Refuted, require, require_equal, require_nonnegative
from proofs.definition import Sequence, Token, token, transformer
from proofs.lemmas.theorem_b import families
from proofs.outputs import build, pairs
from proofs.sources import THEORY
from proofs.theorem_b import empirical_measure, split_ties
from proofs.vectors import mean, vectors

SOURCE = THEORY
PLACE = "Theorem 16"
STATEMENT = (
    "Token i of Z^j can be sent to y^j_i, i = 1 ... m_j, for all j, iff equal tokens of sequences "
    "with equal empirical measures have equal targets; then L <= K + R <= 2 sum m_j - 1 blocks "
    "suffice, with A = 0."
)
HYPOTHESES = "1 <= m_j <= n_j; R different pairs (token, measure) have targets; d >= 1."
PROVED = (
    "The formula of the mixing block (three tokens), that each pair of points forbids at most one "
    "beta, the count, and the construction, run exactly on the families of theorem_b."
)
LEFT = "Tie splitting and peeling are B1 and B3; 'only if' is measure_invariance."


def prove_mixing_block() -> str:
    """Translation by s, rho = lambda (1 - beta), V = lambda beta I, A = 0."""
    lam, beta = sympy.symbols("lambda beta", positive=True)
    zs, (s,) = vectors("z1 z2 z3"), vectors("s")
    shifted = [z + s for z in zs]
    middle = mean(shifted)
    for z, moved in zip(zs, shifted, strict=True):
        after = lam * (1 - beta) * moved + lam * beta * middle
        wanted = lam * ((1 - beta) * z + beta * mean(zs) + s)
        require(after.equals(wanted), "lambda ((1 - beta) z + beta m + s)")
    return "every token z of a sequence with mean m becomes lambda ((1 - beta) z + beta m + s)"


def prove_one_beta() -> str:
    """If two values of beta merge x and y, then x = y and m = n."""
    a, b = sympy.symbols("a b", real=True)
    x, y, m, n = vectors("x y m n")

    def apart(beta: sympy.Expr) -> sympy.Expr:
        return (1 - beta) * (x - y) + beta * (m - n)

    require((apart(a) - apart(b)).equals((a - b) * ((m - n) - (x - y))), "the difference of two")
    gap = (m - n) - (x - y)  # 0 if both vanish and a != b
    require((apart(a) - a * gap).equals(x - y), "then x = y")
    return "two roots a != b give m - n = x - y and then x - y = 0: each pair forbids one beta"


def prove_count() -> str:
    """K <= N - 1, N <= M, R <= M: K + 1 + (R - 1) <= 2 M - 1 with M = sum m_j."""
    ties, more, last = sympy.symbols("ties more last", integer=True, nonnegative=True)
    n = ties + 1 + more  # K <= N - 1
    total = n + last  # every sequence asks for at least one output
    spare = sympy.Symbol("spare", integer=True, nonnegative=True)
    pairs_asked = total - spare
    blocks = ties + 1 + (pairs_asked - 1)
    require_nonnegative(2 * total - 1 - blocks, "2 M - 1 - L")
    require_equal((2 * total - 1 - blocks).subs({more: 0, last: 0, spare: 0}), 0, "attained")
    return "K + 1 + (R - 1) = K + R <= 2 sum m_j - 1"


def targets_of(zs: list[Sequence], count: int) -> list[list[Token]]:
    """Different targets for the first tokens, equal ones for equal tokens of a sequence."""
    numbers = itertools.count(1)
    found = []
    for z in zs:
        known: dict[Token, Token] = {}
        for x in z[:count]:
            if x not in known:
                k = next(numbers)
                known[x] = token(*(Fraction((i + 1) * k, 3) for i in range(len(x))))
        found.append([known[x] for x in z[:count]])
    return found


def prove_construction() -> str:
    """Build and run each family, for one output, for two, and for all."""
    most = 0
    for name, zs in families().items():
        for count in (1, 2, len(max(zs, key=len))):
            ys = targets_of(zs, count)
            blocks = build(zs, ys)
            bound = len(split_ties(zs)) + len(pairs(zs, ys))
            require(len(blocks) <= bound, f"{name}: {len(blocks)} <= K + R")
            require(bound <= 2 * sum(map(len, ys)) - 1, f"{name}: K + R <= 2 M - 1")
            ends = [transformer(blocks, z)[: len(y)] for z, y in zip(zs, ys, strict=True)]
            require(ends == ys, f"{name}: every token with a target is there")
            require(
                all({x for row in block.A for x in row} == {0} for block in blocks),
                f"{name}: A = 0",
            )
            most = max(most, len(blocks))
    return (
        f"{len(families())} families, 1, 2 and all outputs: every token ends at its target, "
        f"within K + R blocks (at most {most})"
    )


def prove_only_if() -> str:
    """Equal tokens of sequences with equal measures are refused two targets, never given them."""
    once, twice = [token(1), token(0)], [token(0), token(1), token(0), token(1)]
    require(empirical_measure(once) == empirical_measure(twice), "equal measures")
    blocks = build([once, twice], [[token(5)], [token(6), token(5)]])
    require(transformer(blocks, twice)[:2] == [token(6), token(5)], "common targets can be reached")
    try:
        build([once, twice], [[token(5)], [token(6), token(7)]])
    except ValueError:
        return "two targets for one pair (token, measure) are refused, common ones are reached"
    raise Refuted("the construction must refuse two targets for one pair")
