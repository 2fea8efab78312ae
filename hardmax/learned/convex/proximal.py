"""Accelerated proximal gradient with singular-value thresholding, backtracking and restart.

The methods are those of Beck and Teboulle (FISTA), of Cai, Candès and Shen (thresholding) and of
O'Donoghue and Candès (restart).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass, field
from time import process_time

import numpy as np

from .problem import Problem

Progress = Callable[[int, float], None]


@dataclass
class Solution:
    """Blocks Z_j with an upper and a lower bound in floating point, and a dual point V.

    ``history`` holds (seconds of processor time, upper, lower) as they were found;
    ``iterations`` counts steps.
    """

    Zs: list[np.ndarray]
    V: np.ndarray
    upper: float
    lower: float
    iterations: int
    history: list[tuple[float, float, float]] = field(repr=False)

    @property
    def gap(self) -> float:
        """Duality gap, relative to the upper bound."""
        return (self.upper - self.lower) / max(abs(self.upper), 1e-300)


def threshold(Z: np.ndarray, amount: float) -> tuple[np.ndarray, float]:
    """Shrink the singular values of Z by an amount; also return what remains of their sum.

    It is the proximal map of amount · ‖·‖_*.

    >>> import numpy as np
    >>> threshold(np.diag([3.0, 1.0]), 2.0)[0].round(6).tolist()
    [[1.0, 0.0], [0.0, 0.0]]
    """
    wide = Z.shape[0] < Z.shape[1]
    tall = Z.T if wide else Z
    squares, right = np.linalg.eigh(tall.T @ tall)
    values = np.sqrt(np.maximum(squares, 0))
    kept = values > amount
    left = right[:, kept]
    factors = 1 - amount / values[kept]
    found = (tall @ (left * factors)) @ left.T
    return (found.T if wide else found), float((values[kept] - amount).sum())


def proximal_gradient(
    problem: Problem,
    start: Sequence[np.ndarray] | None = None,
    tolerance: float = 1e-6,
    most: int = 20_000,
    every: int = 10,
    progress: Progress | None = None,
) -> Solution:
    """Minimise until the relative duality gap is at most the tolerance, or ``most`` steps.

    Every ``every`` steps the gap is measured and given to ``progress``.
    """
    clock, loss, Y = process_time(), problem.criterion, problem.targets
    Zs = [Z.copy() for Z in (start if start is not None else problem.zeros())]
    RZ = problem.predict(Zs)
    points, RP = Zs, RZ
    rate = _curvature(problem) * loss.curvature / 4
    momentum, best, history = 1.0, -np.inf, []
    V, upper = loss.residual(RZ, Y), np.inf
    penalty = problem.penalty(Zs)
    step = 0
    for step in range(most + 1):
        if step % every == 0:
            here = loss.residual(RZ, Y)
            Ns = problem.adjoints(here)
            bound, _ = problem.lower_bound(here, Ns)
            if bound > best:
                best, V = bound, here
            upper = loss.value(RZ, Y) + penalty
            history.append((process_time() - clock, upper, best))
            if progress is not None:
                progress(step, (upper - best) / max(abs(upper), 1e-300))
            if upper - best <= tolerance * abs(upper):
                break
        if step == most:
            break
        seen = loss.residual(RP, Y)
        Ns = problem.adjoints(seen)
        rate *= 0.9
        while True:
            new, penalty = _step(problem, points, Ns, rate)
            moved = [a - b for a, b in zip(new, points, strict=True)]
            R = problem.predict(new)
            # ⟨∇L(R) − ∇L(RP), R − RP⟩ keeps its digits where a difference of values has none
            bend = float(((seen - loss.residual(R, Y)) * (R - RP)).sum())
            if bend <= rate * _square(moved) or rate > 1e300:
                break
            rate *= 1.6
        towards = [a - b for a, b in zip(new, Zs, strict=True)]
        if sum(float((m * t).sum()) for m, t in zip(moved, towards, strict=True)) < 0:
            momentum = 1.0  # the momentum points uphill: start it anew
        following = (1 + np.sqrt(1 + 4 * momentum**2)) / 2
        weight = (momentum - 1) / following
        points = [a + weight * t for a, t in zip(new, towards, strict=True)]
        RP = R + weight * (R - RZ)
        Zs, RZ, momentum = new, R, following
    return Solution(Zs, V, upper, best, step, history)


def beta_path(
    problem: Problem, betas: Sequence[float], tolerance: float = 1e-6, most: int = 20_000
) -> Iterator[tuple[Problem, Solution]]:
    """Solve for one β after another, each from the solution before; best in falling order.

    >>> from hardmax.learned.convex import Head
    >>> case = Problem(Head("mlp"), np.array([[[2.0]]]), np.array([[[3.0]]]), 1.0)
    >>> case.largest_beta()
    6.0
    >>> [round(found.upper, 4) for _, found in beta_path(case, (8.0, 6.0, 0.5))]
    [4.5, 4.5, 0.7188]
    """
    start: Sequence[np.ndarray] | None = None
    for beta in betas:
        one = copy(problem)
        one.beta = float(beta)
        found = proximal_gradient(one, start, tolerance, most)
        start = found.Zs
        yield one, found


def _step(
    problem: Problem, points: Sequence[np.ndarray], Ns: Sequence[np.ndarray], rate: float
) -> tuple[list[np.ndarray], float]:
    """One proximal step of size 1/rate, and the penalty of what it reaches."""
    moved = [Z + N / rate for Z, N in zip(points, Ns, strict=True)]
    if problem.head.penalty == "squared":
        shrunk = [Z / (1 + problem.beta / rate) for Z in moved]
        return shrunk, problem.penalty(shrunk)
    found = [threshold(Z, problem.beta / rate) for Z in moved]
    return [Z for Z, _ in found], problem.beta * sum(value for _, value in found)


def _square(matrices: Sequence[np.ndarray]) -> float:
    return sum(float((m * m).sum()) for m in matrices)


def _curvature(problem: Problem, rounds: int = 20) -> float:
    """An estimate of ‖A‖² by power iteration; backtracking does not rely on it."""
    rng = np.random.default_rng(0)
    Zs = [rng.normal(size=shape) for shape in problem.shapes]
    size = 1.0
    for _ in range(rounds):
        size = float(np.sqrt(_square(Zs))) or 1.0
        Zs = problem.adjoints(problem.predict([Z / size for Z in Zs]))
    return max(size, 1e-30)
