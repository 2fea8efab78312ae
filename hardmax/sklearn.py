"""A classifier for scikit-learn that is proved to be right on its training data.

It needs scikit-learn: ``pip install 'hardmax[sklearn]'``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .errors import InputError, MissingExtraError
from .estimator import ExactClassifier

try:
    from sklearn.base import BaseEstimator, ClassifierMixin
    from sklearn.utils.multiclass import check_classification_targets
    from sklearn.utils.validation import (
        check_consistent_length,
        check_is_fitted,
        column_or_1d,
        validate_data,
    )
except ImportError:
    raise MissingExtraError(
        "hardmax.sklearn needs scikit-learn 1.6 or newer: pip install 'hardmax[sklearn]'"
    ) from None


class HardmaxClassifier(ExactClassifier, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Classifier that builds a hardmax transformer and proves it on the training data.

    ``X`` is a table (N, n), in which each row is one sequence of n tokens that are numbers; or an
    array (N, n, d), or a list of N arrays (n_j, d). Numbers mean exactly what they hold.

    strategy: as in `hardmax.build`; the default predicts best. window: put so many neighbours of a
    token side by side (`hardmax.Reading`). positional: append to each token its position
    1, 2, 3, …. Where both are left out, strategy learn chooses by cross-validation; the other
    strategies take window 1 and positions. features: the most blocks that strategy learn spends
    on features. random_state: the seed. verbose: say on stderr what the construction does.

    After `fit`: ``model_``, a `hardmax.Transformer`; ``certificate_``, the `hardmax.Certificate`
    of an exact proof that every training sequence gets its label; ``classes_``;
    ``label_sets_``, the sets that the labels stand for; ``n_features_in_``, for a table n,
    otherwise d. `predict` is exact: the label whose set holds the output, else the nearest.
    `fit` raises ContradictionError where two equal rows have different labels: then no
    model exists. Clean such rows first, or give the estimator more features.

    >>> X, y = [[0, 1, 2], [2, 1, 0], [0, 0, 1], [1, 0, 0]], ["up", "down", "up", "down"]
    >>> model = HardmaxClassifier().fit(X, y)
    >>> model.certificate_.proved, model.score(X, y), model.predict([[2, 1, 0]]).tolist()
    (True, 1.0, ['down'])
    """

    def fit(self, X: Any, y: Any) -> HardmaxClassifier:
        """Build a model of the training data and prove it."""
        if y is None:
            raise InputError("HardmaxClassifier requires y to be passed, but the target y is None")
        sequences = _arrays(X)
        if sequences is None:
            X, y = validate_data(self, X, y)
            sequences = X[:, :, None]
        else:
            y = column_or_1d(y, warn=True)
            check_consistent_length(sequences, y)
            self.n_features_in_ = sequences[0].shape[1]
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        self._prove(sequences, self.classes_[codes])
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Labels (N,) of the exact outputs."""
        check_is_fitted(self, "model_")
        sequences = _arrays(X)
        if sequences is None:
            sequences = validate_data(self, X, reset=False)[:, :, None]
        return np.asarray(self._labels(sequences), dtype=self.classes_.dtype)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.three_d_array = True
        return tags


def _arrays(X: Any) -> Any:
    """The sequences of an array (N, n, d), or of a list of arrays (n_j, d); None for a table."""
    if getattr(X, "ndim", 0) == 3:
        return X
    listed = isinstance(X, list | tuple)
    if not listed and not (isinstance(X, np.ndarray) and X.dtype == object and X.ndim == 1):
        return None
    return list(X) if len(X) and all(getattr(x, "ndim", 0) == 2 for x in X) else None
