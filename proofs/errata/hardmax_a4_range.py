"""A4, a slip beside it. The case distinction of the induction step ranges over one index too
many.
"""

from proofs.checking import require
from proofs.definition import token
from proofs.sources import HARDMAX

SOURCE = HARDMAX
PLACE = "Lemma 3.5, induction step, before (3.28)"
KIND = "Remark"
FAILS = "a slip in the proof: the index ranges"
PRINTED = (
    (
        359,
        r"If $\hat{z}_1^N \cap \check{Z}^j = \emptyset$ for all $j \in [N]$, then we "
        "apply",
    ),
    (
        366,
        r"If $\hat{z}_1^N \cap \hat{Z}^j \neq \emptyset$ for some $j \in [N]$, we can "
        "assume",
    ),
)
CLAIM = (
    "If z_1^N meets no Z^j for all j in [N], apply Case 1; if it meets Z^j for some j in "
    "[N], relabel so that z_1^N = z_1^{N-1}."
)
MENDED = "Both ranges must be j in [N-1]."


def witness() -> str:
    """Show that the literal first case never occurs and the second asks for a relabelling that
    does not exist.
    """
    Zs = [[token(0, 0), token(1, 0)], [token(5, 5)]]
    z = Zs[-1][0]
    require(
        any(z in Z for Z in Zs),
        "z_1^N lies in Z^N, so 'meets no Z^j for all j in [N]' is never true",
    )
    require(not any(z in Z for Z in Zs[:-1]), "no Z^j with j < N can be relabelled to contain it")
    return (
        "Z1 = {(0,0), (1,0)}, Z2 = {(5,5)}: the token (5,5) of Z2 is in no other "
        "sequence, but it is in Z2 = Z^N, so the printed first case is empty and the printed "
        "second case asks for a token of Z1 equal to (5,5)."
    )
