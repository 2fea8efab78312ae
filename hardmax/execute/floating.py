"""The definition block by block in float64, vectorised over ragged batches.

Sequences of one length lie together in one array (count, n, d), so that no token is padding and
every step is one operation of the array-API standard on it: one implementation for NumPy, CuPy,
PyTorch and JAX. Rank-1 attention costs O(n d) per sequence. Collapsed sequences are carried as one
token (theory C5), all lengths together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from ..dataset.arrays import refuse_masked
from ..errors import InputError
from ..model.blocks import whole
from ..model.layers import Block
from ..model.transformer import Transformer
from .backends import backend_of, namespace, to_numpy
from .masked import masked_focus

_AT_ONCE = 1000  # sequences that are looked at together

Array = Any  # of whichever backend
OnBlock = Callable[[list[np.ndarray]], None]


def outputs(
    model: Transformer,
    sequences: Iterable[Any],
    on_block: OnBlock | None = None,
    *,
    backend: str | None = None,
) -> Array:
    """Outputs (R ∘ T)(Z) in float64, shape (N, d), for sequences of shape (n_j, d).

    Runs in ``backend``, by default the one whose arrays the sequences are, on their device.
    ``on_block`` is called with the tokens of every sequence before the first and after each
    block. Raises InputError where a sequence is empty, has tokens of another dimension, or, in
    NumPy, holds NaN or an infinity.

    >>> from hardmax.model.layers import RankOneBlock
    >>> outputs(Transformer([RankOneBlock.translation((1, 0))]), [[(0, 0), (0, 2)]])
    array([[1., 1.]])
    """
    given = list(sequences)
    xp = namespace(backend or backend_of(given))
    arrays = [_checked(xp, j, sequence, model.dimension) for j, sequence in enumerate(given)]
    if not arrays:
        return xp.zeros((0, model.dimension), dtype=xp.float64)
    if xp is np:
        _need_finite(arrays)
    # past the range of float64 the outputs hold inf and nan, without a warning
    with np.errstate(over="ignore", invalid="ignore"):
        if model.parameters is None:
            return xp.asarray(_general_outputs(model, arrays, on_block))
        return _run(xp, model, arrays, on_block)


def _run(xp: Any, model: Transformer, arrays: list[Array], on_block: OnBlock | None) -> Array:
    batch = Ragged(xp, arrays, model.masked)
    p = model.parameters
    if p is None:
        raise TypeError("rank-1 blocks expected")
    alphas = p.alpha.values.reshape(len(p), p.heads)
    directions = p.v.values.reshape(len(p), p.heads, p.dimension)
    if on_block is not None:
        on_block(batch.split())
    for k in range(len(model)):
        batch.feed_forward(p.u.values[k], float(p.b.values[k]), p.w.values[k])
        batch.attend(float(p.rho.values[k]), alphas[k].tolist(), directions[k])
        if on_block is not None:
            on_block(batch.split())
    return batch.readout()


def _checked(xp: Any, j: int, sequence: Any, dimension: int) -> Array:
    try:
        if xp is np or not hasattr(sequence, "shape"):
            if isinstance(sequence, np.ma.MaskedArray):
                refuse_masked(sequence, f"sequence {j + 1}: ")
            sequence = np.asarray(to_numpy(sequence))
            if sequence.dtype != np.float64:
                if sequence.dtype.kind not in "iufO":
                    raise TypeError
                sequence = sequence.astype(np.float64)
        tokens = xp.asarray(_own(sequence) if xp is not np else sequence, dtype=xp.float64)
    except (TypeError, ValueError) as problem:
        if isinstance(problem, InputError):
            raise
        raise InputError(f"sequence {j + 1} is not an array of numbers") from None
    if tokens.ndim != 2 or not tokens.shape[0] or tokens.shape[1] != dimension:
        raise InputError(
            f"sequence {j + 1} has shape {tuple(tokens.shape)}, expected (n, {dimension}) "
            f"with n ≥ 1"
        )
    return tokens


def _need_finite(arrays: Sequence[np.ndarray]) -> None:
    """Raise InputError where a token is NaN or infinite: attention would pass such tokens over."""
    for start in range(0, len(arrays), _AT_ONCE):
        part = arrays[start : start + _AT_ONCE]
        if np.isfinite(np.concatenate(part)).all():
            continue
        j, i = next(
            (j, int(np.argmin(finite)))
            for j, tokens in enumerate(part, start + 1)
            if not (finite := np.isfinite(tokens).all(axis=1)).all()
        )
        raise InputError(f"sequence {j}, token {i + 1} holds NaN or an infinity")


def _own(values: Any) -> Any:
    """A copy of a frozen NumPy array: other libraries take writable memory only."""
    frozen = isinstance(values, np.ndarray) and not values.flags.writeable
    return values.copy() if frozen else values


class _Bucket:
    """Sequences carried with the same number n of tokens: an array (count·n, d)."""

    def __init__(self, members: list[int], tokens: Array, n: int) -> None:
        self.members = members
        self.tokens = tokens
        self.n = n


class Ragged:
    """The state of all sequences, in buckets of equal length."""

    def __init__(self, xp: Any, arrays: list[Array], masked: bool = False) -> None:
        self.xp = xp
        self.masked = masked
        self.lengths = [int(Z.shape[0]) for Z in arrays]
        self.device = getattr(arrays[0], "device", None)
        by_length: dict[int, list[int]] = {}
        for j, n in enumerate(self.lengths):
            by_length.setdefault(n, []).append(j)
        self.buckets = [
            _Bucket(members, xp.concat([arrays[j] for j in members]), n)
            for n, members in sorted(by_length.items())
        ]

    def _vector(self, values: np.ndarray) -> Array:
        if self.xp is np:
            return values
        return self.xp.asarray(_own(values), dtype=self.xp.float64, device=self.device)

    def feed_forward(self, u: np.ndarray, b: float, w: np.ndarray) -> None:
        """Apply x + w·max(0, ⟨u,x⟩ + b) to every token."""
        if not w.any():
            return
        direction, step = self._vector(u), self._vector(w)
        for bucket in self.buckets:
            value = bucket.tokens @ direction + b
            if self.xp is np:  # most tokens rest: touch only those that move
                active = value > 0
                bucket.tokens[active] += value[active, None] * step
            else:
                positive = self.xp.where(value > 0, value, self.xp.zeros_like(value))
                bucket.tokens = bucket.tokens + positive[:, None] * step

    def attend(self, rho: float, alphas: Sequence[float], directions: np.ndarray) -> None:
        """Apply self-attention with heads V^h = α_h I, A^h = v_h v_hᵀ (4.1), residual ρ."""
        heads = [(a, v) for a, v in zip(alphas, directions, strict=True) if a]
        if rho == 1 and not heads:
            return
        heads = heads or [(alphas[0], directions[0])]
        towards = [(alpha, self._vector(v) if v.any() else None) for alpha, v in heads]
        for bucket in self.buckets:
            found = [(alpha, *self._focus(bucket, v)) for alpha, v in towards]
            if rho == 0 and all(alike for _, _, alike in found):
                bucket.tokens = _total([alpha * focus[:, 0, :] for alpha, focus, _ in found])
                bucket.n = 1
            else:
                shape = bucket.tokens.shape
                total = _total([a * self.xp.reshape(focus, shape) for a, focus, _ in found])
                bucket.tokens = total if rho == 0 else rho * bucket.tokens + total
        self._merge_collapsed()

    def _focus(self, bucket: _Bucket, v: Array | None) -> tuple[Array, bool]:
        """For each token the mean of its maximisers, (count, n, d); whether they are the
        same for all tokens of each sequence."""
        xp = self.xp
        X = xp.reshape(bucket.tokens, (-1, bucket.n, bucket.tokens.shape[1]))
        if self.masked:
            score = None if v is None else xp.reshape(bucket.tokens @ v, X.shape[:2])
            return masked_focus(xp, X, score), bucket.n == 1
        if v is None:
            mean = xp.mean(X, axis=1, keepdims=True)
            return xp.broadcast_to(mean, X.shape), True
        score = xp.reshape(bucket.tokens @ v, X.shape[:2])
        sign = xp.sign(score)
        focus = xp.zeros_like(X)
        for side in (1.0, 0.0, -1.0):
            signed = side * score
            best = signed == xp.max(signed, axis=1, keepdims=True)
            count = xp.sum(xp.astype(best, X.dtype), axis=1, keepdims=True)
            total = xp.sum(xp.where(best[:, :, None], X, xp.zeros_like(X)), axis=1, keepdims=True)
            # one division at the end: means of integers stay exact, and equal means equal
            focus = xp.where((sign == side)[:, :, None], total / count[:, :, None], focus)
        alike = xp.all(xp.max(sign, axis=1) == xp.min(sign, axis=1))
        return focus, bool(alike)

    def _merge_collapsed(self) -> None:
        single = [bucket for bucket in self.buckets if bucket.n == 1]
        if len(single) > 1:
            members = [j for bucket in single for j in bucket.members]
            tokens = self.xp.concat([bucket.tokens for bucket in single])
            rest = [bucket for bucket in self.buckets if bucket.n > 1]
            self.buckets = [_Bucket(members, tokens, 1), *rest]

    def readout(self) -> Array:
        """Mean of the tokens of every sequence, (N, d)."""
        xp = self.xp
        means = [
            xp.mean(xp.reshape(b.tokens, (-1, b.n, b.tokens.shape[1])), axis=1)
            for b in self.buckets
        ]
        order = np.argsort(np.array([j for b in self.buckets for j in b.members]))
        if xp is np:
            return np.concatenate(means)[order]
        return xp.take(xp.concat(means), xp.asarray(order, device=self.device), axis=0)

    def split(self) -> list[np.ndarray]:
        """Tokens of every sequence, collapsed ones repeated to their length."""
        states: list[np.ndarray] = [np.empty((0, 0))] * len(self.lengths)
        for bucket in self.buckets:
            parts = to_numpy(bucket.tokens).reshape(len(bucket.members), bucket.n, -1)
            for j, part in zip(bucket.members, parts, strict=True):
                states[j] = np.repeat(part, self.lengths[j] // bucket.n, axis=0)
        return states


def _total(parts: list[Array]) -> Array:
    """The sum of arrays, from the first to the last."""
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    return total


def _general_outputs(
    model: Transformer, arrays: list[Array], on_block: OnBlock | None
) -> np.ndarray:
    """Outputs of general layers, sequence by sequence, in NumPy."""
    states = [to_numpy(Z) for Z in arrays]
    if on_block is not None:
        on_block(states)
    for block in model.blocks:
        states = [_general(whole(block), Z, model.masked) for Z in states]
        if on_block is not None:
            on_block(states)
    return np.array([Z.mean(axis=0) for Z in states])


def _general(block: Block, tokens: np.ndarray, masked: bool) -> np.ndarray:
    layer, attention = block.feed_forward, block.attention
    U, W = _float(layer.U), _float(layer.W)
    hidden = tokens @ U.T + np.array([float(x) for x in layer.b])
    tokens = tokens + np.maximum(hidden, 0.0) @ W.T
    total = float(attention.rho) * tokens
    for head in attention.heads:
        scores = tokens @ _float(head.A).T @ tokens.T
        if masked:
            scores = np.where(np.tri(len(tokens), dtype=bool), scores, -np.inf)
        best = (scores == scores.max(axis=1, keepdims=True)).astype(float)
        means = best @ tokens / best.sum(axis=1, keepdims=True)
        total = total + means @ _float(head.V).T
    return np.asarray(total)


def _float(matrix: Any) -> np.ndarray:
    return np.array([[float(x) for x in row] for row in matrix.rows()]).reshape(matrix.shape)
