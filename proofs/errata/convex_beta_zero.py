"""For two samples linear self-attention without penalty is in general no linear MLP."""

from fractions import Fraction

from proofs.checking import require, require_equal
from proofs.sources import CONVEX

SOURCE = CONVEX
PLACE = "Section 3, after Theorem 3.1"
KIND = "Refuted"
FAILS = "the statement, for more than one sample"
PRINTED = (
    (
        142,
        r"We note that when $\beta=0$, the linear self-attention model (13) is "
        "equivalent to the linear two-layer MLP (6).",
    ),
)
CLAIM = (
    "When beta = 0, the linear self-attention model (13) is equivalent to the linear "
    "two-layer MLP (6)."
)
MENDED = (
    "The prediction of (13) is cubic in X_i, that of (6) linear. For one sample with a "
    "non-zero Gram matrix the two classes agree; for n >= 2 in general neither contains the "
    "other."
)


def best(weights: list[int], targets: list[int]) -> Fraction:
    """Least sum of squares of (target - weight p) over one real number p, by the normal
    equation.
    """
    p = Fraction(
        sum(w * t for w, t in zip(weights, targets, strict=True)), sum(w * w for w in weights)
    )
    return sum(((t - w * p) ** 2 for w, t in zip(weights, targets, strict=True)), Fraction(0))


def witness() -> str:
    """Compare both models on X_1 = I, X_2 = 2I (d = s = 2, c = 1), where they act coordinate by
    coordinate.
    """
    # X_i = t I gives G_i = t^2 I, so (13) predicts sum_kl G[k,l] X Z^(k,l) = t^3 (Z^(1,1) +
    # Z^(2,2)) and (6) predicts t w.
    mlp, attention = [1, 2], [1, 8]
    for t, expected in zip(mlp, attention, strict=True):
        require(
            sum(t * t * t for k in range(2) for l in range(2) if k == l) == 2 * expected,
            "the factor is t^3 for each diagonal block",
        )
    require_equal(best(mlp, [1, 2]), Fraction(0), "Y = (e1, 2 e1): the MLP fits exactly")
    require_equal(best(attention, [1, 2]), Fraction(36, 65), "Y = (e1, 2 e1): best self-attention")
    require_equal(
        best(attention, [1, 8]), Fraction(0), "Y = (e1, 8 e1): self-attention fits exactly"
    )
    require_equal(best(mlp, [1, 8]), Fraction(36, 5), "Y = (e1, 8 e1): best MLP")
    return (
        "X_1 = I, X_2 = 2I: for Y = (e1, 2e1) the MLP has residual 0 and the best "
        "self-attention 36/65; for Y = (e1, 8e1) self-attention has residual 0 and the best "
        "MLP 36/5 (sums of squares)."
    )
