"""B4: the cover construction: collapse and kill, tents, half-spaces, clamps, kills and the
final peel on a line.
"""

import sympy

from proofs.checking import relu, require, require_equal, require_positive
from proofs.cover import build_cover, general_position
from proofs.definition import readout, token, transformer
from proofs.sources import THEORY
from proofs.vectors import gram, inner, vectors

SOURCE = THEORY
PLACE = "Theorem B, step B4"
STATEMENT = (
    "L = K + 1 + sum over classes but one of (H_c + 3 T_c) + (M - 1) + (d - 1) + M "
    "blocks, each stage exact; the clamp is flat, so the result survives small "
    "perturbations."
)
HYPOTHESES = (
    "d >= 2, coordinates E = first d - 1, height = coordinate d; epsilon, R, h > 0; R epsilon >= h."
)
PROVED = (
    "Collapse and kill; the clamp and its flat top; the order of the classes; the kills; the line "
    "peel; the count; the program proofs/cover.py meets it. The tent is in b4_tent.py."
)
LEFT = (
    "Existence of d - 1 points near a hyperplane that avoids the others; points in the clear "
    "of a tent (general position)."
)


def prove_collapse_and_kill() -> str:
    """u = -e_d, b = B, w = f with f_d = 1 puts every token at height B; <a, f> = 0 keeps <a, .>."""
    z, f, e, a = vectors("z f e a")
    s, height = sympy.Symbol("s", positive=True), gram("e", "z")  # s = B - z_d > 0
    bound = height + s
    image = z + relu(s) * f
    value = inner(e, image).subs(gram("e", "f"), 1)
    require_equal(value, bound, "height z_d + (B - z_d) = B")
    require_equal(
        inner(a, image).subs(gram("a", "f"), 0), gram("a", "z"), "<a, f> = 0 keeps <a, .>"
    )
    return (
        "collapse and kill: height B for every token; hyperplanes a with <a, f> = 0 read the "
        "original means"
    )


def prove_clamp() -> str:
    """u = e_d, b = -(B + h), w = -e_d: the height becomes min(height, B + h), flat above."""
    top, above, below = (
        sympy.Symbol("top", real=True),
        sympy.Symbol("above", nonnegative=True),
        sympy.Symbol("below", nonnegative=True),
    )
    over, under = top + above, top - below
    require_equal(over - relu(over - top), top, "heights at or above B + h become exactly B + h")
    require_equal(under - relu(under - top), under, "heights at or below stay")
    require_equal(
        sympy.diff(over - relu(over - top), above),
        sympy.Integer(0),
        "the top is flat: small changes do not show",
    )
    return (
        "clamp: height -> min(height, B + h_c), constant above, so all pushed points are at "
        "exactly B + h_c"
    )


def prove_order_of_classes() -> str:
    """Later classes overwrite: a clamp at h_c moves nothing that sits at a lower height."""
    h, rise = sympy.Symbol("h", nonnegative=True), sympy.Symbol("rise", positive=True)
    require_equal(
        relu(h - (h + rise)),
        sympy.Integer(0),
        "classes already treated (height B + h, h < h_c) are inactive in the clamp",
    )
    push = sympy.Symbol("push", nonnegative=True)
    old = sympy.Symbol("old", nonnegative=True)
    # a point of a later class at height old >= 0 above B, pushed by at least h + rise, then
    # clamped at h + rise
    value = old + h + rise + push
    require_equal(
        value - relu(value - (h + rise)),
        h + rise,
        "whatever earlier pushes did, the class ends at exactly h_c",
    )
    return "clamps of later classes do not touch treated ones; earlier side effects are overwritten"


def prove_kills() -> str:
    """u = e_i, b = B_i, w = -e_i with B_i larger than every |x_i|: the coordinate becomes -B_i."""
    x, s = sympy.Symbol("x", real=True), sympy.Symbol("s", positive=True)
    bound = -x + s  # x + B_i = s > 0
    require_equal(x - relu(x + bound), -bound, "x_i -> -B_i")
    return "kill: x_i -> -B_i for every point, one block for each coordinate of E"


def prove_line_peel() -> str:
    """Points on a line by decreasing height, each to its target below B; see the sweep in
    stages.py.
    """
    h, gap, drop = sympy.symbols("h gap drop", positive=True)
    base = sympy.Symbol("B", real=True)
    top, following, target = base + h + gap, base + h, base - drop
    b = -following
    require_equal(relu(top + b), gap, "the top point is active alone")
    require_equal(relu(following + b), sympy.Integer(0), "the next is not")
    require_equal(relu(target + b), sympy.Integer(0), "targets are not")
    last = -(base - drop / 2)
    require_positive(base + last, "the base point at height B is active in the last block")
    require_equal(relu(target + last), sympy.Integer(0), "targets are not")
    return "line peel: M blocks with u = e_d, only the top point active, exact landing"


def prove_count() -> str:
    """Add the stages; with tents alone and d - 1 points each, N points of M classes."""
    k, h, t, m, d = sympy.symbols("K H T M d", positive=True, integer=True)
    require_equal(
        k + 1 + (h + 3 * t) + (m - 1) + (d - 1) + m,
        k + h + 3 * t + 2 * m + d - 1,
        "the sum of the stages",
    )
    # random labels, N = 10 000, d = 64, M = 2: at most 3 ceil(5000/63) + 2*2 + 64 - 1 blocks for
    # classes of equal size, K = 0
    require(3 * -(-5000 // 63) + 2 * 2 + 64 - 1 == 307, "the example 307")
    return (
        "L = K + sum(H_c + 3 T_c) + 2M + d - 1; e.g. 307 blocks for 2 x 5000 points, d = 64, "
        "K = H = 0, T = ceil(5000/63)"
    )


def prove_program() -> str:
    """Run proofs/cover.py (tents only) exactly and compare its depth with the count."""
    shown = []
    for d, n, m in ((2, 5, 2), (3, 12, 2), (3, 11, 3), (4, 13, 2)):
        zs, labels = general_position(n, d), [(j * j + j // 2) % m for j in range(n)]
        targets = [token(*(c - i for i in range(d))) for c in range(m)]
        blocks, ties, tents = build_cover(zs, labels, targets)
        exact = [readout(transformer(blocks, z)) for z in zs] == [targets[c] for c in labels]
        require(exact, f"d = {d}, N = {n}, M = {m}: every output is its target")
        require(
            len(blocks) == ties + 1 + 3 * tents + (m - 1) + (d - 1) + m, "the depth is the count"
        )
        bound = sum(-(-labels.count(c) // (d - 1)) for c in range(1, m))
        require(tents <= bound, "general position: T_c <= ceil(N_c/(d-1))")
        shown.append(f"d={d} N={n} M={m}: {len(blocks)}")
    return (
        "exact outputs at the depth of the count, tents only, T_c <= ceil(N_c/(d-1)); blocks for "
        + ", ".join(shown)
    )
