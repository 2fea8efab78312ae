"""In l^p the inverse duality map has a closed form."""

from fractions import Fraction

from proofs.checking import require
from proofs.sources import BANACH

SOURCE = BANACH
PLACE = "Section 3.3"
KIND = "Remark"
FAILS = '"generally": the spaces l^p have a closed form'
PRINTED = (
    (
        195,
        r"Computing this inverse map, \mathcal{G}^{-1} , is generally intractable as it "
        "lacks a closed-form expression in non-Hilbert Banach spaces.",
    ),
)
CLAIM = (
    "The inverse of the duality map is generally intractable, as it has no closed form in"
    " Banach spaces that are no Hilbert spaces."
)
MENDED = (
    '"Generally" leaves room for l^p, p > 1, where it is x -> sgn(x_i) |x_i|^{q-1} up '
    "to scale, 1/p + 1/q = 1; in every case (7) gives it as the derivative of the dual "
    "norm."
)


def signed_square(x: Fraction) -> Fraction:
    """Return sgn(x) x^2."""
    return x * abs(x)


def witness() -> str:
    """Invert the duality map of l^3 on R^4 exactly."""
    # G(f) is proportional to sgn(f_i) f_i^2 in B* = l^{3/2}; there the duality map is proportional
    # to sgn(nu_i) |nu_i|^{1/2}.
    f = [Fraction(x) for x in (3, -2, "1/7", 0)]
    nu = [signed_square(x) for x in f]
    back = [
        Fraction(0) if n == 0 else n / abs(x) for n, x in zip(nu, f, strict=True)
    ]  # sgn(nu) |nu|^{1/2}, as |nu_i|^{1/2} = |f_i|
    require(
        all(abs(n) == b * b and (n >= 0) == (b >= 0) for n, b in zip(nu, back, strict=True)),
        "back_i = sgn(nu_i) |nu_i|^{1/2}",
    )
    require(back == f, "the closed form recovers f")
    norm_cubed = sum(abs(x) ** 3 for x in f)
    require(
        sum(x * n for x, n in zip(f, nu, strict=True)) == norm_cubed,
        "<f, G(f)> is the norm up to the factor |f|^2",
    )
    g = [Fraction(x) for x in (1, 1, 1, 1)]
    require(
        [signed_square(a + b) for a, b in zip(f, g, strict=True)]
        != [a + b for a, b in zip(nu, map(signed_square, g), strict=True)],
        "the map is not linear",
    )
    return (
        "l^3 on R^4, f = (3, -2, 1/7, 0): G(f) is proportional to (9, -4, 1/49, 0) and the "
        "map sgn(nu_i)|nu_i|^{1/2} returns f exactly, though l^3 is no Hilbert space."
    )
