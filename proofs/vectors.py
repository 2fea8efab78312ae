"""Vectors of unspecified dimension: linear combinations of named vectors, with inner products
as symbols.

An identity proved with these holds in every real inner product space, hence for every d. Nothing
but bilinearity and symmetry of <., .> is used.
"""

from __future__ import annotations

import sympy


class Vector:
    """A finite linear combination of named vectors with sympy coefficients."""

    def __init__(self, terms: dict[str, sympy.Expr]) -> None:
        """Store the coefficients by name."""
        self.terms = terms

    def __add__(self, other: Vector) -> Vector:
        """Add coefficient by coefficient."""
        names = self.terms.keys() | other.terms.keys()
        return Vector(
            {
                n: self.terms.get(n, sympy.Integer(0)) + other.terms.get(n, sympy.Integer(0))
                for n in names
            }
        )

    def __rmul__(self, factor: object) -> Vector:
        """Multiply by a number or a sympy expression."""
        return Vector({n: sympy.sympify(factor) * c for n, c in self.terms.items()})

    def __neg__(self) -> Vector:
        """Change the sign."""
        return -1 * self

    def __sub__(self, other: Vector) -> Vector:
        """Subtract."""
        return self + -other

    def equals(self, other: Vector) -> bool:
        """Tell whether all coefficients of the difference vanish identically."""
        return all(sympy.simplify(c) == 0 for c in (self - other).terms.values())


def vectors(names: str) -> list[Vector]:
    """Make independent named vectors from "x y z"."""
    return [Vector({name: sympy.Integer(1)}) for name in names.split()]


def inner(x: Vector, y: Vector) -> sympy.Expr:
    """Expand <x, y> into the symbols <name, name'>.

    >>> x, y = vectors("x y")
    >>> inner(x + y, x - y)
    <x,x> - <y,y>
    """
    return sympy.expand(
        sum(a * b * gram(m, n) for m, a in x.terms.items() for n, b in y.terms.items())
    )


def gram(m: str, n: str) -> sympy.Symbol:
    """Return the symbol of <m, n> (symmetric)."""
    return sympy.Symbol("<{},{}>".format(*sorted((m, n))), real=True)


def mean(xs: list[Vector]) -> Vector:
    """Average vectors."""
    return sympy.Rational(1, len(xs)) * sum(xs[1:], xs[0])
