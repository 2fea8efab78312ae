"""The proof of Lemma 1 calls the query-key product a kernel; it is not positive semi-definite."""

from fractions import Fraction

from flint import arb

from proofs.checking import require
from proofs.sources import BANACH

SOURCE = BANACH
PLACE = "Lemma 1, proof in B.1"
KIND = "Gap"
FAILS = "the proof of Lemma 1; its statement holds"
PRINTED = (
    (360, "Proof. First, the inner product $q_i^T k_i$ is itself a valid kernel."),
    (
        362,
        "Because the property of finite positive semi-definiteness is preserved under "
        "pointwise limits, it follows that",
    ),
)
CLAIM = (
    "q^T k is itself a valid kernel, positive semi-definiteness survives pointwise limits, "
    "hence exp(q^T k / sqrt d_k) is a valid kernel."
)
MENDED = (
    "The statement of the lemma is true, its proof is not: (x, y) -> (W_q x).(W_k y) is "
    "not positive semi-definite. Use the Fock maps Phi_1 = psi((W_q x + b_q)/d^{1/4}), "
    "Phi_2 = psi((W_k y + b_k)/d^{1/4}), psi(v) = (v^{tensor m}/sqrt(m!))_m."
)


def witness() -> str:
    """Give a 2 x 2 matrix of the kernel with negative determinant, and bound the truncated Fock
    pairing.
    """
    # d = 1, W_q = 1, W_k = -1, x in {0, 1}: K = [[1, 1], [1, exp(-1)]]
    determinant = arb(-1).exp() - 1
    require(determinant < 0, "det K = 1/e - 1 < 0: K has a negative eigenvalue")
    product = [[-x * y for y in (0, 1)] for x in (0, 1)]
    require(product[1][1] == -1, "already q^T k takes the value -1 on the diagonal")
    # the Fock pairing truncated at degree 20 for q = 3/2, k = -7/5: error below |qk|^21/21! * 2
    t = Fraction(3, 2) * Fraction(-7, 5)
    partial, term = Fraction(0), Fraction(1)
    for m in range(1, 22):
        partial, term = partial + term, term * t / m
    exact = (arb(t.numerator) / t.denominator).exp()
    bound = 2 * abs(term)
    error = abs(exact - arb(partial.numerator) / partial.denominator)
    require(
        error < arb(bound.numerator) / bound.denominator, "sum_m (q k)^m / m! converges to exp(q k)"
    )
    return (
        "d = 1, W_q = 1, W_k = -1, x in {0, 1}: the matrix [[1, 1], [1, 1/e]] has "
        "determinant 1/e - 1 < 0. The Fock pairing reproduces exp(-21/10) within 2 "
        "|t|^21/21!."
    )
