"""Upper bounds in ball arithmetic: every number is enclosed, at any precision (Arb, by flint).

>>> Fraction(1, 3) < fraction(above(Fraction(1, 3))) < Fraction(1, 3) + Fraction(1, 10**15)
True
>>> round(float(fraction(decay(Fraction(2), ball(Fraction(3))))), 7)     # exp(-6)
0.0024788
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import Any

import flint

Bound = Any  # flint.arb, exact, at least as large as what it bounds


def ball(x: Fraction) -> Any:
    """A ball that holds x."""
    return flint.arb(flint.fmpq(x.numerator, x.denominator))


def above(x: Fraction) -> Bound:
    """A number that is at least x and very near to it."""
    return ball(x).upper()


def total(parts: Iterable[Any], start: Bound) -> Bound:
    """An upper bound of a sum of balls."""
    return sum(parts, start).upper()


def decay(beta: Fraction | None, gap: Any) -> Bound:
    """An upper bound of exp(−β·gap); for β → ∞, ``beta`` None, a positive number below all others.

    >>> 0 < decay(None, ball(Fraction(1))) < decay(Fraction(10**6), ball(Fraction(1)))
    True
    """
    if beta is None:
        return _LEAST
    return (-(ball(beta) * gap)).exp().upper()


def fraction(x: Bound) -> Fraction:
    """The exact value of a bound.

    >>> fraction(above(Fraction(3, 4)))
    Fraction(3, 4)
    """
    number = x.mid().fmpq()
    return Fraction(int(number.p), int(number.q))


NOTHING: Bound = flint.arb(0)
_LEAST: Bound = (flint.arb(2) ** -(2**4000)).upper()
