"""Logistic regression with an L2 penalty, of many samples of the same points at once.

Floats that propose hyperplanes; nothing is decided by them.
"""

from __future__ import annotations

import numpy as np

from ....exact.array import Array

# Newton's method takes this many steps at most.
_NEWTON_STEPS = 30
# Samples with more entries are treated one by one, as several would not fit into the cache.
_CACHE_ENTRIES = 2**14


def logistic(
    A: Array, sign: Array, taken: Array, penalty: float, start: Array | None = None
) -> tuple[Array, Array]:
    """Minimise Σ log(1 + exp(−sign·⟨θ,a⟩)) + penalty/2·|θ|² by Newton's method, F times at once.

    Shapes: ``A`` (F or 1, n, d + 1), the last column ones, without penalty; ``sign`` and the mask
    ``taken`` (F, n); ``start`` (F, d + 1). Returns θ (F, d + 1) and the values (F,). θ is constant,
    ±1, where all that is taken has one sign.
    """
    A = np.broadcast_to(A, (len(sign), *A.shape[1:]))
    if len(A) > 1 and A[0].size > _CACHE_ENTRIES:
        each = [
            logistic(A[i : i + 1], sign[i : i + 1], taken[i : i + 1], penalty, first)
            for i, first in enumerate([None] * len(A) if start is None else start[:, None])
        ]
        return np.concatenate([t for t, _ in each]), np.concatenate([v for _, v in each])
    weight = np.r_[np.full(A.shape[2] - 1, penalty), 1e-6]
    theta = np.zeros((len(A), A.shape[2])) if start is None else start.copy()
    up, down = (taken & (sign > 0)).any(axis=1), (taken & (sign < 0)).any(axis=1)
    theta[~(up & down), -1] = np.where(up, 1.0, -1.0)[~(up & down)]

    def along(rows: Array, theta: Array) -> Array:
        every = A if len(rows) == len(A) else A[rows]
        return np.asarray(sign[rows] * np.matmul(every, theta[:, :, None])[:, :, 0])

    def value(rows: Array, theta: Array, margin: Array) -> Array:
        losses = np.logaddexp(0, -margin) * taken[rows]
        return np.asarray(losses.sum(axis=1) + theta**2 @ weight / 2)

    now = np.zeros(len(A))
    rows = np.flatnonzero(up & down)
    margin = along(rows, theta[rows])
    now[rows] = value(rows, theta[rows], margin)
    for _ in range(_NEWTON_STEPS):
        if not len(rows):
            break
        p = taken[rows] / (1 + np.exp(np.clip(margin, -500, 500)))
        some = A if len(rows) == len(A) else A[rows]
        gradient = weight * theta[rows] - np.matmul((sign[rows] * p)[:, None], some)[:, 0]
        hessian = np.matmul((some * (p * (1 - p))[:, :, None]).transpose(0, 2, 1), some)
        step = -np.linalg.solve(hessian + np.diag(weight), gradient[:, :, None])[:, :, 0]
        slope = along(rows, step)
        after = value(rows, theta[rows] + step, margin + slope)
        size = np.ones((len(rows), 1))
        while (worse := (after > now[rows]) & (size[:, 0] > 1e-4)).any():
            size[worse] /= 2
            ahead = theta[rows[worse]] + size[worse] * step[worse]
            further = margin[worse] + size[worse] * slope[worse]
            after[worse] = value(rows[worse], ahead, further)
        gained = now[rows] - after
        better = gained >= 0
        theta[rows[better]] += (size * step)[better]
        now[rows[better]] = after[better]
        on = gained >= 1e-7 * np.maximum(after, 1.0)
        rows, margin = rows[on], (margin + size * slope)[on]
    return theta, now
