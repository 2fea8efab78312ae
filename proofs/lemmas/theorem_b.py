"""Theorem B: the construction run exactly on adversarial families, and the two halves put
together.
"""

from fractions import Fraction
from itertools import combinations

from proofs.checking import Refuted, require
from proofs.definition import Sequence, readout, token, transformer
from proofs.sources import THEORY
from proofs.theorem_b import build, empirical_measure

SOURCE = THEORY
PLACE = "Theorem B"
STATEMENT = (
    "Sequences can be classified for all non-empty disjoint label sets iff any two with "
    "the same empirical measure have the same label; then L <= 2N - 1 blocks suffice, d "
    ">= 1."
)
HYPOTHESES = (
    "N sequences with distinct empirical measures after merging; tokens may repeat; a "
    "target in each label set."
)
PROVED = (
    "The program proofs/theorem_b.py (tie splitting, collapse, peeling) reaches every "
    "target exactly within 2N - 1 blocks on the families below, v = 0 throughout."
)
LEFT = "The proof in general is B1-B3 (for 'if') and measure_invariance ('only if')."


def families() -> dict[str, list[Sequence]]:
    """Collect hard cases: equal means, repeated tokens, unequal lengths, lattices, collinear
    tokens, zero tokens.
    """

    def line(*numbers: int) -> Sequence:
        return [token(x) for x in numbers]

    return {
        "all means equal, d = 1": [
            line(0),
            line(-1, 1),
            line(-2, 2),
            line(-1, 0, 1),
            line(-2, 0, 2),
            line(-2, -1, 1, 2),
        ],
        "tied triples, d = 1": [line(-5, 5, 0), line(1, 3, -4), line(2, 2, -4), line(0)],
        # FF(z) = z - relu(z) parts the first two means and makes the last two measures equal
        "injectivity matters": [line(-5, 5, 0), line(0), line(1, 3, -4), line(2, 2, -4)],
        "injectivity matters, same leaders": [
            line(9, -9, 5, -5, 0),
            line(9, -9, 0),
            line(9, 8, 6, -23),
            line(9, 7, 7, -23),
        ],
        "repeated tokens": [
            [token(1, 0), token(1, 0), token(0, 1)],
            [token(1, 0), token(0, 1)],
            [token(1, 0), token(0, 1), token(0, 1)],
        ],
        "unequal lengths (A2)": [
            [token(0, 1), token(0, -1), token(1, 0), token(-1, 0)],
            [token(0, 1), token(0, -1)],
            [token(0, 0)],
        ],
        "lattice": [
            [token(i, j), token(-i, -j)] for i in range(3) for j in range(3) if (i, j) != (0, 0)
        ],
        "one token in all": [[token(0, 0), token(k, 1), token(-k, -1)] for k in range(1, 6)],
        "Case 3 chain": [
            [token(0, 0)],
            [token(0, 0), token(1, 0), token(-1, 0)],
            [token(1, 0), token(-1, 0)],
            [token(1, 0), token(-1, 0), token(0, 2), token(0, -2)],
            [token(0, 2), token(0, -2)],
        ],
        "same leaders, same means": [
            line(3, -3),
            line(3, -3, 0),
            line(3, -1, -2),
            line(3, -3, 1, -1),
            line(3, -4, 1),
        ],
        "same hull, same mean": [
            [token(i, j) for i in (-2, 2) for j in (-2, 2)] + [token(*x) for x in inner]
            for inner in (
                (),
                ((0, 0),),
                ((1, 0), (-1, 0)),
                ((1, 1), (-1, -1)),
                ((1, 0), (-1, 0), (0, 0)),
            )
        ],
        "means close together": [
            [token(f"{k}/1000", k), token(f"{k}/1000", -k)] for k in range(1, 6)
        ],
        "one sequence": [[token(3, 1, 4), token(1, 5, 9)]],
        "fractions, d = 3": [
            [token("1/3", "2/7", k), token("-1/3", "-2/7", -k)] for k in range(1, 5)
        ],
    }


def prove_construction() -> str:
    """Build and run each family with targets that include coinciding ones."""
    most = 0
    for name, zs in families().items():
        d, n = len(zs[0][0]), len(zs)
        targets = [
            token(*(Fraction((j // 2 + 1) * (i + 1), 3) for i in range(d))) for j in range(n)
        ]
        blocks = build(zs, targets)
        require(len(blocks) <= 2 * n - 1, f"{name}: {len(blocks)} <= 2N - 1")
        require(
            [readout(transformer(blocks, z)) for z in zs] == targets,
            f"{name}: every output is its target",
        )
        require(
            all({x for row in block.A for x in row} == {0} for block in blocks), f"{name}: A = 0"
        )
        most = max(most, len(blocks))
    return (
        f"{len(families())} families: every output equals its target within 2N - 1 blocks (at "
        f"most {most})"
    )


def prove_only_if() -> str:
    """Equal empirical measures are detected and refused, never built."""
    twice, once = [token(1, 0), token(0, 1)] * 2, [token(0, 1), token(1, 0)]
    require(empirical_measure(twice) == empirical_measure(once), "equal measures")
    try:
        build([twice, once], [token(0, 0), token(1, 1)])
    except ValueError:
        pass
    else:
        raise Refuted("the construction must refuse two sequences with the same measure")
    pairs = [(z, y) for zs in families().values() for z, y in combinations(zs, 2)]
    require(
        all(empirical_measure(z) != empirical_measure(y) for z, y in pairs),
        "the families satisfy the hypothesis",
    )
    return (
        "two sequences with the same empirical measure are refused; all families above have "
        "distinct measures"
    )
