"""The separation stage in at most N - #components blocks, where the paper allows 2(N - 1)."""

from fractions import Fraction
from itertools import combinations, product

import sympy

from proofs.checking import require, require_equal, require_nonnegative
from proofs.definition import readout, token, transformer
from proofs.lemmas.theorem_b import families
from proofs.sources import HARDMAX
from proofs.strategy import build_strategy, components, separate, shared
from proofs.vectors import vectors

SOURCE = HARDMAX
PLACE = "Lemma 3.5, sharpened"
STATEMENT = (
    "Join two sequences by an edge if they share a token. While an edge remains, one "
    "block raises the number of components of this graph: pull to the leaders if two "
    "neighbours have different leaders, pull to the means if two neighbours have "
    "different means, else part two neighbours' means by a feed-forward layer, "
    "injective on all tokens, and pull to the means in the same block. So N - "
    "#components <= N - 1 blocks separate all sequences."
)
HYPOTHESES = (
    "Distinct empirical measures; alpha outside the finite set of lemma_3_5; the "
    "feed-forward layer injective on tokens and keeping untied means apart "
    "(b1_tie_splitting)."
)
PROVED = (
    "The image graph keeps exactly the edges between equal keys (leader or mean); if an "
    "edge disappears the component count rises (all graphs and keys with N <= 5); the "
    "block count."
)
LEFT = (
    "The path argument for general N: edges that remain join equal keys, so the ends of a "
    "removed edge lie in different components."
)


def prove_edges_between_equal_keys() -> str:
    """A shared token z goes to z + alpha (key - z): the images agree iff the keys agree (alpha
    != 0).
    """
    alpha = sympy.Symbol("alpha", nonzero=True)
    z, p, q = vectors("z p q")
    difference = (z + alpha * (p - z)) - (z + alpha * (q - z))
    require(difference.equals(alpha * (p - q)), "the difference is alpha (p - q)")
    return (
        "a shared token stays shared iff both sequences have the same leader (Case 1) or "
        "mean (Cases 2, 3)"
    )


def prove_components_rise() -> str:
    """Check all graphs with N <= 5 and all keys: dropping the edges between different keys
    parts a component.
    """
    cases = 0
    for n in range(2, 6):
        pairs = list(combinations(range(n), 2))
        keys = [
            k
            for k in product(range(n), repeat=n)
            if all(x <= max(k[:i], default=-1) + 1 for i, x in enumerate(k))
        ]
        for mask in range(1, 2 ** len(pairs)):
            edges = [e for i, e in enumerate(pairs) if mask >> i & 1]
            before = components(n, edges)
            for key in keys:
                kept = [(j, k) for j, k in edges if key[j] == key[k]]
                if len(kept) < len(edges):
                    cases += 1
                    if components(n, kept) <= before:
                        require(False, "the component count must rise")
    require(cases > 10_000, "the check is not empty")
    return (
        "if some edge joins different keys, keeping only the edges between equal keys raises "
        "the number of components (all graphs, N <= 5)"
    )


def prove_block_count() -> str:
    """From c components to N in steps of at least one; then the strategy needs at most 2N blocks,
    and one more with preprocessing.
    """
    n, extra = (
        sympy.Symbol("N", positive=True, integer=True),
        sympy.Symbol("extra", nonnegative=True),
    )
    c = 1 + extra  # there is at least one component
    blocks, gain = sympy.symbols("blocks gain", nonnegative=True)
    most = sympy.solve(sympy.Eq(c + blocks + gain, n), blocks)[0]  # c + blocks <= N components
    require_nonnegative((n - c) - most, "at most N - c blocks")
    require_nonnegative((n - 1) - most, "N - c <= N - 1")
    total = (n - 1) + 1 + n
    require_equal(total, 2 * n, "separate, cluster, sweep")
    require_nonnegative(8 * n + 4 - (1 + total), "within the paper's bound, preprocessing included")
    return (
        "separation needs at most N - #components <= N - 1 blocks; with a sweep of N blocks "
        "the strategy has L <= (N - 1) + 1 + N = 2N, with preprocessing 2N + 1 <= 8N + 4"
    )


def prove_program() -> str:
    """Run proofs/strategy.py on families with many shared tokens, equal means and unequal
    lengths.
    """
    most = third = 0
    for name, zs in families().items():
        n, d = len(zs), len(zs[0][0])
        separating = separate(zs)
        third += sum(any(x != 0 for row in block.U for x in row) for block in separating)
        require(
            len(separating) <= n - components(n, shared(zs)),
            f"{name}: at most N - #components blocks",
        )
        require(
            not shared([transformer(separating, z) for z in zs]),
            f"{name}: no token is shared any more",
        )
        targets = [
            token(*(Fraction((j // 2 - 1) * (i + 1), 3) for i in range(d))) for j in range(n)
        ]
        blocks = build_strategy(zs, targets)
        require(len(blocks) <= 2 * n, f"{name}: at most (N - 1) + 1 + N blocks")
        require(
            [readout(transformer(blocks, z)) for z in zs] == targets,
            f"{name}: every output is its target",
        )
        most = max(most, len(separating))
    require(third > 0, "Case 3 occurs")
    return (
        f"{len(families())} families separated within N - #components blocks (at most {most}, "
        f"{third} of Case 3) and classified exactly within 2N blocks"
    )
