"""The decisions that one block takes, and how much input perturbation leaves them alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from ...exact.matrix import clear_denominators
from ...model.parameters import PackedBlock
from ...model.tokens import Tokens
from .jacobian import Functional, Jacobians
from .limits import Constraint, Kink, Limits
from .norm_bounds import NormBounds

_DEEPEST = 2**40  # more blocks than any model has


@dataclass
class State:
    """A run in progress: exact tokens, the handle of each token's Jacobian, the radii so far."""

    batch: Tokens
    pool: Jacobians
    handles: list[int]
    limits: Limits
    bounds: NormBounds
    ties: dict[int, list[int]]  # a source that stands for a tie, and the sources tied
    masked: bool = False

    def owners(self) -> np.ndarray:
        """The sequence of each row of the batch."""
        return np.repeat(np.arange(len(self.batch)), np.diff(self.batch.starts))


def feed_forward(state: State, k: int, block: PackedBlock) -> None:
    """The kinks of block k's feed-forward layer; updates the Jacobians, not the tokens."""
    handles, limits, pool = state.handles, state.limits, state.pool
    if not any(block.w):
        return
    if not any(block.u):  # a translation: it decides nothing and changes no Jacobian
        limits.settle_all(state.batch)
        return
    functional = pool.functional(block.u)
    step = clear_denominators(block.w)
    starts, owners = state.batch.starts, state.owners()
    computed, bound = state.batch.float_values(block.u, block.b)
    low, high = state.bounds.radii(functional, np.array(handles), computed, bound)
    near = ~(low > limits.upper[owners])
    certain = np.abs(computed) > bound
    moved: dict[int, int] = {}
    for i in np.flatnonzero(near | ~certain | (computed > 0)).tolist():
        j, handle = int(owners[i]), handles[i]
        if near[i]:
            token = i - starts[j] if starts[j + 1] - starts[j] > 1 else None
            kink = Kink(i, functional, block.b, handle, Constraint("kink", k, token))
            limits.add(j, kink, float(low[i]), float(high[i]))
        if computed[i] > 0 if certain[i] else state.batch.value(i, block.u, block.b) > 0:
            limits.constant_outputs(j, state.batch)
            if handle not in moved:
                moved[handle] = pool.moved(handle, functional, step)
            handles[i] = moved[handle]


def attention(state: State, k: int, block: PackedBlock) -> list[int]:
    """The signs and leaders of block k's attention; the handle of each token after it.

    Must be called after the feed-forward layer and before the attention of the batch.
    """
    batch, pool = state.batch, state.pool
    state.limits.settle_all(batch)
    heads = [(h, *head) for h, head in enumerate(block.heads) if head[0]]
    scored = [(*batch.values(v), pool.functional(v)) for _, _, v in heads]
    share = sum((alpha for _, alpha, _ in heads), Fraction(0))
    after: list[int] = []
    for j, (start, end) in enumerate(batch.spans()):
        handles = state.handles[start:end]
        together = len(set(handles)) == 1 and (
            end - start == 1 or len({batch.token(i) for i in range(start, end)}) == 1
        )
        if together:  # every token attends to what it is itself
            after += [pool.combined([(block.rho + share, handles[0])])] * len(handles)
            continue
        parts = [[(block.rho, handle)] for handle in handles]
        for (h, alpha, v), (values, scales, functional) in zip(heads, scored, strict=True):
            rows = _Rows(state, j, k, range(start, end), functional, values, scales, h)
            for part, focus in zip(parts, _focus(rows, any(v)), strict=True):
                part.append((alpha, focus))
        after += [pool.combined(part) for part in parts]
    return after


def _focus(rows: _Rows, decides: bool) -> list[int]:
    """The handle of what one head gives each token, before α."""
    signs = [(rows.values[i] > 0) - (rows.values[i] < 0) for i in rows.places]
    if decides:
        rows.check_signs()
    if rows.state.masked:
        places = zip(rows.places, signs, strict=True)
        return [rows.up_to(i - rows.places.start).focus(sign, decides) for i, sign in places]
    of = {sign: rows.focus(sign, decides) for sign in set(signs)}
    return [of[sign] for sign in signs]


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
    head: int = 0

    def up_to(self, i: int) -> _Rows:
        """What token i of a masked transformer sees."""
        return replace(self, places=self.places[: i + 1])

    def _limit(
        self, p: int, q: int, norm: Fraction, constraint: Constraint,
        parts: list[tuple[Fraction, int]],
    ) -> None:  # fmt: skip
        radius = Fraction(int(p), int(q)) / norm
        self.state.limits.lower(self.j, radius, constraint, self.functional, parts)

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
        source = -(2 * (self.k + self.head * _DEEPEST) + 1 + (sign > 0))
        tied = None
        # under a mask the tokens of a sequence may follow different ones of them
        if not self.state.masked and len({self.state.batch.token(i) for i in top}) == 1:
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
