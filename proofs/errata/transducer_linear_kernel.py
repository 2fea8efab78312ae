"""The reproducing kernel of a Banach space is not linear in u."""

from fractions import Fraction

from proofs.checking import require
from proofs.sources import TRANSDUCER

SOURCE = TRANSDUCER
PLACE = "Theorem 1, (3)"
KIND = "Refuted"
FAILS = "the statement: the values are not linear in general"
PRINTED = (
    (87, "(resp. L(U)) the set of bounded linear operators from U to B (resp. to itself)."),
    (
        123,
        "In this case, there exists a unique function K :V xV— L(U) such that for all "
        "(v,u) €V x U: v - K(v,v')(u) e B VOeB, (OWw),uyy ={0,K(v,.)(u))s (3)",
    ),
)
CLAIM = (
    "There is a unique K : V x V -> L(U), with values in the bounded linear operators, such "
    "that <O(v), u>_U = <O, K(v, .)(u)>_B for all O."
)
MENDED = (
    "K(v, v') is homogeneous and bounded, not additive in general: the semi-inner product "
    "is not additive in its second argument. Linearity holds in Hilbert spaces."
)


def dual(g: tuple[Fraction, Fraction]) -> tuple[Fraction, Fraction, Fraction]:
    """Return (g_1^3, g_2^3) and |g|_4^4: the semi-inner product of l^4 is <f, g> = sum f_k
    g_k^3 / |g|_4^2.
    """
    return g[0] ** 3, g[1] ** 3, g[0] ** 4 + g[1] ** 4


def represents(g: tuple[Fraction, Fraction], u: tuple[Fraction, Fraction]) -> bool:
    """Decide u_k = g_k^3 / |g|_4^2 exactly (signs and squares)."""
    a, b, n4 = dual(g)
    return all(x * x == y * y * n4 and (x >= 0) == (y >= 0) for x, y in ((a, u[0]), (b, u[1])))


def witness() -> str:
    """Take V = {point}, U = R^2 with l^2, B = R^2 with l^4: K e1 = e1, K e2 = e2, but K(e1 +
    e2) is not e1 + e2.
    """
    one, zero = Fraction(1), Fraction(0)
    require(
        represents((one, zero), (one, zero)) and represents((zero, one), (zero, one)),
        "K e1 = e1 and K e2 = e2",
    )
    require(not represents((one, one), (one, one)), "K(e1 + e2) is not e1 + e2")
    # K(1,1) = (sqrt 2, sqrt 2): g^3/|g|^2 = c^3/(c^2 sqrt 2) = c/sqrt 2, so c = sqrt 2: the
    # rational test c^2 = 2 in squares
    c2 = Fraction(2)
    require(
        c2**3 == 1 * 1 * (2 * c2**2), "c^6 = |g|_4^4 = 2 c^4 at c^2 = 2: K(1,1) = (sqrt 2, sqrt 2)"
    )
    return (
        "V a point, U = (R^2, l^2), B = (R^2, l^4), both uniform: K e1 = e1, K e2 = e2, K(e1 "
        "+ e2) = sqrt 2 (e1 + e2)."
    )
