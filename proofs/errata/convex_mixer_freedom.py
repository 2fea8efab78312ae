"""A count of degrees of freedom is a factor, not a surplus."""

from proofs.checking import require
from proofs.sources import CONVEX

SOURCE = CONVEX
PLACE = "Section 4.1, after Theorem 4.1"
CLAIM = (
    "The MLP-Mixer gives the network s^2 more degrees of freedom for fitting each column of "
    "Y_i than a standard linear MLP."
)
MENDED = "s^2 times as many: s^2 d against d."


def witness() -> str:
    """Count Z^(p) in R^{s x sd} against Z^(k) in R^d."""
    s, d = 3, 4
    mixer, mlp = s * (s * d), d
    require(mixer == s**2 * mlp and mixer - mlp != s**2, "a factor s^2, not a difference s^2")
    return (
        "s = 3, d = 4: 36 numbers for each column against 4; the ratio is s^2 = 9, the "
        "difference 32."
    )
