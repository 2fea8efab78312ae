"""A decision list of linear classifiers, chosen by cross-validation on the training data alone.

The float proposal of *learn, then repair* (Theorem B, step B4; docs/theory.md). Rule i splits
the class order[i] from all classes after it, by logistic regression with an L2 penalty; its
hyperplane has t > 0 on the side of the later classes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from ....exact.array import Array
from ....stages import tell
from .logistic import logistic

_PENALTIES = (0.03, 0.1, 0.3, 1.0, 3.0)
# Least variance of a whitened direction, as a share of the largest; each is tried.
_VARIANCE_FLOORS = (0.01, 0.1)
_FOLDS, _REPEATS = 5, 4
# With this many points, half of the repeats of cross-validation are enough.
_FEWER_REPEATS_FROM = 1000
# Penalty and floor are chosen on this many points at most,
_CHOOSING_POINTS = 3000
# and the list is then fitted to this many at most.
_FITTING_POINTS = 2**20
# A list must beat the most frequent class by this many standard errors.
_CLEAR_ERRORS = 4.0


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
    shuffled = rng.permutation(len(X))
    some, fitted = shuffled[:_CHOOSING_POINTS], np.sort(shuffled[:_FITTING_POINTS])
    chance = 1 - counts.max() / len(X)
    doubt = _CLEAR_ERRORS * float(np.sqrt(chance * (1 - chance) / len(some)))
    parts = [
        part
        for _ in range(_REPEATS if len(some) < _FEWER_REPEATS_FROM else _REPEATS // 2)
        for part in np.array_split(rng.permutation(len(some)), _FOLDS)
    ]
    first = _Folds(X[some], y[some], parts[:_FOLDS], _VARIANCE_FLOORS[-1])
    if first.error(orders[0], 1.0) > chance - doubt / 2:  # hopeless: spare the search
        return None
    folds = {floor: _Folds(X[some], y[some], parts, floor) for floor in _VARIANCE_FLOORS}
    scored: list[tuple[int, float, float, float, tuple[int, ...]]] = []
    for penalty, floor in product(_PENALTIES, _VARIANCE_FLOORS):
        tell("learn")
        greedy = greedy_order(X[some], y[some], penalty, floor)
        for order in dict.fromkeys(map(tuple, [*orders, greedy])):
            error = folds[floor].error(order, penalty)
            scored.append((cost(order), error, penalty, floor, order))
    least = min(error for _, error, *_ in scored)
    deviation = 0.25 * float(np.sqrt(max(least * (1 - least), 1 / len(some)) / len(some)))
    _, error, penalty, floor, best = min(s for s in scored if s[1] <= least + deviation)
    return Choice(
        fit_list(X[fitted], y[fitted], best, penalty, floor),
        penalty,
        floor,
        error,
        chance,
        error < chance - doubt,
    )


class _Folds:
    """Points as F folds see them, to be fitted again and again.

    Shapes: ``A`` (F, n, d + 1), whitened by the training part of each fold, with a column of ones;
    classes ``y`` (n,); ``test`` (F, n), the part for testing. ``known`` are the latest θ of every
    rule, from which the next fit starts.
    """

    def __init__(self, X: Array, y: Array, parts: Sequence[Array], floor: float) -> None:
        self.y = y
        self.A = np.ones((len(parts), len(X), X.shape[1] + 1))
        self.test = np.zeros((len(parts), len(X)), dtype=bool)
        self.known: dict[tuple[int, frozenset[int]], Array] = {}
        for i, part in enumerate(parts):
            self.test[i, part] = True
            train = ~self.test[i]
            center, whiten = _whitened(X[train], y[train], floor)
            self.A[i, :, :-1] = (X - center) @ whiten

    def error(self, order: Sequence[int], penalty: float) -> float:
        """Share of wrong predictions of decision lists with this order of classes."""
        rules = [*enumerate(_rules(self.A, self.y, ~self.test, order, penalty, self.known))]
        predicted = np.full(self.test.shape, order[-1])
        for i, theta in reversed(rules):
            predicted[np.matmul(self.A, theta[:, :, None])[:, :, 0] <= 0] = order[i]
        return float((predicted != self.y)[self.test].mean())


def _rules(
    A: Array,
    y: Array,
    train: Array,
    order: Sequence[int],
    penalty: float,
    known: dict[tuple[int, frozenset[int]], Array],
) -> Iterator[Array]:
    """θ (F, d + 1) of every rule of a decision list, fitted to the points of ``train`` (F, n)."""
    for i, c in enumerate(order[:-1]):
        left = np.isin(y, order[i:])
        sign = np.where(y[left] != c, 1.0, -1.0)
        signs = np.broadcast_to(sign, (len(A), len(sign)))
        key = c, frozenset(order[i:])
        known[key], _ = logistic(A[:, left], signs, train[:, left], penalty, known.get(key))
        yield known[key]


def fit_list(
    X: Array, y: Array, order: Sequence[int], penalty: float, floor: float
) -> DecisionList:
    """Fit every rule of a decision list with a given order of classes."""
    center, whiten = _whitened(X, y, floor)
    A = np.c_[(X - center) @ whiten, np.ones(len(X))][None]
    rows = [
        theta[0] for theta in _rules(A, y, np.ones((1, len(X)), dtype=bool), order, penalty, {})
    ]
    theta = np.array(rows).reshape(len(order) - 1, X.shape[1] + 1)
    u = theta[:, :-1] @ whiten.T
    return DecisionList(list(order), u, theta[:, -1] - u @ center)


def greedy_order(X: Array, y: Array, penalty: float, floor: float) -> list[int]:
    """Split off the class first that is told apart from the rest with the least loss."""
    center, whiten = _whitened(X, y, floor)
    A = np.c_[(X - center) @ whiten, np.ones(len(X))]
    left = np.unique(y).tolist()
    order: list[int] = []
    while len(left) > 2:
        inside = np.isin(y, left)
        sign = np.where(y[inside] != np.array(left)[:, None], 1.0, -1.0)
        losses = logistic(A[None, inside], sign, np.ones(sign.shape, dtype=bool), penalty)[1]
        order.append(left.pop(int(np.argmin(losses))))
    return [int(c) for c in order + left]


def _whitened(X: Array, y: Array, floor: float) -> tuple[Array, Array]:
    """Centre, and the map that makes the covariance within the classes the identity, but for
    directions in which they hardly vary."""
    rest = X.copy()
    for c in np.unique(y):
        rest[y == c] -= X[y == c].mean(axis=0)
    sizes, basis = np.linalg.eigh(rest.T @ rest / len(X))
    added = floor * float(sizes.max(initial=0.0)) + 1e-12
    return X.mean(axis=0), basis / np.sqrt(np.maximum(sizes, 0.0) + added)
