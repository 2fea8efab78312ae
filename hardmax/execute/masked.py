"""Masked attention (4.2) in float64, for any array library: what each token attends to."""

from __future__ import annotations

from typing import Any

Array = Any  # of whichever backend


def masked_focus(xp: Any, X: Array, score: Array | None) -> Array:
    """For each token the mean of its maximisers among the tokens up to it, (count, n, d).

    ``X`` holds sequences of one length, (count, n, d), ``score`` the values ⟨v,z⟩, (count, n); None
    for v = 0, where the means are running sums, divided.

    >>> import numpy as np
    >>> masked_focus(np, np.array([[[4.0], [2.0]]]), None).tolist()
    [[[4.0], [3.0]]]
    >>> masked_focus(np, np.array([[[1.0], [4.0], [2.0]]]), np.array([[1.0, 4.0, 2.0]])).tolist()
    [[[1.0], [4.0], [4.0]]]
    """
    focus = []
    total = xp.zeros_like(X[:, 0, :])
    for i in range(X.shape[1]):
        if score is None:
            total = total + X[:, i, :]
            focus.append(total / (i + 1))
            continue
        seen = X[:, : i + 1, :]
        signed = xp.sign(score[:, i])[:, None] * score[:, : i + 1]
        best = signed == xp.max(signed, axis=1, keepdims=True)
        count = xp.sum(xp.astype(best, X.dtype), axis=1)
        chosen = xp.where(best[:, :, None], seen, xp.zeros_like(seen))
        focus.append(xp.sum(chosen, axis=1) / count[:, None])
    return xp.stack(focus, axis=1)
