"""D1: masked attention (4.2): what it cannot tell apart, and the three-block tent that moves
one state.
"""

from fractions import Fraction
from itertools import permutations, product

import sympy

from proofs.checking import relu, require, require_equal
from proofs.definition import readout, token
from proofs.masked import build, run
from proofs.sources import HARDMAX
from proofs.vectors import gram, inner, vectors

SOURCE = HARDMAX
PLACE = "Section 4, (4.2); step D1"
STATEMENT = (
    "Under masked attention Z and Z' have equal outputs for every transformer iff Z = "
    "Z' or both are constant with the same token. One state moves to a prescribed place "
    "by three feed-forward blocks; the readout is then exact."
)
HYPOTHESES = (
    "Prefix classes: the coarsest partition of prefixes stable under (last token, "
    "measure of the classes of all its prefixes). d >= 2 for the tent."
)
PROVED = (
    "The mass argument; the statement itself for all sequences over two or three tokens up "
    "to length 6 and 4; the tent with offsets eps, 0, -eps; the state t that makes the "
    "readout exact; when the hyperplane exists."
)
LEFT = (
    "A generic feed-forward and a masked mean separate inequivalent prefixes; the order of "
    "treatment."
)


def prove_mass_argument() -> str:
    """A non-constant prefix of length i has mass r/i on the constant class: r/i = r/j forces i
    = j.
    """
    r, i, j, n, m = sympy.symbols("r i j n m", positive=True)
    require_equal(sympy.factor(r / i - r / j), r * (j - i) / (i * j), "r/i - r/j")
    require_equal(
        sympy.factor(1 / n - 1 / m),
        (m - n) / (m * n),
        "a class of one prefix has mass 1/n: equal masses give equal lengths",
    )
    require(
        sympy.solve(r / n - sympy.Symbol("s", positive=True) / n, r)
        == [sympy.Symbol("s", positive=True)],
        "r/n = s/n gives equal initial runs",
    )
    return (
        "r/i = r/j iff i = j, 1/n = 1/m iff n = m, r/n = s/n iff r = s: classes match "
        "position by position"
    )


def classes(sequences: list[tuple[int, ...]]) -> dict[tuple[int, ...], int]:
    """Refine the partition of all prefixes until it is stable."""
    prefixes = {z[:i] for z in sequences for i in range(1, len(z) + 1)}
    colour = {p: p[-1] for p in prefixes}
    while True:

        def signature(p: tuple[int, ...], colour: dict = colour) -> tuple:
            mass: dict[int, Fraction] = {}
            for i in range(1, len(p) + 1):
                mass[colour[p[:i]]] = mass.get(colour[p[:i]], Fraction(0)) + Fraction(1, len(p))
            return colour[p], tuple(sorted(mass.items()))

        signatures = {p: signature(p) for p in sorted(prefixes)}
        names = {s: k for k, s in enumerate(sorted(set(signatures.values())))}
        new = {p: names[s] for p, s in signatures.items()}
        if len(set(new.values())) == len(set(colour.values())):
            return new
        colour = new


def prove_small_cases() -> str:
    """Refine for all words over {0,1} up to length 6 and {0,1,2} up to length 4."""
    total = 0
    for letters, longest in ((2, 6), (3, 4)):
        words = [w for n in range(1, longest + 1) for w in product(range(letters), repeat=n)]
        colour = classes(words)
        groups: dict[int, list] = {}
        for w in words:
            groups.setdefault(colour[w], []).append(w)
        for group in groups.values():
            require(
                len(group) == 1 or len({x for w in group for x in w}) == 1,
                "equivalent words are equal or constant with the same letter",
            )
        require(
            all(
                len({colour[(x,) * n] for n in range(1, longest + 1)}) == 1 for x in range(letters)
            ),
            "constant words are equivalent",
        )
        total += len(words)
    return (
        f"Z ~ Z' iff equal or constant with the same token: verified for all {total} words "
        "over two letters (length <= 6) and three (length <= 4)"
    )


