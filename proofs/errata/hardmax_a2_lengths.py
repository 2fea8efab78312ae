"""A2. The shared tokens of (3.19) cancel only when the two sequences have the same length."""

from fractions import Fraction

from proofs.checking import require
from proofs.definition import dot, mean, rank_one, token, transformer
from proofs.sources import HARDMAX
from proofs.theorem_b import empirical_measure, split_one_tie

SOURCE = HARDMAX
PLACE = "Lemma 3.4, (3.18)-(3.19)"
KIND = "Gap"
FAILS = (
    "a step of the proof: (3.19) is false for unequal lengths. The first sentence of the "
    "lemma holds for sequences with different empirical measures"
)
PRINTED = (
    (
        274,
        r"Then, recalling that $m^{j} = m^{j'}$ by assumption and that $\sigma(\langle "
        r"u, z_{\ell}^{j} \rangle + b) = \sigma(\langle u, z_{\ell}^{j'} \rangle + b)$ "
        r"for all $\ell \in [p]$ by construction, we can calculate",
    ),
    (
        276,
        r"(3.19) \qquad \tilde{m}^{j} - \tilde{m}^{j'} = w \frac{1}{n} "
        r"\Big[\sum_{\ell=1}^{p} \sigma(\langle u, z_{\ell}^{j} \rangle + b) - "
        r"\sum_{\ell=1}^{p} \sigma(\langle u, z_{\ell}^{j'} \rangle + b) + \langle u, "
        r"z_{p+1}^{j} \rangle + b \Big] \\ = w \frac{1}{n} \Big[\langle u, z_{p+1}^{j} "
        r"\rangle + b \Big].",
    ),
    (278, r"The last term is positive by (3.18), giving $\tilde{m}^j \neq \tilde{m}^{j'}$."),
)
CLAIM = (
    "If m^j = m^j', take z an extreme point of the hull of S = (Z^j u Z^j') \\ (Z^j n Z^j') "
    "and (u, beta) with <u, z> + beta > 0 and < 0 on the rest of S. Then the new means "
    "differ by (w/n)(<u, z> + beta), which is not 0."
)
MENDED = (
    "Use the signed measure nu = mu_j - mu_j' (not 0), a point x that is extreme for the "
    "hull of its support, and (u, beta) with <u, x> + beta > 0 and <= 0 on the rest of the "
    "support: the means move apart by w nu({x}) (<u, x> + beta), not 0."
)

Z1 = [token(0, 1), token(0, -1), token(1, 0), token(-1, 0)]
Z2 = [token(0, 1), token(0, -1)]
u, beta, z = token(1, 1), Fraction(0), token(1, 0)


def witness() -> str:
    """Show that the printed layer leaves the means equal for every w, and that the mended one
    parts them.
    """
    S = set(Z1) ^ set(Z2)
    require(
        {token(1, 0), token(-1, 0)} == S and mean(Z1) == mean(Z2), "S and the common centre of mass"
    )
    require(
        all((dot(u, x) + beta > 0) if x == z else (dot(u, x) + beta < 0) for x in S),
        "(3.18) holds strictly",
    )
    active = [mean([token(max(Fraction(0), dot(u, x) + beta)) for x in Z])[0] for Z in (Z1, Z2)]
    require(
        active == [Fraction(1, 2)] * 2,
        "the means of relu(<u, .> + beta) agree, so the means of FF agree for every w",
    )
    for w in (token(1, 0), token("1/7", -3)):
        moved = [mean(transformer([rank_one(u, beta, w)], Z)) for Z in (Z1, Z2)]
        require(moved[0] == moved[1], "the new means are equal")
    mended = split_one_tie([Z1, Z2])
    require(
        len({mean(transformer([mended], Z)) for Z in (Z1, Z2)}) == 2,
        "the mended layer parts the means",
    )
    nu = {x: empirical_measure(Z1).get(x, 0) - empirical_measure(Z2).get(x, 0) for x in {*Z1, *Z2}}
    require(
        nu[token(0, 1)] == Fraction(-1, 4) and nu[token(1, 0)] == Fraction(1, 4),
        "shared tokens carry signed mass too",
    )
    return (
        "Z1 = {(0,1), (0,-1), (1,0), (-1,0)}, Z2 = {(0,1), (0,-1)}, u = (1,1), beta = 0, "
        "z = (1,0) satisfy (3.18); the mean of relu(<u,.> + beta) is 1/2 on both, so both "
        "new means are w/2 for every w. The shared tokens carry signed mass -1/4."
    )
