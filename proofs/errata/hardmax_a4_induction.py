"""A4. The last token sequence may run into a third one while it is parted from its partner."""

from fractions import Fraction
from itertools import combinations

from proofs.checking import require
from proofs.definition import Sequence, add, dot, scale, token, transformer, translation
from proofs.sources import HARDMAX

SOURCE = HARDMAX
PLACE = "Lemma 3.5, induction step, after (3.29)"
KIND = "Gap"
FAILS = (
    'a step of the proof ("whence"). The lemma holds for sequences with different empirical '
    "measures (theory.md, Theorem 5)"
)
PRINTED = (
    (
        373,
        "in the blocks of T' small enough, we can ensure also that the balls "
        r"$\{B_{\delta_1}(T'(\hat{z}^j_\ell))\}_{\ell,j}$ remain disjoint for all $\ell "
        r"\in [\operatorname{len}(Z^j)]$ and all $j \in [N-1]$, whence $T'(\hat{Z}^N) "
        r"\cap T'(\hat{Z}^j) = \emptyset$ for all $j \in [N-1]$.",
    ),
)
CLAIM = (
    "T' parts Z^N from Z^{N-1} and, for small parameters, keeps balls of a fixed radius "
    "about the tokens of Z^1..Z^{N-1} disjoint, whence T'(Z^N) meets no T'(Z^j), j < N."
)
MENDED = (
    "The two properties say nothing about Z^N and Z^j for j < N - 1. In the last block "
    "(Case 1) take alpha outside the finite set that (3.28) forbids for every j, and "
    "outside the sets of all pairs j, j' < N: each pair of different tokens forbids at "
    "most one alpha, each pair of equal tokens none, because the leader of Z^N is by then "
    "the leader of no other sequence."
)

Z1, Z2, Z3 = (
    [token(0, 0), token(10, 0)],
    [token(-5, 0), token(30, 0), token(40, 0)],
    [token(30, 0), token("-20/3", 0)],
)
v, shift = token(1, 0), token(100, 0)


def pull(alpha: Fraction, Z: Sequence) -> Sequence:
    """Apply the block of Case 1 and undo the translation."""
    return [
        add(z, scale(-1, shift)) for z in transformer([translation(shift, 1 - alpha, alpha, v)], Z)
    ]


def gap_squared(*Zs: Sequence) -> Fraction:
    """Return the least squared distance between tokens of these sequences."""
    difference = [add(x, scale(-1, y)) for x, y in combinations([z for Z in Zs for z in Z], 2)]
    return min(dot(x, x) for x in difference)


def witness() -> str:
    """Exhibit an admissible alpha = 1/4 after which Z3 and Z1 share a token, and a mended alpha
    = 1/8.
    """
    alpha = Fraction(1, 4)
    require(not set(Z1) & set(Z2), "the induction hypothesis (3.27)")
    require(
        set(Z3) & set(Z2) == {token(30, 0)} and not set(Z3) & set(Z1),
        "the extreme token (30,0) of Z3 lies in Z2 alone: (3.29)",
    )
    require(token(30, 0) not in (min(Z2), max(Z2)), "it is not extreme for Z2: Case 1")
    leaders = [max(Z, key=lambda z: dot(v, z)) for Z in (Z1, Z2, Z3)]
    require(
        leaders[2] == token(30, 0) and leaders[2] not in leaders[:2],
        "the leaders under v = e1; all <v, z + shift> > 0",
    )
    require(all(dot(v, add(z, shift)) > 0 for Z in (Z1, Z2, Z3) for z in Z), "(3.15)")
    T1, T2, T3 = (pull(alpha, Z) for Z in (Z1, Z2, Z3))
    require(not set(T3) & set(T2), "T' parts Z3 from Z2")
    require(
        gap_squared(Z1, Z2) > 4 and gap_squared(T1, T2) > 4,
        "balls of radius 1 stay disjoint for j < N",
    )
    require(set(T3) & set(T1) == {token("5/2", 0)}, "yet T'(Z3) and T'(Z1) share a token")
    mended = [pull(Fraction(1, 8), Z) for Z in (Z1, Z2, Z3)]
    require(
        all(not set(p) & set(q) for p, q in combinations(mended, 2)),
        "alpha = 1/8 is outside the forbidden set and parts all",
    )
    return (
        "Z1 = {(0,0), (10,0)}, Z2 = {(-5,0), (30,0), (40,0)}, Z3 = {(30,0), "
        "(-20/3,0)}, shift (100,0), v = e1, alpha = 1/4: Z3 is parted from Z2, balls of "
        "radius 1 about the tokens of Z1 and Z2 are disjoint before and after, but T'(Z1) "
        "and T'(Z3) share (5/2, 0). alpha = 1/8 parts all three."
    )
