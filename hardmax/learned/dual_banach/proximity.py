"""The two-step proximity algorithm for the ℓ¹-SVM of Appendix D, mended (equations 28 and 29).

    minimise ‖w‖₁ + C Σ_i max(0, 1 − (Bw)_i),            B = diag(labels)[X, 1]
    w⁺ = soft(w_k − (Cβ/λ)Bᵀ(2y_k − y_{k−1}), 1/λ)
    y⁺ = z − prox_{ψ/β}(z),  z = y_k + Bw⁺,  ψ the sum of hinges

The paper prints y_k − y_{k−1}: then every fixed point has w = soft(w, 1/λ), that is w = 0. It
prints prox_{ψ/(Cβ)}, which forgets C. The iteration converges if (Cβ/λ)‖B‖² < 1 (it is the
primal-dual method of Chambolle and Pock, 2011); the paper's λ = 1 never satisfies that.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from ...errors import InputError
from .enclosures.balls import Array
from .enclosures.spectral import spectral_norm


def soft_threshold(z: Array, t: float) -> Array:
    """sgn(z) max(|z| − t, 0), the proximity operator of t‖·‖₁."""
    return np.sign(z) * np.maximum(abs(z) - t, 0.0)


def hinge_prox(z: Array, t: float) -> Array:
    """argmin_x (x − z)²/2 + t max(0, 1 − x), entry by entry.

    >>> hinge_prox(np.array([2.0, 0.8, -3.0]), 0.5)
    array([ 2. ,  1. , -2.5])
    """
    return np.where(z > 1, z, np.minimum(z + t, 1.0))


@dataclass(frozen=True)
class SvmProblem:
    """The ℓ¹-SVM: B of shape (n, d + 1), C > 0."""

    B: Array
    C: float = 1.0

    def __post_init__(self) -> None:
        if self.B.ndim != 2 or not np.isfinite(self.B).all():
            raise InputError("B must be a finite matrix")
        if not 0 < self.C < float("inf"):
            raise InputError(f"C = {self.C} must be a positive number")

    @classmethod
    def random(cls, seed: int, samples: int = 64, dimension: int = 10) -> SvmProblem:
        """The paper's data: X ~ N(0, I), labels sgn(X₁)."""
        X = np.random.default_rng(seed).normal(size=(samples, dimension))
        labels = np.where(X[:, 0] >= 0, 1.0, -1.0)
        return cls(labels[:, None] * np.c_[X, np.ones(samples)])

    def objective(self, w: Array) -> float:
        """‖w‖₁ + C Σ max(0, 1 − (Bw)_i); the bias, the last entry of w, counts in the norm."""
        return float(abs(w).sum() + self.C * np.maximum(0, 1 - self.B @ w).sum())

    def bracket(self) -> tuple[Fraction, Fraction]:
        """Rationals between which the optimum provably lies: a linear program proposes both ends.

        Above: the exact objective at a float w. Below: Σα_i of an α with 0 ≤ α ≤ C and
        |Bᵀα| ≤ 1, which weak duality makes a lower bound; a float α is made feasible exactly.

        >>> low, high = SvmProblem(np.array([[2.0]])).bracket()
        >>> bool(low <= Fraction(1, 2) <= high), float(high - low) < 1e-9
        (True, True)
        """
        from scipy.optimize import linprog

        n, d = self.B.shape
        cost = np.r_[np.ones(2 * d), np.full(n, self.C)]
        limits = np.c_[-self.B, self.B, -np.eye(n)]
        result = linprog(cost, A_ub=limits, b_ub=-np.ones(n), method="highs")
        w = [Fraction(float(x)) for x in result.x[:d] - result.x[d : 2 * d]]
        rows = [[Fraction(float(x)) for x in row] for row in self.B]
        C, zero = Fraction(self.C), Fraction(0)
        slack = [1 - sum((b * x for b, x in zip(row, w, strict=True)), zero) for row in rows]
        above = sum(map(abs, w), zero) + C * sum((max(s, zero) for s in slack), zero)
        alpha = [min(max(Fraction(float(-m)), zero), C) for m in result.ineqlin.marginals]
        reach = max(abs(sum((a * row[j] for a, row in zip(alpha, rows, strict=True)), zero))
                    for j in range(d))  # fmt: skip
        return sum(alpha, zero) / max(reach, Fraction(1)), above


@dataclass(frozen=True)
class TwoStep:
    """The iteration with step parameters β, λ; a state is v = [w; y] of shape (d + 1 + n,).

    ``printed`` takes (28) as it stands in the paper. Raises InputError where the step condition
    is not proved, unless ``unchecked``.
    """

    problem: SvmProblem
    lam: float
    beta: float = 1.0
    printed: bool = False
    unchecked: bool = False

    def __post_init__(self) -> None:
        if not (self.lam > 0 and self.beta > 0):
            raise InputError("β and λ must be positive")
        if not self.unchecked and not self.rate < 1:
            raise InputError(
                f"the step condition (Cβ/λ)‖B‖² < 1 fails: it is {self.rate:.4g}; "
                f"take λ above {self.lam * self.rate:.4g}"
            )

    @classmethod
    def safe(cls, problem: SvmProblem, room: float = 1.05) -> TwoStep:
        """Iteration with β = 1 and λ = room·C‖B‖²; room > 1 satisfies the step condition."""
        return cls(problem, room * problem.C * float(spectral_norm(problem.B).upper) ** 2)

    @cached_property
    def rate(self) -> float:
        """Upper bound of (Cβ/λ)‖B‖²."""
        square = spectral_norm(self.problem.B).square() * self.problem.C * self.beta
        return float((square / self.lam).upper)

    def step(self, state: Array, before: Array) -> Array:
        """Next state from the last two; states may have leading axes."""
        B = self.problem.B
        d = B.shape[1]
        w, y, y_before = state[..., :d], state[..., d:], before[..., d:]
        ahead = y - y_before if self.printed else 2 * y - y_before
        scale = self.problem.C * self.beta / self.lam
        w = soft_threshold(w - scale * ahead @ B, 1 / self.lam)
        z = y + w @ B.T
        return np.concatenate([w, z - hinge_prox(z, 1 / self.beta)], axis=-1)

    def run(self, start: Array, steps: int) -> Array:
        """States v_0 = v_{−1} = start, …, v_steps: shape (steps + 1, …)."""
        states = [start, self.step(start, start)]
        while len(states) <= steps:
            states.append(self.step(states[-1], states[-2]))
        return np.array(states[: steps + 1])

    def random_starts(self, count: int, seed: int) -> Array:
        """Gaussian states of shape (count, d + 1 + n)."""
        size = sum(self.problem.B.shape)
        return np.random.default_rng(seed).normal(size=(count, size))


def alignment(predicted: Array, reference: Array) -> Array:
    """⟨Δ̂, Δ⟩/‖Δ‖² along the last axis: the paper's "alignment", which is no cosine."""
    return np.asarray((predicted * reference).sum(-1) / (reference**2).sum(-1))


def cosine(predicted: Array, reference: Array) -> Array:
    """⟨Δ̂, Δ⟩/(‖Δ̂‖‖Δ‖) along the last axis; 0 where a vector is 0.

    >>> ref, hat = np.array([1.0, 0.0]), np.array([1.0, 10.0])
    >>> float(alignment(hat, ref)), round(float(cosine(hat, ref)), 3)
    (1.0, 0.1)
    """
    length = np.linalg.norm(predicted, axis=-1) * np.linalg.norm(reference, axis=-1)
    return np.asarray((predicted * reference).sum(-1) / np.where(length > 0, length, 1.0))
