"""The number of blocks 8N + 4 and of parameters P <= 54 N d."""

import sympy

from proofs.checking import require, require_equal, require_nonnegative
from proofs.sources import HARDMAX

SOURCE = HARDMAX
PLACE = "Section 3.1, Complexity of the Construction"
STATEMENT = (
    "L <= 1 + 2(N-1) + 1 + (N-1) + 5(N+1) = 8N + 4 and P <= (3d+3)(8N+4) <= 54 N d for "
    "d >= 2, N >= 1."
)
HYPOTHESES = (
    "A block is counted by u, w, v (d each), b, rho, alpha: at most 3d + 3 non-zero "
    "parameters in the rank-one form of Remark 2.7."
)
PROVED = (
    "Both identities, the exact range of the inequality (d >= 2, or d = 1 and N >= 4), "
    "equality only for d = 2, N = 1, and the counts of Theorem B."
)
LEFT = "Nothing."

E_, F_ = sympy.symbols("e f", nonnegative=True, integer=True)


def prove_blocks() -> str:
    """Add the five stages."""
    n = sympy.Symbol("N", integer=True, positive=True)
    require_equal(1 + 2 * (n - 1) + 1 + (n - 1) + 5 * (n + 1), 8 * n + 4, "the sum of the stages")
    return "1 + 2(N-1) + 1 + (N-1) + 5(N+1) = 8N + 4"


def prove_parameters() -> str:
    """54 N d - (3d+3)(8N+4) = 18 e + 36 f + 30 e f with d = 2 + e, N = 1 + f."""
    d, n = 2 + E_, 1 + F_
    margin = sympy.expand(54 * n * d - (3 * d + 3) * (8 * n + 4))
    require_equal(margin, 18 * E_ + 36 * F_ + 30 * E_ * F_, "the margin")
    require_nonnegative(margin, "P <= 54 N d")
    return "54Nd - (3d+3)(8N+4) = 18(d-2) + 36(N-1) + 30(d-2)(N-1) >= 0 for d >= 2, N >= 1"


def prove_equality_case() -> str:
    """The margin vanishes only for d = 2, N = 1, where both sides are 108."""
    margin = 18 * E_ + 36 * F_ + 30 * E_ * F_
    require(
        (margin + 0).subs({E_: 0, F_: 0}) == 0 and (3 * 2 + 3) * 12 == 108 == 54 * 2,
        "equality at d = 2, N = 1",
    )
    require_nonnegative(
        margin - 18 * E_ - 36 * F_, "the margin is at least 18 e + 36 f, positive otherwise"
    )
    return "equality only for d = 2, N = 1: 9 * 12 = 108 = 54 * 2"


def prove_one_dimension() -> str:
    """For d = 1 the margin is 6N - 24."""
    n = sympy.Symbol("N", integer=True, positive=True)
    require_equal(54 * n - 6 * (8 * n + 4), 6 * n - 24, "the margin for d = 1")
    require(
        [(54 * k >= 6 * (8 * k + 4)) for k in range(1, 6)] == [False, False, False, True, True],
        "N = 1, 2, 3 fail",
    )
    return "for d = 1 the inequality holds iff N >= 4 (margin 6N - 24)"


def prove_theorem_b() -> str:
    """Theorem B: K + 1 + (N - 1) <= 2N - 1 blocks with at most 2d + 3 non-zero parameters each."""
    d, n = 1 + E_, 1 + F_
    ties = n - 1
    require_equal(ties + 1 + (n - 1), 2 * n - 1, "K <= N - 1")
    require_nonnegative((8 * n + 4) - (2 * n - 1), "within 8N + 4")
    require_nonnegative(
        sympy.expand(10 * n * d - (2 * d + 3) * (2 * n - 1)), "(2d+3)(2N-1) <= 10 N d"
    )
    return (
        "Theorem B: L <= 2N - 1 and P <= (2d+3)(2N-1) <= 10 N d for all d, N >= 1 (v = 0 "
        "throughout)"
    )


def prove_sweep_strategy() -> str:
    """The sharper stages, preprocessing included: 2N + 1 blocks, P <= 27 N d / 2 for d >= 2."""
    d, n = 2 + E_, 1 + F_
    require_equal(1 + (n - 1) + 1 + n, 2 * n + 1, "blocks")
    require_nonnegative(
        sympy.expand(27 * n * d - 2 * (3 * d + 3) * (2 * n + 1)), "2 (3d+3)(2N+1) <= 27 N d"
    )
    return (
        "with preprocessing, separation in N - 1 blocks and one sweep: L <= 2N + 1, P <= "
        "(3d+3)(2N+1) <= (27/2) N d for d >= 2, N >= 1"
    )
