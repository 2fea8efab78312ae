"""A slip in Lemma 3.2 ii): no token beats itself."""

from proofs.checking import require
from proofs.definition import dot, token
from proofs.sources import HARDMAX

SOURCE = HARDMAX
PLACE = "Lemma 3.2 ii)"
KIND = "Remark"
FAILS = "the formula at l = i_j (a slip)"
PRINTED = (
    (
        208,
        r"- ii) For every $j \in [N]$, there exists $i_j \in [\operatorname{len}(Z^j)]$ "
        r"such that $\langle v, z_{\ell}^j \rangle < \langle v, z_{i_j}^j \rangle \ "
        r"\forall \ell \in [\operatorname{len}(Z^j)]$.",
    ),
)
CLAIM = "For every j there is i_j with <v, z_l> < <v, z_{i_j}> for all l in [len(Z^j)]."
MENDED = "For all l other than i_j."


def witness() -> str:
    """Show that the printed inequality fails at l = i_j for the shortest possible sequence."""
    Z = [token(1, 2)]
    for v in (token(1, 0), token(-3, 5), token(0, 0)):
        require(
            not any(all(dot(v, z) < dot(v, Z[i]) for z in Z) for i in range(len(Z))),
            "no i_j exists",
        )
    return "Z = {(1, 2)}: l = i_j = 1 would need <v, z_1> < <v, z_1>, which no v satisfies."
