"""ReLU heads, exactly, where u has two coordinates: sectors instead of hyperplane arrangements.

    min  Σ L(Σ_j (Φ u_j)_+ v_jᵀ, Y) + (β/2) Σ_j (|u_j|² + |v_j|²),    u_j ∈ ℝ²

(5), (26) with s·d = 2, or d = 2 for a head on tokens. The kinks ⟨q, u⟩ = 0 cut the plane into
sectors, and on a sector (Φu)_+ is linear. So the dual constraint max |N(u)| ≤ β|u| is a problem of
two dimensions on each sector, solved exactly up to rounding; its solution is the next head (column
generation), and all heads then slide within their sectors. Certificates are exact as for the
others. With more coordinates the exact problem is copositive, hence hard: take gated heads, which
relax nothing but their gates.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from time import process_time
from typing import Any

import numpy as np

from ...errors import InputError
from .certificate import finished, heads_table, instance, margin, rounded_dual
from .heads import Head, shifts
from .losses import LOSSES
from .problem import pooling_weights
from .relu_heads import SectorHeads, Sectors, merge, slide, unit


class ReluProblem:
    """A ReLU head with u ∈ ℝ²; arguments as for `Problem`. Raises InputError for other sizes."""

    gates: None = None

    def __init__(
        self,
        head: Head,
        tokens: np.ndarray,
        targets: np.ndarray,
        beta: float,
        loss: str = "squared",
        pooled: bool = True,
    ) -> None:
        self.head, self.beta, self.loss, self.pooled = head, beta, loss, pooled
        self.tokens = np.asarray(tokens, dtype=float)
        self.targets = np.asarray(targets, dtype=float)
        self.lengths: np.ndarray | None = None
        self.criterion = LOSSES[loss]
        n, s, d = self.tokens.shape
        if head.activation != "relu" or head.mixing not in ("fourier", "tokens"):
            raise InputError("exact ReLU training needs a Fourier head or one on single tokens")
        if head.groups != 1 or head.weight_shapes(s, d, 1)[0] != (2,):
            raise InputError("exact ReLU training needs u in two dimensions")
        X = head.transformed(self.tokens)
        wide = X if head.mixing == "tokens" else X[:, shifts(head.grid_for(s))].reshape(n, s, 2)
        if pooled:
            self.forms, self.weights = wide, pooling_weights(n, s, None)
        else:
            self.forms, self.weights = wide.reshape(n * s, 1, 2), np.ones((n * s, 1))

    @property
    def flat_targets(self) -> np.ndarray:
        """Targets as rows (n·r, c)."""
        return self.targets.reshape(-1, self.targets.shape[2])

    def hidden(self, u: np.ndarray) -> np.ndarray:
        """Activations of heads u (m, 2), pooled: shape (n·r, m)."""
        found: np.ndarray = np.einsum("rk,rkm->rm", self.weights, np.maximum(self.forms @ u.T, 0))
        return found

    def sectors(self) -> Sectors:
        """The sectors between the kinks, cut at the coordinate axes too."""
        q = self.forms.reshape(-1, 2)
        q = q[(q != 0).any(1)]
        angles = np.arctan2(q[:, 1], q[:, 0])
        turned = np.concatenate([angles + np.pi / 2, angles - np.pi / 2, np.pi / 2 * np.arange(4)])
        rising = np.unique(np.mod(turned, 2 * np.pi))
        return Sectors(np.append(rising, rising[0] + 2 * np.pi))

    def steepest(self, V: np.ndarray) -> tuple[float, float, int]:
        """Largest |N(u)| over unit u, the angle of u, and its sector, for V of shape (n·r, c)."""
        sectors, best = self.sectors(), (-1.0, 0.0, 0)
        for j in range(len(sectors)):
            low, high = sectors.ends(j)
            seen = self.weights * sectors.on(self.forms, j)
            N = np.einsum("rk,rkx,rc->xc", seen, self.forms, V)
            top = np.linalg.eigh(N @ N.T)[1][:, -1]
            inner = float(np.mod(np.arctan2(top[1], top[0]) - low, np.pi) + low)
            for angle in (low, high, *([inner] if inner < high else [])):
                best = max(best, (float(np.linalg.norm(unit(angle) @ N)), angle, j))
        return best


@dataclass
class ReluSolution:
    """Heads u (m, 2) and v (m, c) with |u| = |v|, bounds in floating point, a dual point V.

    ``history`` holds (seconds of processor time, upper, lower).
    """

    u: np.ndarray
    v: np.ndarray
    V: np.ndarray
    upper: float
    lower: float
    history: list[tuple[float, float, float]] = field(repr=False)

    @property
    def gap(self) -> float:
        """Duality gap, relative to the upper bound."""
        return (self.upper - self.lower) / max(abs(self.upper), 1e-300)


def solve(problem: ReluProblem, tolerance: float = 1e-8, most: int = 200) -> ReluSolution:
    """Column generation until the relative gap is at most the tolerance.

    >>> X, Y = np.array([[[1.0], [0.0]]]), np.array([[[1.0], [-1.0]]])
    >>> found = solve(ReluProblem(Head("fno", "relu"), X, Y, 0.1, pooled=False))
    >>> round(found.upper, 6), len(found.u)   # 19/100 with two heads
    (0.19, 2)
    """
    Y, loss, sectors = problem.flat_targets, problem.criterion, problem.sectors()
    heads = SectorHeads.none(Y.shape[1])
    clock, best, kept, upper = process_time(), -np.inf, np.zeros_like(Y), np.inf
    history: list[tuple[float, float, float]] = []
    for _ in range(most):
        R = problem.hidden(heads.u) @ heads.v
        V = loss.residual(R, Y)
        size, angle, where = problem.steepest(V)
        low = loss.dual(loss.scale(V, Y, problem.beta / max(size, 1e-300)) * V, Y)
        if low > best:
            best, kept = low, V
        upper = loss.value(R, Y) + problem.beta * float(heads.sizes.sum())
        history.append((process_time() - clock, upper, best))
        if upper - best <= tolerance * abs(upper):
            break
        if size > problem.beta:
            pull = problem.hidden(unit(np.array([angle])))[:, 0] @ V
            heads = heads.with_one(angle, 1e-2 / size**0.5, 1e-2 * pull / size**1.5, where)
        heads = merge(slide(problem, heads, sectors), sectors)
    roots = np.sqrt(heads.sizes)[:, None]
    v = roots * heads.v / np.linalg.norm(heads.v, axis=1, keepdims=True)
    V = kept.reshape(problem.targets.shape)
    return ReluSolution(roots * unit(heads.angles), v, V, upper, best, history)


def certify_relu(problem: ReluProblem, solution: ReluSolution) -> dict[str, Any]:
    """The exact certificate of a ReLU solution: over all head counts, on every sector."""
    flat = solution.V.reshape(problem.flat_targets.shape)
    most = problem.beta / max(problem.steepest(flat)[0], 1e-300)
    tau = problem.criterion.scale(flat, problem.flat_targets, most)
    cert = instance(problem)
    cert["heads"] = heads_table([(solution.u.T, solution.v.T)])
    cert["dual"] = rounded_dual(problem, solution.V * tau * margin(2))
    return finished(cert)
