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
from time import perf_counter
from typing import Any

import numpy as np

from ...errors import InputError
from .certificate import finished, heads_table, instance, margin, rounded_dual
from .cones import cone_heads
from .heads import Head, shifts
from .losses import LOSSES
from .problem import pooling_weights


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

    def sectors(self) -> np.ndarray:
        """Angles of the kinks, rising, with the axes; consecutive ones bound the sectors."""
        q = self.forms.reshape(-1, 2)
        q = q[(q != 0).any(1)]
        angles = np.arctan2(q[:, 1], q[:, 0])
        turned = np.concatenate([angles + np.pi / 2, angles - np.pi / 2, np.pi / 2 * np.arange(4)])
        return np.unique(np.mod(turned, 2 * np.pi))

    def steepest(self, V: np.ndarray) -> tuple[float, float, int]:
        """Largest |N(u)| over unit u, the angle of u, and its sector, for V of shape (n·r, c)."""
        bounds = self.sectors()
        best = (-1.0, 0.0, 0)
        for j, low in enumerate(bounds):
            high = bounds[j + 1] if j + 1 < len(bounds) else bounds[0] + 2 * np.pi
            middle = (low + high) / 2
            on = self.forms @ [np.cos(middle), np.sin(middle)] > 0
            N = np.einsum("rk,rkx,rc->xc", self.weights * on, self.forms, V)
            vectors = np.linalg.eigh(N @ N.T)[1]
            top = np.mod(np.arctan2(vectors[1, 1], vectors[0, 1]) - low, np.pi) + low
            for angle in (low, high, *([top] if top < high else [])):
                size = float(np.linalg.norm(N.T @ [np.cos(angle), np.sin(angle)]))
                best = max(best, (size, float(angle), j))
        return best


