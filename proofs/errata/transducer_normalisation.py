"""The normalised kernel depends on the data set, so it is no kernel on V x V."""

import sympy
from flint import arb

from proofs.checking import require
from proofs.sources import TRANSDUCER

SOURCE = TRANSDUCER
PLACE = "Proposition 1 and S.9.2"
KIND = "Gap"
FAILS = '"without loss of generality": the weights depend on the data set'
PRINTED = (
    (
        172,
        "Note that in (4), the usual softmax normalization of the dot-product "
        "attention is included in the linear operations Ay through .",
    ),
    (
        643,
        "Note that for each kernel expression, we still perform a normalization "
        "operation v — % i<I yVi over the entire set (v;);<; without loss of "
        "generality.",
    ),
)
CLAIM = (
    "The softmax normalisation is included in the linear operations A; normalising over the "
    "entire set (v_i) is without loss of generality."
)
MENDED = (
    "Normalised attention is a Nadaraya-Watson estimate whose weights depend on all "
    "examples; the theory of a fixed kernel K : V x V -> L(U) covers the un-normalised "
    "form only."
)


def witness() -> str:
    """Evaluate the weight of the same pair for two data sets."""

    def kappa(example: int, query: int, examples: list[int]) -> sympy.Expr:
        return sympy.exp(example * query) / sum(sympy.exp(v * query) for v in examples)

    alone, pair = kappa(1, 1, [1]), kappa(1, 1, [1, 2])
    require(
        alone == 1 and sympy.simplify(pair - 1 / (1 + sympy.E)) == 0, "kappa(1, 1) has two values"
    )
    require((arb(1) + arb(1).exp()) > 3, "1/(1 + e) < 1/3")
    return (
        "kappa(1, 1) = 1 for the examples {1}, 1/(1 + e) < 1/3 for the examples {1, 2}; "
        "a function on V x V has one value."
    )
