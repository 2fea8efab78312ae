"""Corollary 3.2: self-attention on uncorrelated groups of features, with a block-nuclear penalty.

If every Gram matrix X_iᵀX_i is block diagonal with the same groups of features, (13) becomes (14):
one Z^(b) for each group, with penalty β Σ_b ‖Z^(b)‖_*. The values agree. The blocks between groups
may be set to zero, but against the paper they need not vanish in every minimiser. Heads of
different groups can share one head of the network, so max_b rank Z^(b) heads suffice.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy

import numpy as np

from ...errors import InputError
from .burer_monteiro import Factors, balanced
from .operators import Operator
from .problem import Block, Problem


class Restricted:
    """An operator on the rows and columns of Z that belong to one group."""

    def __init__(self, inner: Operator, rows: np.ndarray, columns: np.ndarray) -> None:
        self.inner, self.place = inner, np.ix_(rows, columns)
        self.shape = (len(rows), len(columns))

    def forward(self, Z: np.ndarray) -> np.ndarray:
        """Predictions of Z, zero elsewhere."""
        wide = np.zeros(self.inner.shape)
        wide[self.place] = Z
        return self.inner.forward(wide)

    def adjoint(self, V: np.ndarray) -> np.ndarray:
        """The part of N that belongs to the group."""
        return self.inner.adjoint(V)[self.place]


def uncorrelated_groups(X: np.ndarray) -> list[np.ndarray]:
    """The finest groups of features that no Gram matrix X_iᵀX_i joins, for tokens (n, s, d).

    Features are joined where the products of their entries do not all vanish; that is decided
    without rounding, and is all that matters unless sums of products cancel.

    >>> X = np.array([[[1.0, 2.0, 0.0], [0.0, 0.0, 5.0]]])
    >>> [group.tolist() for group in uncorrelated_groups(X)]
    [[0, 1], [2]]
    """
    from scipy.sparse.csgraph import connected_components

    nonzero = (X != 0).reshape(-1, X.shape[2]).astype(float)
    count, labels = connected_components(nonzero.T @ nonzero, directed=False)
    return [np.flatnonzero(labels == b) for b in range(count)]


def split_problem(problem: Problem) -> tuple[Problem, list[tuple[np.ndarray, np.ndarray]]]:
    """The program (14) of a linear self-attention problem, and rows and columns of each block.

    Raises InputError for other heads.
    """
    if problem.head.mixing != "attention" or problem.head.activation != "linear":
        raise InputError("uncorrelated features split linear self-attention only")
    d, c = problem.tokens.shape[2], problem.targets.shape[2]
    whole = problem.blocks[0]
    places = [
        ((group[:, None] * d + np.arange(d)).ravel(), (group[:, None] * c + np.arange(c)).ravel())
        for group in uncorrelated_groups(problem.tokens)
    ]
    split = copy(problem)
    split.blocks = [
        Block(Restricted(whole.operator, *place), whole.outputs, 0, None) for place in places
    ]
    return split, places


def shared_heads(
    problem: Problem, Zs: Sequence[np.ndarray], places: Sequence[tuple[np.ndarray, np.ndarray]]
) -> Factors:
    """Heads of the whole problem from the blocks of (14): the j-th of every block in one head."""
    a, b = problem.shapes[0]
    pairs = balanced(Zs)
    count = max(U.shape[1] for U, _ in pairs)
    left, right = np.zeros((a, count)), np.zeros((b, count))
    for (U, V), (rows, columns) in zip(pairs, places, strict=True):
        left[rows, : U.shape[1]] = U
        right[columns, : V.shape[1]] = V
    return [(left, right)]
