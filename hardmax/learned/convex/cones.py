"""The constrained nuclear norm (4) for cones of two dimensions, in closed form.

    ‖Z‖_{*,K} = min Σ_k |u_k| |v_k|   over   Z = Σ_k u_k v_kᵀ,  u_k = x g + y h,  x, y ≥ 0

It is ‖Z‖_* if W = (ZZᵀ)^{1/2} has a non-negative off-diagonal entry in the coordinates (g, h):
then W is completely positive. Otherwise Z = g aᵀ + h bᵀ is best. (Not in the paper. For the orthant
the condition says that the two rows of Z have a non-negative inner product.)
"""

from __future__ import annotations

import numpy as np


def cone_heads(Z: np.ndarray, g: np.ndarray, h: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """At most two heads u (m, 2), v (m, c) of least penalty with u in the cone of g and h.

    Z has shape (2, c); g and h must be linearly independent.
    """
    frame = np.column_stack([g, h])
    left, values, _ = np.linalg.svd(Z, full_matrices=False)
    root = (left * values) @ left.T
    inside = np.linalg.solve(frame, np.linalg.solve(frame, root).T)
    if inside[0, 1] >= 0 and values[-1] > 1e-12 * values[0]:
        U = frame @ np.linalg.cholesky((inside + inside.T) / 2)
        V = np.linalg.solve(U, Z)
        return U.T, V
    if values[-1] <= 1e-12 * values[0]:  # rank one: one head, if its direction is in the cone
        x = np.linalg.solve(frame, left[:, 0])
        if (x >= 0).all() or (x <= 0).all():
            u = left[:, 0] if (x >= 0).all() else -left[:, 0]
            return np.array([u]), np.array([u @ Z])
    return np.array([g, h], dtype=float), np.linalg.solve(frame, Z)


def cone_norm(Z: np.ndarray, g: np.ndarray, h: np.ndarray) -> float:
    """‖Z‖_{*,K} for the cone of g and h.

    >>> orthant = np.array([1.0, 0.0]), np.array([0.0, 1.0])
    >>> round(cone_norm(np.array([[1.0, 0.0], [-1.0, 0.0]]), *orthant), 6)   # ‖Z‖_* = √2
    2.0
    """
    if not Z.any():
        return 0.0
    U, V = cone_heads(Z, g, h)
    return float((np.linalg.norm(U, axis=1) * np.linalg.norm(V, axis=1)).sum())
