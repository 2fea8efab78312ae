"""Masked rank-1 attention (4.2) on one sequence of exact tokens: token i attends to 1, …, i.

A token is an integer row (Z, q), as in `hardmax.model.tokens`. The mean of a prefix is a running
sum, and the tokens on which ⟨v,·⟩ is largest or smallest so far are running records. So a layer
costs O(n d) here, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import lcm

from ..exact.matrix import primitive

Row = list[int]


def attended_masked(
    rows: Sequence[Row], scores: Sequence[int], rho: Fraction, alpha: Fraction
) -> list[Row]:
    """One sequence after masked attention; ``scores[i]`` / ``rows[i][-1]`` is ⟨v,z_i⟩.

    >>> attended_masked([[4, 1], [2, 1], [0, 1]], [0, 0, 0], Fraction(0), Fraction(1))
    [[4, 1], [3, 1], [2, 1]]
    >>> attended_masked([[1, 1], [4, 1], [2, 1]], [1, 4, 2], Fraction(0), Fraction(1))
    [[1, 1], [4, 1], [4, 1]]
    """
    everyone, top, low = _Total(), _Record(1), _Record(-1)
    found = []
    for row, score in zip(rows, scores, strict=True):
        row = [int(x) for x in row]
        everyone.add(row)
        top.meet(row, int(score))
        low.meet(row, int(score))
        focus = top.leaders if score > 0 else low.leaders if score < 0 else everyone
        found.append(_combined(row, rho, focus, alpha))
    return found


class _Total:
    """The sum of some tokens over one denominator, and their number."""

    def __init__(self) -> None:
        self.sums: Row = []
        self.common = 1
        self.count = 0

    def add(self, row: Row) -> None:
        """Count one more token."""
        q = row[-1]
        common = lcm(self.common, q)
        was, own = common // self.common, common // q
        if not self.count:
            self.sums = [own * x for x in row[:-1]]
        else:
            self.sums = [was * s + own * x for s, x in zip(self.sums, row[:-1], strict=True)]
        self.common, self.count = common, self.count + 1


class _Record:
    """The tokens so far on which sign·⟨v,·⟩ is largest."""

    def __init__(self, sign: int) -> None:
        self.sign = sign
        self.best: tuple[int, int] | None = None  # as numerator and denominator
        self.leaders = _Total()

    def meet(self, row: Row, score: int) -> None:
        """Look at the next token."""
        gain = 1
        if self.best is not None:
            gain = self.sign * (score * self.best[1] - self.best[0] * row[-1])
        if gain > 0:
            self.best, self.leaders = (score, row[-1]), _Total()
        if gain >= 0:
            self.leaders.add(row)


def _combined(row: Row, rho: Fraction, focus: _Total, alpha: Fraction) -> Row:
    """ρ·row + α·mean, in lowest terms."""
    (r, s), (a, c) = rho.as_integer_ratio(), alpha.as_integer_ratio()
    own, mean = s * row[-1], c * focus.common * focus.count  # denominators of the two parts
    common = lcm(own, mean)
    r, a = r * (common // own), a * (common // mean)
    return primitive([*(r * x + a * y for x, y in zip(row[:-1], focus.sums, strict=True)), common])
