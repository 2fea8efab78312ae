"""The proof of Proposition 4.1 gives no constant that serves all solutions."""

from fractions import Fraction

from proofs.checking import rank, require
from proofs.sources import BANACH

SOURCE = BANACH
PLACE = "Proposition 4.1, (12), and B.3, (15)"
KIND = "Gap"
FAILS = (
    "the proof, (15): no constant serves all solutions. The text does not say what alpha "
    "may depend on"
)
PRINTED = (
    (218, r"Then, given an input x, the norm of \hat{f}_{τ} is bounded by:"),
    (222, r"where $\alpha > 0$ and γ is a scale parameter in LayerNorm."),
    (
        438,
        "Proof. By the representation theorem stated in Lemma 1, the solution "
        r"\hat{f}_{τ} lies in a finite-dimensional subspace of \mathcal{B} . Therefore, "
        "by the norm equivalence theorem for finite-dimensional normed spaces, there "
        r"exist constants $C_1, C_2 > 0$ such that: $$C_1 \|\hat{f}_{\tau}\|_{\ell^2} "
        r"\le \|\hat{f}_{\tau}\|_{\mathcal{B}} \le C_2 \|\hat{f}_{\tau}\|_{\ell^2} "
        r"\tag{15}$$",
    ),
)
CLAIM = (
    "The solutions lie in a finite-dimensional subspace, so |f|_B <= C_2 |f|_{l2}; hence "
    "(12), with a constant alpha > 0."
)
MENDED = (
    "The set {gamma G*(sum c_j nu_j)} is not contained in the span of n elements, and a "
    "norm of the function cannot be bounded by its value at one x. The pointwise "
    "inequality holds for ReLU without biases: |f + FFN(LN(f))| <= (1 + |W_2||W_1| "
    "max|gamma|/std f) |f| in l2."
)


def witness() -> str:
    """Refute the subspace in l^{3/2} on R^3, and the constant alpha for functions on two points."""
    # B = l^{3/2}, B* = l^3: G*(nu) is proportional to sgn(nu_i) nu_i^2. Two functionals nu_1 =
    # (1,0,1), nu_2 = (0,1,1).
    images = [[Fraction(n) * abs(n) for n in (c, d, c + d)] for c, d in ((1, 0), (0, 1), (1, 1))]
    require(rank(images) == 3, "two functionals, yet the solutions span R^3")
    # Functions on {x1, x2} with values in R^2, |f|_B^2 = |f(x1)|^2 + |f(x2)|^2; W_2 = 0, so f =
    # f*; f(x1) = t (1, -1), f(x2) = (1, -1).
    for k in (1, 10, 100):
        t = Fraction(1, 10**k)
        require(
            (2 * t * t + 2) / (2 * t * t) > 10 ** (2 * k),
            "|f|_B^2 / |f(x1)|^2 exceeds 10^{2k}: no alpha serves all f",
        )
    return (
        "In l^{3/2} on R^3 the functionals (1,0,1) and (0,1,1) have solutions that span "
        "R^3, not a plane. For functions on two points with f(x1) = t(1,-1), f(x2) = (1,-1) "
        "and W_2 = 0 the ratio of the two sides is above 1/t: no alpha."
    )
