"""The printed iteration of the l1-SVM has only fixed points with w = 0."""

from fractions import Fraction

from proofs.checking import require
from proofs.sources import BANACH

SOURCE = BANACH
PLACE = "Appendix D, (28)-(29)"
KIND = "Refuted"
FAILS = "the formula: the extrapolated point"
PRINTED = (
    (
        521,
        "the iterative update steps are given by: $$w_{k+1} = "
        r"\operatorname{prox}_{\frac{1}{\lambda}\phi} \left(w_k - "
        r"\frac{C\beta}{\lambda} B^T (y_k - y_{k-1}) \right)",
    ),
)
CLAIM = (
    "w_{k+1} = prox(w_k - (C beta/lambda) B^T (y_k - y_{k-1})) with (29) is an oracle "
    "for the regularised l1-SVM."
)
MENDED = "The extrapolated point is 2 y_k - y_{k-1}: its fixed points are the minimisers."


def soft(x: Fraction, t: Fraction) -> Fraction:
    """Soft-threshold x by t."""
    return max(abs(x) - t, Fraction(0)) * (1 if x > 0 else -1)


def hinge_prox(z: Fraction) -> Fraction:
    """Minimise (x - z)^2/2 + max(0, 1 - x)."""
    return z if z > 1 else z + 1 if z < 0 else Fraction(1)


def step(
    w: Fraction, y: Fraction, before: Fraction, lam: Fraction, extrapolate: int
) -> tuple[Fraction, Fraction]:
    """One step for B = (2), C = beta = 1; extrapolate = 1 is printed, 2 is mended."""
    w = soft(w - 2 * (extrapolate * y - before) / lam, 1 / lam)
    z = y + 2 * w
    return w, z - hinge_prox(z)


def orbit(lam: Fraction, extrapolate: int, steps: int) -> list[tuple[Fraction, Fraction]]:
    """List the states (w, y) from w = y = 0."""
    w = y = before = Fraction(0)
    states = []
    for _ in range(steps):
        (w, new), before = step(w, y, before, lam, extrapolate), y
        y = new
        states.append((w, y))
    return states


def objective(w: Fraction) -> Fraction:
    """|w| + max(0, 1 - 2 w)."""
    return abs(w) + max(Fraction(0), 1 - 2 * w)


def witness() -> str:
    """Show w = soft(w, 1/lambda) forces w = 0; the optimum w = 1/2 is fixed by the mended
    iteration.
    """
    lam = Fraction(5)
    for w in (Fraction(k, 10) for k in range(-50, 51)):
        require(
            (soft(w, 1 / lam) == w) == (w == 0),
            "at a fixed point y_k = y_{k-1} the printed step is w -> soft(w, 1/lambda)",
        )
    # objective: 1 - 3w (w < 0), 1 - w (0 <= w <= 1/2), w (w >= 1/2): convex with the minimum 1/2
    # at w = 1/2
    best = Fraction(1, 2)
    require(
        objective(best) == best
        and objective(best - 1) > best
        and all(objective(Fraction(k, 100)) >= best for k in range(-300, 300)),
        "the optimum",
    )
    w, y = best, Fraction(-1, 2)
    require(
        step(w, y, y, lam, 2) == (w, y),
        "(w, y) = (1/2, -1/2) is a fixed point of the mended iteration",
    )
    require(
        step(w, y, y, lam, 1)[0] != w and objective(Fraction(0)) == 1,
        "not of the printed one; at w = 0 the objective is 1",
    )
    mended, printed = orbit(lam, 2, 80), orbit(lam, 1, 80)
    require(
        abs(mended[-1][0] - best) < Fraction(1, 10**9),
        "the mended iteration approaches the optimum",
    )
    require(
        all(w == 0 for w, _ in printed[2:]),
        "the printed iteration started at 0 stays at w = 0 from the third step on",
    )
    return (
        "B = (2), C = beta = 1, lambda = 5: the objective |w| + (1 - 2w)_+ has its minimum "
        "1/2 at w = 1/2; the printed iteration has fixed points with w = 0 only (value 1), "
        "and from (0, 0) it stays at w = 0; the mended one has the fixed point w = 1/2 and "
        "is within 10^-9 of it after 80 steps."
    )
