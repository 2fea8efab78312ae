"""A rigorous interval around the optimum in floating point, for sizes past the exact checker.

Every quantity is a sum of products, so the standard bound holds for any order of summation
(Higham, *Accuracy and Stability of Numerical Algorithms*, §3.1): a computed sum differs from the
exact one by at most γ_k times the same sum of absolute values, γ_k = ku/(1 − ku), k the number of
roundings on a path. The spectral norm is bounded by a Cholesky factor L of σI − NNᵀ and its
residual: λ(NNᵀ) ≤ σ + ‖σI − NNᵀ − LLᵀ‖. Data near the ends of the range of floats, where sums
overflow or underflow, are not meant.
"""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal

import numpy as np

from ...errors import InputError
from . import checker
from .burer_monteiro import Factors, product
from .certificate import rounded_dual
from .choose import masked_operator
from .gates import mask
from .operators import Features, Operator, Pooled
from .problem import Block, Problem, pooling_weights

_UNIT = np.finfo(float).eps / 2


def enclosed_interval(problem: Problem, factors: Factors, V: np.ndarray) -> tuple[float, float]:
    """Numbers lower ≤ p* ≤ upper, for the heads and a dual point V near the optimum.

    Raises InputError for a Fourier head whose features are not written out (its fast transform has
    another error bound) and for the linear baseline, which needs no such bound.

    >>> from hardmax.learned.convex import Head, factored
    >>> case = Problem(Head("mlp"), np.array([[[2.0]]]), np.array([[[3.0]]]), 0.5)
    >>> found = factored(case, tolerance=1e-9)
    >>> from hardmax.learned.convex.burer_monteiro import balanced
    >>> lower, upper = enclosed_interval(case, balanced(found.Zs), found.V)
    >>> lower <= 23 / 32 <= upper, upper - lower < 1e-7
    (True, True)
    """
    if problem.head.penalty != "nuclear":
        raise InputError("only nuclear penalties have a spectral bound")
    return _lower(problem, V), _upper(problem, factors)


def _lower(problem: Problem, V: np.ndarray) -> float:
    """min(1, β/B) · D(V'), B ≥ every ‖N(V')‖: D is concave, and D(0) ≥ 0."""
    _, tau = problem.lower_bound(V, problem.adjoints(V))
    table = rounded_dual(problem, V * (tau * (1 - 1e-9)))
    V = np.array(table["values"], dtype=float) / table["denominator"]  # exact: short dyadics
    if problem.loss == "squared":
        gamma = _gamma(V.size + 4)
        terms = V * problem.targets, V * V / 2
        value = float(terms[0].sum() - terms[1].sum())
        value -= 2 * gamma * float(abs(terms[0]).sum() + terms[1].sum())
    else:
        value = _entropy(problem.targets - V)
    bound = max(
        norm_bound(block.operator.adjoint(V[..., block.outputs]),
                   absolute.adjoint(abs(V)[..., block.outputs]), _depth(problem, block))
        for block, absolute in _absolute(problem)
    )  # fmt: skip
    part = min(1.0, problem.beta / bound * (1 - 4 * _UNIT)) if bound else 1.0
    return float(max(value, 0.0) * part * (1 - 4 * _UNIT))


def _upper(problem: Problem, factors: Factors) -> float:
    """The objective at the heads, plus everything that rounding may hide."""
    R, slack = np.zeros_like(problem.targets), np.zeros_like(problem.targets)
    size = 0.0
    for (block, absolute), (U, W), Z in zip(
        _absolute(problem), factors, product(factors), strict=True
    ):
        R[..., block.outputs] += block.operator.forward(Z)
        most = absolute.forward(abs(U) @ abs(W).T)
        slack[..., block.outputs] += 2 * _gamma(_depth(problem, block) + U.shape[1]) * most
        size += float((U * U).sum() + (W * W).sum())
    slack = (slack + 2 * len(factors) * _UNIT * (abs(R) + slack)) * (1 + 1e-12)
    penalty = problem.beta / 2 * size * (1 + 1e-9)
    if problem.loss == "squared":
        worst = abs(R - problem.targets) * (1 + 4 * _UNIT) + slack
        fit = float((worst * worst).sum()) / 2 * (1 + 2 * _gamma(R.size + 4))
    else:
        fit = _cross_entropy(R, problem.targets) + 2 * float(slack.max(-1).sum()) * (1 + 1e-9)
    return float((fit + penalty) * (1 + 4 * _UNIT))


