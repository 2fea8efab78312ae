"""The least radius found so far, of every sequence of a run, and the decision that sets it."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from ...enclosure.shadow import ratio
from ...model.tokens import Tokens
from .jacobian import Functional

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

    def place(self) -> tuple[int, int, int]:
        """Where in the run the decision is taken; the output comes last."""
        if self.block is None:
            return (10**9, 0, 0)
        return (self.block, ("kink", "sign", "leader").index(self.kind), self.token or 0)

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


@dataclass
class Kink:
    """A kink that may bind: the sign of ⟨u,z⟩ + b for the token in a row of the batch.

    ``value`` is the exact ⟨u,z⟩ + b, worked out only if the row is about to change.
    """

    row: int
    functional: Functional
    b: Fraction
    handle: int
    constraint: Constraint
    value: Fraction | None = None


class Limits:
    """The least radius so far of every sequence, and what sets it.

    Kinks wait until the end, with bounds on their radii: most are never looked at exactly.
    With ``keep`` the gradient of the binding decision, away from its value, is kept too.
    """

    def __init__(self, count: int, keep: bool = False) -> None:
        self.keep = keep
        self.radii: list[Fraction | None] = [None] * count
        self.constraints: list[Constraint | None] = [None] * count
        self.gradients: list[Gradient | None] = [None] * count
        self.upper = np.full(count, np.inf)  # above each final radius, in float64
        self._waiting: list[list[tuple[float, Kink]]] = [[] for _ in range(count)]

    def add(self, j: int, kink: Kink, low: float, high: float) -> None:
        """Let a kink wait whose radius lies between two bounds (NaN: no bound)."""
        waiting = self._waiting[j]
        if high < self.upper[j]:
            self.upper[j] = high
            if waiting:
                self._waiting[j] = waiting = [entry for entry in waiting if not entry[0] > high]
        waiting.append((low, kink))

    def constant_outputs(self, j: int, batch: Tokens) -> None:
        """Work out the values of the kinks of j that wait, because its tokens will change."""
        for low, kink in self._waiting[j]:
            if kink.value is None and not low > self.upper[j]:
                kink.value = batch.value(kink.row, kink.functional.u, kink.b)

    def settle_all(self, batch: Tokens) -> None:
        """Work out the values of all kinks that wait, because the batch will change."""
        for j in range(len(self._waiting)):
            self.constant_outputs(j, batch)

    def finish(self, batch: Tokens) -> None:
        """Decide all kinks that wait, exactly; the batch must be as it was for the last of them."""
        self.settle_all(batch)
        for j, waiting in enumerate(self._waiting):
            for low, kink in waiting:
                norm = None if low > self.upper[j] else kink.functional.norm(kink.handle)
                if norm and kink.value is not None:
                    sign = Fraction(-1 if kink.value > 0 else 1)
                    parts = [(sign, kink.handle)]
                    self.lower(j, abs(kink.value) / norm, kink.constraint, kink.functional, parts)
        self._waiting = [[] for _ in self._waiting]

    def lower(
        self,
        j: int,
        radius: Fraction,
        constraint: Constraint,
        functional: Functional | None,
        parts: list[tuple[Fraction, int]],
    ) -> None:
        """Lower the radius of j, if it is above; of two equal ones the earlier decision binds."""
        least, binding = self.radii[j], self.constraints[j]
        if (
            least is not None
            and binding is not None
            and (radius > least or (radius == least and binding.place() <= constraint.place()))
        ):
            return
        self.radii[j] = radius
        self.constraints[j] = constraint
        upper = np.nextafter(ratio(radius.numerator, radius.denominator), np.inf)
        self.upper[j] = min(self.upper[j], upper)
        if self.keep:
            self.gradients[j] = functional.gradient(parts) if functional is not None else None
