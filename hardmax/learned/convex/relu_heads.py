"""ReLU heads with u ∈ ℝ², each on its sector: sliding to a local optimum, and merging."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from .cones import cone_heads
from .losses import Loss


class Forms(Protocol):
    """What heads need of a ReLU problem."""

    forms: np.ndarray
    weights: np.ndarray
    beta: float
    criterion: Loss

    @property
    def flat_targets(self) -> np.ndarray:
        """Targets as rows (n·r, c)."""


@dataclass
class Sectors:
    """Angles that bound the sectors, rising and ending with the first plus 2π."""

    bounds: np.ndarray

    def ends(self, j: int) -> tuple[float, float]:
        """The two angles of sector j."""
        return float(self.bounds[j]), float(self.bounds[j + 1])

    def on(self, forms: np.ndarray, j: int) -> np.ndarray:
        """Which forms ⟨q, u⟩ are positive on sector j; the shape of ``forms`` without its last."""
        low, high = self.ends(j)
        positive: np.ndarray = forms @ unit((low + high) / 2) > 0
        return positive

    def __len__(self) -> int:
        return len(self.bounds) - 1


def unit(angle: float | np.ndarray) -> np.ndarray:
    """Unit vectors (…, 2) at angles."""
    return np.stack([np.cos(angle), np.sin(angle)], axis=-1)


@dataclass
class SectorHeads:
    """Heads u = length · unit(angle) with v (m, c), and the sector of each."""

    angles: np.ndarray
    lengths: np.ndarray
    v: np.ndarray
    sectors: list[int]

    @classmethod
    def none(cls, outputs: int) -> SectorHeads:
        """No heads."""
        return cls(np.zeros(0), np.zeros(0), np.zeros((0, outputs)), [])

    @property
    def u(self) -> np.ndarray:
        """First-layer weights (m, 2)."""
        return self.lengths[:, None] * unit(self.angles)

    @property
    def sizes(self) -> np.ndarray:
        """|u||v| of each head; β times their sum is the penalty."""
        found: np.ndarray = self.lengths * np.linalg.norm(self.v, axis=1)
        return found

    def with_one(self, angle: float, length: float, v: np.ndarray, sector: int) -> SectorHeads:
        """These heads and one more."""
        return SectorHeads(
            np.append(self.angles, angle), np.append(self.lengths, length),
            np.vstack([self.v, v]), [*self.sectors, sector],
        )  # fmt: skip

    def only(self, kept: np.ndarray) -> SectorHeads:
        """The heads where ``kept`` is true."""
        sectors = [j for j, keep in zip(self.sectors, kept, strict=True) if keep]
        return SectorHeads(self.angles[kept], self.lengths[kept], self.v[kept], sectors)


def slide(problem: Forms, heads: SectorHeads, sectors: Sectors) -> SectorHeads:
    """L-BFGS on angles (within their sectors), lengths and v together."""
    from scipy.optimize import minimize

    Y, m, c = problem.flat_targets, len(heads.angles), heads.v.shape[1]
    active = [sectors.on(problem.forms, j) for j in heads.sectors]
    on = np.stack(active, axis=-1) if m else np.zeros((*problem.forms.shape[:2], 0))

    def value(x: np.ndarray) -> tuple[float, np.ndarray]:
        angle, length, v = x[:m], x[m : 2 * m], x[2 * m :].reshape(m, c)
        along, across = unit(angle), unit(angle + np.pi / 2)
        hidden, turned = (
            np.einsum("rk,rkm,rkm->rm", problem.weights, on, problem.forms @ u.T)
            for u in (along, across)
        )
        R = (hidden * length) @ v
        V = problem.criterion.residual(R, Y)
        pull = V @ v.T
        slope = [
            -(turned * pull).sum(0) * length,
            problem.beta * length - (hidden * pull).sum(0),
            (problem.beta * v - (hidden * length).T @ V).ravel(),
        ]
        penalty = problem.beta / 2 * float((length * length).sum() + (v * v).sum())
        return problem.criterion.value(R, Y) + penalty, np.concatenate(slope)

    limits = [sectors.ends(j) for j in heads.sectors] + [(0, None)] * m + [(None, None)] * (m * c)
    found = minimize(
        value, np.concatenate([heads.angles, heads.lengths, heads.v.ravel()]), jac=True,
        method="L-BFGS-B", bounds=limits, options={"maxiter": 3000, "ftol": 1e-16, "gtol": 1e-14},
    ).x  # fmt: skip
    moved = SectorHeads(found[:m], found[m : 2 * m], found[2 * m :].reshape(m, c), heads.sectors)
    return moved.only(moved.sizes > 1e-9)


def merge(heads: SectorHeads, sectors: Sectors) -> SectorHeads:
    """The same predictions with at most two heads in a sector, and no larger penalty."""
    found = SectorHeads.none(heads.v.shape[1])
    for j in sorted(set(heads.sectors)):
        here = heads.only(np.array([other == j for other in heads.sectors]))
        if len(here.angles) < 3:
            for angle, length, v in zip(here.angles, here.lengths, here.v, strict=True):
                found = found.with_one(angle, length, v, j)
            continue
        low, high = sectors.ends(j)
        for a, b in zip(*cone_heads(here.u.T @ here.v, unit(low), unit(high)), strict=True):
            size, other = float(np.linalg.norm(a)), float(np.linalg.norm(b))
            if size * other > 0:
                turn = np.mod(np.arctan2(a[1], a[0]) - low + 1e-9, 2 * np.pi) - 1e-9
                angle = float(np.clip(low + turn, low, high))
                root = np.sqrt(size * other)
                found = found.with_one(angle, root, root * b / other, j)
    return found
