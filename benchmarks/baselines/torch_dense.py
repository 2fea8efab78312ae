"""B3, a frozen baseline: dense attention in PyTorch, float64 on the CPU.

What a transformer library does: sequences are padded to the longest one, a mask hides the
padding, every layer of every block is computed, and attention forms all scores Z A Zᵀ, n × n for
each sequence, with A = v vᵀ as a matrix. The softmax is replaced by the hard maximum, ties
averaged. Nothing is known of the rank of A, of layers that do nothing, or of sequences whose
tokens have become equal. Sequences go through the model in batches, which bounds the memory.

``skip_identity`` leaves out attention with ρ = 1, α = 0: the benefit of the doubt, and reported
beside it.

Frozen: the ratios in results/ refer to this text, so it is not tuned along with the engine.
"""

from __future__ import annotations

import numpy as np
import torch

Array = np.ndarray
Tensor = torch.Tensor

BATCH_BYTES = 2**21  # scores or padded tokens of one batch, the larger; more leaves the cache


def outputs(
    u: Array,
    b: Array,
    w: Array,
    rho: Array,
    alpha: Array,
    v: Array,
    tokens: Array,
    offsets: Array,
    *,
    skip_identity: bool = False,
) -> Array:
    """Outputs (N, d) of the blocks u, w, v (L, d), b, ρ, α (L,) for packed tokens (T, d)."""
    lengths = np.diff(offsets)
    count, d, longest = len(lengths), tokens.shape[1], int(lengths.max())
    batch = max(1, BATCH_BYTES // (8 * longest * max(longest, d)))
    padded = np.zeros((count, longest, d))
    mask = np.arange(longest) < lengths[:, None]  # N x n
    padded[mask] = tokens
    parameters = [torch.from_numpy(x) for x in (u, b, w, rho, alpha, v)]
    with torch.no_grad():
        parts = [
            run(
                *parameters,
                Z=torch.from_numpy(padded[i : i + batch]),
                mask=torch.from_numpy(mask[i : i + batch]),
                skip_identity=skip_identity,
            )
            for i in range(0, count, batch)
        ]
        return torch.cat(parts).numpy()


def run(
    u: Tensor,
    b: Tensor,
    w: Tensor,
    rho: Tensor,
    alpha: Tensor,
    v: Tensor,
    *,
    Z: Tensor,
    mask: Tensor,
    skip_identity: bool,
) -> Tensor:
    """Outputs of one batch: Z has shape (N, n, d), mask (N, n)."""
    hidden = ~mask[:, None, :]  # N x 1 x n, the padding
    for k in range(len(u)):
        Z = Z + torch.relu(Z @ u[k] + b[k])[..., None] * w[k]
        if not (skip_identity and rho[k] == 1 and alpha[k] == 0):
            A = torch.outer(v[k], v[k])
            scores = (Z @ A @ Z.transpose(1, 2)).masked_fill_(hidden, -torch.inf)  # N x n x n
            best = (scores == scores.amax(dim=2, keepdim=True)).to(Z.dtype)
            focus = best @ Z / best.sum(dim=2, keepdim=True)
            Z = rho[k] * Z + alpha[k] * focus
    total = torch.where(mask[..., None], Z, 0.0).sum(dim=1)
    return total / mask.sum(dim=1, keepdim=True)
