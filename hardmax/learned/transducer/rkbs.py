"""Finite vector-valued reproducing kernel Banach spaces, and the mended Theorem 2.

B holds the functions O_w(v) = Φ(v)w with w ∈ ℝ^N, ‖O_w‖ = ‖w‖_p, 1 < p < ∞, U = ℝ^m Euclidean.
B is uniform. Its semi-inner product is ⟨w, g⟩ = Σ_k w_k g_k|g_k|^{p−2}/‖g‖_p^{p−2}, and g* is the
row of factors of w. In floating point: what this module shows are observations.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...errors import InputError

Array = np.ndarray[Any, np.dtype[np.float64]]


def dual(g: Array, p: float) -> Array:
    """g* of ℓ_p: ⟨w, g⟩ = w · g*, ⟨g, g⟩ = ‖g‖_p², and ‖g*‖_q = ‖g‖_p with 1/p + 1/q = 1.

    The inverse map is ``dual(·, q)``.

    >>> dual(np.array([3.0, -4.0]), 2)
    array([ 3., -4.])
    """
    norm = np.linalg.norm(g, p)
    if norm == 0:
        return np.zeros_like(g)
    return np.asarray(norm * np.sign(g) * (np.abs(g) / norm) ** (p - 1))


@dataclass(frozen=True)
class FiniteRKBS:
    """The space of v ↦ Φ(v)w for finitely many v; ``features`` is Φ, of shape (n, m, N).

    Φ, stacked over v, must be injective, so that ‖O‖ is well defined; else InputError.

    Theorem 1, as far as it holds: K(v, v')(u) = Φ(v') J(Φ(v)ᵀu) with J = `dual` of q is the
    unique map with ⟨O(v), u⟩ = ⟨O, K(v, ·)(u)⟩. It is homogeneous in u but not linear unless
    p = 2, although the paper prints "K : V × V → L(U)"; see
    proofs/errata/transducer_linear_kernel.py.

    >>> space = FiniteRKBS(np.eye(2)[None], p=4)
    >>> additive = space.kernel(0, 0, np.array([1.0, 0])) + space.kernel(0, 0, np.array([0, 1.0]))
    >>> np.round(space.kernel(0, 0, np.array([1.0, 1.0])), 3), additive
    (array([1.414, 1.414]), array([1., 1.]))
    """

    features: Array
    p: float = 2.0

    def __post_init__(self) -> None:
        if self.features.ndim != 3 or not 1 < self.p < np.inf:
            raise InputError("features must have the shape (n, m, N), and p lie in (1, ∞)")
        if (
            np.linalg.matrix_rank(self.features.reshape(-1, self.features.shape[2]))
            < (self.features.shape[2])
        ):
            raise InputError("two vectors w give the same function, so ‖O‖ is not defined")

    @property
    def q(self) -> float:
        """The dual exponent."""
        return self.p / (self.p - 1)

    def section(self, v: int, u: Array) -> Array:
        """The w of K(v, ·)(u) = J(Φ(v)ᵀu), shape (N,)."""
        return dual(self.features[v].T @ u, self.q)

    def kernel(self, v: int, other: int, u: Array) -> Array:
        """K(v, v')(u), shape (m,)."""
        return np.asarray(self.features[other] @ self.section(v, u))

    def pairing(self, w: Array, g: Array) -> float:
        """The semi-inner product ⟨w, g⟩; linear in w only."""
        return float(w @ dual(g, self.p))

    def represent(self, observed: list[int], values: Array, ridge: float) -> tuple[Array, Array]:
        """Minimise ½Σ_i ‖O(v_i) − u_i‖² + ½λ‖O‖²; return w and the c_i of its dual.

        Theorem 2, mended: this functional is strictly convex, continuous and coercive for
        λ > 0, so there is one minimiser, and setting the derivative to 0 gives
        w* = Σ_i Φ(v_i)ᵀc_i = Σ_i (K(v_i, ·)(c_i))* with λc_i = u_i − O(v_i).
        The printed hypotheses (L = L̃ ∘ δ coercive) exclude one another; see
        proofs/errata/transducer_representer.py. ``values`` is (n, m); c comes back (n, m).
        Solved for c by BFGS; raises InputError for λ ≤ 0.

        >>> space = FiniteRKBS(np.array([[[1.0, 0, 1]], [[0, 1, 1]], [[1, 1, 0]]]), p=3)
        >>> w, c = space.represent([0, 1], np.array([[1.0], [2.0]]), ridge=0.1)
        >>> A = space.features[:2, 0]
        >>> bool(np.allclose(dual(w, 3), A.T @ c[:, 0]))
        True
        """
        if not ridge > 0:
            raise InputError("the ridge λ must be positive")
        from scipy.optimize import minimize

        A = self.features[observed].reshape(-1, self.features.shape[2])
        u = np.asarray(values, float).ravel()

        def dual_problem(c: Array) -> tuple[float, Array]:
            """½‖Aᵀc‖_q² + ½λ‖c‖² − u·c and its gradient; the minimiser gives w = J(Aᵀc)."""
            g = A.T @ c
            value = 0.5 * np.linalg.norm(g, self.q) ** 2 + 0.5 * ridge * c @ c - u @ c
            return float(value), A @ dual(g, self.q) + ridge * c - u

        found = minimize(
            dual_problem, np.zeros(len(u)), jac=True, method="BFGS",
            options={"gtol": 1e-12, "maxiter": 2000},
        )  # fmt: skip
        return dual(A.T @ found.x, self.q), found.x.reshape(len(observed), -1)
