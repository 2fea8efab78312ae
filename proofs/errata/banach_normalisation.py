"""Normalising the Gaussian feature map cannot produce the exponential kernel."""

from flint import arb

from proofs.checking import require
from proofs.sources import BANACH

SOURCE = BANACH
PLACE = "B.2, 'By normalizing the feature maps'"
KIND = "Refuted"
FAILS = "the statement: the pairing of unit vectors is bounded, the right side is not"
PRINTED = (
    (
        418,
        r"By normalizing the feature maps as $\tilde{\phi}_1 = "
        r"\phi_1/\|\phi_1\|_{\mathcal{H}_1}$ and $\tilde{\phi}_2 = "
        r"\phi_2/\|\phi_2\|_{\mathcal{H}_2}$, we obtain: $$\langle "
        r"\tilde{\phi}_1(\mathbf{x}_j), \tilde{\phi}_2(\mathbf{x}_i) \rangle = "
        r"\exp\left(\frac{\langle \mathbf{x}_j, \mathbf{x}_i "
        r"\rangle}{\sigma_i^2}\right)$$",
    ),
)
CLAIM = "With phi = phi_1/|phi_1| one obtains <phi(x_j), phi(x_i)> = exp(<x_j, x_i>/sigma^2)."
MENDED = (
    "The other way round: normalising the exponential kernel gives the Gaussian kernel. "
    "The Gaussian feature map has norm 1 already."
)


def witness() -> str:
    """Evaluate the right side at x_i = x_j = t, t^2 = C, sigma = 1, and verify the reversed
    statement at a pair.
    """
    for bound in (1, 10, 10**6):
        require(
            arb(bound).exp() > bound, "exp(t^2) exceeds the constant C of the pairing at t^2 = C"
        )
    x, y = arb(3) / 4, arb(-2) / 5
    normalised = (x * y).exp() / ((x * x).exp() * (y * y).exp()).sqrt()
    gaussian = (-((x - y) ** 2) / 2).exp()
    require(
        abs(normalised - gaussian) < arb(2) ** -40,
        "exp(xy)/sqrt(exp(xx) exp(yy)) = exp(-(x-y)^2/2)",
    )
    return (
        "x_i = x_j = t, sigma = 1: the left side pairs unit vectors, so it is at most the constant "
        "C of the pairing; the right side exp(t^2) exceeds C at t^2 = C. Normalising the "
        "exponential kernel gives the Gaussian."
    )
