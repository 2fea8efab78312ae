"""Which operator serves a head: features written out where they are few, else matrix-free."""

from __future__ import annotations

import numpy as np

from .gates import mask
from .heads import shifts
from .operators import Attention, Features, Fourier, Mixer, Operator, Pooled

_LARGE = 1 << 24  # entries of a matrix of features that is still written out


def pooled_features(
    mixing: str,
    X: np.ndarray,
    weights: np.ndarray,
    grid: tuple[int, int],
    mask: np.ndarray | None = None,
) -> np.ndarray:
    """Features Φ of shape (n, 1, a, b) after pooling with weights (n, s)."""
    n, s, d = X.shape
    if mixing == "attention":
        if mask is None:
            mean, gram = np.einsum("io,ioa->ia", weights, X), X.transpose(0, 2, 1) @ X
            found = np.einsum("ia,ikl->ikal", mean, gram)
        else:
            seen = np.einsum("io,iot,ioa->ita", weights, mask, X, optimize=True)
            found = np.einsum("ita,itk,itl->ikal", seen, X, X, optimize=True)
        return found.reshape(n, 1, d * d, d)
    if mixing == "mixer":
        seen = np.broadcast_to(1.0, (n, s, d)) if mask is None else mask
        return np.einsum("io,itk,iok->itok", weights, X, seen).reshape(n, 1, s * s, d)
    seen = weights if mask is None else weights * mask[..., 0]
    if mixing == "fourier":
        found = np.einsum("io,iotk->itk", seen, X[:, shifts(grid)])
        return found.reshape(n, 1, s * d, 1)
    return np.einsum("io,iok->ik", seen, X).reshape(n, 1, d, 1)


def operator(
    mixing: str,
    X: np.ndarray,
    outputs: int,
    grid: tuple[int, int],
    weights: np.ndarray | None = None,
    gate: np.ndarray | None = None,
) -> Operator:
    """The operator of a mixing on tokens X (n, s, d); pooled where there are weights (n, s).

    Pooled features are written out where they are few: that is the fastest way then.
    """
    seen = None if gate is None else mask(mixing, X, gate, grid)
    return masked_operator(mixing, X, outputs, grid, weights, seen)


def masked_operator(
    mixing: str,
    X: np.ndarray,
    outputs: int,
    grid: tuple[int, int],
    weights: np.ndarray | None,
    seen: np.ndarray | None,
) -> Operator:
    """As `operator`, for a mask that is known."""
    n, s, d = X.shape
    size = {"attention": d**3, "mixer": s * s * d, "fourier": s * d * s, "tokens": d}[mixing]
    if weights is not None and n * size <= _LARGE:
        return Features(pooled_features(mixing, X, weights, grid, seen), outputs)
    inner: Operator
    if mixing == "attention":
        inner = Attention(X, outputs, seen)
    elif mixing == "mixer":
        inner = Mixer(X, outputs, seen)
    elif mixing == "fourier":
        inner = Fourier(X, outputs, grid, seen)
    else:
        tokens = X if seen is None else X * seen
        inner = Features(tokens[..., None], outputs)
    return inner if weights is None else Pooled(inner, weights)
