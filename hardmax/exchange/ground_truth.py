"""Radii at which the answer to "does the label hold?" is known: proved below, refuted above.

Below: the label holds for all |δ|∞ < r, where r is the robust radius of theory C7, computed in
exact arithmetic. Above: a perturbed sequence at which the exact output loses the label. Where the
label itself sets r, such a sequence lies just above r. Where r is set by the sign of a neuron, r is
only a lower bound of the true radius; then gradients, and shifts towards sequences of other labels,
look for a sequence further out: floats propose it, and the exact run accepts or rejects it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from ..certify.radius import adversary, radii
from ..dataset import Dataset
from ..exact.numbers import Vector
from ..labels import Polyhedron
from ..model.transformer import Transformer

_STEPS, _GROWTH, _FURTHEST = 12, 1.3, 40  # of the search: about 10^4.5 times the radius
_BITS = 40  # of radii that are written
_NUMBERS = 1 << 22  # floats of perturbations and activations that are held at once


@dataclass(frozen=True)
class Truth:
    """What is known of one sequence.

    The label holds for all |δ|∞ ≤ ``below`` (None: not even for δ = 0 with room). It does not for
    the perturbed sequence ``counterexample``, whose |δ|∞ is at most ``above`` (None: none found).
    ``radius`` is C7's r (None: nothing limits it); ``exact`` says that it is the robust radius
    itself, so that ``below`` and ``above`` differ only by the gap.
    """

    below: Fraction | None
    above: Fraction | None
    counterexample: tuple[Vector, ...] | None
    radius: Fraction | None
    exact: bool


def ground_truth(
    model: Transformer, sequence: Sequence[Vector], region: Polyhedron, gap: Fraction,
    others: np.ndarray | None = None,
) -> Truth | None:  # fmt: skip
    """The truth about one sequence; None where its own output does not lie in the ``region``.

    ``gap`` is the relative distance of ``below`` and ``above`` from the radius, 0 < gap < 1;
    ``others`` (m, d) are means of sequences with other labels.

    >>> region = Polyhedron(((Fraction(1),),), (Fraction(2),))       # y < 2
    >>> from hardmax.model.layers import RankOneBlock
    >>> truth = ground_truth(
    ...     Transformer([RankOneBlock.of(1, rho=0, alpha=1)]), [(Fraction(0),), (Fraction(1),)],
    ...     region, Fraction(1, 8))
    >>> truth.radius, truth.below, truth.above, truth.exact
    (Fraction(3, 2), Fraction(21, 16), Fraction(27, 16), True)
    """
    if not region.contains(model.output(sequence)):
        return None
    sets = {"label": region}
    found = radii(model, Dataset([sequence], ["label"], sets)).each[0]
    if found.value is None:
        return Truth(Fraction(1), None, None, None, False)
    below = _short(found.value * (1 - gap), up=False)
    above = _short(found.value * (1 + gap), up=True)
    signs = adversary(model, sequence, sets)
    if found.constraint is not None and found.constraint.kind == "label" and signs is not None:
        moved = _moved(sequence, np.array(signs), above)
        if not region.contains(model.output(moved)):
            return Truth(below or None, above, moved, found.value, True)
    further, moved_there = _search(model, sequence, region, found.value, others)
    return Truth(below or None, further, moved_there, found.value, False)


def _short(number: Fraction, up: bool) -> Fraction:
    """A dyadic number of few bits near a positive one, on the side asked for."""
    if number == 0:
        return Fraction(0)
    size = number.numerator.bit_length() - number.denominator.bit_length()
    step = Fraction(2) ** (size - _BITS)
    return step * (-(-number // step) if up else number // step)


def _moved(sequence: Sequence[Vector], delta: np.ndarray, radius: Fraction) -> tuple[Vector, ...]:
    """The sequence moved by radius·delta, an array (n, d) of numbers from −1 to 1."""
    return tuple(
        tuple(x + radius * Fraction(s) for x, s in zip(token, row, strict=True))
        for token, row in zip(sequence, delta.tolist(), strict=True)
    )


def _search(
    model: Transformer, sequence: Sequence[Vector], region: Polyhedron, least: Fraction,
    others: np.ndarray | None,
) -> tuple[Fraction | None, tuple[Vector, ...] | None]:  # fmt: skip
    """The least radius above ``least`` at which a counterexample was found, and that."""
    start = least if least else Fraction(1, 1 << 10)
    floats = _Floats(model, sequence, region)
    shifts = floats.shifts(others)

    def attempt(radius: Fraction, attacks: list[np.ndarray]) -> tuple[Vector, ...] | None:
        near = [delta for distance, delta in shifts if distance < 4 * radius < 8 * distance]
        for delta in [*attacks, *near]:
            moved = _moved(sequence, delta, radius)
            if not region.contains(model.output(moved)):
                return moved
        return None

    grown = [start]
    for _ in range(_FURTHEST):
        grown.append(_short(grown[-1] * Fraction(_GROWTH), up=True))
    for k, attacks in enumerate(floats.attacks(grown[1:]), 1):
        found = attempt(grown[k], attacks)
        if found is not None:
            break
    else:
        return None, None
    low, radius = grown[k - 1], grown[k]
    for _ in range(6):
        middle = _short((low + radius) / 2, up=True)
        again = attempt(middle, next(floats.attacks([middle])))
        if again is None:
            low = middle
        else:
            radius, found = middle, again
    return radius, found


class _Floats:
    """The model in float64, with the gradient of each row of the region."""

    def __init__(self, model: Transformer, sequence: Sequence[Vector], region: Polyhedron) -> None:
        p = model.parameters
        if p is None:
            raise TypeError("rank-1 blocks expected")
        self.blocks = list(
            zip(*(array.values for array in (p.u, p.b, p.w, p.rho, p.alpha)), strict=True)
        )
        self.tokens = np.array([[float(x) for x in z] for z in sequence])
        A, b = region.rows
        self.rows = np.array([[float(x) for x in row] for row in A])
        self.bounds = np.array([float(x) for x in b])

    def shifts(self, others: np.ndarray | None) -> list[tuple[float, np.ndarray]]:
        """Distances to the nearest other means, and the shifts of all tokens towards them."""
        if others is None or not len(others):
            return []
        towards = others - self.tokens.mean(axis=0)
        distances = np.abs(towards).max(axis=1)
        nearest = [k for k in np.argsort(distances, kind="stable")[:5] if distances[k] > 0]
        shape = self.tokens.shape
        return [
            (float(distances[k]), np.broadcast_to(towards[k] / distances[k], shape))
            for k in nearest
        ]

    def attacks(self, radii: Sequence[Fraction]) -> Iterator[list[np.ndarray]]:
        """For each radius, signs of perturbations that raise a row of the region, the most
        promising first. Many radii are worked on at once."""
        numbers = self.tokens.size + len(self.tokens) * len(self.blocks)
        many = max(1, _NUMBERS // (len(self.rows) * numbers))
        for first in range(0, len(radii), many):
            yield from self._attacks(np.array([float(r) for r in radii[first : first + many]]))

    def _attacks(self, radii: np.ndarray) -> list[list[np.ndarray]]:
        """The perturbations for radii (k,), for all rows and radii together."""
        reach = np.repeat(radii, len(self.rows))[:, None, None]
        rows, bounds = np.tile(self.rows, (len(radii), 1)), np.tile(self.bounds, len(radii))
        delta = np.zeros((len(rows), *self.tokens.shape))
        chosen, best = np.zeros_like(delta), np.full(len(rows), -np.inf)
        for _ in range(_STEPS):
            signs = np.sign(self._gradients(self._run(delta)[1], rows))
            outputs, _ = self._run(reach * signs)
            scores = (outputs * rows).sum(axis=1) - bounds
            better = scores > best
            best[better], chosen[better] = scores[better], signs[better]
            step = (delta + reach * signs) / 2  # from the middle, other neurons are active
            if np.array_equal(step, delta):
                break
            delta = step
        found = []
        for scores, signs in zip(
            best.reshape(len(radii), -1), np.split(chosen, len(radii)), strict=True
        ):
            order = np.argsort(-scores, kind="stable")[:3]
            found.append([signs[i] for i in order if scores[i] > -1e-6])
        return found

    def _run(self, delta: np.ndarray) -> tuple[np.ndarray, list[np.ndarray]]:
        """Outputs (k, d) at perturbations (k, n, d), and where each neuron is active, (k, n)."""
        x, active = self.tokens + delta, []
        for u, b, w, rho, alpha in self.blocks:
            t = x @ u + b
            active.append(t > 0)
            x = x + np.maximum(t, 0)[..., None] * w
            x = rho * x + alpha * x.mean(axis=1, keepdims=True)
        return x.mean(axis=1), active

    def _gradients(self, active: list[np.ndarray], rows: np.ndarray) -> np.ndarray:
        """Gradients (k, n, d) of ⟨row, output⟩ by the tokens, for rows (k, d)."""
        n = len(self.tokens)
        gradient = np.repeat(rows[:, None] / n, n, axis=1)
        for (u, _, w, rho, alpha), on in zip(self.blocks[::-1], active[::-1], strict=True):
            gradient = rho * gradient + alpha * gradient.mean(axis=1, keepdims=True)
            gradient = gradient + (on * (gradient @ w))[..., None] * u
        return gradient