def norm_bound(N: np.ndarray, absolute: np.ndarray, depth: int) -> float:
    """A bound on the spectral norm of the exact N, from its computed value and |·| sums.

    >>> bound = norm_bound(np.diag([3.0, 4.0]), np.diag([3.0, 4.0]), 10)
    >>> 4 <= bound < 4 + 1e-6
    True
    """
    if N.shape[0] > N.shape[1]:
        N, absolute = N.T, absolute.T
    n, m = N.shape
    gram = N @ N.T
    top = float(np.linalg.eigvalsh(gram)[-1])
    frobenius = float((N * N).sum()) * (1 + 2 * _gamma(N.size))
    shift = max(top, 0.0) + 1e-11 * frobenius + 1e-300
    while True:
        try:
            L = np.linalg.cholesky(shift * np.eye(n) - gram)
            break
        except np.linalg.LinAlgError:
            shift *= 1 + 1e-9
    rest = shift * np.eye(n) - gram - L @ L.T
    # rounding: NNᵀ, LLᵀ and the differences
    hidden = _gamma(m + 4) * frobenius + _gamma(n + 4) * float((L * L).sum())
    hidden += 4 * _UNIT * (n * shift + frobenius)
    square = shift + float(np.linalg.norm(rest)) * (1 + 1e-9) + 2 * hidden
    error = 2 * _gamma(depth) * float(np.linalg.norm(absolute)) * (1 + 1e-9)
    return float((np.sqrt(square) + error) * (1 + 8 * _UNIT))


def _absolute(problem: Problem) -> Iterator[tuple[Block, Operator]]:
    """Each block, and the operator of |X| with the block's own mask."""
    head, X = problem.head, problem.head.transformed(problem.tokens)
    n, s, d = X.shape
    grid = head.grid_for(s)
    features, width = head.group_sizes(d, problem.targets.shape[2])
    weights = pooling_weights(n, s, problem.lengths) if problem.pooled else None
    for block in problem.blocks:
        inner = block.operator.inner if isinstance(block.operator, Pooled) else block.operator
        if head.mixing == "fourier" and not isinstance(inner, Features):
            raise InputError("a Fourier head of this size has no enclosure")
        part = X[..., block.group * features : (block.group + 1) * features]
        seen = None
        if problem.gates is not None and block.gate is not None:
            seen = mask(head.mixing, part, problem.gates[block.group][block.gate], grid)
        yield block, masked_operator(head.mixing, abs(part), width, grid, weights, seen)


def _depth(problem: Problem, block: Block) -> int:
    """More roundings than any path through an operator has."""
    n, s, d = problem.tokens.shape
    a, b = block.operator.shape
    return n * s + a * b + 3 * s + d + 20


def _gamma(k: int) -> float:
    return k * _UNIT / (1 - k * _UNIT)


def _entropy(q: np.ndarray) -> float:
    """A lower bound on Σ −q ln q for floats q that are exact."""
    up, down, total = checker.UP, checker.DOWN, Decimal(0)
    for x in map(Decimal, q[q > 0].tolist()):
        log = up.next_plus(up.ln(x))
        total = down.add(total, max(down.multiply(x, -log), Decimal(0)))
    return float(total) * (1 - 2 * _UNIT)


def _cross_entropy(R: np.ndarray, Y: np.ndarray) -> float:
    """An upper bound on the loss of float predictions R, taken as exact."""
    up, total = checker.UP, Decimal(0)
    for r, y in zip(R.reshape(-1, R.shape[-1]), Y.reshape(-1, Y.shape[-1]), strict=True):
        row = [Decimal(float(x)) for x in r]
        top, powers = max(row), Decimal(0)
        for x in row:
            powers = up.add(powers, up.next_plus(up.exp(up.subtract(x, top))))
        total = up.add(total, up.add(top, up.next_plus(up.ln(powers))))
        for x, weight in zip(row, y, strict=True):
            total = up.add(total, up.multiply(-x, Decimal(float(weight))))
    return float(total) * (1 + 2 * _UNIT)
