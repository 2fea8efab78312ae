"""The linear maps of the convex programs and their adjoints, without their matrices.

An operator maps Z of shape (a, b·c) to predictions (n, s, c) of n samples, where

    f[i, o, p] = Σ_{r,l} Φ_i,o[r, l] Z[r, l·c + p],   Φ_i,o = Σ_τ m_oτ q_oτ r_τᵀ

(queries and values of `heads`; mask m = 1, or that of a gate). The adjoint maps V of the shape of
the predictions to N = Σ_{i,o} Φ_i,o ⊗ V[i, o], the N of the dual constraint ‖N‖ ≤ β.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np


class Operator(Protocol):
    """A linear map and its adjoint; ``shape`` (a, b·c) is that of Z."""

    shape: tuple[int, int]

    def forward(self, Z: np.ndarray) -> np.ndarray:
        """Predictions (n, s, c), or (n, 1, c) after pooling."""

    def adjoint(self, V: np.ndarray) -> np.ndarray:
        """N of shape (a, b·c)."""


class Attention:
    """Self-attention (13), (123): Φ_i,o[(k,a), l] = X[o,a] Σ_t m_ot X[t,k] X[t,l]."""

    def __init__(self, X: np.ndarray, outputs: int, mask: np.ndarray | None = None) -> None:
        n, s, d = X.shape
        self.tokens, self.outputs = X, outputs
        self.shape = (d * d, d * outputs)
        if mask is None:  # one Gram matrix a sample
            self.gram = np.einsum("itk,itl->ikl", X, X).reshape(n, d * d)
        else:  # one a query
            self.gram = np.einsum("iot,itk,itl->iokl", mask, X, X, optimize=True)
            self.gram = self.gram.reshape(n * s, d * d)
        self.masked = mask is not None

    def forward(self, Z: np.ndarray) -> np.ndarray:
        n, s, d = self.tokens.shape
        c = self.outputs
        T = self.gram @ Z.reshape(d, d, d, c).transpose(0, 2, 1, 3).reshape(d * d, d * c)
        if self.masked:
            found: np.ndarray = np.einsum("ioa,ioap->iop", self.tokens, T.reshape(n, s, d, c))
            return found
        return self.tokens @ T.reshape(n, d, c)

    def adjoint(self, V: np.ndarray) -> np.ndarray:
        n, s, d = self.tokens.shape
        c = self.outputs
        if self.masked:
            T = np.einsum("ioa,iop->ioap", self.tokens, V).reshape(n * s, d * c)
        else:
            T = (self.tokens.transpose(0, 2, 1) @ V).reshape(n, d * c)
        N = (self.gram.T @ T).reshape(d, d, d, c)
        return N.transpose(0, 2, 1, 3).reshape(self.shape)


class Mixer:
    """MLP-Mixer (19), (133): Φ_i,o[(t,o'), k] = X[t,k] m_ok where o' = o, else 0."""

    def __init__(self, X: np.ndarray, outputs: int, mask: np.ndarray | None = None) -> None:
        _, s, d = X.shape
        self.tokens, self.outputs, self.mask = X, outputs, mask
        self.shape = (s * s, d * outputs)

    def forward(self, Z: np.ndarray) -> np.ndarray:
        n, s, d = self.tokens.shape
        c = self.outputs
        Z4 = Z.reshape(s, s, d, c)  # t, o, k, p
        if self.mask is None:
            flat = Z4.transpose(0, 2, 1, 3).reshape(s * d, s * c)
            return (self.tokens.reshape(n, s * d) @ flat).reshape(n, s, c)
        parts = [self._seen(o) @ Z4[:, o].reshape(s * d, c) for o in range(s)]
        return np.stack(parts, axis=1)

    def adjoint(self, V: np.ndarray) -> np.ndarray:
        n, s, d = self.tokens.shape
        c = self.outputs
        if self.mask is None:
            N = self.tokens.reshape(n, s * d).T @ V.reshape(n, s * c)
            return N.reshape(s, d, s, c).transpose(0, 2, 1, 3).reshape(self.shape)
        parts = [(self._seen(o).T @ V[:, o]).reshape(s, d, c) for o in range(s)]
        return np.stack(parts, axis=1).reshape(self.shape)

    def _seen(self, o: int) -> np.ndarray:
        """What query o sees of the tokens, (n, s·d)."""
        if self.mask is None:
            raise TypeError("only a masked mixer has what one query sees")
        n, s, d = self.tokens.shape
        return (self.tokens * self.mask[:, o, None, :]).reshape(n, s * d)


class Fourier:
    """Fourier operator (25), (144): Φ_i,o[(t,k)] = m_o X[o − t, k], by fast Fourier transforms."""

    def __init__(
        self, X: np.ndarray, outputs: int, grid: tuple[int, int], mask: np.ndarray | None = None
    ) -> None:
        n, s, d = X.shape
        self.grid, self.outputs, self.mask = grid, outputs, mask
        self.shape = (s * d, outputs)
        self.samples, self.features = n, d
        self.spectrum = self._transform(X)  # frequency, n, d

    def _transform(self, A: np.ndarray) -> np.ndarray:
        """Fourier transform of an array (m, s, k) over its grid; shape (frequencies, m, k)."""
        m, _, k = A.shape
        found = np.fft.rfft2(A.reshape(m, *self.grid, k), axes=(1, 2))
        self.frequencies = found.shape[1:3]
        return found.reshape(m, -1, k).transpose(1, 0, 2)

    def _back(self, A: np.ndarray) -> np.ndarray:
        """Inverse of `_transform`."""
        _, m, k = A.shape
        spread = A.transpose(1, 0, 2).reshape(m, *self.frequencies, k)
        return np.fft.irfft2(spread, s=self.grid, axes=(1, 2)).reshape(m, -1, k)

    def forward(self, Z: np.ndarray) -> np.ndarray:
        kernel = self._transform(Z.reshape(1, -1, self.features * self.outputs))
        kernel = kernel.reshape(-1, self.features, self.outputs)
        found = self._back(self.spectrum @ kernel)
        return found if self.mask is None else found * self.mask

    def adjoint(self, V: np.ndarray) -> np.ndarray:
        seen = self._transform(V if self.mask is None else V * self.mask)
        N = self.spectrum.conj().transpose(0, 2, 1) @ seen
        found = self._back(N.reshape(-1, 1, self.features * self.outputs))
        return found.reshape(self.shape)


class Features:
    """Features Φ written out, of shape (n, r, a, b): one matrix product each way."""

    def __init__(self, features: np.ndarray, outputs: int) -> None:
        n, r, a, b = features.shape
        self.matrix = np.ascontiguousarray(features.reshape(n * r, a * b))
        self.samples, self.rows, self.outputs = n, r, outputs
        self.shape = (a, b * outputs)

    def forward(self, Z: np.ndarray) -> np.ndarray:
        found = self.matrix @ Z.reshape(-1, self.outputs)
        return found.reshape(self.samples, self.rows, self.outputs)

    def adjoint(self, V: np.ndarray) -> np.ndarray:
        return (self.matrix.T @ V.reshape(-1, self.outputs)).reshape(self.shape)


class Pooled:
    """An operator followed by global average pooling with weights (n, s)."""

    def __init__(self, inner: Operator, weights: np.ndarray) -> None:
        self.inner, self.weights, self.shape = inner, weights, inner.shape

    def forward(self, Z: np.ndarray) -> np.ndarray:
        found: np.ndarray = np.einsum("io,iop->ip", self.weights, self.inner.forward(Z))
        return found[:, None]

    def adjoint(self, V: np.ndarray) -> np.ndarray:
        return self.inner.adjoint(self.weights[:, :, None] * V)
