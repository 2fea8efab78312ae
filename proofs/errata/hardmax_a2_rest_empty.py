"""A2, second half. The set S without z may be empty, and then (3.18) separates z from nothing."""

from fractions import Fraction

from proofs.checking import require
from proofs.definition import add, mean, scale, token, transformer
from proofs.sources import HARDMAX
from proofs.theorem_b import split_one_tie

SOURCE = HARDMAX
PLACE = "Lemma 3.4, the sentence before (3.18)"
KIND = "Gap"
FAILS = (
    "a step of the proof, for unequal lengths. The first sentence of the lemma holds for sequences "
    "with different empirical measures"
)
PRINTED = (
    (
        269,
        "Assume without loss of generality that J = j and note that the set "
        r"$\mathcal{S} \setminus \{z_{p+1}^j\}$ cannot be empty since we assumed that "
        "$m^j = m^{j'}$.",
    ),
)
CLAIM = "The set S \\ {z_{p+1}^j} cannot be empty, since m^j = m^j'."
MENDED = (
    "True for equal lengths and different sets of tokens. For unequal lengths S may be one point: "
    "the support of mu_j - mu_j' is the set to use. It has at least two points, because "
    "mu_j - mu_j' is not 0 and has the total mass 0."
)


def witness() -> str:
    """Show two sequences with equal centre of mass whose symmetric difference is a single token."""
    a1, a2 = token(0, 0), token(4, 2)
    middle = scale(Fraction(1, 2), add(a1, a2))
    Z1, Z2 = [a1, a2, middle], [a1, a2]
    require(mean(Z1) == mean(Z2), "equal centres of mass")
    require(set(Z1) ^ set(Z2) == {middle}, "S is the single token (a1 + a2)/2")
    block = split_one_tie([Z1, Z2])
    require(
        mean(transformer([block], Z1)) != mean(transformer([block], Z2)),
        "the mended layer parts the means",
    )
    return (
        "Z1 = {a1, a2, (a1+a2)/2}, Z2 = {a1, a2} with a1 = (0,0), a2 = (4,2): the "
        "centres of mass agree and S = {(a1+a2)/2}, so S \\ {z} is empty. The "
        "signed-measure layer parts the two means."
    )
