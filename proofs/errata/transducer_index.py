"""The sum (5) and the recursion (6) evaluate the kernel at different representations, and
differ if G is not the identity.
"""

from fractions import Fraction

from proofs.checking import require
from proofs.sources import TRANSDUCER

SOURCE = TRANSDUCER
PLACE = "Section 4, (5) against (6)"
KIND = "Gap"
FAILS = "the two formulas: (5) and (6) evaluate the kernel at different representations"
PRINTED = (
    (186, 'VveV, To(Do)(w) = Y. Ko(vi,v)(t:) = Y. > rg(vl,v")(uf) (5)'),
    (193, "varl = Fg(vf) , vt = Fg('ve) (6)"),
)
CLAIM = (
    "T(D)(v) = sum_i sum_l kappa^l(v_i^l, v^l)(u_i^l) with representations defined by (6), "
    "where kappa^l is evaluated at (v_i^{l+1}, v^{l+1})."
)
MENDED = (
    "Use v^{l+1} in (5). The sum equals the last state of a query started at 0 only if G "
    "is the identity on it; for a residual G the two are different models."
)


def witness() -> str:
    """One example (v, u) = (1, 1), query 1, kappa(v, v')(w) = v v' w, as allowed by (4) with
    A(v, v') = v v'.
    """

    def double(x: Fraction) -> Fraction:
        return x + max(Fraction(0), x)  # a residual map

    v = query = u = Fraction(1)
    by_5 = v * query * u
    by_6 = double(v) * double(query) * u
    require((by_5, by_6) == (1, 4), "one layer, F(v) = v + relu(v), G the identity: 1 against 4")
    state, total, example = Fraction(0), Fraction(0), u
    for _ in range(2):  # two layers, F the identity, G(u) = u + relu(u)
        moved = double(example)
        total += moved
        state, example = double(state) + moved, moved + moved
    require((state, total) == (12, 10), "last state 12, sum of the kernel terms 10")
    return (
        "One example (1, 1), query 1, kappa(v, v')(w) = v v' w: with F(v) = v + relu(v) and "
        "one layer (5) gives 1, (6) gives 4; with G(u) = u + relu(u) and two layers the last "
        "state of the query is 12, the sum of the kernel terms 10."
    )
