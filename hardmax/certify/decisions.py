"""The decisions that one block takes, and how much input perturbation leaves them alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from ..arithmetic import clear_denominators
from ..model.layers import RankOneBlock
from ..model.tokens import Tokens
from .jacobian import Functional, Jacobians

Gradient = dict[int, list[Fraction]]


@dataclass(frozen=True)
class Constraint:
    """The decision that sets a radius.

    ``kind`` is "kink" (the sign of ⟨u,z⟩ + b), "sign" (of ⟨v,z⟩), "leader" (which tokens have
    the largest ⟨v,·⟩, or the smallest) or "label" (the output's); ``block`` and ``token`` count
    from 0, and ``token`` is None for a collapsed sequence. ``rival`` is the token that would
    lead as well, or the label concerned. ``sharp`` is False where norms were estimated.
    """

    kind: str
    block: int | None = None
    token: int | None = None
    rival: int | str | None = None
    sharp: bool = True

    def sentence(self) -> str:
        """The decision in words.

        >>> Constraint("kink", 3, 0).sentence()
        'block 4: the sign of ⟨u,z⟩ + b at token 1'
        """
        if self.kind == "label":
            return f"the output's distance from losing its label (against {self.rival!r})"
        place = "" if self.token is None else f" at token {self.token + 1}"
        if self.kind == "kink":
            what = f"the sign of ⟨u,z⟩ + b{place}"
        elif self.kind == "sign":
            what = f"the sign of ⟨v,z⟩{place}"
        else:
            rival = self.rival + 1 if isinstance(self.rival, int) else self.rival
            what = f"the leader{place}, against token {rival}"
        return f"block {self.block + 1 if self.block is not None else '?'}: {what}"


class Limits:
    """The least radius so far of every sequence, and what sets it.

    With ``keep`` the gradient of the binding decision, away from its value, is kept too.
    """

    def __init__(self, count: int, keep: bool = False) -> None:
        self.keep = keep
        self.radii: list[tuple[int, int] | None] = [None] * count  # numerator, denominator
        self.constraints: list[Constraint | None] = [None] * count
        self.gradients: list[Gradient | None] = [None] * count

    def below(self, j: int, p: int, q: int, norm: Fraction) -> bool:
        """Whether the value p/q ≥ 0 with this norm of its gradient lowers the radius of j."""
        least = self.radii[j]
        return least is None or p * (norm.denominator * least[1]) < q * (norm.numerator * least[0])

    def lower(
        self, j: int, p: int, q: int, norm: Fraction, constraint: Constraint,
        gradient: Gradient | None = None,
    ) -> None:  # fmt: skip
        """Set the radius of j to p/q divided by the norm."""
        radius = Fraction(int(p), int(q)) / norm
        self.radii[j] = radius.numerator, radius.denominator
        self.constraints[j] = constraint
        self.gradients[j] = gradient

    def radius(self, j: int) -> Fraction | None:
        """The radius of sequence j; None where nothing limits it."""
        least = self.radii[j]
        return None if least is None else Fraction(*least)


@dataclass
class State:
    """A run in progress: exact tokens, the handle of each token's Jacobian, the radii so far."""

    batch: Tokens
    pool: Jacobians
    handles: list[int]
    limits: Limits
    ties: dict[int, list[int]]  # a source that stands for a tie, and the sources tied


def feed_forward(state: State, k: int, block: RankOneBlock) -> None:
    """The kinks of block k's feed-forward layer; updates the Jacobians, not the tokens."""
    if not any(block.w):
        return
    values, scales = state.batch.values(block.u, block.b)
    functional = state.pool.functional(block.u)
    step = clear_denominators(block.w)
    handles, limits, pool = state.handles, state.limits, state.pool
    moved: dict[int, int] = {}
    for j, (start, end) in enumerate(state.batch.spans()):
        for i in range(start, end):
            p, handle = values[i], handles[i]
            norm = functional.norm(handle)
            if norm and limits.below(j, abs(p), scales[i], norm):
                token = i - start if end - start > 1 else None
                gradient = (
                    functional.gradient([(Fraction(-1 if p > 0 else 1), handle)])
                    if limits.keep
                    else None
                )
                limits.lower(j, abs(p), scales[i], norm, Constraint("kink", k, token), gradient)
            if p > 0:
                if handle not in moved:
                    moved[handle] = pool.moved(handle, functional, step)
                handles[i] = moved[handle]


def attention(state: State, k: int, block: RankOneBlock) -> list[int]:
    """The signs and leaders of block k's attention; the handle of each token after it.

    Must be called after the feed-forward layer and before the attention of the batch.
    """
    batch, pool = state.batch, state.pool
    decides = block.alpha != 0 and any(block.v)
    values, scales = batch.values(block.v)
    functional = pool.functional(block.v)
    after: list[int] = []
    for j, (start, end) in enumerate(batch.spans()):
        handles = state.handles[start:end]
        together = len(set(handles)) == 1 and (
            end - start == 1 or len({batch.token(i) for i in range(start, end)}) == 1
        )
        if together:  # every token attends to what it is itself
            after += [pool.combined([(block.rho + block.alpha, handles[0])])] * len(handles)
            continue
        rows = _Rows(state, j, k, range(start, end), functional, values, scales)
        signs = [(values[i] > 0) - (values[i] < 0) for i in range(start, end)]
        if decides:
            rows.check_signs()
        focus = {sign: rows.focus(sign, decides) for sign in set(signs)}
        after += [
            pool.combined([(block.rho, handle), (block.alpha, focus[sign])])
            for handle, sign in zip(handles, signs, strict=True)
        ]
    return after


@dataclass
class _Rows:
    """The tokens of one sequence in one attention layer."""

    state: State
    j: int
    k: int
    places: range
    functional: Functional
    values: Sequence[int]
    scales: Sequence[int]

    def _limit(
        self, p: int, q: int, norm: Fraction, constraint: Constraint,
        parts: list[tuple[Fraction, int]],
    ) -> None:  # fmt: skip
        limits = self.state.limits
        if limits.below(self.j, p, q, norm):
            gradient = self.functional.gradient(parts) if limits.keep else None
            limits.lower(self.j, p, q, norm, constraint, gradient)

    def check_signs(self) -> None:
        """⟨v,z⟩ must keep its sign; where it is 0, it must not move at all."""
        for i in self.places:
            handle = self.state.handles[i]
            norm = self.functional.norm(handle)
            if norm:
                constraint = Constraint("sign", self.k, i - self.places.start)
                away = Fraction(-1 if self.values[i] > 0 else 1)
                p, q = abs(self.values[i]), self.scales[i]
                self._limit(p, q, norm, constraint, [(away, handle)])

    def focus(self, sign: int, decides: bool) -> int:
        """Handle of what tokens of this sign attend to; checks that it stays."""
        handles = self.state.handles
        if sign == 0:
            return self._mean(self.places)
        # largest sign·p/q
        top = [self.places.start]
        for i in self.places[1:]:
            gain = sign * (
                self.values[i] * self.scales[top[0]] - self.values[top[0]] * self.scales[i]
            )
            if gain > 0:
                top = [i]
            elif gain == 0:
                top.append(i)
        if decides:
            self._check_strict(top, sign)
        apart = [i for i in top if self.functional.gap(handles[top[0]], handles[i])]
        if not (apart and decides):
            return self._mean(top)  # the tie lasts
        # a tie of equal tokens: whichever of them leads later, it moves no further than they do
        source = -(2 * self.k + 1 + (sign > 0))
        tied = None
        if len({self.state.batch.token(i) for i in top}) == 1:
            tied = self.state.pool.tied([handles[i] for i in top], source)
        if tied is None:
            self._leader(top[0], apart[0], sign)
            return self._mean(top)
        blocks = self.state.pool.blocks
        shared = {term[0] for term in blocks[tied]}
        self.state.ties[source] = [
            term[0] for i in top for term in blocks[handles[i]] if term[0] not in shared
        ]
        return tied

    def _mean(self, places: Sequence[int]) -> int:
        weight = Fraction(1, len(places))
        return self.state.pool.combined((weight, self.state.handles[i]) for i in places)

    def _check_strict(self, top: list[int], sign: int) -> None:
        """The first of the maximisers must stay ahead of every other token."""
        among = set(top)
        for i in self.places:
            if i not in among:
                self._leader(top[0], i, sign)

    def _leader(self, first: int, other: int, sign: int) -> None:
        handles, values, scales = self.state.handles, self.values, self.scales
        norm = self.functional.gap(handles[first], handles[other])
        if norm:
            p = sign * (values[first] * scales[other] - values[other] * scales[first])
            start = self.places.start
            constraint = Constraint("leader", self.k, first - start, other - start)
            away = [(Fraction(-sign), handles[first]), (Fraction(sign), handles[other])]
            self._limit(p, scales[first] * scales[other], norm, constraint, away)
