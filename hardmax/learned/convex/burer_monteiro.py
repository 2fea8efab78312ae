"""Burer–Monteiro: the original problem with a finite number of heads, which grows until optimal.

    min  Σ L(f(Σ_j U_j V_jᵀ), Y) + (β/2) Σ_j (‖U_j‖² + ‖V_j‖²)        (121)

L-BFGS finds a stationary point; there every ‖N_j‖ ≤ β proves global optimality (122). Where a
singular value σ of some N_j exceeds β, its pair of vectors is a head that lowers the objective. It
is added, and the search goes on. (The paper's "no spurious local minima" for wide enough factors
fails in general; this needs no such theorem.)
"""

from __future__ import annotations

from collections.abc import Sequence
from time import process_time

import numpy as np

from .problem import Problem
from .proximal import Progress, Solution, proximal_gradient

Factors = list[tuple[np.ndarray, np.ndarray]]  # U (a, m), V (b·c, m) for each block


def product(factors: Factors) -> list[np.ndarray]:
    """The matrices Z_j = U_j V_jᵀ."""
    return [U @ V.T for U, V in factors]


def objective(problem: Problem, factors: Factors) -> float:
    """Value of the training problem (12) at these heads."""
    value = problem.criterion.value(problem.predict(product(factors)), problem.targets)
    return value + problem.beta / 2 * sum(float((U * U).sum() + (V * V).sum()) for U, V in factors)


def descend(
    problem: Problem, factors: Factors, steps: int = 2000, tolerance: float = 1e-12
) -> Factors:
    """L-BFGS on (121) from the given heads, their number unchanged."""
    from scipy.optimize import minimize

    shapes = [part.shape for pair in factors for part in pair]
    cuts = np.cumsum([int(np.prod(shape)) for shape in shapes])[:-1]

    def unpack(x: np.ndarray) -> Factors:
        parts = [p.reshape(shape) for p, shape in zip(np.split(x, cuts), shapes, strict=True)]
        return list(zip(parts[::2], parts[1::2], strict=True))

    def value(x: np.ndarray) -> tuple[float, np.ndarray]:
        pairs = unpack(x)
        R = problem.predict(product(pairs))
        Ns = problem.adjoints(problem.criterion.residual(R, problem.targets))
        slopes = []
        for (U, V), N in zip(pairs, Ns, strict=True):
            slopes += [problem.beta * U - N @ V, problem.beta * V - N.T @ U]
        total = problem.criterion.value(R, problem.targets) + problem.beta / 2 * float(x @ x)
        return total, np.concatenate([slope.ravel() for slope in slopes])

    start = np.concatenate([part.ravel() for pair in factors for part in pair])
    if not start.size:
        return factors
    found = minimize(
        value, start, jac=True, method="L-BFGS-B",
        options={"maxiter": steps, "maxfun": 2 * steps, "maxcor": 30, "ftol": tolerance,
                 "gtol": 1e-300},
    )  # fmt: skip
    return unpack(found.x)


def balanced(Zs: Sequence[np.ndarray], cut: float = 1e-10) -> Factors:
    """Heads of matrices: √σ times singular vectors, for σ above ``cut`` times the largest.

    With them (β/2)(‖U‖² + ‖V‖²) = β‖Z‖_*, the least there is.
    """
    found = []
    for Z in Zs:
        left, values, right = np.linalg.svd(Z, full_matrices=False)
        kept = values > cut * max(values.max(initial=0), 1e-300)
        roots = np.sqrt(values[kept])
        found.append((left[:, kept] * roots, right[kept].T * roots))
    return found


def factored(
    problem: Problem,
    start: Sequence[np.ndarray] | None = None,
    tolerance: float = 1e-6,
    rounds: int = 60,
    batch: int = 8,
    progress: Progress | None = None,
) -> Solution:
    """Solve by growing the number of heads; a few proximal steps end it where L-BFGS stalls.

    ``batch`` is the most heads that one round adds to a block. ``history`` and ``progress`` have
    one entry a round.
    """
    clock = process_time()
    if problem.head.penalty == "squared":  # already a smooth convex problem
        return proximal_gradient(problem, start, tolerance, progress=progress)
    factors = balanced(start if start is not None else problem.zeros())
    history: list[tuple[float, float, float]] = []
    best, kept, precision = -np.inf, np.zeros_like(problem.targets), 1e-9
    Zs = product(factors)
    upper = np.inf
    step = 0
    for step in range(rounds):
        Zs = product(factors)
        R = problem.predict(Zs)
        V = problem.criterion.residual(R, problem.targets)
        Ns = problem.adjoints(V)
        lower, _ = problem.lower_bound(V, Ns)
        if lower > best:
            best, kept = lower, V
        upper = problem.criterion.value(R, problem.targets) + problem.penalty(Zs)
        history.append((process_time() - clock, upper, best))
        if progress is not None:
            progress(step, (upper - best) / max(abs(upper), 1e-300))
        if upper - best <= tolerance * abs(upper):
            return Solution(Zs, kept, upper, best, step, history)
        factors, grown = grow(problem, balanced(Zs, 1e-6), Ns, batch, tolerance)
        if not grown:
            precision = max(precision * 1e-2, 1e-16)
        factors = descend(problem, factors, 500 if grown else 3000, precision)
        if not grown and len(history) > 2 and history[-2][1] - upper < 1e-2 * (upper - best):
            break  # L-BFGS has stalled
    ended = proximal_gradient(problem, Zs, tolerance, 5000, progress=progress)
    base = history[-1][0]
    history += [(base + t, u, max(best, low)) for t, u, low in ended.history]
    if best > ended.lower:
        ended.lower, ended.V = best, kept
    ended.history, ended.iterations = history, step + ended.iterations
    return ended


def grow(
    problem: Problem, factors: Factors, Ns: Sequence[np.ndarray], batch: int, tolerance: float
) -> tuple[Factors, bool]:
    """Add the singular pairs of each N_j whose value exceeds β, each as long as pays."""
    found, grown = [], False
    for block, (U, V), N in zip(problem.blocks, factors, Ns, strict=True):
        left, values, right = np.linalg.svd(N, full_matrices=False)
        count = min(batch, int((values > problem.beta * (1 + tolerance / 2)).sum()))
        new_u, new_v = [], []
        for j in range(count):
            bend = float((block.operator.forward(np.outer(left[:, j], right[j])) ** 2).sum())
            bend *= problem.criterion.curvature
            length = np.sqrt((values[j] - problem.beta) / max(bend, 1e-300) / count)
            new_u.append(length * left[:, j])
            new_v.append(length * right[j])
        if count:
            grown = True
            U, V = np.column_stack([U, *new_u]), np.column_stack([V, *new_v])
        found.append((U, V))
    return found, grown


def descent_heads(problem: Problem, factors: Factors) -> Factors:
    """One head for each violated constraint ‖N_j‖ ≤ β: the top singular pair, as long as pays."""
    V = problem.criterion.residual(problem.predict(product(factors)), problem.targets)
    empty = [(np.zeros((a, 0)), np.zeros((b, 0))) for a, b in problem.shapes]
    return grow(problem, empty, problem.adjoints(V), 1, 0.0)[0]
