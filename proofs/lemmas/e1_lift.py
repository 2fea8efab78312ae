"""E1, learn before the collapse: features of tokens, their exact means, a read-out and repairs."""

from fractions import Fraction
from itertools import product

import sympy

from proofs.checking import Refuted, relu, require, require_equal, require_positive
from proofs.definition import Sequence, Token, readout, token, transformer
from proofs.learn import Feature, build, lifted, scores
from proofs.lemmas.theorem_b import families
from proofs.sources import THEORY
from proofs.vectors import Vector, gram, inner, mean, vectors

SOURCE = THEORY
PLACE = "Lemmas 17 to 19, Theorem 20"
STATEMENT = (
    "h feed-forward blocks add weighted ReLU features of each token to coordinates that were "
    "zero; the collapse takes their exact means; M - 1 blocks make coordinate c the maximum of "
    "itself and coordinate M plus score c; four blocks raise a coordinate on a plateau. So "
    "h + 1 + (M - 1) + 4 p blocks classify by argmax."
)
HYPOTHESES = (
    "u of a feature reads coordinates that no feature writes; that of a plateau reads scores and "
    "mixtures; d >= 1, M >= 2."
)
PROVED = (
    "The sum of three features and the mean of three tokens for vectors of any dimension; a ramp; "
    "the read-out for up to 5 classes and an offset that suffices; the plateau; that ReLUs in one "
    "direction determine a measure of up to 6 values; the count; and the construction, run exactly "
    "on the families of theorem_b."
)
LEFT = "More features, tokens and classes go the same way; density is cited."

P, Q, EPS, A, H = sympy.symbols("p q eps a h", positive=True)


def prove_features_add_up() -> str:
    """If <u_i, w_j> = 0, every block sees the token's own <u_i, z> + b_i."""
    (z,), us, ws = vectors("z"), vectors("u1 u2 u3"), vectors("w1 w2 w3")
    values = sympy.symbols("relu1:4", nonnegative=True)  # relu(<u_i, z> + b_i), read at the start
    apart = {gram(f"u{i}", f"w{j}"): 0 for i, j in product(range(1, 4), repeat=2)}
    moved: Vector = z
    for u, w, value in zip(us, ws, values, strict=True):
        seen = inner(u, moved).subs(apart)
        require_equal(seen, inner(u, z), "a block reads what the token holds")
        moved = moved + value * w
    wanted = z + values[0] * ws[0] + values[1] * ws[1] + values[2] * ws[2]
    require(moved.equals(wanted), "z + sum of relu_j w_j")
    return "no w changes what u reads: h blocks take z to z + sum_j relu(<u_j,z> + b_j) w_j"


def prove_means_of_features() -> str:
    """Uniform attention on z_i + f_i w gives m + (mean of f) w: the mean of features is exact."""
    zs, ws = vectors("z1 z2 z3"), vectors("w1 w2")
    table = sympy.symbols("f1:4(1:3)", nonnegative=True)  # f_ij: feature j of token i
    (s,) = vectors("s")
    moved = [z + table[2 * i] * ws[0] + table[2 * i + 1] * ws[1] + s for i, z in enumerate(zs)]
    averages = [sum(table[j::2]) * sympy.Rational(1, 3) for j in range(2)]
    wanted = mean(zs) + s + averages[0] * ws[0] + averages[1] * ws[1]
    for own in moved:
        after = 0 * own + 1 * mean(moved)
        require(after.equals(wanted), "m + s + sum_j mean(f_j) w_j")
    return "rho = 0, V = I, A = 0: every token becomes m + s + sum_j mean(relu_j) w_j, exactly"


def prove_ramp() -> str:
    """relu(t - l) - relu(t - l - width) is 0, t - l or the width."""
    low, width = sympy.Symbol("l", real=True), P + Q

    def ramp(t: sympy.Expr) -> sympy.Expr:
        return relu(t - low) - relu(t - low - width)

    require_equal(ramp(low - P), sympy.Integer(0), "below")
    require_equal(ramp(low + P), P, "between: t - l = p <= p + q")
    require_equal(ramp(low + width + EPS), width, "above")
    return "two ReLUs with opposite weights: clip(t - l, 0, width)"