def prove_three_block_tent() -> str:
    """(relu(t + eps) - 2 relu(t) + relu(t - eps))/eps is 1 at t = 0 and 0 for |t| >= eps."""
    eps, p = sympy.Symbol("eps", positive=True), sympy.Symbol("p", nonnegative=True)

    def tent(t: sympy.Expr) -> sympy.Expr:
        return sympy.expand((relu(t + eps) - 2 * relu(t) + relu(t - eps)) / eps)

    require_equal(tent(sympy.Integer(0)), sympy.Integer(1), "1 at t = 0")
    require_equal(tent(eps + p), sympy.Integer(0), "0 for t >= eps")
    require_equal(tent(-eps - p), sympy.Integer(0), "0 for t <= -eps")
    x, w, u = vectors("x w u")
    require((x + tent(sympy.Integer(0)) * w).equals(x + w), "x moves by exactly w")
    c = sympy.Symbol("c", real=True)
    require_equal(
        inner(u, x + c * w).subs(gram("u", "w"), 0),
        gram("u", "x"),
        "<u, w> = 0: all three blocks see the same t",
    )
    return (
        "three blocks with offsets eps, 0, -eps and w (1, -2, 1)/eps, <u, w> = 0, add "
        "exactly w at t = 0 and nothing for |t| >= eps"
    )


def prove_readout() -> str:
    """t = (n y - S)/k in k positions and S in the others give the mean y."""
    n, k = sympy.symbols("n k", positive=True)
    y, s = vectors("y S")
    t = (1 / k) * (n * y - s)
    require(((1 / n) * (k * t + s)).equals(y), "the readout is y")
    return "t = (n y - sum of the other tokens)/k makes the readout y exactly"


def prove_hyperplane_exists() -> str:
    """Let q = z - x and e = t - x be independent: the part of q orthogonal to e is a u with <u,
    q> > 0.
    """
    q, e = vectors("q e")
    u = gram("e", "e") * q - gram("e", "q") * e
    require_equal(inner(u, e), sympy.Integer(0), "<u, e> = 0")
    require_equal(
        inner(u, q),
        gram("e", "e") * gram("q", "q") - gram("e", "q") ** 2,
        "<u, q> is the Gram determinant",
    )
    require_equal(
        inner(u, u),
        sympy.expand(gram("e", "e") * inner(u, q)),
        "|u|^2 = |e|^2 <u, q>: so <u, q> > 0 unless u = 0, that is q parallel to e",
    )
    return (
        "u = |e|^2 q - <e, q> e has <u, e> = 0 and <u, q> = |e|^2 |q|^2 - <e, q>^2 > 0 "
        "unless q is parallel to e"
    )


def prove_program() -> str:
    """Run proofs/masked.py on anagrams, prefixes of one another, constant sequences and
    repeated tokens.
    """
    a, b, c = token(0, 0), token(1, 0), token(0, 1)
    l, r = token(-3, 0), token(2, 0)
    cases = {
        "all orders of three tokens": [list(p) for p in permutations([a, b, c])],
        "prefixes": [[a, b, a, b][:n] for n in range(2, 5)] + [[a], [b]],
        "all words over two letters, length 3": [list(p) for p in product([a, b], repeat=3)],
        "runs": [[a, b], [a, a, b], [a, a, b, b], [b, a], [b, b, a], [a, a, a]],
        "two states meet for the first parameter": [[l, r], [l, r, r, b]],
        "one repeated measure": [[a, b, c], [a, b, c, a, b, c], [c, b, a], [b, a, c]],
    }
    shown = []
    for name, zs in cases.items():
        targets = [token(j % 3, (2 * j) % 3) for j in range(len(zs))]
        blocks, s = build(zs, targets)
        require(
            [readout(run(blocks, z)) for z in zs] == targets, f"{name}: every output is its target"
        )
        require(len(blocks) <= s + 1 + 4 * len(zs), f"{name}: L <= S + 1 + 4N")
        prefixes = {tuple(z[: i + 1]) for z in zs for i in range(len(z))}
        classes_found = len(
            set(
                classes(
                    [tuple((a, b, c, l, r).index(x) for x in p) for p in sorted(prefixes)]
                ).values()
            )
        )
        letters = len({x for z in zs for x in z})
        require(s <= classes_found - letters, f"{name}: S <= #prefix classes - #distinct tokens")
        shown.append(f"{name}: S = {s}, L = {len(blocks)}")
    return "masked attention, exact outputs with L <= S + 1 + 4N; " + "; ".join(shown)
