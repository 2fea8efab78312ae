"""Convex attention heads as contenders, with the proved gap to the optimum over all head counts."""

from __future__ import annotations

from decimal import ROUND_CEILING, Context, Decimal
from typing import TYPE_CHECKING

import numpy as np

from ..errors import InputError

if TYPE_CHECKING:
    from ..dataset import Dataset

_FEATURES = 1 << 22  # the exact certificate writes out so many at most
_GATES = 5
_SIXTEENTH = 16.0


class ConvexHead:
    """A head of `hardmax.learned.convex` with softmax cross-entropy and average pooling.

    Tokens are standardised, rounded to sixteenths (so that the certificate has short numbers), and
    get a constant 1. β is a fixed part of the least β that makes Z = 0 optimal.
    """

    extra: str | None = "convex"

    def __init__(self, head: str, activation: str, part: float = 1 / 300) -> None:
        self.head, self.activation, self.part = head, activation, part
        self.name = f"convex: {head}" + ("" if activation == "linear" else f", {activation}")
        self.parameters, self.certified = 0, ""
        self.bits: int | None = None

    def fit(self, data: Dataset) -> None:
        """Train until the relative gap is at most 1e-4, and certify."""
        from ..learned.convex.certificate import interval
        from ..learned.convex.estimators import ConvexAttentionClassifier

        tokens, labels = data.tokens.values, data.need_labels()
        attention = self.head == "self-attention"
        size = len(data) * (data.dimension + 1) ** (3 if attention else 1)
        size *= _GATES if self.activation == "gated" else 1
        if size > _FEATURES:
            raise InputError(f"this head needs {size} features of the data: too many")
        self.mean = tokens.mean(0)
        deviation = tokens.std(0)
        self.deviation = np.where(deviation > 0, deviation, 1.0)
        arrays = self._standardised(data)
        model = ConvexAttentionClassifier(
            self.head, self.activation, self._decay(arrays, labels), gates=_GATES, tolerance=1e-4
        )
        self.model = model.fit(arrays, labels)
        self.parameters = sum(w.W1.size + w.W2.size for w in self.model.heads_)
        self.bits = 64 * self.parameters
        found: dict[str, str] = self.model.certificate_ or {}
        lower, upper = interval(found)
        part = (upper - lower) / upper
        above = Context(2, ROUND_CEILING).divide(Decimal(part.numerator), Decimal(part.denominator))
        self.certified = f"exact: objective at most {above:.1e} above the optimum, any head count"

    def _standardised(self, data: Dataset) -> list[np.ndarray]:
        """Standardised tokens, in sixteenths."""
        return [
            np.rint((X - self.mean) / self.deviation * _SIXTEENTH) / _SIXTEENTH
            for X in data.arrays()
        ]

    def _decay(self, arrays: list[np.ndarray], labels: list[str]) -> float:
        """The chosen part of ‖N(Y − 1/c)‖ of the linear head, as a short dyadic number."""
        d = arrays[0].shape[1] + 1
        names = sorted(set(labels))
        moments = np.zeros((len(names), d**3 if self.head == "self-attention" else d))
        for X, label in zip(arrays, labels, strict=True):
            X1 = np.c_[X, np.ones(len(X))]
            mean = X1.mean(0)
            gram = X1.T @ X1
            pooled = np.einsum("a,kl->kal", mean, gram) if self.head == "self-attention" else mean
            moments -= pooled.ravel() / len(names)
            moments[names.index(label)] += pooled.ravel()
        N = moments.T.reshape(d * d, -1) if self.head == "self-attention" else moments.T
        norm = float(np.linalg.norm(N, 2))
        return float(2.0 ** np.floor(np.log2(max(norm, 1e-300) * self.part)))

    def predict(self, data: Dataset) -> list[str]:
        """The class with the largest logit."""
        if data.dimension != len(self.mean):
            raise InputError(f"the model was fitted to tokens of dimension {len(self.mean)}")
        return [str(label) for label in self.model.predict(self._standardised(data))]
