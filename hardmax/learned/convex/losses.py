"""The two losses: value, residual, and the dual value of a scaled dual point.

With V = −∇L(R, Y) the dual objective is D(V) = −Σ L*(−V, Y). (The paper's (41) has L*(V): a slip
of a sign that leaves the constraint as it is, but not the value.)
"""

from __future__ import annotations

from typing import Protocol

import numpy as np


class Loss(Protocol):
    """A convex loss, summed over samples and rows; arrays have shape (n, r, c)."""

    name: str
    curvature: float  # bound on the second derivative

    def value(self, R: np.ndarray, Y: np.ndarray) -> float:
        """L(R, Y)."""

    def residual(self, R: np.ndarray, Y: np.ndarray) -> np.ndarray:
        """V = −∇L(R, Y)."""

    def scale(self, V: np.ndarray, Y: np.ndarray, most: float) -> float:
        """The τ in [0, most] with the largest known D(τV)."""

    def dual(self, V: np.ndarray, Y: np.ndarray) -> float:
        """D(V), the value of a feasible dual point."""


class Squared:
    """L = ½‖R − Y‖²; D(V) = ⟨V, Y⟩ − ½‖V‖².

    >>> import numpy as np
    >>> Y = np.array([[[1.0, 2.0]]])
    >>> Squared().value(np.zeros((1, 1, 2)), Y), Squared().dual(Y, Y)
    (2.5, 2.5)
    """

    name = "squared"
    curvature = 1.0

    def value(self, R: np.ndarray, Y: np.ndarray) -> float:
        return float(((R - Y) ** 2).sum()) / 2

    def residual(self, R: np.ndarray, Y: np.ndarray) -> np.ndarray:
        return Y - R

    def scale(self, V: np.ndarray, Y: np.ndarray, most: float) -> float:
        square = float((V * V).sum())
        return min(most, max(float((V * Y).sum()) / square, 0.0)) if square else 0.0

    def dual(self, V: np.ndarray, Y: np.ndarray) -> float:
        return float((V * Y).sum() - (V * V).sum() / 2)


class CrossEntropy:
    """L = log Σ exp R − ⟨Y, R⟩ for each row, Y in the simplex; D(V) = Σ H(Y − V).

    H is the entropy; Y − V must lie in the simplex. With V = Y − softmax(R) this holds for all τV
    with τ in [0, 1].

    >>> import numpy as np
    >>> Y = np.array([[[1.0, 0.0]]])
    >>> round(CrossEntropy().value(np.zeros((1, 1, 2)), Y), 6)
    0.693147
    """

    name = "cross-entropy"
    curvature = 0.5

    def value(self, R: np.ndarray, Y: np.ndarray) -> float:
        top = R.max(-1, keepdims=True)
        sums = np.log(np.exp(R - top).sum(-1)) + top[..., 0]
        return float((sums - (Y * R).sum(-1)).sum())

    def residual(self, R: np.ndarray, Y: np.ndarray) -> np.ndarray:
        return Y - softmax(R)

    def scale(self, V: np.ndarray, Y: np.ndarray, most: float) -> float:
        return min(most, 1.0)

    def dual(self, V: np.ndarray, Y: np.ndarray) -> float:
        q = np.maximum(Y - V, 0)
        return float(-(q * np.log(np.where(q > 0, q, 1.0))).sum())


def softmax(R: np.ndarray) -> np.ndarray:
    """Softmax over the last axis."""
    powers = np.exp(R - R.max(-1, keepdims=True))
    result: np.ndarray = powers / powers.sum(-1, keepdims=True)
    return result


LOSSES: dict[str, Loss] = {"squared": Squared(), "cross-entropy": CrossEntropy()}
