"""From the convex solution to the weights of the network, and back; how many heads are needed.

Both maps keep the objective, (12) = (13). They are not one to one, against the paper: heads
may be rotated among each other, and the convex solution need not be unique.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isqrt

import numpy as np

from .burer_monteiro import Factors, balanced
from .heads import Head, shifts
from .problem import Problem


@dataclass(frozen=True)
class NetworkHead:
    """One head: W1, W2 in the paper's shapes, its group and its gate (None where linear)."""

    W1: np.ndarray
    W2: np.ndarray
    group: int
    gate: int | None


def network_heads(problem: Problem, factors: Factors) -> list[NetworkHead]:
    """The heads of factors U, V: W1 = vec⁻¹(u), chunks as columns, and W2 row-major from v."""
    s, d = problem.tokens.shape[1:]
    first, second = problem.head.weight_shapes(s, d, problem.targets.shape[2])
    return [
        NetworkHead(u.reshape(first, order="F"), v.reshape(second), block.group, block.gate)
        if problem.head.mixing in ("attention", "mixer")
        else NetworkHead(u, v, block.group, block.gate)
        for block, (U, V) in zip(problem.blocks, factors, strict=True)
        for u, v in zip(U.T, V.T, strict=True)
    ]


def recover(problem: Problem, Zs: Sequence[np.ndarray]) -> list[NetworkHead]:
    """Optimal heads of a convex solution: √σ times singular vectors, one head for each σ > 0."""
    return network_heads(problem, balanced(Zs))


def matrices(problem: Problem, heads: Sequence[NetworkHead]) -> list[np.ndarray]:
    """The convex variables Z_j = Σ vec(W1) vec(W2ᵀ)ᵀ of heads."""
    places = {(block.group, block.gate): j for j, block in enumerate(problem.blocks)}
    Zs = problem.zeros()
    for head in heads:
        Zs[places[head.group, head.gate]] += np.outer(head.W1.ravel(order="F"), head.W2.ravel())
    return Zs


def network(
    head: Head,
    X: np.ndarray,
    weights: Sequence[NetworkHead],
    outputs: int,
    gates: Sequence[np.ndarray] | None = None,
) -> np.ndarray:
    """Forward pass of one sample (s, d) by the paper's formulas, one head after another; (s, c).

    (11), (17), (23) and (28); with gates (Appendix C); with ReLU for the activation ``relu``.
    """
    s = len(X)
    X = head.transformed(X[None])[0]
    grid = head.grid_for(s)
    features, width = head.group_sizes(X.shape[1], outputs)
    found = np.zeros((s, outputs))
    for one in weights:
        part = X[:, one.group * features : (one.group + 1) * features]
        gate = None if gates is None or one.gate is None else gates[one.group][one.gate]
        seen = slice(one.group * width, (one.group + 1) * width)
        W2 = one.W2
        if head.mixing == "attention":
            hidden = _activate(head, part @ one.W1 @ part.T, _attention_scores(part, gate)) @ part
        elif head.mixing == "mixer":
            H = None if gate is None else gate.reshape((s, s), order="F") @ part
            hidden = _activate(head, one.W1 @ part, H)
        else:
            wide = part if head.mixing == "tokens" else part[shifts(grid)].reshape(s, -1)
            hidden = _activate(head, wide @ one.W1, None if gate is None else wide @ gate)[:, None]
            W2 = W2[None]
        found[:, seen] += hidden @ W2
    return found


def _attention_scores(X: np.ndarray, gate: np.ndarray | None) -> np.ndarray | None:
    d = X.shape[1]
    return None if gate is None else X @ gate.reshape((d, d), order="F") @ X.T


def _activate(head: Head, scores: np.ndarray, gate_scores: np.ndarray | None) -> np.ndarray:
    if head.activation == "relu":
        return np.maximum(scores, 0)
    return scores if gate_scores is None else scores * (gate_scores >= 0)


def network_objective(problem: Problem, weights: Sequence[NetworkHead]) -> float:
    """The non-convex objective (12) of heads, by the network's own forward pass."""
    c, rows = problem.targets.shape[2], []
    for i, X in enumerate(problem.tokens):
        length = len(X) if problem.lengths is None else int(problem.lengths[i])
        out = network(problem.head, X, weights, c, problem.gates)
        rows.append(out[:length].mean(0, keepdims=True) if problem.pooled else out)
    size = sum(float((w.W1**2).sum() + (w.W2**2).sum()) for w in weights)
    return problem.criterion.value(np.stack(rows), problem.targets) + problem.beta / 2 * size


def width_bound(problem: Problem) -> int:
    """Number of heads that suffices for a block, provably.

    min(a, b·c, ⌊(√(8N+1) − 1)/2⌋) with N the number of predictions: some optimal Z has this rank
    (Barvinok and Pataki). For a ReLU head it would be N (Carathéodory), not the paper's
    n·min{·,·}, which is false.

    >>> from hardmax.learned.convex import Head, Problem
    >>> width_bound(Problem(Head("self-attention"), np.ones((4, 3, 3)), np.ones((4, 1, 1)), 1.0))
    2
    """
    count = problem.targets.size
    pataki = (isqrt(8 * count + 1) - 1) // 2
    return min(*(min(shape) for shape in problem.shapes), max(pataki, 1))
