"""Theorems of the alternative, decided exactly: a solution, or the proof that there is none.

A float linear program proposes; an exact check decides. Where the proposal does not pass,
least squares over non-negative weights (Lawson and Hanson, Solving Least Squares Problems,
chapter 23) is run in rational arithmetic, where it ends after finitely many steps and
answers both sides of the alternative.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from .matrix import Matrix
from .numbers import Vector, dot, power_of_two_below

_ROWS_SOLVED_EXACTLY = 24  # systems of so many rows skip the attempt in floats


@dataclass(frozen=True)
class Direction:
    """v with ⟨row, v⟩ < 0 for every row."""

    v: Vector


@dataclass(frozen=True)
class Combination:
    """Weights λ ≥ 0 with Σλ = 1 and Σ λ_i row_i = 0."""

    weights: Vector


@dataclass(frozen=True)
class Solution:
    """x with A x < b in every row."""

    x: Vector


@dataclass(frozen=True)
class Refutation:
    """Multipliers y ≥ 0, y ≠ 0, with yᵀA = 0 and ⟨y, b⟩ ≤ 0: A x < b has no solution."""

    y: Vector


def nonnegative_least_squares(columns: Sequence[Vector], target: Vector) -> Vector:
    """Weights y ≥ 0 that minimise |Σ y_i column_i − target|², exactly.

    >>> nonnegative_least_squares([(Fraction(1), Fraction(0))], (Fraction(-2), Fraction(1)))
    (Fraction(0, 1),)
    """
    E = Matrix(columns, len(target))  # m x n, one row for each weight
    f = Matrix([[x] for x in target], 1)
    count = len(columns)
    y = [Fraction(0)] * count
    passive: list[int] = []
    while True:
        residual = f - E.T @ Matrix([[x] for x in y], 1)
        gradient = [row[0] for row in (E @ residual).rows()]
        free = [i for i in range(count) if i not in passive and gradient[i] > 0]
        if not free:
            return tuple(y)
        passive.append(max(free, key=lambda i: gradient[i]))
        while True:
            part = Matrix([columns[i] for i in passive], len(target))
            best = [row[0] for row in (part @ part.T).solve(part @ f).rows()]
            if all(s > 0 for s in best):
                for i, s in zip(passive, best, strict=True):
                    y[i] = s
                break
            step = min(y[i] / (y[i] - s) for i, s in zip(passive, best, strict=True) if s <= 0)
            for i, s in zip(passive, best, strict=True):
                y[i] += step * (s - y[i])
            passive = [i for i in passive if y[i] > 0]


def gordan(rows: Sequence[Vector]) -> Direction | Combination:
    """Decide Gordan's alternative: ⟨row, v⟩ < 0 for all rows, or 0 in their convex hull.

    >>> gordan([(Fraction(1), Fraction(0)), (Fraction(0), Fraction(1))]).v
    (Fraction(-1, 1), Fraction(-1, 1))
    >>> gordan([(Fraction(2),), (Fraction(-1),)])
    Combination(weights=(Fraction(1, 3), Fraction(2, 3)))
    """
    if not rows:
        raise ValueError("Gordan's alternative needs at least one row")
    scaled = [_normalised(row) for row in rows]
    support: Sequence[int] = range(len(rows))
    if len(rows) > _ROWS_SOLVED_EXACTLY:
        proposal, suspects = _propose(scaled)
        short = _shortened(proposal, scaled)
        if short is not None:
            return Direction(short)
        if suspects:
            found = _hull(scaled, suspects)
            if isinstance(found, Combination):
                return _rescaled(found, rows, scaled)
    found = _hull(scaled, support)
    if isinstance(found, Direction):
        return Direction(_shortened(found.v, scaled) or found.v)
    return _rescaled(found, rows, scaled)


def _normalised(row: Vector) -> Vector:
    """The row times a power of two, its largest entry in [1, 2): directions are unchanged."""
    size = max(map(abs, row))
    if size == 0:
        return row
    scale = power_of_two_below(size)
    return tuple(x / scale for x in row)


def _rescaled(found: Combination, rows: Sequence[Vector], scaled: Sequence[Vector]) -> Combination:
    """Weights for the rows themselves, from weights for the normalised rows."""
    weights = []
    for weight, row, unit in zip(found.weights, rows, scaled, strict=True):
        size = max(map(abs, row))
        weights.append(weight * max(map(abs, unit)) / size if size else weight)
    total = sum(weights)
    return Combination(tuple(weight / total for weight in weights))


def _hull(rows: Sequence[Vector], support: Sequence[int]) -> Direction | Combination:
    """Gordan's alternative for the rows in ``support``, by exact least squares.

    The residual (r, t) of min |Σ y_i (row_i, 1) − (0, 1)|² has t = |(r, t)|², and
    ⟨row_i, r⟩ + t ≤ 0: either it vanishes, or r is a direction.
    """
    one = Fraction(1)
    columns = [(*rows[i], one) for i in support]
    y = nonnegative_least_squares(columns, (*(Fraction(0) for _ in rows[0]), one))
    residual = [
        -sum((w * rows[i][j] for w, i in zip(y, support, strict=True) if w), Fraction(0))
        for j in range(len(rows[0]))
    ]
    if any(residual) or sum(y) != 1:
        return Direction(tuple(residual))
    weights = [Fraction(0)] * len(rows)
    for weight, i in zip(y, support, strict=True):
        weights[i] = weight
    return Combination(tuple(weights))


def _propose(rows: Sequence[Vector]) -> tuple[Vector, list[int]]:
    """A float direction of large margin, and rows that the linear program found binding."""
    import numpy as np
    from scipy.optimize import linprog

    matrix = np.array([[float(x) for x in row] for row in rows])
    count, d = matrix.shape
    result = linprog(
        np.r_[np.zeros(d), -1.0],
        A_ub=np.c_[matrix, np.ones(count)],
        b_ub=np.zeros(count),
        bounds=[(-1, 1)] * d + [(None, 1)],
        method="highs",
    )
    if result.x is None:
        return (Fraction(0),) * d, []
    weights = -result.ineqlin.marginals
    suspects = np.flatnonzero(weights > 1e-9 * weights.max(initial=0.0)).tolist()
    return tuple(Fraction(float(x)) for x in result.x[:d]), suspects


def _shortened(v: Vector, rows: Sequence[Vector]) -> Vector | None:
    """A direction near v with few bits for which every row is negative, or None."""
    size = max(map(abs, v), default=Fraction(0))
    if size == 0:
        return None
    scale = power_of_two_below(size)
    for precision in (0, 2, 4, 8, 16, 32, 52):
        grid = 2**precision
        candidate = tuple(Fraction(round(x / scale * grid), 1) for x in v)
        if all(dot(row, candidate) < 0 for row in rows):
            return candidate
    return v if all(dot(row, v) < 0 for row in rows) else None


def strict_system(A: Sequence[Vector], b: Sequence[Fraction]) -> Solution | Refutation:
    """Solve A x < b (every row strict), or refute it (Motzkin's transposition theorem).

    >>> strict_system([(Fraction(1),), (Fraction(-1),)], [Fraction(1), Fraction(0)])
    Solution(x=(Fraction(3, 5),))
    >>> strict_system([(Fraction(1),), (Fraction(-1),)], [Fraction(0), Fraction(0)]).y
    (Fraction(1, 2), Fraction(1, 2))
    """
    zero = Fraction(0)
    # homogeneous form: ⟨A_i, x⟩ − b_i t < 0 and −t < 0, then x/t
    rows = [(*row, -bound) for row, bound in zip(A, b, strict=True)]
    rows.append((*(zero for _ in A[0]), Fraction(-1)))
    found = gordan(rows)
    if isinstance(found, Combination):
        return Refutation(found.weights[:-1])
    *x, t = found.v
    return Solution(tuple(value / t for value in x))


def project(center: Vector, A: Sequence[Vector], b: Sequence[Fraction]) -> tuple[Vector, Vector]:
    """Nearest point of the non-empty polyhedron A x ≤ b to ``center``, and multipliers.

    The multipliers y ≥ 0 prove it: center − point = Σ y_i A_i with y_i > 0 only where the
    inequality is tight (Karush, Kuhn and Tucker). Lawson and Hanson's least distance
    programming, exact.

    >>> project((Fraction(3),), [(Fraction(1),)], [Fraction(1)])
    ((Fraction(1, 1),), (Fraction(2, 1),))
    """
    # with x = center + s: −A s ≥ A center − b
    columns = [
        (*(-entry for entry in row), dot(row, center) - bound)
        for row, bound in zip(A, b, strict=True)
    ]
    target = (*(Fraction(0) for _ in center), Fraction(1))
    y = nonnegative_least_squares(columns, target)
    last = 1 - sum((w * column[-1] for w, column in zip(y, columns, strict=True)), Fraction(0))
    if last == 0:
        raise ValueError("the polyhedron is empty")
    multipliers = tuple(weight / last for weight in y)
    point = tuple(
        c - sum((w * row[j] for w, row in zip(multipliers, A, strict=True) if w), Fraction(0))
        for j, c in enumerate(center)
    )
    return point, multipliers
