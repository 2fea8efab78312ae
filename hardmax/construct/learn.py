"""A decision list of linear classifiers, chosen by cross-validation on the training data alone.

The float proposal of *learn, then repair* (Theorem B, step B4; docs/theory.md). Rule i splits
the class order[i] from all classes after it, by logistic regression with an L2 penalty; its
hyperplane has t > 0 on the side of the later classes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from .filtered import Array

_PENALTIES = (0.03, 0.1, 0.3, 1.0, 3.0)
_FLOORS = (0.01, 0.1)  # least variance of a whitened direction, as a share of the largest
_FOLDS, _REPEATS = 5, 4
_MANY = 1000  # points from which on half of the repeats are enough
_MOST = 3000  # points used for choosing; the list is then fitted to all
_CLEAR = 4.0  # standard errors by which a list must beat the most frequent class


@dataclass(frozen=True)
class DecisionList:
    """Classes in order and the hyperplane of each rule: u of shape (M−1, d), beta (M−1,).

    A point belongs to the first class whose rule has ⟨u,x⟩ + beta ≤ 0, else to the last.
    """

    order: Sequence[int]
    u: Array
    beta: Array

    def predict(self, X: Array) -> Array:
        """Class of every point, shape (n,)."""
        stays = np.c_[X @ self.u.T + self.beta <= 0, np.ones(len(X), dtype=bool)]
        return np.asarray(np.array(self.order)[stays.argmax(axis=1)])


@dataclass(frozen=True)
class Choice:
    """A decision list fitted to all points, and how it was chosen.

    ``error`` is the cross-validated share of wrong predictions, ``chance`` that of always
    predicting the most frequent class; ``clear`` whether the difference is beyond doubt.
    """

    rules: DecisionList
    penalty: float
    floor: float
    error: float
    chance: float
    clear: bool


def choose_list(
    X: Array,
    y: Array,
    orders: Sequence[Sequence[int]],
    cost: Callable[[Sequence[int]], int],
    seed: int = 0,
) -> Choice | None:
    """Choose the decision list with (nearly) the least cross-validated error.

    ``X`` (n, d), ``y`` (n,) classes 0 … M−1. Candidates are the given class orders and, for
    every penalty and floor, a greedy order; among those within a quarter of a standard error of the
    best, the one of least ``cost(order)``, then least error. None where there are too few
    points to tell, or nothing is learned.

    >>> X = np.linspace(0, 1, 40)[:, None]
    >>> y = (X[:, 0] > 0.5).astype(int)
    >>> choose_list(X, y, [[0, 1]], len).error < 0.1
    True
    """
    rng = np.random.default_rng(seed)
    _, counts = np.unique(y, return_counts=True)
    if len(X) < 2 * _FOLDS or len(X) < _FOLDS * len(counts) or counts.max() == len(X):
        return None
    some = rng.permutation(len(X))[:_MOST]
    folds = [
        (np.setdiff1d(some, part), part)
        for _ in range(_REPEATS if len(some) < _MANY else _REPEATS // 2)
        for part in np.array_split(rng.permutation(some), _FOLDS)
    ]
    chance = 1 - counts.max() / len(X)
    doubt = _CLEAR * float(np.sqrt(chance * (1 - chance) / len(some)))
    first = _error(X, y, orders[0], 1.0, _FLOORS[-1], folds[:_FOLDS])
    if first > chance - doubt / 2:  # hopeless: spare the search
        return None
    scored: list[tuple[int, float, float, float, tuple[int, ...]]] = []
    for penalty, floor in product(_PENALTIES, _FLOORS):
        greedy = greedy_order(X[some], y[some], penalty, floor)
        for order in dict.fromkeys(map(tuple, [*orders, greedy])):
            error = _error(X, y, order, penalty, floor, folds)
            scored.append((cost(order), error, penalty, floor, order))
    least = min(error for _, error, *_ in scored)
    deviation = 0.25 * float(np.sqrt(max(least * (1 - least), 1 / len(some)) / len(some)))
    _, error, penalty, floor, best = min(s for s in scored if s[1] <= least + deviation)
    return Choice(
        fit_list(X, y, best, penalty, floor), penalty, floor, error, chance, error < chance - doubt
    )


def _error(
    X: Array,
    y: Array,
    order: Sequence[int],
    penalty: float,
    floor: float,
    folds: Sequence[tuple[Array, Array]],
) -> float:
    wrong = sum(
        int((fit_list(X[train], y[train], order, penalty, floor).predict(X[test]) != y[test]).sum())
        for train, test in folds
    )
    return wrong / sum(len(test) for _, test in folds)


def fit_list(
    X: Array, y: Array, order: Sequence[int], penalty: float, floor: float
) -> DecisionList:
    """Fit every rule of a decision list with a given order of classes."""
    center, whiten = _whitened(X, y, floor)
    Z = (X - center) @ whiten
    rows = []
    for i, c in enumerate(order[:-1]):
        left = np.isin(y, order[i:])
        rows.append(_rule(Z[left], y[left] != c, penalty)[0])
    theta = np.array(rows).reshape(len(order) - 1, X.shape[1] + 1)
    u = theta[:, :-1] @ whiten.T
    return DecisionList(list(order), u, theta[:, -1] - u @ center)


def greedy_order(X: Array, y: Array, penalty: float, floor: float) -> list[int]:
    """Split off the class first that is told apart from the rest with the least loss."""
    center, whiten = _whitened(X, y, floor)
    Z = (X - center) @ whiten
    left = np.unique(y).tolist()
    order: list[int] = []
    while len(left) > 2:
        inside = np.isin(y, left)
        losses = [_rule(Z[inside], y[inside] != c, penalty)[1] for c in left]
        order.append(left.pop(int(np.argmin(losses))))
    return [int(c) for c in order + left]


def _rule(X: Array, above: Array, penalty: float) -> tuple[Array, float]:
    """(u, beta) of shape (d + 1,) and its loss: t > 0 where ``above``."""
    if above.all() or not above.any():
        return np.r_[np.zeros(X.shape[1]), 1.0 if above.any() else -1.0], 0.0
    return _logistic(X, np.where(above, 1.0, -1.0), penalty)


def _whitened(X: Array, y: Array, floor: float) -> tuple[Array, Array]:
    """Centre, and the map that makes the covariance within the classes the identity, but for
    directions in which they hardly vary."""
    rest = X.copy()
    for c in np.unique(y):
        rest[y == c] -= X[y == c].mean(axis=0)
    sizes, basis = np.linalg.eigh(rest.T @ rest / len(X))
    added = floor * float(sizes.max(initial=0.0)) + 1e-12
    return X.mean(axis=0), basis / np.sqrt(np.maximum(sizes, 0.0) + added)


def _logistic(X: Array, sign: Array, penalty: float, steps: int = 30) -> tuple[Array, float]:
    """Minimise Σ log(1 + exp(−sign·(⟨θ,x⟩ + θ₀))) + penalty/2·|θ|² by Newton's method."""
    A = np.c_[X, np.ones(len(X))]
    weight = np.r_[np.full(X.shape[1], penalty), 1e-6]
    theta = np.zeros(A.shape[1])

    def value(theta: Array) -> float:
        return float(np.logaddexp(0, -sign * (A @ theta)).sum() + weight @ theta**2 / 2)

    now = value(theta)
    for _ in range(steps):
        p = 1 / (1 + np.exp(np.clip(sign * (A @ theta), -500, 500)))
        gradient = weight * theta - A.T @ (sign * p)
        hessian = (A * (p * (1 - p))[:, None]).T @ A + np.diag(weight)
        step = np.linalg.solve(hessian, gradient)
        size = 1.0
        while (after := value(theta - size * step)) > now and size > 1e-4:
            size /= 2
        if after > now:
            break
        theta, gained, now = theta - size * step, now - after, after
        if gained < 1e-7 * max(now, 1.0):
            break
    return theta, now
