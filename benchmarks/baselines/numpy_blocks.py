"""B1, a frozen baseline: block by block in NumPy, vectorised over all sequences, float64.

What a careful user writes who knows the architecture and nothing of a particular model. Rank-1
attention takes O(n d) per sequence, for the maximisers of ⟨v,z_i⟩⟨v,·⟩ depend on the sign of
⟨v,z_i⟩ only; identity layers are skipped; a feed-forward layer changes only the tokens that it
moves, in the coordinates in which w is not zero; once all tokens of every sequence are equal,
one token is carried for each sequence, and its coordinates are kept in contiguous rows.

Frozen: the ratios in results/ refer to this text, so it is not tuned along with the engine.
"""

from __future__ import annotations

import numpy as np

Array = np.ndarray


def outputs(
    u: Array, b: Array, w: Array, rho: Array, alpha: Array, v: Array, tokens: Array, offsets: Array
) -> Array:
    """Outputs (N, d) of the blocks u, w, v (L, d), b, ρ, α (L,) for packed tokens (T, d)."""
    lengths = np.diff(offsets)
    Z = np.array(tokens, dtype=np.float64).T  # d x T
    single = Z.shape[1] == len(lengths)  # one token stands for each sequence
    if single:
        Z = np.ascontiguousarray(Z)
    moves, attends = w.any(axis=1).tolist(), ((rho != 1) | (alpha != 0)).tolist()
    scalars = zip(b.tolist(), rho.tolist(), alpha.tolist(), strict=True)
    for k, (bias, residual, factor) in enumerate(scalars):
        if moves[k]:
            feed_forward(Z, u[k], bias, w[k])
        if attends[k] and single:
            Z *= residual + factor
        elif attends[k]:
            Z, single = attend(Z, residual, factor, v[k], offsets, lengths)
    return Z.T if single else mean(Z, offsets, lengths).T


def feed_forward(Z: Array, u: Array, b: float, w: Array) -> None:
    """Apply z + w·max(0, ⟨u,z⟩ + b) to the columns of Z (d, T), in place."""
    value = u @ Z
    value += b
    active = np.flatnonzero(value > 0)
    if not len(active):
        return
    axes = np.flatnonzero(w).tolist()
    if 8 * len(active) > len(value):  # whole rows are cheaper than scattered entries
        np.maximum(value, 0.0, out=value)
        for i in axes:
            Z[i] += w[i] * value
    elif len(axes) == 1:
        Z[axes[0], active] += w[axes[0]] * value[active]
    else:
        Z[:, active] += w[:, None] * value[active]


def attend(
    Z: Array, rho: float, alpha: float, v: Array, offsets: Array, lengths: Array
) -> tuple[Array, bool]:
    """Apply self-attention with V = αI, A = v vᵀ, residual ρ to the columns of Z (d, T).

    Where ρ = 0 and all tokens of a sequence have the same maximisers, in every sequence, the
    answer has one column for each sequence, and says so.
    """
    if v.any():
        score = v @ Z
        highest = np.maximum.reduceat(score, offsets[:-1])
        lowest = np.minimum.reduceat(score, offsets[:-1])
        sign = np.sign(highest)
        if (sign == np.sign(lowest)).all():
            focus = towards(Z, score, sign, highest, lowest, offsets, lengths)  # d x N
        else:
            focus = np.empty_like(Z)  # d x T
            signs = np.sign(score)
            for side in (1.0, -1.0, 0.0):
                chosen = np.flatnonzero(signs == side)
                if len(chosen):
                    sides = np.full(len(lengths), side)
                    found = towards(Z, score, sides, highest, lowest, offsets, lengths)
                    focus[:, chosen] = np.repeat(found, lengths, axis=1)[:, chosen]
            return (alpha * focus if rho == 0 else rho * Z + alpha * focus), False
    else:
        focus = mean(Z, offsets, lengths)
    if rho == 0:
        return np.ascontiguousarray(alpha * focus), True
    return rho * Z + np.repeat(alpha * focus, lengths, axis=1), False


def towards(
    Z: Array,
    score: Array,
    sides: Array,
    highest: Array,
    lowest: Array,
    offsets: Array,
    lengths: Array,
) -> Array:
    """Mean of the maximisers of side·score in each sequence, (d, N); of all tokens for side 0."""
    extreme = np.where(sides > 0, highest, lowest)
    best = score == np.repeat(extreme, lengths)
    if not sides.all():
        best |= np.repeat(sides == 0, lengths)
    places = np.flatnonzero(best)
    if len(places) == len(lengths):
        return Z[:, places]
    bounds = np.searchsorted(places, offsets)  # every sequence has a maximiser
    return mean(Z[:, places], bounds, np.diff(bounds))


def mean(Z: Array, offsets: Array, lengths: Array) -> Array:
    """Mean of the columns of each sequence, (d, N)."""
    n, rows = int(lengths[0]), Z.T
    if (lengths == n).all():
        return (rows.reshape(-1, n, len(Z)).sum(axis=1) / n).T
    return (np.add.reduceat(rows, offsets[:-1], axis=0) / lengths[:, None]).T