@dataclass
class ReluSolution:
    """Heads u (m, 2) and v (m, c) with |u| = |v|, bounds in floating point, a dual point V.

    ``history`` holds (seconds, upper, lower).
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
    from scipy.optimize import minimize

    Y, c = problem.flat_targets, problem.targets.shape[2]
    bounds = problem.sectors()
    angles, lengths = np.zeros(0), np.zeros(0)
    sector: list[int] = []
    vs = np.zeros((0, c))
    clock, best, kept = perf_counter(), -np.inf, np.zeros_like(Y)
    upper, history = np.inf, []

    def parts(x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        m = len(x) // (2 + c)
        return x[:m], x[m : 2 * m], x[2 * m :].reshape(m, c)

    def value(x: np.ndarray) -> tuple[float, np.ndarray]:
        theta, r, v = parts(x)
        middle = np.array([_middle(bounds, j) for j in sector])
        on = problem.forms @ np.stack([np.cos(middle), np.sin(middle)]) > 0
        u = np.stack([np.cos(theta), np.sin(theta)], 1)
        across = np.stack([-np.sin(theta), np.cos(theta)], 1)
        unit = np.einsum("rk,rkm,rkm->rm", problem.weights, on, problem.forms @ u.T)
        turn = np.einsum("rk,rkm,rkm->rm", problem.weights, on, problem.forms @ across.T)
        R = (unit * r) @ v
        V = problem.criterion.residual(R, Y)
        pull = V @ v.T
        slope = np.concatenate([
            -(turn * pull).sum(0) * r,
            problem.beta * r - (unit * pull).sum(0),
            (problem.beta * v - (unit * r).T @ V).ravel(),
        ])  # fmt: skip
        penalty = problem.beta / 2 * float((r * r).sum() + (v * v).sum())
        return problem.criterion.value(R, Y) + penalty, slope

    for _ in range(most):
        u = lengths[:, None] * np.stack([np.cos(angles), np.sin(angles)], 1)
        R = problem.hidden(u) @ vs
        V = problem.criterion.residual(R, Y)
        size, angle, where = problem.steepest(V)
        tau = problem.criterion.scale(V, Y, problem.beta / max(size, 1e-300))
        low = problem.criterion.dual(tau * V, Y)
        if low > best:
            best, kept = low, V
        upper = problem.criterion.value(R, Y) + problem.beta * float(
            (lengths * np.linalg.norm(vs, axis=1)).sum()
        )
        history.append((perf_counter() - clock, upper, best))
        if upper - best <= tolerance * abs(upper):
            break
        if size > problem.beta:
            direction = problem.hidden(np.array([[np.cos(angle), np.sin(angle)]]))[:, 0] @ V
            root = 1e-2 / np.sqrt(max(size, 1e-300))
            angles, lengths = np.append(angles, angle), np.append(lengths, root)
            sector.append(where)
            vs = np.vstack([vs, root * direction / max(size, 1e-300)])
        x = np.concatenate([angles, lengths, vs.ravel()])
        m = len(angles)
        limits = [(bounds[j], bounds[j] + 2 * (_middle(bounds, j) - bounds[j])) for j in sector]
        limits += [(0, None)] * m + [(None, None)] * (m * c)
        found = minimize(value, x, jac=True, method="L-BFGS-B", bounds=limits,
                         options={"maxiter": 3000, "ftol": 1e-16, "gtol": 1e-14})  # fmt: skip
        angles, lengths, vs = parts(found.x)
        used = lengths * np.linalg.norm(vs, axis=1) > 1e-9
        angles, lengths, vs = angles[used], lengths[used], vs[used]
        sector = [j for j, kept_one in zip(sector, used, strict=True) if kept_one]
        angles, lengths, vs, sector = _merged(bounds, angles, lengths, vs, sector)
    sizes = np.linalg.norm(vs, axis=1)
    roots = np.sqrt(lengths * sizes)[:, None]
    u = roots * np.stack([np.cos(angles), np.sin(angles)], 1)
    V = kept.reshape(problem.targets.shape)
    return ReluSolution(u, roots * vs / sizes[:, None], V, upper, best, history)


def _merged(
    bounds: np.ndarray, angles: np.ndarray, lengths: np.ndarray, vs: np.ndarray, sector: list[int]
) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[int]]:
    """The same predictions with at most two heads in a sector, and no larger penalty."""
    found: list[tuple[float, float, np.ndarray, int]] = []
    for j in sorted(set(sector)):
        here = [k for k, other in enumerate(sector) if other == j]
        if len(here) < 3:
            found += [(angles[k], lengths[k], vs[k], j) for k in here]
            continue
        u = lengths[here, None] * np.stack([np.cos(angles[here]), np.sin(angles[here])], 1)
        ends = bounds[j], 2 * _middle(bounds, j) - bounds[j]
        g, h = (np.array([np.cos(end), np.sin(end)]) for end in ends)
        for a, b in zip(*cone_heads(u.T @ vs[here], g, h), strict=True):
            size, other = np.linalg.norm(a), np.linalg.norm(b)
            if size * other > 0:
                angle = np.mod(np.arctan2(a[1], a[0]) - ends[0] + 1e-9, 2 * np.pi) - 1e-9 + ends[0]
                root = np.sqrt(size * other)
                found.append((float(np.clip(angle, *ends)), float(root), root * b / other, j))
    if not found:
        return np.zeros(0), np.zeros(0), np.zeros((0, vs.shape[1])), []
    new_angles, new_lengths, new_vs, new_sector = zip(*found, strict=True)
    return np.array(new_angles), np.array(new_lengths), np.array(new_vs), list(new_sector)


def _middle(bounds: np.ndarray, j: int) -> float:
    """The angle in the middle of sector j."""
    high = bounds[j + 1] if j + 1 < len(bounds) else bounds[0] + 2 * np.pi
    return float(bounds[j] + high) / 2


def certify_relu(problem: ReluProblem, solution: ReluSolution) -> dict[str, Any]:
    """The exact certificate of a ReLU solution: over all head counts, on every sector."""
    flat = solution.V.reshape(problem.flat_targets.shape)
    most = problem.beta / max(problem.steepest(flat)[0], 1e-300)
    tau = problem.criterion.scale(flat, problem.flat_targets, most)
    cert = instance(problem)
    cert["heads"] = heads_table([(solution.u.T, solution.v.T)])
    cert["dual"] = rounded_dual(problem, solution.V * tau * margin(2))
    return finished(cert)