def prove_readout() -> str:
    """u = e_{s+c} - e_c + e_M, b = k_c, w = e_c: x_c becomes max(x_c, x_M + S_c)."""
    for classes in range(2, 6):
        last = sympy.Symbol("x_M", real=True)
        sums = sympy.symbols(f"S1:{classes}", real=True)
        constants = sympy.symbols(f"k1:{classes}", real=True)
        for below in product((True, False), repeat=classes - 1):
            # x_c is p below x_M + S_c, or q above it
            own = [
                last + score + (-P if low else Q) for score, low in zip(sums, below, strict=True)
            ]
            state = [*own, last, *(s - k for s, k in zip(sums, constants, strict=True))]
            for c in range(classes - 1):
                t = state[classes + c] - state[c] + state[classes - 1] + constants[c]
                state[c] = sympy.expand(state[c] + relu(t))
            for c, low in enumerate(below):
                wanted = last + sums[c] if low else own[c]
                require_equal(state[c], wanted, "the larger one of x_c and x_M + S_c")
            require_equal(state[classes - 1], last, "coordinate M stays")
    return "M - 1 blocks: coordinate c = max(m_c, x_M + S_c) for c < M, coordinate M = x_M"


def prove_offset() -> str:
    """B > |m_c| + |m_M| + |S_c| makes t = S_c - m_c + m_M + B positive."""
    plus = sympy.symbols("mc+ mM+ S+", nonnegative=True)
    minus = sympy.symbols("mc- mM- S-", nonnegative=True)
    mc, last, score = (p - m for p, m in zip(plus, minus, strict=True))
    # |x| <= x+ + x-, with equality where one of them is zero
    size = sum(plus) + sum(minus)
    require_positive(score - mc + last + size + EPS, "t > 0")
    other = sympy.Symbol("S_e", real=True)
    raised = last + size + EPS
    require_equal((raised + score) - (raised + other), score - other, "only scores count")
    return "then coordinate c - coordinate e = S_c - S_e: in the cone of c iff S_c is the largest"


def plateau(t: sympy.Expr, a: sympy.Expr) -> sympy.Expr:
    """Evaluate (2 h / a)(relu(t + a) - relu(t + a/2) - relu(t - a/2) + relu(t - a))."""
    four = relu(t + a) - relu(t + a / 2) - relu(t - a / 2) + relu(t - a)
    return sympy.simplify(2 * H / a * four)


def prove_plateau() -> str:
    """It is h for |t| <= a/2, h (2 - 2|t|/a) between, and 0 for |t| >= a."""
    rest = sympy.Symbol("rest", nonnegative=True)
    size = sympy.Symbol("t", nonnegative=True)
    for sign in (1, -1):
        a = 2 * (size + rest) + EPS  # |t| <= a/2
        require_equal(plateau(sign * size, a), H, "flat in the middle")
        a = P + Q  # |t| = (p + q + p) / 2 between a/2 and a
        middle = (2 * P + Q) / 2
        wanted = H * (2 - 2 * middle / a)
        require_equal(plateau(sign * middle, a), sympy.simplify(wanted), "a slope at the sides")
        require_equal(plateau(sign * (A + rest), A), sympy.Integer(0), "zero outside")
    return "four blocks: h for |t| <= a/2, nothing for |t| >= a, between 0 and h elsewhere"


def prove_plateau_blocks_share_t() -> str:
    """u reads scores and mixtures, w = e_c with c <= M: <u, e_c> = 0."""
    x, u, e = vectors("x u e")
    height = sympy.Symbol("height", real=True)
    seen = inner(u, x + height * e).subs(gram("e", "u"), 0)
    require_equal(seen, inner(u, x), "<u, x> is unchanged")
    return "<u, e_c> = 0: the four blocks, and all later plateaus, see the same t"


