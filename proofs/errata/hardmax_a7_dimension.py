"""A7. The hypothesis d >= 2 is not needed: v2 = 0 serves in Case 2."""

from fractions import Fraction

from proofs.checking import require, strictly_monotone
from proofs.definition import dot, mean, rank_one, readout, token, transformer
from proofs.sources import HARDMAX
from proofs.theorem_b import build

SOURCE = HARDMAX
PLACE = "Section 2.1 and Theorem 2.4 (d >= 2); Lemma 3.5, Case 2"
KIND = "Remark"
FAILS = "nothing: the paper assumes d >= 2. The hypothesis is not needed"
PRINTED = (
    (
        324,
        r"For the self-attention layer, we fix a constant $\beta > 0$ to be specified "
        r"later and a nonzero vector $v_2 \in \mathbb{R}^d$ such that $\langle v_2, "
        r"z_1^1 \rangle = 0 = \langle v_2, z_1^2 \rangle$.",
    ),
)
CLAIM = (
    "Case 2 takes a non-zero v2 with <v2, z_1> = 0 and A = v2 v2^T; such a vector exists "
    "for d >= 2, as the paper assumes."
)
MENDED = (
    "Take v2 = 0 (A = 0 is used in the paper's identity layers): every token of Z^j moves "
    "to z + beta (m^j - z). With radial peeling in place of the quoted theorem on flows, "
    "the corrected theorem holds for every d >= 1."
)


def witness() -> str:
    """Show that v2 must be 0 on the line, run Case 2 with v2 = 0, and classify four sequences
    with d = 1.
    """
    z = token(3)
    require(
        all(dot(token(Fraction(p, q)), z) != 0 for p in range(-9, 10) if p for q in range(1, 9)),
        "<v2, 3> = 3 v2 is 0 for v2 = 0 only",
    )
    Z1, Z2 = [token(3), token(0)], [token(3), token(1), token(2)]
    beta = Fraction(1, 8)
    block = rank_one(token(0), 0, token(0), 1 - beta, beta)
    T1, T2 = transformer([block], Z1), transformer([block], Z2)
    require(
        mean(Z1) != mean(Z2) and T1[0] == token("45/16") and T2[0] == token("23/8"),
        "(3.24) with v2 = 0",
    )
    require(
        T1[0] == max(T1) and T1[0] not in T2 and strictly_monotone(x for (x,) in T1),
        "(3.25): still extreme, no longer shared",
    )
    Zs = [Z1, Z2, [token(3)], [token(-1), token(7)]]
    targets = [token(5), token(-5), token(1), token(0)]
    blocks = build(Zs, targets)
    require(
        [readout(transformer(blocks, Z)) for Z in Zs] == targets and len(blocks) <= 7,
        "classified on the line in at most 2N - 1 blocks",
    )
    return (
        "d = 1, Z1 = {3, 0}, Z2 = {3, 1, 2}: <v2, 3> = 0 forces v2 = 0; with v2 = 0 and "
        "beta = 1/8 the shared extreme token becomes 45/16 and 23/8. Four sequences on the "
        f"line are classified exactly in {len(blocks)} blocks."
    )
