"""A9. Lemma 3.1 uses A = -v v^T, which Remark 2.7 says is never used."""

from fractions import Fraction

from proofs.checking import require
from proofs.definition import maximisers, scale, token
from proofs.sources import HARDMAX

SOURCE = HARDMAX
PLACE = "Lemma 3.1, (3.10), against Remark 2.7"
CLAIM = (
    "In the self-attention layers we always choose A = v v^T (Remark 2.7); if <v, z_p> < 0 "
    "the lemma sets A = -v v^T."
)
MENDED = (
    "Both are right in their place, but Lemma 3.1 with A = v v^T alone is false without a "
    "shift. The layers of the construction come from Lemma 3.3, whose shift makes <v, z> "
    "positive, so A = v v^T does suffice there."
)


def witness() -> str:
    """Show that the extreme token 1 of {1, 2} is a leader for A = -1 and for no A = v^2."""
    Z = [token(1), token(2)]
    values = [Fraction(p, q) for p in range(-6, 7) for q in range(1, 5)]
    require(
        all(maximisers(Z, (token(v * v),), 0) != [0] for v in values),
        "A = v^2 >= 0: <A z_1, z> = v^2 z is largest at 2, or all tie for v = 0",
    )
    require(maximisers(Z, (token(-1),), 0) == [0], "A = -1 makes it a leader")
    shifted = [(z[0] - 3,) for z in Z]
    require(
        maximisers(shifted, (scale(-1, token(-1)),), 0) == [0],
        "after the shift by -3, A = (-1)(-1)^T does",
    )
    return (
        "d = 1, Z = (1, 2): the extreme token 1 is a leader for A = -1, for no A = v^2, and "
        "for A = v^2 with v = -1 after the shift by -3."
    )
