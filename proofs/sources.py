"""The four papers that are cited here."""

HARDMAX = (
    "A. Alcalde, G. Fantuzzi, E. Zuazua, Exact Sequence Classification with Hardmax "
    "Transformers, arXiv 2502.02270v1"
)
CONVEX = (
    "A. Sahiner, T. Ergen, B. Ozturkler, J. Pauly, M. Mardani, M. Pilanci, Unraveling "
    "Attention via Convex Duality: Analysis and Interpretations of Vision Transformers, "
    "ICML 2022"
)
BANACH = (
    "Anonymous authors, Rethinking Transformer through Dual Banach Spaces, paper under "
    "double-blind review"
)
TRANSDUCER = (
    "M. Chalvidal, T. Serre, R. VanRullen, Learning Functional Transduction, arXiv 2302.00328"
)


THEORY = "docs/theory.md of this project"

ORDER = (HARDMAX, CONVEX, BANACH, TRANSDUCER)
SHORT = {
    HARDMAX: "Hardmax",
    CONVEX: "Convex duality",
    BANACH: "Dual Banach",
    TRANSDUCER: "Transduction",
    THEORY: "theory.md",
}
