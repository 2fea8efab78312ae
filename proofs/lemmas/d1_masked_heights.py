"""D1 in any dimension: fold, park and place move last states by their heights."""

from collections.abc import Sequence as Ordered
from fractions import Fraction
from itertools import pairwise, permutations, product

import sympy

from proofs.checking import relu, require, require_equal, require_positive
from proofs.definition import Sequence, readout, token
from proofs.masked import MaskedBlock, layer, run, separation_block, tied_prefixes
from proofs.sources import HARDMAX

SOURCE = HARDMAX
PLACE = "Section 4, (4.2); step D1, any d >= 1"
STATEMENT = (
    "S + 3N blocks send pairwise inequivalent sequences to any targets under masked attention, in "
    "every dimension: so a masked classifier exists iff no two sequences with different labels are "
    "equal or repeat one token."
)
HYPOTHESES = (
    "The states of inequivalent prefixes differ; u takes different values (heights) on them."
)
PROVED = (
    "Where a fold puts the heights above; that a placing layer keeps the waiting states outside; "
    "the tent with offsets eps, -eps/2, -eps; the construction on families of words for d = 1; "
    "that masked means alone never tell (0, 1, 2) from (0, 2), and their eigenvectors for n <= 8."
)
LEFT = "The order of treatment; that generic heights differ; the eigenvectors for all n."


def prove_fold() -> str:
    """Heights s = c + p > c go to c - lam p, between h - g and h."""
    h = sympy.Symbol("h", real=True)
    q, lam, p, slack = sympy.symbols("q lam p slack", positive=True)
    c = h + q
    image = c + p - (1 + lam) * relu(p)
    require_equal(image, c - lam * p, "s > c goes to c - lam (s - c)")
    near = image.subs(p, (q + slack) / lam)  # lam p > c - h, the condition on c
    require_positive(h - near, "below h")
    gap = lam * (p + q) + slack  # lam < g/f, f >= p + q
    require_positive(image - (h - gap), "above h - g")
    require_equal(h - (1 + lam) * relu(-q), h, "h itself stays")
    return "heights above x_j fold strictly into the gap below it, in reversed order"


def prove_place() -> str:
    """The layer takes h to tau, and s < h to s' with s' - tau = (h - s)(W - 1)."""
    h, weight = sympy.symbols("h W", real=True)
    room, below, more = sympy.symbols("room below more", positive=True)
    c = h + room

    def moved(s: sympy.Expr) -> sympy.Expr:
        return s + weight * relu(c - s)

    tau = moved(h)
    require_equal(tau, h + weight * room, "x_k goes to t")
    require_equal(moved(h - below) - tau, below * (weight - 1), "s' - tau = (h - s)(W - 1)")
    require_equal(
        moved(h - below) - moved(h - below - more), (1 - weight) * more, "the order of those behind"
    )
    require_equal(moved(h - below) - c, (1 - weight) * (-room - below), "W <= 0: they stay below c")
    require_equal(c + more + weight * relu(-more), c + more, "what is above c stays")
    return (
        "W <= 0: waiting states stay below, in order; W > 1: they come out above, in reversed order"
    )


def prove_tent() -> str:
    """(relu(t + eps) - 4 relu(t - eps/2) + 3 relu(t - eps))/eps is 1 at 0 and 0 for |t| >= eps."""
    eps, p = sympy.Symbol("eps", positive=True), sympy.Symbol("p", nonnegative=True)

    def tent(t: sympy.Expr) -> sympy.Expr:
        return sympy.expand((relu(t + eps) - 4 * relu(t - eps / 2) + 3 * relu(t - eps)) / eps)

    require_equal(tent(sympy.Integer(0)), sympy.Integer(1), "1 at t = 0")
    require_equal(tent(eps + p), sympy.Integer(0), "0 for t >= eps")
    require_equal(tent(-eps - p), sympy.Integer(0), "0 for t <= -eps")
    return "offsets eps, -eps/2, -eps with w (1, -4, 3)/eps add w at t = 0, nothing for |t| >= eps"


def prove_means_alone() -> str:
    """The masked mean has eigenvectors binom(i-1, k-1) with eigenvalues 1/k; an example."""
    for n in range(1, 9):
        for k in range(1, n + 1):
            vector = [sympy.binomial(i - 1, k - 1) for i in range(1, n + 1)]
            means = [sum(vector[:i], sympy.Integer(0)) / i for i in range(1, n + 1)]
            require_equal(
                sympy.Matrix(means), sympy.Matrix(vector) / k, f"eigenvector {k} of length {n}"
            )
    mean = MaskedBlock(token(0), Fraction(0), token(0), Fraction(0), Fraction(1))
    left, right = [token(x) for x in (0, 1, 2)], [token(x) for x in (0, 2)]
    for _ in range(20):
        left, right = run([mean], left), run([mean], right)
        require(left[-1] == right[-1], "(0, 1, 2) and (0, 2) end alike")
    return "means of means never tell (0, 1, 2) from (0, 2) at the end; one hinge before them does"


