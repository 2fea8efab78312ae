"""B2, a frozen baseline: B1 in PyTorch, block by block, float64 on the CPU.

The same layers as in `numpy_blocks`, in PyTorch's idioms: tokens are rows of a tensor (T, d),
sequences are summed with index_add, extremes found with scatter_reduce, no gradients. Identity
layers are skipped, a feed-forward layer changes only the tokens that it moves, in the
coordinates in which w is not zero, and once all tokens of every sequence are equal, one token
is carried for each sequence.

Frozen: the ratios in results/ refer to this text, so it is not tuned along with the engine.
"""

from __future__ import annotations

import numpy as np
import torch

Array = np.ndarray
Tensor = torch.Tensor


def outputs(
    u: Array, b: Array, w: Array, rho: Array, alpha: Array, v: Array, tokens: Array, offsets: Array
) -> Array:
    """Outputs (N, d) of the blocks u, w, v (L, d), b, ρ, α (L,) for packed tokens (T, d)."""
    with torch.no_grad():
        U, W, V = (torch.from_numpy(x) for x in (u, w, v))
        Z = torch.from_numpy(tokens).clone()  # T x d
        lengths = torch.from_numpy(np.diff(offsets))
        count = len(lengths)
        owner = torch.repeat_interleave(torch.arange(count), lengths)  # T
        single = len(Z) == count  # one token stands for each sequence
        moves, attends = w.any(axis=1).tolist(), ((rho != 1) | (alpha != 0)).tolist()
        scalars = zip(b.tolist(), rho.tolist(), alpha.tolist(), strict=True)
        for k, (bias, residual, factor) in enumerate(scalars):
            if moves[k]:
                feed_forward(Z, U[k], bias, W[k], np.flatnonzero(w[k]).tolist())
            if attends[k] and single:
                Z *= residual + factor
            elif attends[k]:
                Z, single = attend(Z, residual, factor, V[k], owner, lengths)
        return (Z if single else mean(Z, owner, lengths)).numpy()


def feed_forward(Z: Tensor, u: Tensor, b: float, w: Tensor, axes: list[int]) -> None:
    """Apply z + w·max(0, ⟨u,z⟩ + b) to the rows of Z (T, d), in place; w lives on the axes."""
    value = torch.mv(Z, u)
    value += b
    active = torch.nonzero(value > 0).squeeze(1)
    if not len(active):
        return
    whole = 8 * len(active) > len(value)  # then everything is cheaper than scattered entries
    if whole and len(axes) == 1:
        Z[:, axes[0]] += value.relu_() * w[axes[0]]
    elif whole:
        Z.addr_(value.relu_(), w)
    elif len(axes) == 1:
        Z[:, axes[0]].index_add_(0, active, value[active] * w[axes[0]])
    else:
        Z.index_add_(0, active, torch.outer(value[active], w))


def attend(
    Z: Tensor, rho: float, alpha: float, v: Tensor, owner: Tensor, lengths: Tensor
) -> tuple[Tensor, bool]:
    """Apply self-attention with V = αI, A = v vᵀ, residual ρ to the rows of Z (T, d).

    Where ρ = 0 and all tokens of a sequence have the same maximisers, in every sequence, the
    answer has one row for each sequence, and says so.
    """
    if v.any():
        score = torch.mv(Z, v)
        base = score.new_empty(len(lengths))
        highest = base.scatter_reduce(0, owner, score, "amax", include_self=False)
        lowest = base.scatter_reduce(0, owner, score, "amin", include_self=False)
        side = torch.sign(highest)
        if bool((side == torch.sign(lowest)).all()):
            focus = towards(Z, score, side, highest, lowest, owner)  # N x d
        else:
            rows = torch.empty_like(Z)
            signs = torch.sign(score)
            for sign in (1.0, -1.0, 0.0):
                chosen = torch.nonzero(signs == sign).squeeze(1)
                if len(chosen):
                    side = torch.full_like(highest, sign)
                    found = towards(Z, score, side, highest, lowest, owner)
                    rows[chosen] = found[owner[chosen]]
            return (alpha * rows if rho == 0 else rho * Z + alpha * rows), False
    else:
        focus = mean(Z, owner, lengths)
    if rho == 0:
        return alpha * focus, True
    return rho * Z + (alpha * focus)[owner], False


def towards(
    Z: Tensor, score: Tensor, side: Tensor, highest: Tensor, lowest: Tensor, owner: Tensor
) -> Tensor:
    """Mean of the maximisers of side·score in each sequence, (N, d); of all tokens for side 0."""
    extreme = torch.where(side > 0, highest, lowest)
    best = (score == extreme[owner]) | (side == 0)[owner]
    places = torch.nonzero(best).squeeze(1)
    if len(places) == len(side):
        return Z[places]
    owners = owner[places]
    return mean(Z[places], owners, torch.bincount(owners, minlength=len(side)))


def mean(Z: Tensor, owner: Tensor, lengths: Tensor) -> Tensor:
    """Mean of the rows of each sequence, (N, d)."""
    total = Z.new_zeros(len(lengths), Z.shape[1]).index_add_(0, owner, Z)
    return total / lengths[:, None]
