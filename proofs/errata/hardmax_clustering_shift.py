"""A slip in the clustering stage: the collapsed token carries the shift of Lemma 3.3."""

from fractions import Fraction

from proofs.checking import require
from proofs.definition import add, dot, scale, token, transformer, translation
from proofs.sources import HARDMAX

SOURCE = HARDMAX
PLACE = "Section 3.1, Clustering"
KIND = "Remark"
FAILS = "the formula: a common shift is missing (a slip)"
PRINTED = (
    (
        138,
        r"Then, for every $j \in [N]$, the sequence $T_{clu}(T_{sep}(T_{pre}(Z^j)))$ "
        "has a single token $T_{sep}(T_{pre}(z^j_{i_j}))$ repeated len (Z^j) times.",
    ),
)
CLAIM = (
    "T_clu(T_sep(T_pre(Z^j))) is the single token T_sep(T_pre(z_{i_j}^j)) repeated len(Z^j) times."
)
MENDED = (
    "It is that token plus the common translation b v/|v|^2 of Lemma 3.3, which is not 0. "
    "Nothing later depends on it."
)


def witness() -> str:
    """Run the clustering block on one sequence and compare with the leader."""
    Z, v = [token(1, 1), token(2, 0), token(-1, 4)], token(1, 0)
    leader = max(Z, key=lambda z: dot(v, z))
    b = max(abs(dot(v, z)) for z in Z) + 1
    s = scale(b / dot(v, v), v)
    out = transformer([translation(s, Fraction(0), 1, v)], Z)
    require(
        out == [add(leader, s)] * 3 and leader not in out,
        "the leader plus the shift, not the leader",
    )
    return (
        "Z = {(1,1), (2,0), (-1,4)}, v = (1,0), epsilon = 1: the block returns (5,0) three "
        "times, the leader is (2,0)."
    )
