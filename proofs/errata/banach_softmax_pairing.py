"""A softmax weight is not a pairing of two tokens."""

import sympy
from flint import arb

from proofs.checking import require
from proofs.sources import BANACH

SOURCE = BANACH
PLACE = "Theorem 3.3, (9), and B.2"
KIND = "Refuted"
FAILS = "the formula: the left side depends on two tokens, the right side on all"
PRINTED = (
    (
        430,
        "Specifically, the inner product between suitably chosen feature maps Φ_1 and "
        "Φ_2 can be expressed as",
    ),
    (
        432,
        r"\langle \Phi_1(\hat{\boldsymbol{x}}_j^l), \Phi_2(\hat{\boldsymbol{x}}_i^l) "
        r"\rangle_{\mathcal{B}_1 \times \mathcal{B}_2} = \operatorname{softmax} "
        r"\left(\frac{W_q \hat{\boldsymbol{x}}_i^l \cdot (W_k "
        r"\hat{\boldsymbol{x}}_j^l)}{\sqrt{d_k}} \right)$$",
    ),
)
CLAIM = (
    "<Phi_1(x_j), Phi_2(x_i)> = softmax(W_q x_i . W_k x_j / sqrt d_k) for feature maps "
    "Phi_1, Phi_2."
)
MENDED = (
    "Only the exponential in the numerator is a pairing of x_i and x_j. The denominator "
    "depends on all keys, so Phi_2 would depend on the whole sequence."
)


def witness() -> str:
    """Evaluate the weight of the same pair in two sequences."""

    def weight(query: int, key: int, keys: list[int]) -> sympy.Expr:
        return sympy.exp(query * key) / sum(sympy.exp(query * k) for k in keys)

    short, long = weight(1, 2, [2]), weight(1, 2, [2, 3])
    require(
        short == 1 and sympy.simplify(long - 1 / (1 + sympy.E)) == 0,
        "the same pair of tokens has two weights",
    )
    require((arb(1) + arb(1).exp()) > 3, "1/(1 + e) < 1/3")
    return (
        "Query 1, key 2 (W_q = W_k = 1): in the sequence of keys (2) the weight is 1, in (2, "
        "3) it is 1/(1 + e) < 1/3; a function of the pair has one value."
    )
