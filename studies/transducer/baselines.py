"""Regressions without meta-training, at equal numbers of examples: kernel ridge, k-NN, identity."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from studies.transducer.metric import relative_error


@dataclass(frozen=True)
class Kernel:
    """A kernel on samples, by products averaged over the grid, so that grids do not matter."""

    name: str
    parameter: float = 0.0

    def __call__(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        products = a @ b.T / a.shape[1]
        if self.name == "linear":
            return products
        if self.name == "quadratic":
            return (products + self.parameter) ** 2
        squares = (a**2).mean(1)[:, None] + (b**2).mean(1) - 2 * products
        return np.exp(-self.parameter * squares.clip(min=0))


KERNELS = {
    "linear": [Kernel("linear")],
    "quadratic": [Kernel("quadratic", c) for c in (0.3, 1.0, 3.0, 10.0, 30.0)],
    "rbf": [Kernel("rbf", g) for g in (0.003, 0.01, 0.03, 0.1, 0.3, 1.0)],
}
RIDGES = 10.0 ** np.arange(-9, 0.5)  # relative to the mean of the kernel's diagonal


@dataclass(frozen=True)
class Choice:
    """A kernel and a ridge, relative to the mean diagonal of the Gram matrix."""

    kernel: Kernel
    ridge: float

    def predict(self, v: np.ndarray, u: np.ndarray, queries: np.ndarray) -> np.ndarray:
        """Kernel ridge regression from examples v (n, m), u (n, m'), at queries (q, m)."""
        K = self.kernel(v, v)
        K[np.diag_indices_from(K)] += self.ridge * np.trace(K) / len(K)
        return self.kernel(queries, v) @ np.linalg.solve(K, u)


def scores(v: np.ndarray, u: np.ndarray, family: str) -> dict[Choice, float]:
    """Leave-one-out relative error of every choice of a family, in closed form.

    With G = (K + λI)⁻¹ the residual of example i, left out, is (Gu)_i / G_ii.
    """
    found = {}
    norms = (u**2).sum(1)
    for kernel in KERNELS[family]:
        K = kernel(v, v)
        values, vectors = np.linalg.eigh(K)
        scale, projected = np.trace(K) / len(K), vectors.T @ u
        for ridge in RIDGES:
            inverse = 1 / (values.clip(min=0) + ridge * scale)
            residual = (vectors * inverse) @ projected
            residual /= (vectors**2 @ inverse)[:, None]
            found[Choice(kernel, float(ridge))] = float(((residual**2).sum(1) / norms).mean())
    return found


def cross_validated(v: np.ndarray, u: np.ndarray, families: tuple[str, ...]) -> Choice:
    """The choice of least leave-one-out error on one data set."""
    together: dict[Choice, float] = {}
    for family in families:
        together |= scores(v, u, family)
    return min(together, key=together.__getitem__)


def chosen_on_meta_train(
    v: np.ndarray, u: np.ndarray, n: int, family: str, queries: int = 30
) -> Choice:
    """The choice of least mean error on meta-training operators v, u (M, pairs, m)."""
    totals: dict[Choice, float] = {}
    for a, b in zip(v, u, strict=True):
        for kernel in KERNELS[family]:
            for ridge in RIDGES:
                choice = Choice(kernel, float(ridge))
                found = choice.predict(a[:n], b[:n], a[-queries:])
                totals[choice] = totals.get(choice, 0) + relative_error(found, b[-queries:])
    return min(totals, key=totals.__getitem__)


def nearest(v: np.ndarray, u: np.ndarray, queries: np.ndarray, k: int = 1) -> np.ndarray:
    """Mean of the u of the k nearest examples, in L²."""
    squares = (queries**2).sum(1)[:, None] + (v**2).sum(1) - 2 * queries @ v.T
    order = np.argsort(squares, axis=1, kind="stable")[:, : min(k, len(v))]
    return u[order].mean(1)


class MeanOperator:
    """The one linear map that fits all meta-training pairs best; it needs no examples."""

    def __init__(self, v: np.ndarray, u: np.ndarray, ridge: float = 1e-6) -> None:
        flat_v, flat_u = v.reshape(-1, v.shape[-1]), u.reshape(-1, u.shape[-1])
        G = flat_v.T @ flat_v / len(flat_v)
        G[np.diag_indices_from(G)] += ridge
        self.map = np.linalg.solve(G, flat_v.T @ flat_u / len(flat_v))

    def predict(self, queries: np.ndarray) -> np.ndarray:
        return queries @ self.map
