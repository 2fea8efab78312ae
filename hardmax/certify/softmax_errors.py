"""Bounds on |softmax token − exact hardmax token| through the blocks of a model (theory C8).

E bounds the error of a token, coordinate by coordinate, in ball arithmetic; E_l is that of token l
(section 14 of docs/theory.md proves the rules):

    FF, at rest for certain     E                      (⟨u,z⟩ + b + |u|·E ≤ 0)
    FF, active for certain      |I + w uᵀ| E
    FF, either                  E + |w| (|u|·E)        (max(0, ·) changes no faster than ·)
    attention                   |ρ| E_i + |α| F_i
    F where ⟨v,z_i⟩ ≠ 0         max E_c + Σ_l exp(−β g_l) (|z_l − z_c| + E_l)
                                c the leaders, l the other tokens, η = |v|·E,
                                g_l = (|⟨v,z_i⟩| − η_i) (|⟨v,z_c − z_l⟩| − η_c − η_l) > 0
    F where ⟨v,z_i⟩ = 0         mean E                 (only if η_i = 0)

All bounds fall as β grows: what holds at β holds at all larger ones.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from ..exact.balls import NOTHING, Bound, above, ball, decay, total
from ..exact.numbers import Vector, dot
from ..model.layers import RankOneBlock
from ..model.tokens import Tokens

Errors = list[list[Bound]]  # of every token, by coordinate


class Path:
    """One sequence: its exact tokens after each block, and how errors grow on the way.

    >>> path = Path(((Fraction(1),), (Fraction(2),)), 1)
    >>> path.follow(RankOneBlock.of(1, rho=0, alpha=1, v=(1,)))
    >>> path.tokens                                   # both tokens went to their leader
    ((Fraction(2, 1),),)
    >>> error = path.deviation(Fraction(3))           # token 1: exp(−3·1·(2 − 1))·|1 − 2|
    >>> round(float(error), 5)
    0.04979
    """

    def __init__(self, tokens: tuple[Vector, ...], dimension: int) -> None:
        self._batch = Tokens.from_sequences([tokens])
        self._start: Errors = [[NOTHING] * dimension for _ in tokens]
        self._layers: list[Callable[[Errors, Fraction | None], Errors | None]] = []

    @property
    def tokens(self) -> tuple[Vector, ...]:
        """The exact tokens behind the last block; one where all became equal."""
        return self._batch.sequence(0)

    def follow(self, block: RankOneBlock) -> None:
        """Go through one block; remember what it does to errors."""
        if any(block.w) and any(block.u):  # translations change no error
            self._layers.append(_feed_forward(block, self.tokens))
        self._batch.feed_forward(block.u, block.b, block.w)
        if block.rho != 1 or block.alpha != 0:
            before = self.tokens
            self._batch.attend(block.rho, block.alpha, block.v)
            collapsed = len(self.tokens) < len(before)
            self._layers.append(_attention(block, before, collapsed))

    def deviation(self, beta: Fraction | None) -> Bound | None:
        """A bound on |softmax token − exact token|∞ behind the last block; None: there is none."""
        errors: Errors | None = self._start
        for layer in self._layers:
            if errors is not None:
                errors = layer(errors, beta)
        return None if errors is None else _largest(x for row in errors for x in row)


def _largest(bounds: Any) -> Bound:
    return max(bounds, key=lambda x: x)


def _weighted(sizes: list[Bound], errors: list[Bound]) -> Bound:
    """Σ |u_k| E_k."""
    return total((a * e for a, e in zip(sizes, errors, strict=True) if a != 0), NOTHING)


def _feed_forward(
    block: RankOneBlock, tokens: tuple[Vector, ...]
) -> Callable[[Errors, Fraction | None], Errors]:
    values = [ball(dot(block.u, z) + block.b) for z in tokens]
    u, w = ([above(abs(x)) for x in vector] for vector in (block.u, block.w))
    step = [[above(abs(x * y + (i == k))) for k, y in enumerate(block.u)]
            for i, x in enumerate(block.w)]  # fmt: skip

    def moved(errors: Errors, beta: Fraction | None) -> Errors:
        after = []
        for value, row in zip(values, errors, strict=True):
            reach = _weighted(u, row)
            if value + reach <= 0:
                after.append(row)
            elif value - reach >= 0:
                after.append([_weighted(line, row) for line in step])
            else:
                after.append([total([a * reach], e) for a, e in zip(w, row, strict=True)])
        return after

    return moved


def _attention(
    block: RankOneBlock, tokens: tuple[Vector, ...], collapsed: bool
) -> Callable[[Errors, Fraction | None], Errors | None]:
    rho, alpha = above(abs(block.rho)), above(abs(block.alpha))
    scores = [dot(block.v, z) for z in tokens]
    signs = [(p > 0) - (p < 0) for p in scores]
    size = [above(abs(x)) for x in block.v]
    sides = {sign: _Side(sign, tokens, scores) for sign in {*signs} - {0}}
    alone = len(tokens) == 1 or block.alpha == 0

    def mixed(errors: Errors, beta: Fraction | None) -> Errors | None:
        reach = [_weighted(size, row) for row in errors]
        room = [ball(abs(p)) - e for p, e in zip(scores, reach, strict=True)]
        focus: dict[int, list[Bound] | None] = {}
        for sign in {*signs}:
            mine = [i for i, s in enumerate(signs) if s == sign]
            if sign == 0:
                fixed = all(reach[i] == 0 for i in mine)  # else softmax may choose
                focus[0] = _mean(errors) if fixed else None
            else:
                least = min((room[i].lower() for i in mine), key=lambda x: x)
                focus[sign] = sides[sign].focus(errors, reach, least, beta)
        after = []
        for row, sign in zip(errors, signs, strict=True):
            other = row if alone else focus[sign]
            if other is None:
                return None
            after.append([total([alpha * f], rho * e) for e, f in zip(row, other, strict=True)])
        return [[_largest(column) for column in zip(*after, strict=True)]] if collapsed else after

    return mixed


def _mean(errors: Errors) -> list[Bound]:
    return [(total(column, NOTHING) / len(errors)).upper() for column in zip(*errors, strict=True)]


class _Side:
    """What tokens with ⟨v,z⟩ of one sign attend to."""

    def __init__(self, sign: int, tokens: tuple[Vector, ...], scores: list[Fraction]) -> None:
        best = max(sign * p for p in scores)
        self.leaders = [i for i, p in enumerate(scores) if sign * p == best]
        self.others = [i for i, p in enumerate(scores) if sign * p < best]
        self.gaps = [ball(best - sign * scores[i]) for i in self.others]
        middle = [sum(x) / len(self.leaders)
                  for x in zip(*(tokens[i] for i in self.leaders), strict=True)]  # fmt: skip
        self.away = [[above(abs(a - c)) for a, c in zip(z, middle, strict=True)] for z in tokens]

    def focus(
        self, errors: Errors, reach: list[Bound], room: Any, beta: Fraction | None
    ) -> list[Bound] | None:
        """F of a token whose |⟨v,z⟩| is at least ``room``; None where no bound holds."""
        if not room > 0:
            return None
        lead = min((reach[i] for i in self.leaders), key=lambda x: x)
        weights = []
        for i, gap in zip(self.others, self.gaps, strict=True):
            gap = (gap - lead - reach[i]).lower()
            if not gap > 0:
                return None
            weights.append(decay(beta, room * gap))
        still = all(e == 0 for i in self.leaders for e in errors[i])  # then they stay tied
        found = []
        for k in range(len(errors[0])):
            start = NOTHING if still else _largest(
                (self.away[i][k] + errors[i][k]).upper() for i in self.leaders
            )  # fmt: skip
            parts = (
                weight * (self.away[i][k] + errors[i][k])
                for weight, i in zip(weights, self.others, strict=True)
            )
            found.append(total(parts, start))
        return found
