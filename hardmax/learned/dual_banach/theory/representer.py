"""Regularised regression in ℓ^p on ℝ^m, by its primal and by its dual (equations 5 to 7).

    minimise  P(f) = ‖y − Vf‖² + λ‖f‖_p²                  over f ∈ ℝ^m     (5)
    maximise  D(c) = ⟨c, y⟩ − ‖c‖²/4 − ‖Vᵀc‖_q²/(4λ)      over c ∈ ℝ^n

The rows of V are the functionals ν_j. P is strictly convex and coercive, so a unique solution
exists (the paper's statement lacks such a condition); P(f) ≥ D(c) for all f and c, with equality
iff both are optimal; then the dual solution is f* = Σ c_j ν_j (6) and f = ‖f*‖_q G*(f*)/(2λ) (7).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from ....errors import InputError
from ..enclosures.balls import Array
from .duality import conjugate, duality_map, norm


@dataclass(frozen=True)
class Regression:
    """The problem (5) with squared loss and φ(t) = t²: V (n, m), y (n,), λ > 0, 1 < p < ∞."""

    V: Array
    y: Array
    strength: float
    p: float | Fraction

    def __post_init__(self) -> None:
        conjugate(self.p)
        if self.V.ndim != 2 or self.y.shape != self.V.shape[:1]:
            raise InputError(f"V of shape {self.V.shape} and y of shape {self.y.shape} don't fit")
        if not (np.isfinite(self.V).all() and np.isfinite(self.y).all()):
            raise InputError("V and y must be finite")
        if not 0 < self.strength < float("inf"):
            raise InputError(f"the strength λ = {self.strength} is not a positive number")

    def primal(self, f: Array) -> float:
        """P(f)."""
        return float(((self.y - self.V @ f) ** 2).sum() + self.strength * norm(f, self.p) ** 2)

    def dual(self, c: Array) -> float:
        """D(c), at most P(f) for every f."""
        q = conjugate(self.p)
        penalty = norm(self.V.T @ c, q) ** 2 / (4 * self.strength)
        return float(c @ self.y - c @ c / 4 - penalty)

    def recover(self, c: Array) -> Array:
        """Primal vector of dual coefficients: f = ‖f*‖_q G*(f*)/(2λ), f* = Vᵀc (7); shape (m,)."""
        functional, q = self.V.T @ c, conjugate(self.p)
        return norm(functional, q) * duality_map(functional, q) / (2 * self.strength)


@dataclass(frozen=True)
class Solution:
    """A primal vector f, dual coefficients c, and ``gap`` = P(f) − D(c).

    In real arithmetic P(f) is at most ``gap`` above the optimum; here the gap is a float.
    """

    f: Array
    c: Array
    gap: float


def solve_primal(problem: Regression) -> Solution:
    """Minimise P by a quasi-Newton method; the coefficients are c = 2(y − Vf).

    >>> V = np.array([[1.0, 2.0, 0.0], [0.0, 1.0, -1.0]])
    >>> solution = solve_primal(Regression(V, np.array([1.0, 2.0]), 0.1, 3))
    >>> bool(abs(solution.gap) < 1e-8)
    True
    """
    from scipy.optimize import minimize

    def value_and_slope(f: Array) -> tuple[float, Array]:
        residual = problem.V @ f - problem.y
        slope = 2 * problem.V.T @ residual
        slope = slope + 2 * problem.strength * norm(f, problem.p) * duality_map(f, problem.p)
        return problem.primal(f), slope

    start = np.asarray(np.linalg.lstsq(problem.V, problem.y, rcond=None)[0], dtype=np.float64)
    f = _minimise(minimize, value_and_slope, start)
    return _with_gap(problem, f, 2 * (problem.y - problem.V @ f))


def solve_dual(problem: Regression) -> Solution:
    """Maximise D over the n coefficients c, however large m is; f comes from c by (7)."""
    from scipy.optimize import minimize

    def value_and_slope(c: Array) -> tuple[float, Array]:
        return -problem.dual(c), problem.V @ problem.recover(c) + c / 2 - problem.y

    c = _minimise(minimize, value_and_slope, problem.y)
    return _with_gap(problem, problem.recover(c), c)


def _minimise(minimize: object, function: object, start: Array) -> Array:
    options = {"maxiter": 5000, "gtol": 1e-13}
    result = minimize(function, start, jac=True, method="BFGS", options=options)  # type: ignore[operator]
    return np.asarray(result.x, dtype=np.float64)


def _with_gap(problem: Regression, f: Array, c: Array) -> Solution:
    return Solution(f, c, problem.primal(f) - problem.dual(c))
