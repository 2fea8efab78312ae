"""A9. (2.4b) writes a token for its index."""

from fractions import Fraction

from proofs.checking import require
from proofs.definition import attention, maximisers, token
from proofs.sources import HARDMAX

SOURCE = HARDMAX
PLACE = "(2.4b)"
KIND = "Remark"
FAILS = "the notation: a token stands for its index"
PRINTED = ((75, r"\frac{1}{|\mathcal{C}_i(Z, A)|} & \text{if } z_\ell \in \mathcal{C}_i(Z, A),"),)
CLAIM = (
    "Lambda_il = 1/|C_i| if z_l is in C_i, and 0 otherwise, where C_i is the set of indices (2.4a)."
)
MENDED = "Lambda_il = 1/|C_i| if l is in C_i."


def witness() -> str:
    """Show that the literal weights are all 0 for d = 2 and sit on the wrong token for d = 1."""
    identity = (token(1, 0), token(0, 1))
    Z = [token(2, 0), token(1, 0)]
    literal = [
        [
            Fraction(1) if z in [j + 1 for j in maximisers(Z, identity, i)] else Fraction(0)
            for z in Z
        ]
        for i in range(2)
    ]
    require(literal == [[0, 0], [0, 0]], "no vector of R^2 is an index: all printed weights are 0")
    line = [token(2), token(1)]
    indices = [j + 1 for j in maximisers(line, (token(1),), 0)]
    require(
        indices == [1] and [z[0] in indices for z in line] == [False, True],
        "on the line the number z_2 = 1 is in C_1 = {1}, z_1 = 2 is not",
    )
    require(attention(line, (token(1),)) == [[1, 0], [1, 0]], "the meant weights are on z_1")
    return (
        "Tokens z1 = 2, z2 = 1 on the line, A = 1: C_1 = {1}, so read literally the weight "
        "goes to z2 = 1 instead of z1; for d = 2 no token is an index and all weights are 0."
    )