def fold_park_place(
    states: list[Sequence], ends: Ordered[Fraction], targets: Ordered[Fraction]
) -> list[MaskedBlock]:
    """Build the blocks of the proof for d = 1; ``ends`` are the last states, in order."""
    blocks: list[MaskedBlock] = []
    ends = list(ends)

    def apply(u: int, b: Fraction, w: Fraction) -> None:
        nonlocal states, ends
        blocks.append(layer(token(u), b, token(w)))
        states = [run(blocks[-1:], Z) for Z in states]
        ends = [run(blocks[-1:], [token(x)])[0][0] for x in ends]

    def heights() -> list[Fraction]:
        return sorted({x for Z in states for (x,) in Z})

    def in_order(side: int, waiting: list[Fraction]) -> None:
        others = [side * s for s in heights() if s not in waiting]
        line = [*sorted(others)[:1], *(side * s for s in waiting)]
        require(all(a > b for a, b in pairwise(line)), "those who wait: on one side, in order")

    for j in range(len(ends)):
        h, known = ends[j], heights()
        if h < known[-1]:
            below = [s for s in known if s < h]
            gap = h - below[-1] if below else Fraction(1)
            lam = gap / (known[-1] - h) / 2
            r = min(s for s in known if s > h) - h
            q = lam * r / (2 * (1 + lam))
            apply(1, -h - q, -1 - lam)
        h, known = ends[j], heights()
        if len(known) > 1:
            q = (h - known[-2]) / 2
            apply(1, q - h, (known[0] - 1 - h) / q)
        require(len(known) == len(heights()), "different heights stay different")
    in_order(1, ends)
    side = 1
    for k in range(len(ends)):
        h, waiting = ends[k], ends[k + 1 :]
        own = [x for (x,) in states[k]]
        to = (len(own) * targets[k] - sum(x for x in own if x != h)) / own.count(h)
        others = [side * s for s in heights() if s != h and s not in waiting]
        if to == h:
            continue
        room = (min(others, default=side * h + 1) - side * h) / 2
        if side * (to - h) > 0 and waiting:
            least = min(abs(h - s) for s in waiting)
            beyond = max([side * to, *others]) - side * to + 1
            room = min(room, abs(to - h) / (2 + beyond / least))
        apply(-side, side * h + room, (to - h) / room)
        side = -side if side * (to - h) > 0 else side
        in_order(side, ends[k + 1 :])
    return blocks


def prove_program() -> str:
    """Run separation, then fold, park and place, on words over numbers."""
    cases = {
        "all orders of three numbers": [list(p) for p in permutations((0, 1, 3))],
        "prefixes": [[0, 1, 0, 1][:n] for n in range(2, 5)] + [[0], [1]],
        "all words over two numbers, length 3": [list(p) for p in product((0, 1), repeat=3)],
        "means alone do not tell them apart": [[0, 1, 2], [0, 2], [0, 1]],
        "prefixes of both signs": [[-1, 2, -1, 5, 0, -4][:n] for n in range(1, 7)] + [[5], [2, 2]],
        "single numbers": [[x] for x in (0, 1, 4, -2, 9, 3, 5)],
        "words over three numbers": [
            list(p) for n in (1, 2) for p in product((-3, 0, 2), repeat=n)
        ],
    }
    shown = []
    for name, words in cases.items():
        ordered = sorted(words, key=lambda word: (len(set(word)) > 1, len(word)))
        seen: list[list[int]] = []
        for word in ordered:  # words that repeat one number are equivalent
            if len(set(word)) > 1 or [word[0]] not in [other[:1] for other in seen]:
                seen.append(word)
        zs = [[token(x) for x in word] for word in seen]
        separation = []
        while tied_prefixes([run(separation, z) for z in zs]):
            separation.append(separation_block([run(separation, z) for z in zs]))
        states = [run(separation, z) for z in zs]
        targets = [Fraction((9 * j % 11 - 5) ** 3, 3) for j in range(len(zs))]
        blocks = fold_park_place(states, [Z[-1][0] for Z in states], targets)
        outputs = [readout(run([*separation, *blocks], z)) for z in zs]
        require(outputs == [token(t) for t in targets], f"{name}: every output is its target")
        require(len(blocks) <= 3 * len(zs), f"{name}: L <= S + 3N")
        shown.append(f"{name}: S = {len(separation)}, L = {len(separation) + len(blocks)}")
    return "exact outputs with L <= S + 3N for d = 1; " + "; ".join(shown)
