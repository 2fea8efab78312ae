"""The Banach spaces that Theorem 3.1 builds are Hilbert spaces."""

import sympy

from proofs.checking import require, require_equal
from proofs.sources import BANACH

SOURCE = BANACH
PLACE = "Theorem 3.1 against Sections 2.2 and 3.3"
KIND = "Remark"
FAILS = "nothing: a Hilbert space is a Banach space, and the paper says Banach"
PRINTED = (
    (
        103,
        r"with norm $||f_w||_{\mathcal{B}_1} = ||w||_{\mathcal{H}_2}$ and "
        r"$||g_v||_{\mathcal{B}_2} = ||v||_{\mathcal{H}_1}$.",
    ),
    (105, r"Then, \mathcal{B}_1 and \mathcal{B}_2 are regular Banach spaces (RBS)."),
)
CLAIM = "B1 and B2, with the norms of the parameters w and v, are regular Banach spaces."
MENDED = (
    "They are, and more: |f_w|_{B1} = |w|_{H2} makes B1 isometric to the Hilbert space "
    "H2, so B1 and B2 are reproducing kernel Hilbert spaces and their duality map is f ->"
    " f/|f|. A duality map that is highly non-linear, as Section 3.3 speaks of, needs a "
    "norm that is not a Hilbert norm."
)


def witness() -> str:
    """Verify the parallelogram law in B1 and its failure in l^4."""
    w, v = sympy.symbols("w1:4", real=True), sympy.symbols("v1:4", real=True)

    def square(x: list) -> sympy.Expr:
        return sum(
            t**2 for t in x
        )  # |f_w|^2 = |w|^2 by definition, and f_w + f_v = f_{w+v} by bilinearity

    plus, minus = (
        [a + b for a, b in zip(w, v, strict=True)],
        [a - b for a, b in zip(w, v, strict=True)],
    )
    require_equal(
        square(plus) + square(minus), 2 * square(w) + 2 * square(v), "the parallelogram law in B1"
    )
    # l^4 on R^2: |e1 + e2|^2 + |e1 - e2|^2 = 2 sqrt 2 against 2 + 2
    require((2 * sympy.sqrt(2) - 4).is_negative, "the law fails in l^4")
    return (
        "For H2 = R^3 the norm of B1 satisfies the parallelogram law identically, so B1 is a "
        "Hilbert space; in l^4 on R^2 the law gives 2 sqrt 2 against 4."
    )
