"""Reproducing kernels that map rational vectors to rational numbers, and their Gram matrices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import factorial
from typing import Protocol

from ...errors import InputError
from ...exact.matrix import Matrix
from ...exact.numbers import Vector, as_fraction, dot


class Kernel(Protocol):
    """A real kernel (x, y) ↦ k(x, y) with rational values."""

    def __call__(self, x: Vector, y: Vector) -> Fraction:
        """Value at two vectors of the same dimension."""


@dataclass(frozen=True)
class Polynomial:
    """(⟨x, y⟩ + c)^p with c ≥ 0: positive semi-definite for every p.

    >>> from hardmax.exact.numbers import as_vector
    >>> Polynomial(2, 1)(as_vector([1, 2]), as_vector([1, 1]))
    Fraction(16, 1)
    """

    degree: int = 1
    constant: object = 0

    def __post_init__(self) -> None:
        if self.degree < 1 or as_fraction(self.constant) < 0:
            raise InputError("a polynomial kernel needs a degree ≥ 1 and a constant ≥ 0")

    def __call__(self, x: Vector, y: Vector) -> Fraction:
        return (dot(x, y) + as_fraction(self.constant)) ** self.degree


@dataclass(frozen=True)
class RationalQuadratic:
    """1/(1 + s‖x − y‖²) with s > 0: a mixture of Gaussian kernels, so strictly positive definite.

    Its Gram matrix at distinct points is invertible: every data set without contradictions is
    interpolated.

    >>> from hardmax.exact.numbers import as_vector
    >>> RationalQuadratic("1/2")(as_vector([0, 0]), as_vector([1, 1]))
    Fraction(1, 2)
    """

    scale: object = 1

    def __post_init__(self) -> None:
        if as_fraction(self.scale) <= 0:
            raise InputError("the scale of a rational quadratic kernel must be positive")

    def __call__(self, x: Vector, y: Vector) -> Fraction:
        gap = [a - b for a, b in zip(x, y, strict=True)]
        return 1 / (1 + as_fraction(self.scale) * dot(gap, gap))


@dataclass(frozen=True)
class TruncatedExponential:
    """Σ_{k ≤ m} (⟨x, y⟩/τ)^k / k!: what exp-dot becomes over ℚ; positive semi-definite.

    Every term is, as a product of positive semi-definite kernels with a factor ≥ 0. With
    t = |⟨x, y⟩|/τ < m + 2 the value differs from exp(⟨x, y⟩/τ) by less than
    t^(m+1)/(m+1)! · (m+2)/(m+2−t).

    >>> from hardmax.exact.numbers import as_vector
    >>> TruncatedExponential(2)(as_vector([1]), as_vector([1]))
    Fraction(5, 2)
    """

    terms: int = 8
    temperature: object = 1

    def __post_init__(self) -> None:
        if self.terms < 0 or as_fraction(self.temperature) <= 0:
            raise InputError("a truncated exponential needs terms ≥ 0 and a temperature > 0")

    def __call__(self, x: Vector, y: Vector) -> Fraction:
        t = dot(x, y) / as_fraction(self.temperature)
        return sum((t**k / factorial(k) for k in range(self.terms + 1)), Fraction(0))


def gram(
    kernel: Kernel, points: Sequence[Vector], others: Sequence[Vector] | None = None
) -> Matrix:
    """Matrix of k(x_i, y_j) of shape (n, m); without ``others`` that of the points themselves.

    >>> from hardmax.exact.numbers import as_vector
    >>> gram(Polynomial(), [as_vector([1]), as_vector([2])])
    Matrix([['1', '2'], ['2', '4']])
    """
    columns = points if others is None else others
    return Matrix([[kernel(x, y) for y in columns] for x in points], len(columns))
