"""Layers and readout see a sequence only through its empirical measure (the corrected
hypothesis of Theorem 2.4).
"""

from fractions import Fraction
from itertools import permutations, product

import sympy

from proofs.checking import require, require_equal
from proofs.definition import maximisers, self_attention, token
from proofs.sources import HARDMAX
from proofs.vectors import mean, vectors

SOURCE = HARDMAX
PLACE = "Theorem 2.4, (2.2)-(2.5)"
STATEMENT = (
    "If Z and Y have the same empirical measure, so have T(Z) and T(Y), and R(T(Z)) = "
    "R(T(Y)), for every transformer T of the form (2.5)."
)
HYPOTHESES = (
    "Token values x_1..x_r of any dimension, masses p_1..p_r > 0 with sum 1; n p_k "
    "positions of a sequence of length n carry x_k."
)
PROVED = (
    "The average over the maximisers and the readout depend on the masses p_k only, not on "
    "n; any factor common to all masses cancels; attention commutes with permutations "
    "(instances with n = 3)."
)
LEFT = (
    "Induction over the layers: a layer maps equal values to equal values, so the image "
    "measure is the image of the measure. C_i is defined through the values <A z_i, z_l> "
    "alone."
)


def prove_attention_depends_on_masses() -> str:
    """Average over the positions of r maximal values with multiplicities n p_k, r = 1..5."""
    n = sympy.Symbol("n", positive=True)
    for r in range(1, 6):
        p, x = (
            sympy.symbols(f"p1:{r + 1}", positive=True),
            vectors(" ".join(f"x{k}" for k in range(r))),
        )
        size = sum(n * q for q in p)  # |C_i|: every maximal value x_k sits at n p_k positions
        by_positions = sum(((n * q) * (1 / size) * y for q, y in zip(p, x, strict=True)), 0 * x[0])
        by_measure = sum(((q / sum(p)) * y for q, y in zip(p, x, strict=True)), 0 * x[0])
        require(by_positions.equals(by_measure), f"the length n cancels for {r} maximal values")
    return (
        "sum over C_i of z_l/|C_i| = (sum of p_k x_k over maximal values)/(sum of p_k over "
        "maximal values), for multiplicities n p_k, any n"
    )


def prove_weights_are_homogeneous() -> str:
    """Show that (2.7) is unchanged under w -> t w, which Remark 2.6 overlooks."""
    t = sympy.Symbol("t", positive=True)
    w = sympy.symbols("w1:5", positive=True)
    for k in range(4):
        require_equal(
            t * w[k] / sum(t * x for x in w),
            w[k] / sum(w),
            "w_l / sum w is homogeneous of degree 0",
        )
    return "the weights (2.7) are homogeneous of degree 0 in the multiplicities"


def prove_readout_depends_on_masses() -> str:
    """Compute R for n p_k copies of x_k."""
    n, p, q = sympy.symbols("n p q", positive=True)
    x, y = vectors("x y")
    left = (1 / (n * p + n * q)) * ((n * p) * x + (n * q) * y)
    require(left.equals((p / (p + q)) * x + (q / (p + q)) * y), "R is the mean of the measure")
    return "R(Z) = sum p_k x_k / sum p_k"


def prove_permutations_commute() -> str:
    """SA(pi Z) = pi SA(Z), with the maximisers computed by (2.4a), ties among them."""
    corners = [token(0, 0), token(1, 0), token(0, 1), token(1, 1)]
    matrices = [
        (token(p, q), token(r, t)) for p, q, r, t in product((-1, 0, 1), repeat=4) if p >= q
    ]
    rho, V, ties = Fraction(1, 3), (token(2, -1), token(0, 5)), 0
    for k, Z in enumerate(product(corners, repeat=3)):
        for A in matrices[k % 7 :: 7]:
            ties += any(len(maximisers(list(Z), A, i)) > 1 for i in range(3))
            image = self_attention(list(Z), rho, V, A)
            for pi in permutations(range(3)):
                moved = self_attention([Z[i] for i in pi], rho, V, A)
                require(moved == [image[i] for i in pi], "SA(pi Z) = pi SA(Z)")
    require(ties > 100, "ties occur")
    z = vectors("z0 z1 z2")
    require(mean(z).equals(mean([z[k] for k in (2, 0, 1)])), "R is symmetric")
    return (
        "SA(pi Z) = pi SA(Z) by the definition (2.4) for all 64 triples of corners of the square, "
        "54 matrices in turn and all permutations, ties included; R(pi Z) = R(Z) for general d"
    )
