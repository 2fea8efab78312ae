"""A1, first half. Attention without masks cannot see the order of the tokens."""

from fractions import Fraction
from itertools import permutations, product

from proofs.checking import require
from proofs.definition import Block, readout, token, transformer
from proofs.sources import HARDMAX
from proofs.theorem_b import build

SOURCE = HARDMAX
PLACE = "Theorem 2.4 and Remark 2.5"
KIND = "Refuted"
FAILS = "the statement: i) and ii) do not suffice"
PRINTED = (
    (93, r"i) The sequences Z^1, \ldots, Z^N are pairwise distinct;"),
    (95, "ii) Tokens within each sequence are pairwise distinct."),
    (
        97,
        r"There exists a transformer T of the form (2.5) with $L \leq 8N + 4$ blocks "
        r"and $P = \mathcal{O}(Nd)$ parameters such that (2.6) $$(\mathbf{R} \circ "
        r"\mathbf{T}) (Z^j) \in S^{c(j)} \text{ for all } j \in [N].$$",
    ),
    (105, "Remark 2.5. Assumption *i*) is very mild."),
)
CLAIM = (
    "If the sequences are pairwise distinct and the tokens within each sequence are "
    "pairwise distinct, some transformer (2.5) classifies all of them. The assumption is "
    "called very mild: if two sequences are equal and differently labelled there is no "
    "solution; no other obstruction is named."
)
MENDED = (
    "Every layer commutes with permutations of the tokens and R forgets the order, so two "
    "orders of the same tokens need the same label. Sequences must have distinct empirical "
    "measures, or equal labels where they have not; this is also sufficient (Theorem B). If "
    '"distinct" is read as different sets of tokens, i) and ii) give different measures, and '
    "the theorem holds (theory.md, Theorem 6)."
)

Z, Y = [token(1, 0), token(0, 1)], [token(0, 1), token(1, 0)]


def some_blocks() -> list[Block]:
    """List 171 full blocks (general W, U, A, V; hidden width 2) with small integer entries,
    ties included.
    """
    blocks = []
    for k, bits in enumerate(product((-1, 1), repeat=9)):
        p, q, r, s, t, f, g, h, e = bits
        blocks.append(
            Block(
                W=(token(p, 2 * q), token(r, k % 3 - 1)),
                U=(token(s, t), token(f - 1, g)),
                b=token(h, e - 1),
                rho=Fraction(k % 5 - 2, 2),
                V=(token(p, s), token(0, k % 4)),
                A=(token(q, f), token(k % 2, r + t)),
            )
        )
    return blocks[::3]


def witness() -> str:
    """Show that (a, b) and (b, a) keep equal outputs, though they satisfy every hypothesis of
    Theorem 2.4.
    """
    require(
        Z != Y and len(set(Z)) == len(Z) and len(set(Y)) == len(Y),
        "the hypotheses of Theorem 2.4 hold",
    )
    blocks = some_blocks()
    for first, second in zip(blocks, reversed(blocks), strict=True):
        require(
            readout(transformer([first, second], Z)) == readout(transformer([first, second], Y)),
            "equal outputs",
        )
    triple = [token(1, 0), token(0, 1), token(3, -2)]
    for block in blocks[::8]:
        outputs = {
            readout(transformer([block], [triple[i] for i in p])) for p in permutations(range(3))
        }
        require(len(outputs) == 1, "all six orders of three tokens have the same output")
    require(mended(), "distinct empirical measures can be classified")
    return (
        "Z = (e1, e2) and Y = (e2, e1) with labels {0} and {e1} satisfy i) and ii), yet "
        f"R(T(Z)) = R(T(Y)) for every T: checked on {len(blocks)} two-block transformers with "
        "general matrices, proved for every T in docs/theory.md, Proposition 1."
    )


def mended() -> bool:
    """Classify (e1, e2) and (e1, 2 e2), whose measures differ, exactly."""
    Zs, targets = [Z, [token(1, 0), token(0, 2)]], [token(0, 0), token(1, 0)]
    blocks = build(Zs, targets)
    return len(blocks) <= 3 and [readout(transformer(blocks, S)) for S in Zs] == targets
