"""The ReLU width bound fails for self-attention too."""

from fractions import Fraction

from proofs.checking import require
from proofs.sources import CONVEX

SOURCE = CONVEX
PLACE = "Theorem 3.3: m* <= n min{d^2, dc}"
KIND = "Refuted"
FAILS = "the constant in the bound on m*"
PRINTED = (
    (
        166,
        r"Then, for $m \geq m^*$ where $m^* \leq n \min\{d^2, dc\}$, the standard "
        "nonconvex training objective is equivalent to a convex optimization problem, "
        "given by",
    ),
)
CLAIM = (
    "For m >= m*, m* <= n min{d^2, dc}, the ReLU self-attention training problem (12) equals (15)."
)
MENDED = "m* <= n s c, the number of predicted numbers."


def atom(w: int) -> tuple[int, int]:
    """Prediction relu(X w X^T) X of a head with W_1 = w, W_2 = 1 on X = (1, -2)^T."""
    X = (1, -2)
    return tuple(sum(max(0, w * x * y) * y for y in X) for x in X)


def witness() -> str:
    """Compare m = 1 and m = 2 for n = 1, s = 2, d = c = 1, where one head is claimed to suffice."""
    p, q, beta = atom(1), atom(-1), Fraction(1, 10)
    require((p, q) == ((1, -8), (-4, 2)), "up to scale there are only two atoms: w > 0 and w < 0")
    Y = tuple(x - 2 * y for x, y in zip(p, q, strict=True))

    def dot(x: tuple, y: tuple) -> Fraction:
        return sum((Fraction(a) * b for a, b in zip(x, y, strict=True)), Fraction(0))

    def one_head(g: tuple) -> Fraction:
        # minimise |g t - Y|^2 / 2 + beta |t| over real t (t = |w| v, penalty by the
        # arithmetic-geometric mean): soft threshold
        c, n = dot(g, Y), dot(g, g)
        size = max(Fraction(0), abs(c) - beta)
        return dot(Y, Y) / 2 - size * size / (2 * n)

    best_one = min(one_head(p), one_head(q))
    two = beta * 3  # the weights 1 and -2 fit Y exactly
    require(best_one > 20, "every single head costs more than 20")
    require(
        two == Fraction(3, 10) and two < best_one,
        "two heads are strictly better than every single head",
    )
    return (
        "X = (1, -2)^T, Y = (1,-8) - 2(-4,2) = (9,-12), beta = 1/10, L = |.|^2/2: every "
        f"single head costs at least {best_one}, two heads cost at most 3/10."
    )
