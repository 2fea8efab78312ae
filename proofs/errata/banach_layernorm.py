"""(22) is an upper bound that can be arbitrarily far from the value, not an approximation."""

from fractions import Fraction

from proofs.checking import require
from proofs.sources import BANACH

SOURCE = BANACH
PLACE = "B.3, (22)"
KIND = "Gap"
FAILS = "a step of the proof: a bound is called an approximation"
PRINTED = (
    (
        472,
        "remains bounded away from zero, we obtain the approximation: "
        r"$$\|\operatorname{LN}(\tilde{f}_{\tau}^*)\|_{\ell^2} \approx "
        r"\frac{\max|\gamma|}{\operatorname{std}(\tilde{f}_{\tau}^*)} \cdot "
        r"\|\tilde{f}_{\tau}^*\|_{\ell^2}$$",
    ),
)
CLAIM = "|LN(f)|_{l2} is approximately (max|gamma|/std(f)) |f|_{l2}."
MENDED = (
    "|LN(f)| <= max|gamma| sqrt(d) always, and |f|/std(f) = sqrt(d) sqrt(1 + mean^2/std^2) "
    ">= sqrt(d): the right side is a bound that is loose by the factor sqrt(1 + "
    "mean^2/std^2)."
)


def witness() -> str:
    """Compare both sides for f = (t + 1, t - 1), gamma = 1, epsilon = 0."""
    for t in (0, 1, 10, 1000):
        f = (Fraction(t + 1), Fraction(t - 1))
        mu = sum(f) / 2
        variance = sum((x - mu) ** 2 for x in f) / 2
        left, right = sum((x - mu) ** 2 for x in f) / variance, sum(x * x for x in f) / variance
        require(left == 2 and right == 2 * (1 + t * t), "squares of both sides")
    return (
        "f = (t+1, t-1), gamma = 1: |LN(f)|^2 = 2 for every t, the square of the right side "
        "is 2(1 + t^2); at t = 1000 the two differ by a factor above 1000."
    )
