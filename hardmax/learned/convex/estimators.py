"""Estimators with scikit-learn's conventions, trained to a certified optimum.

They need scikit-learn: ``pip install 'hardmax[convex]'``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...errors import InputError, MissingExtraError
from .burer_monteiro import balanced, descend, factored, product
from .certificate import certify as make_certificate
from .heads import Head
from .problem import Problem, build_blocks, combined, random_gates
from .proximal import Solution, proximal_gradient
from .recovery import network_heads

try:
    from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
    from sklearn.utils.validation import check_is_fitted
except ImportError:
    raise MissingExtraError(
        "the estimators need scikit-learn: pip install 'hardmax[convex]'"
    ) from None


class _ConvexAttention(BaseEstimator):  # type: ignore[misc]  # scikit-learn is untyped
    """What the two estimators share.

    head, activation: names of `Head`; ``grid`` and ``groups`` as there. beta: weight decay of the
    sum over samples. n_heads: None for as many as the optimum needs, else the number for each
    block, trained without guarantee (the certificate then bounds how much is lost). gates: number
    of gates where the activation is gated. intercept: append a constant 1 to the tokens.
    tolerance: relative duality gap. certify: make the exact certificate.
    """

    _loss = "squared"

    def __init__(
        self,
        head: str = "self-attention",
        activation: str = "linear",
        beta: float = 1.0,
        n_heads: int | None = None,
        *,
        gates: int = 5,
        grid: tuple[int, int] | None = None,
        groups: int = 1,
        intercept: bool = True,
        tolerance: float = 1e-5,
        certify: bool = True,
        solver: str = "factored",
        random_state: int = 0,
    ) -> None:
        self.head = head
        self.activation = activation
        self.beta = beta
        self.n_heads = n_heads
        self.gates = gates
        self.grid = grid
        self.groups = groups
        self.intercept = intercept
        self.tolerance = tolerance
        self.certify = certify
        self.solver = solver
        self.random_state = random_state

    def _fit(self, X: Any, targets: np.ndarray) -> None:
        spec = Head(self.head, self.activation, self.grid, self.groups)
        arrays = _samples(X)
        self.n_features_in_ = arrays[0].shape[1]
        self.length_ = max(map(len, arrays))
        tokens, lengths = self._padded(arrays)
        self.gates_ = None
        if self.activation == "gated":
            size = tokens.shape[2]
            self.gates_ = random_gates(spec, self.length_, size, self.gates, self.random_state)
        self.problem_ = Problem(
            spec, tokens, targets[:, None], self.beta, self._loss, True, self.gates_, lengths
        )
        self.solution_ = self._solved(self.problem_)
        self.duality_gap_ = self.solution_.gap
        self.factors_ = balanced(self.solution_.Zs, 1e-9)
        self.heads_ = network_heads(self.problem_, self.factors_)
        self.n_heads_ = len(self.heads_)
        self.certificate_ = (
            make_certificate(self.problem_, self.solution_) if self.certify else None
        )

    def _solved(self, problem: Problem) -> Solution:
        if self.solver not in ("factored", "proximal"):
            raise InputError(f"unknown solver {self.solver!r}; there are factored, proximal")
        solve = factored if self.solver == "factored" else proximal_gradient
        if self.n_heads is None:
            return solve(problem, tolerance=self.tolerance)
        if self.n_heads < 1:
            raise InputError("n_heads must be at least 1")
        rng = np.random.default_rng(self.random_state)
        start = [
            (rng.normal(size=(a, self.n_heads)) / a, rng.normal(size=(b, self.n_heads)) / b)
            for a, b in problem.shapes
        ]
        Zs = product(descend(problem, start))
        return proximal_gradient(problem, Zs, most=0)  # measures, moves nothing

    def _padded(self, arrays: Sequence[np.ndarray]) -> tuple[np.ndarray, np.ndarray | None]:
        """Tokens (n, s, d) padded with zero tokens, and lengths where they differ."""
        lengths = np.array([len(X) for X in arrays])
        if any(X.shape[1] != self.n_features_in_ for X in arrays):
            raise InputError(f"each sample needs the shape (s, {self.n_features_in_})")
        extra = int(self.intercept)
        tokens = np.zeros((len(arrays), lengths.max(), self.n_features_in_ + extra))
        for row, X in zip(tokens, arrays, strict=True):
            row[: len(X), : X.shape[1]] = X
            row[: len(X), X.shape[1] :] = 1
        return tokens, None if (lengths == lengths[0]).all() else lengths

    def _outputs(self, X: Any) -> np.ndarray:
        """Predictions (n, c) before any decision."""
        check_is_fitted(self, "solution_")
        tokens, lengths = self._padded(_samples(X))
        head = self.problem_.head
        if (head.mixing in ("mixer", "fourier") or head.moves_tokens) and (
            tokens.shape[1] != self.length_
        ):
            raise InputError(f"the head {self.head!r} was fitted to {self.length_} tokens a sample")
        c = self.problem_.targets.shape[2]
        blocks = build_blocks(head, tokens, c, True, self.gates_, lengths)
        return combined(blocks, self.solution_.Zs, (len(tokens), 1, c))[:, 0]


class ConvexAttentionClassifier(ClassifierMixin, _ConvexAttention):  # type: ignore[misc]
    """Classifier with softmax cross-entropy over global average pooling.

    ``X`` is an array (n, s, d), or n arrays (s_i, d) of different lengths. After `fit` there are
    ``classes_``, ``heads_`` (the network's weights), ``duality_gap_`` and ``certificate_``.

    >>> import numpy as np
    >>> X = np.array([[[0.0], [1.0]], [[3.0], [2.0]], [[0.5], [0.5]], [[2.0], [3.0]]])
    >>> model = ConvexAttentionClassifier(beta=0.01).fit(X, ["low", "high", "low", "high"])
    >>> model.predict(X).tolist(), model.duality_gap_ <= 1e-5
    (['low', 'high', 'low', 'high'], True)
    """

    _loss = "cross-entropy"

    def fit(self, X: Any, y: Any) -> ConvexAttentionClassifier:
        """Train to the global optimum."""
        labels = np.asarray(y)
        if len(labels) != len(X):
            raise InputError(f"{len(labels)} labels for {len(X)} samples")
        self.classes_, codes = np.unique(labels, return_inverse=True)
        padding = -len(self.classes_) % self.groups  # outputs that no sample asks for
        self._fit(X, np.eye(len(self.classes_) + padding)[codes])
        return self

    def decision_function(self, X: Any) -> np.ndarray:
        """Logits, of shape (n, classes)."""
        return self._outputs(X)[:, : len(self.classes_)]

    def predict_proba(self, X: Any) -> np.ndarray:
        """Softmax of the logits."""
        from .losses import softmax

        return softmax(self.decision_function(X))

    def predict(self, X: Any) -> np.ndarray:
        """The class with the largest logit."""
        return self.classes_[self.decision_function(X).argmax(1)]


class ConvexAttentionRegressor(RegressorMixin, _ConvexAttention):  # type: ignore[misc]
    """Regressor with squared loss over global average pooling; targets (n,) or (n, c)."""

    def fit(self, X: Any, y: Any) -> ConvexAttentionRegressor:
        """Train to the global optimum."""
        targets = np.asarray(y, dtype=float)
        self._flat = targets.ndim == 1
        if len(targets) != len(X):
            raise InputError(f"{len(targets)} targets for {len(X)} samples")
        self._fit(X, targets[:, None] if self._flat else targets)
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Pooled outputs, of the shape that the targets had."""
        found = self._outputs(X)
        return found[:, 0] if self._flat else found


def _samples(X: Any) -> list[np.ndarray]:
    try:
        arrays = [np.asarray(x, dtype=float) for x in X]
    except (TypeError, ValueError):
        raise InputError("X needs the shape (n, s, d), or n arrays of shape (s, d)") from None
    if not arrays or any(x.ndim != 2 or 0 in x.shape for x in arrays):
        raise InputError("X needs the shape (n, s, d), or n arrays of shape (s, d), not empty")
    return arrays
