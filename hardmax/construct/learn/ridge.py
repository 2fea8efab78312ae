"""Ridge regression on many features, a few of which are kept: which ones, how many, how smooth.

Features are thrown out from the whole pool, those with the least weight for their cost first, as in
Detach-ROCKET (Uribarri et al. 2024). Cross-validation on the training data chooses the budget
of blocks and the penalty; each fold throws out features by itself, so that the error it counts
is that of data not seen. Everything here is a proposal in float64.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ...exact.array import Array

# Ridge penalties that are compared, for each feature that is kept.
PENALTIES = (0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0)
# The ridge penalty while features are eliminated.
_ELIMINATION_PENALTY = 0.1
# Each step of the elimination keeps this share of the blocks.
_KEPT_SHARE = 0.7
_FOLDS = 5
# Cross-validation should count this many predictions; small data are cut several times,
_WANTED_PREDICTIONS = 250
# but this many times at most.
_MOST_REPEATS = 5


@dataclass(frozen=True)
class Scores:
    """Scores of M classes, linear in features: features[kept] @ weights + constants.

    Shapes: ``kept`` (k,) indices, ``weights`` (k, M), ``constants`` (M,).
    """

    kept: Array
    weights: Array
    constants: Array

    def of(self, features: Array) -> Array:
        """Scores (n, M) of features (n, K)."""
        return np.asarray(features[:, self.kept] @ self.weights + self.constants)


@dataclass(frozen=True)
class Plan:
    """A budget of blocks and a penalty, with their cross-validated share of wrong predictions."""

    budget: int
    penalty: float
    error: float


def cross_validate(
    features: Array, y: Array, cost: Array, budgets: Sequence[int], rng: np.random.Generator
) -> Plan:
    """Choose the budget and the penalty; ``features`` (n, K), classes ``y`` (n,), ``cost`` (K,).

    Of all that err by at most a quarter of a standard error more than the best, the largest
    penalty is taken, then the least error, then the smallest budget.

    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 9))
    >>> y = (X[:, 3] > 0).astype(int)
    >>> cross_validate(X, y, np.ones(9), [1, 9], rng).budget
    1
    """
    wrong = np.zeros((len(budgets), len(PENALTIES)))
    repeats = min(_MOST_REPEATS, max(1, _WANTED_PREDICTIONS // len(y)))
    for _ in range(repeats):
        fold = _folds(y, rng)
        for k in np.unique(fold).tolist():
            train, test = fold != k, fold == k
            if not train.any():
                continue
            fits = _fits(features[train], y[train], int(y.max()) + 1, cost, budgets)
            for b, scores in enumerate(fits):
                for p, each in enumerate(scores):
                    wrong[b, p] += (each.of(features[test]).argmax(axis=1) != y[test]).sum()
    error = wrong / (repeats * len(y))
    least = float(error.min())
    doubt = 0.25 * float(np.sqrt(max(least * (1 - least), 1 / len(y)) / len(y)))
    options = [
        (-penalty, float(error[b, p]), budget)
        for b, budget in enumerate(budgets)
        for p, penalty in enumerate(PENALTIES)
        if error[b, p] <= least + doubt
    ]
    penalty, found, budget = min(options)
    return Plan(budget, -penalty, found)


def _folds(y: Array, rng: np.random.Generator) -> Array:
    """A fold for each of n sequences; every class is spread over all folds."""
    fold = np.empty(len(y), dtype=int)
    for c in np.unique(y):
        members = rng.permutation(np.flatnonzero(y == c))
        fold[members] = (np.arange(len(members)) + rng.integers(_FOLDS)) % _FOLDS
    return fold


def fit(features: Array, y: Array, classes: int, cost: Array, plan: Plan) -> Scores:
    """Throw out features down to the plan's budget, and fit the rest to all data."""
    return next(_fits(features, y, classes, cost, [plan.budget], [plan.penalty]))[0]


def _fits(
    features: Array,
    y: Array,
    classes: int,
    cost: Array,
    budgets: Sequence[int],
    penalties: Sequence[float] = PENALTIES,
) -> Iterator[list[Scores]]:
    """For each budget, in the order given, a fit for each penalty."""
    centre, deviation = features.mean(axis=0), features.std(axis=0)
    usable = np.flatnonzero(deviation > 1e-9 * np.abs(centre))  # the others are constant
    X = (features[:, usable] - centre[usable]) / deviation[usable]
    targets = np.where(y[:, None] == np.arange(classes), 1.0, -1.0)
    middle = targets.mean(axis=0)
    kept = np.arange(len(usable))
    found: dict[int, list[Scores]] = {}
    for budget in sorted(budgets, reverse=True):
        kept = _thrown_out(X, targets - middle, cost[usable], kept, budget)
        scale, shift = deviation[usable[kept]], centre[usable[kept]]
        found[budget] = []
        for weights in _ridge(X[:, kept], targets - middle, penalties):
            own = weights / scale[:, None]
            found[budget].append(Scores(usable[kept], own, middle - shift @ own))
    yield from (found[budget] for budget in budgets)


def _thrown_out(X: Array, Y: Array, cost: Array, kept: Array, budget: int) -> Array:
    """Fewer and fewer features, until they take at most ``budget`` blocks."""
    while (total := int(cost[kept].sum())) > budget:
        weights = _ridge(X[:, kept], Y, [_ELIMINATION_PENALTY])[0]
        worth = np.abs(weights).sum(axis=1) / np.sqrt(cost[kept])
        order = np.argsort(-worth, kind="stable")
        aim = max(budget, int(_KEPT_SHARE * total))
        count = int((np.cumsum(cost[kept][order]) <= aim).sum())
        kept = np.sort(kept[order[:count]])
    return kept


def _ridge(X: Array, Y: Array, penalties: Sequence[float]) -> list[Array]:
    """Weights (k, M) that minimise |XW − Y|² + penalty·k·|W|², for each penalty.

    >>> _ridge(np.array([[1.0], [-1.0]]), np.array([[3.0], [-3.0]]), [1.0])
    [array([[2.]])]
    """
    count, width = X.shape
    if not width:
        return [np.zeros((0, Y.shape[1])) for _ in penalties]
    if width <= count:
        gram, right = X.T @ X, X.T @ Y
        return [np.linalg.solve(gram + p * width * np.eye(width), right) for p in penalties]
    gram = X @ X.T
    return [X.T @ np.linalg.solve(gram + p * width * np.eye(count), Y) for p in penalties]
