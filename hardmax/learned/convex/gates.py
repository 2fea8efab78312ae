"""Gates 1{⟨q, h⟩ ≥ 0}, exact for the numbers given (Appendix C)."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from .heads import shifts


def mask(mixing: str, X: np.ndarray, gate: np.ndarray, grid: tuple[int, int]) -> np.ndarray:
    """Which inner products ⟨q_oτ, h⟩ with a gate h are ≥ 0, as floats 0 and 1.

    Of shape (n, s, s) for attention, (n, s, d) for the Mixer, (n, s, 1) else. Exact for the numbers
    given: a sign that rounding could change is decided by rationals.
    """
    scores = _scores(mixing, X, gate, grid)
    size = _scores(mixing, abs(X), abs(gate), grid)  # the same sums without cancellation
    error = 4 * np.finfo(float).eps * (len(gate) + X.shape[2] + 2) * size
    found = scores >= 0
    for i, o, place in np.argwhere((abs(scores) <= error) & (size > 0)):
        found[i, o, place] = _exact_score(mixing, X[i], gate, grid, o, place) >= 0
    return found.astype(float)


def _scores(mixing: str, X: np.ndarray, gate: np.ndarray, grid: tuple[int, int]) -> np.ndarray:
    """Inner products ⟨q_oτ, h⟩ in floating point."""
    _, s, d = X.shape
    if mixing == "attention":
        return X @ gate.reshape(d, d).T @ X.transpose(0, 2, 1)
    if mixing == "mixer":
        return gate.reshape(s, s).T @ X
    if mixing == "fourier":
        return np.einsum("iotk,tk->io", X[:, shifts(grid)], gate.reshape(s, d))[..., None]
    return (X @ gate)[..., None]


def _exact_score(
    mixing: str, X: np.ndarray, gate: np.ndarray, grid: tuple[int, int], o: int, place: int
) -> Fraction:
    """One inner product ⟨q_oτ, h⟩ of one sample X (s, d)."""
    s, d = X.shape
    if mixing == "attention":
        pairs = [(Fraction(X[o, j]) * Fraction(X[place, k]), gate[k * d + j])
                 for k in range(d) for j in range(d)]  # fmt: skip
    elif mixing == "mixer":
        pairs = [(Fraction(X[t, place]), gate[t * s + o]) for t in range(s)]
    else:
        query = X[shifts(grid)[o]].ravel() if mixing == "fourier" else X[o]
        pairs = [(Fraction(x), h) for x, h in zip(query, gate, strict=True)]
    return sum((x * Fraction(h) for x, h in pairs), Fraction(0))