def prove_one_direction_suffices() -> str:
    """For t_1 < ... < t_T the means of relu(t - t_i), i < T, and the mass 1 determine the
    masses.
    """
    for count in range(2, 7):
        gaps = sympy.symbols(f"g1:{count}", positive=True)
        values = [sum(gaps[:k], sympy.Integer(0)) for k in range(count)]
        rows = [[relu(t - threshold) for t in values] for threshold in values[:-1]]
        matrix = sympy.Matrix([*rows, [1] * count])
        sign = (-1) ** (count - 1)
        require_equal(sympy.expand(sign * matrix.det()), sympy.prod(gaps), "the determinant")
    return "T values in one direction: T - 1 ReLU means determine the measure (T = 2 ... 6)"


def prove_count() -> str:
    """h <= 8 N + 4 - M features without repairs: L = h + 1 + (M - 1) <= 8 N + 4."""
    n, classes, spare = sympy.symbols("N M spare", positive=True, integer=True)
    repairs = sympy.Symbol("p", nonnegative=True, integer=True)
    blocks = (8 * n + 4 - classes - spare) + 1 + (classes - 1) + 4 * repairs
    require_equal(8 * n + 4 - blocks, spare - 4 * repairs, "what is left of 8 N + 4")
    return "L = h + M + 4 p; with h <= 8 N + 4 - M and no repair L <= 8 N + 4"


def features_for(zs: list[Sequence], classes: int) -> list[Feature]:
    """Three features that were not chosen for these sequences."""
    d = len(zs[0][0])
    return [
        Feature(
            token(*((k * (i + 2)) % 5 - 2 for i in range(d))),
            Fraction(k, 2),
            token(*((k + c) % 3 - 1 for c in range(classes - 1))),
        )
        for k in range(1, 4)
    ]


def prove_construction() -> str:
    """Build for each family with 2, 3 and 4 classes; every output lies in its cone."""
    repairs = features = 0
    for (name, zs), classes in product(families().items(), (2, 3, 4)):
        y = [(j * j + j // 2) % classes for j in range(len(zs))]
        constants = token(*(Fraction(c, 3) for c in range(classes - 1)))
        built, used = build(zs, y, features_for(zs, classes), constants)
        blocks, n = built.blocks(), len(zs)
        require(len(used) <= 3 + n - 1, f"{name}: at most N - 1 more features")
        require(
            len(blocks) == len(used) + 1 + (classes - 1) + 4 * len(built.repairs), f"{name}: count"
        )
        require(len(built.repairs) <= n, f"{name}: at most one repair for each sequence")
        upper = [*built.features, built.collapse, *built.readout]
        for z, c in zip(zs, y, strict=True):
            before = readout(transformer(upper, lifted(z, built.width)))
            by_definition = scores(used, constants, z)
            gaps = [x - before[classes - 1] for x in before[:classes]]
            require(gaps == list(by_definition), f"{name}: the scores, exactly")
            after = readout(transformer(blocks, lifted(z, built.width)))
            require(largest(after[:classes]) == c, f"{name}: in the cone of its class")
        repairs, features = repairs + len(built.repairs), features + len(used)
    require(repairs > 0, "some models were repaired")
    return (
        f"{len(families())} families, 2 to 4 classes: scores exact, every output in its cone "
        f"({features} features, {repairs} repairs)"
    )


def largest(x: Token) -> int | None:
    """Return the index of the largest entry if there is one only."""
    place = max(range(len(x)), key=lambda k: x[k])
    return place if sum(entry == x[place] for entry in x) == 1 else None


def prove_equal_measures_are_refused() -> str:
    """Zeros do not tell apart what was equal: two sequences with one measure have equal scores."""
    twice, once = [token(1, 0), token(0, 1)] * 2, [token(0, 1), token(1, 0)]
    found = features_for([twice], 2)
    require_equal(scores(found, token(0), twice), scores(found, token(0), once), "equal scores")
    try:
        build([twice, once], [0, 1], found, token(0))
    except ValueError:
        return "two sequences with the same empirical measure and different labels are refused"
    raise Refuted("the construction must refuse two sequences with the same measure")
