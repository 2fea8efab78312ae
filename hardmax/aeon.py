"""A time-series classifier for aeon that is proved to be right on its training data.

It needs aeon: ``pip install 'hardmax[aeon]'``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .errors import MissingExtraError
from .estimator import ExactClassifier

try:
    from aeon.classification.base import BaseClassifier
except ImportError:
    raise MissingExtraError("hardmax.aeon needs aeon: pip install 'hardmax[aeon]'") from None


class HardmaxClassifier(ExactClassifier, BaseClassifier):  # type: ignore[misc]
    """Classifier that builds a hardmax transformer and proves it on the training series.

    ``X`` is a collection as aeon knows them: an array (N, channels, time), or a list of arrays
    (channels, time_j) of different lengths. The tokens of a series are its points in time, with
    one coordinate a channel. Numbers mean exactly what they hold.

    Parameters and fitted attributes are those of `hardmax.sklearn.HardmaxClassifier`:
    ``model_``, ``certificate_``, ``label_sets_``, ``classes_``. `fit` raises ContradictionError
    where two equal series have different labels: then no model exists.

    >>> import numpy as np
    >>> X = np.array([[[0, 1, 2]], [[2, 1, 0]], [[0, 0, 1]], [[1, 0, 0]]], dtype=float)
    >>> model = HardmaxClassifier().fit(X, np.array(["up", "down", "up", "down"]))
    >>> model.certificate_.proved, model.predict(X).tolist()
    (True, ['up', 'down', 'up', 'down'])
    """

    _tags = {  # noqa: RUF012  (aeon's own convention)
        "X_inner_type": ["np-list", "numpy3D"],
        "capability:multivariate": True,
        "capability:unequal_length": True,
    }

    def _fit(self, X: Any, y: np.ndarray) -> HardmaxClassifier:
        self._prove(_transposed(X), y)
        return self

    def _predict(self, X: Any) -> np.ndarray:
        return np.asarray(self._labels(_transposed(X)), dtype=self.classes_.dtype)


def _transposed(X: Any) -> Any:
    """Sequences (time, channels) of series (channels, time)."""
    return X.transpose(0, 2, 1) if isinstance(X, np.ndarray) else [x.T for x in X]
