"""The definition block by block in float64, vectorised over ragged batches.

Tokens of all sequences lie one after another in an array (T, d); segments are reduced without
a loop over tokens or sequences. Rank-1 attention costs O(n d) per sequence.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from ..errors import InputError
from ..model.layers import Block
from ..model.parameters import Parameters
from ..model.transformer import Transformer

Array = np.ndarray


def outputs(
    model: Transformer,
    sequences: Iterable[Any],
    on_block: Callable[[list[Array]], None] | None = None,
) -> Array:
    """Outputs (R ∘ T)(Z) in float64, shape (N, d), for sequences of shape (n_j, d).

    ``on_block`` is called with the tokens of every sequence before the first and after each
    block. Raises InputError where a sequence is empty or has tokens of another dimension.

    >>> from hardmax.model.layers import RankOneBlock
    >>> outputs(Transformer([RankOneBlock.translation((1, 0))]), [[(0, 0), (0, 2)]])
    array([[1., 1.]])
    """
    arrays = [_checked(j, sequence, model.dimension) for j, sequence in enumerate(sequences)]
    if not arrays:
        return np.zeros((0, model.dimension))
    # past the range of float64 the outputs hold inf and nan, without a warning
    with np.errstate(over="ignore", invalid="ignore"):
        return _outputs(model, arrays, on_block)


def _outputs(
    model: Transformer, arrays: list[Array], on_block: Callable[[list[Array]], None] | None
) -> Array:
    if model.parameters is None:
        return _general_outputs(model.blocks, arrays, on_block)  # type: ignore[arg-type]
    lengths = np.array([len(Z) for Z in arrays])
    batch = Ragged(np.concatenate(arrays), lengths)
    if on_block is not None:
        on_block(batch.split(lengths))
    for k in range(len(model)):
        batch.block(model.parameters, k)
        if on_block is not None:
            on_block(batch.split(lengths))
    return batch.means()


def _checked(j: int, sequence: Any, dimension: int) -> Array:
    try:
        tokens = np.asarray(sequence, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"sequence {j + 1} is not an array of numbers") from None
    if tokens.ndim != 2 or not len(tokens) or tokens.shape[1] != dimension:
        raise InputError(
            f"sequence {j + 1} has shape {tokens.shape}, expected (n, {dimension}) with n ≥ 1"
        )
    return tokens


class Ragged:
    """Sequences of float tokens, one after another; collapsed ones as a single token (C5)."""

    def __init__(self, tokens: Array, lengths: Array) -> None:
        self.tokens = np.array(tokens)  # T x d, changed in place
        self._set_lengths(lengths)

    def _set_lengths(self, lengths: Array) -> None:
        self.lengths = lengths
        self.starts = np.cumsum(lengths) - lengths
        self.owner = np.repeat(np.arange(len(lengths)), lengths)

    def block(self, p: Parameters, k: int) -> None:
        """Apply block k."""
        w = p.w.values[k]
        if w.any():
            value = self.tokens @ p.u.values[k] + p.b.values[k]
            active = value > 0
            self.tokens[active] += value[active, None] * w
        rho, alpha = p.rho.values[k], p.alpha.values[k]
        if rho != 1 or alpha != 0:
            self._attend(rho, alpha, p.v.values[k])

    def means(self) -> Array:
        """Readout of every sequence, (N, d)."""
        means: Array = np.add.reduceat(self.tokens, self.starts) / self.lengths[:, None]
        return means

    def split(self, lengths: Array) -> list[Array]:
        """Tokens of every sequence, collapsed ones repeated to their length."""
        parts = np.split(self.tokens, self.starts[1:])
        return [
            np.repeat(part, n, axis=0) if len(part) < n else part.copy()
            for part, n in zip(parts, lengths.tolist(), strict=True)
        ]

    def _attend(self, rho: float, alpha: float, v: Array) -> None:
        if v.any():
            focus, alike = self._leaders(v)
        else:
            focus, alike = self.means()[self.owner], np.ones(len(self.lengths), dtype=bool)
        if rho == 0:
            self.tokens = alpha * focus
            if alike.any():
                keep = ~alike[self.owner]
                keep[self.starts] = True
                self.tokens = self.tokens[keep]
                self._set_lengths(np.where(alike, 1, self.lengths))
        else:
            self.tokens = rho * self.tokens + alpha * focus

    def _leaders(self, v: Array) -> tuple[Array, Array]:
        """For each token the mean of its maximisers; for each sequence, whether all agree."""
        score = self.tokens @ v
        sign = np.sign(score)
        focus = np.empty_like(self.tokens)
        for side in (1.0, 0.0, -1.0):
            chosen = sign == side
            if not chosen.any():
                continue
            signed = side * score
            top = np.maximum.reduceat(signed, self.starts)[self.owner]
            best = signed == top
            count = np.add.reduceat(best, self.starts, dtype=np.int64)
            total = np.add.reduceat(np.where(best[:, None], self.tokens, 0.0), self.starts)
            focus[chosen] = (total / count[:, None])[self.owner[chosen]]
        alike = np.maximum.reduceat(sign, self.starts) == np.minimum.reduceat(sign, self.starts)
        return focus, alike


def _general_outputs(
    blocks: Sequence[Block],
    states: list[Array],
    on_block: Callable[[list[Array]], None] | None,
) -> Array:
    """Outputs of general layers, sequence by sequence."""
    if on_block is not None:
        on_block(states)
    for block in blocks:
        states = [_general(block, Z) for Z in states]
        if on_block is not None:
            on_block(states)
    return np.array([Z.mean(axis=0) for Z in states])


def _general(block: Block, tokens: Array) -> Array:
    layer, attention = block.feed_forward, block.attention
    U, W, V, A = (_float(m) for m in (layer.U, layer.W, attention.V, attention.A))
    hidden = tokens @ U.T + np.array([float(x) for x in layer.b])
    tokens = tokens + np.maximum(hidden, 0.0) @ W.T
    scores = tokens @ A.T @ tokens.T
    best = (scores == scores.max(axis=1, keepdims=True)).astype(float)
    weights = best / best.sum(axis=1, keepdims=True)
    return np.asarray(float(attention.rho) * tokens + weights @ tokens @ V.T)


def _float(matrix: Any) -> Array:
    return np.array([[float(x) for x in row] for row in matrix.rows()]).reshape(matrix.shape)
