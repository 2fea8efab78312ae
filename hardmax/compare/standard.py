"""Standard classifiers of scikit-learn, on the means and deviations of the tokens."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import InputError, MissingExtraError

if TYPE_CHECKING:
    from ..dataset import Dataset


def moments(data: Dataset) -> np.ndarray:
    """Mean and standard deviation of the tokens of each sequence, shape (N, 2d)."""
    return np.stack([np.concatenate([X.mean(0), X.std(0)]) for X in data.arrays()])


class _Standard:
    """A classifier on `moments`; nothing is certified."""

    name = ""
    extra: str | None = "convex"

    def __init__(self) -> None:
        self.parameters, self.certified = 0, ""
        self.bits: int | None = None

    def _model(self) -> Any:
        raise NotImplementedError

    def fit(self, data: Dataset) -> None:
        """Standardise the moments and fit."""
        try:
            from sklearn.pipeline import make_pipeline
            from sklearn.preprocessing import StandardScaler

            chosen = self._model()
        except ImportError:
            raise MissingExtraError(
                f"{self.name} needs scikit-learn: pip install 'hardmax[convex]'"
            ) from None
        features = moments(data)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of a class with one sequence, say
                pipeline = make_pipeline(StandardScaler(), chosen)
                self.fitted = pipeline.fit(features, data.need_labels())
        except ValueError as problem:
            raise InputError(f"{self.name} does not suit the data: {problem}") from None
        self.parameters = self._count(chosen, features)
        self.bits = 64 * self.parameters

    def _count(self, chosen: Any, features: np.ndarray) -> int:
        return int(features.size)

    def predict(self, data: Dataset) -> list[str]:
        """Labels by the fitted classifier."""
        return [str(label) for label in self.fitted.predict(moments(data))]


class NearestNeighbour(_Standard):
    """The label of the nearest training sequence; its parameters are the training data."""

    name = "1-NN"

    def _model(self) -> Any:
        from sklearn.neighbors import KNeighborsClassifier

        return KNeighborsClassifier(1)


class DiscriminantAnalysis(_Standard):
    """Linear discriminant analysis, with the shrinkage of Ledoit and Wolf."""

    name = "LDA"

    def _model(self) -> Any:
        from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

        return LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto")

    def _count(self, chosen: Any, features: np.ndarray) -> int:
        return int(chosen.coef_.size + chosen.intercept_.size)
