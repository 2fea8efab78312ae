"""D2: several heads (4.1): what one block with a uniform head and leader heads tells apart."""

from fractions import Fraction
from itertools import product

import sympy

from proofs.checking import require, require_equal
from proofs.definition import Sequence, Token, add, dot, mean, scale, token
from proofs.sources import HARDMAX

SOURCE = HARDMAX
PLACE = "Section 4, (4.1); step D2"
STATEMENT = (
    "A block with rho = 0, a uniform head and H leader heads sends a sequence to alpha_0 mean + "
    "sum alpha_h leader_h. Two heads can do in one block what one head cannot; sequences with "
    "equal means and hulls are the same for all heads; a single point meets all heads as one."
)
HYPOTHESES = "All scores <v_h, z> are positive (after a translation)."
PROVED = (
    "The formula on examples, by (4.1) as printed; the two examples; that heads act on a single "
    "point as one head with the sum of the values."
)
LEFT = "Generic alpha; the count K <= N - D."


def heads(Z: Sequence, values: list[Fraction], directions: list[Token]) -> Sequence:
    """Apply (4.1) with rho = 0, V^h = values[h] I, A^h = v v^T for v = directions[h]."""
    found = []
    for z in Z:
        total = scale(Fraction(0), z)
        for value, v in zip(values, directions, strict=True):
            scores = [dot(v, z) * dot(v, other) for other in Z]
            leaders = [other for other, s in zip(Z, scores, strict=True) if s == max(scores)]
            total = add(total, scale(value, mean(leaders)))
        found.append(total)
    return found


def prove_one_point() -> str:
    """All tokens go to alpha_0 mean + sum alpha_h leader_h when all scores are positive."""
    Z = [token(1, 5), token(4, 2), token(3, 3), token(4, 2)]
    up, right = token(0, 1), token(1, 0)
    values = [Fraction(2), Fraction(-1, 3), Fraction(5)]
    out = heads(Z, values, [token(0, 0), up, right])
    expected = add(
        scale(values[0], mean(Z)), scale(values[1], token(1, 5)), scale(values[2], token(4, 2))
    )
    require(all(z == expected for z in out), "one point")
    return "alpha_0 mean + sum alpha_h leader_h, at every position"


def prove_two_heads_beat_one() -> str:
    """Means and largest tokens (0 or 1, 3 or 4), least token -10: one head leaves ties."""
    rows = {(0, 3): (-10, 3, 3, 3, 1), (1, 3): (-10, 3, 3, 3, 3, 3, 2)}
    rows |= {(0, 4): (-10, 4, 4, 2), (1, 4): (-10, 4, 4, 4, 3)}
    for shift in (20, -20):  # all scores are positive, and leaders are largest, or smallest
        words = [[token(x + shift) for x in row] for row in rows.values()]
        for (m, top), word in zip(rows, words, strict=True):
            require(mean(word) == token(m + shift), f"the mean {m}")
            require(max(word) == token(top + shift), f"the largest token {top}")
        for v in (token(0), token(1), token(-1)):  # all heads on a line, up to factors
            points = [heads(word, [Fraction(1)], [v])[0] for word in words]
            require(len(set(points)) < len(words), "one head leaves ties")
    words = [[token(x + 20) for x in row] for row in rows.values()]
    values = [Fraction(1), Fraction(2)]
    both = [heads(word, values, [token(0), token(1)])[0] for word in words]
    require(len(set(both)) == len(words), "two heads leave none")
    return "a uniform and a leader head tell four sequences apart that no single head tells apart"


def prove_same_for_all_heads() -> str:
    """(-2, -1, 1, 2) and (-2, 0, 0, 2): different measures, equal means, equal leaders."""
    Z, Y = ([token(x + 10) for x in row] for row in ((-2, -1, 1, 2), (-2, 0, 0, 2)))
    require(sorted(Z) != sorted(Y) and len(Z) == len(Y), "different measures")
    for values in product((Fraction(1), Fraction(-2), Fraction(1, 3)), repeat=3):
        directions = [token(0), token(1), token(-1)]
        require(
            heads(Z, list(values), directions)[0] == heads(Y, list(values), directions)[0],
            "the same point for every alpha",
        )
    return "no number of heads in one block tells (-2, -1, 1, 2) from (-2, 0, 0, 2)"


def prove_heads_on_a_point() -> str:
    """On one token: rho z + sum alpha_h z = (rho + sum alpha_h) z."""
    rho, first, second, z = sympy.symbols("rho alpha_1 alpha_2 z")
    require_equal(rho * z + first * z + second * z, (rho + (first + second)) * z, "one factor")
    out = heads([token(3, 4)], [Fraction(2), Fraction(5)], [token(1, 0), token(0, -1)])
    require(out == [token(21, 28)], "the heads of a single token add up")
    return "behind a collapse H heads are one head with the sum of the values"
