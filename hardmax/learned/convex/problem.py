"""A training problem as a convex program: blocks Z_j, objective, dual bound and duality gap.

    min  Σ L(f(X_i), Y_i) + β Σ_j ‖Z_j‖_*        f = Σ_j of the blocks' operators

One block for each gate (one for a linear head), times the groups of a block-diagonal head. Weak
duality holds for every V: scaled so that every ‖N_j(τV)‖ ≤ β, its value D(τV) is a lower bound on
the training problem with *any* number of heads. Floats here only steer the solvers; certificates
are exact (`certificate`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from ...errors import InputError
from .choose import operator
from .heads import Head
from .losses import LOSSES
from .operators import Operator


@dataclass(frozen=True)
class Block:
    """One matrix Z: its operator, the outputs it feeds, and its group and gate."""

    operator: Operator
    outputs: slice
    group: int
    gate: int | None


@dataclass
class Problem:
    """A head, data and a loss.

    ``tokens`` (n, s, d), ``targets`` (n, r, c) with r = s, or r = 1 where predictions are pooled;
    ``gates`` one array (number, length of u) for each group, where the head is gated;
    ``lengths`` (n,) where samples are padded with zero tokens (not for mixer and fourier).
    Raises InputError where shapes do not fit or β ≤ 0.
    """

    head: Head
    tokens: np.ndarray
    targets: np.ndarray
    beta: float
    loss: str = "squared"
    pooled: bool = True
    gates: Sequence[np.ndarray] | None = None
    lengths: np.ndarray | None = None
    blocks: list[Block] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self.tokens = np.asarray(self.tokens, dtype=float)
        self.targets = np.asarray(self.targets, dtype=float)
        if self.tokens.ndim != 3 or self.targets.ndim != 3:
            raise InputError("tokens need the shape (n, s, d) and targets (n, r, c)")
        n, s = self.tokens.shape[:2]
        rows = 1 if self.pooled else s
        if self.targets.shape[:2] != (n, rows):
            raise InputError(
                f"targets of shape {self.targets.shape} do not fit {n} samples of {rows} rows"
            )
        if not (np.isfinite(self.tokens).all() and np.isfinite(self.targets).all()):
            raise InputError("tokens and targets must be finite")
        if not 0 < self.beta < np.inf:
            raise InputError(f"beta must be positive, not {self.beta}")
        if self.loss not in LOSSES:
            raise InputError(f"unknown loss {self.loss!r}; there are {', '.join(LOSSES)}")
        if self.head.activation == "relu":
            raise InputError("ReLU heads have programs of their own (hardmax.learned.convex.relu)")
        if (self.head.activation == "gated") != (self.gates is not None):
            raise InputError("a gated head needs gates, and a linear head takes none")
        self.criterion = LOSSES[self.loss]
        self.blocks = build_blocks(
            self.head, self.tokens, self.targets.shape[2], self.pooled, self.gates, self.lengths
        )

    @property
    def shapes(self) -> list[tuple[int, int]]:
        """Shapes of the blocks Z_j."""
        return [block.operator.shape for block in self.blocks]

    def zeros(self) -> list[np.ndarray]:
        """Z_j = 0 for all j."""
        return [np.zeros(shape) for shape in self.shapes]

    def predict(self, Zs: Sequence[np.ndarray]) -> np.ndarray:
        """Predictions on the training tokens, shape (n, r, c)."""
        return combined(self.blocks, Zs, self.targets.shape)

    def adjoints(self, V: np.ndarray) -> list[np.ndarray]:
        """N_j(V) for all j."""
        return [block.operator.adjoint(V[..., block.outputs]) for block in self.blocks]

    def penalty(self, Zs: Sequence[np.ndarray]) -> float:
        """β Σ‖Z_j‖_*, or ½β Σ‖Z_j‖_F² of the linear baseline."""
        if self.head.penalty == "squared":
            return self.beta / 2 * sum(float((Z * Z).sum()) for Z in Zs)
        return self.beta * sum(float(np.linalg.svd(Z, compute_uv=False).sum()) for Z in Zs)

    def objective(self, Zs: Sequence[np.ndarray]) -> float:
        """Value of the convex program."""
        return self.criterion.value(self.predict(Zs), self.targets) + self.penalty(Zs)

    def largest_beta(self) -> float:
        """The least β for which Z = 0 is optimal: max ‖N_j(V)‖ at V = −∇L(0, Y)."""
        V = self.criterion.residual(np.zeros_like(self.targets), self.targets)
        return max(spectral_norm(N) for N in self.adjoints(V))

    def lower_bound(self, V: np.ndarray, Ns: Sequence[np.ndarray]) -> tuple[float, float]:
        """D(τV) and τ, for the best τ that is known to be feasible."""
        if self.head.penalty == "squared":
            value = self.criterion.dual(V, self.targets)
            return value - sum(float((N * N).sum()) for N in Ns) / (2 * self.beta), 1.0
        norm = max(spectral_norm(N) for N in Ns)
        tau = self.criterion.scale(V, self.targets, self.beta / norm if norm else np.inf)
        return self.criterion.dual(tau * V, self.targets), tau


def build_blocks(
    head: Head,
    tokens: np.ndarray,
    outputs: int,
    pooled: bool,
    gates: Sequence[np.ndarray] | None = None,
    lengths: np.ndarray | None = None,
) -> list[Block]:
    """The blocks of a head on given tokens (n, s, d): of a training problem, or of new data."""
    n, s, d = tokens.shape
    if lengths is not None and (head.mixing in ("mixer", "fourier") or head.moves_tokens):
        raise InputError(f"the head {head.name!r} needs sequences of equal lengths")
    X, grid = head.transformed(tokens), head.grid_for(s)
    features, width = head.group_sizes(d, outputs)
    weights = pooling_weights(n, s, lengths) if pooled else None
    found = []
    for group in range(head.groups):
        part = np.ascontiguousarray(X[..., group * features : (group + 1) * features])
        seen = slice(group * width, (group + 1) * width)
        chosen: Sequence[np.ndarray | None] = [None] if gates is None else list(gates[group])
        for place, gate in enumerate(chosen):
            made = operator(head.mixing, part, width, grid, weights, gate)
            found.append(Block(made, seen, group, None if gate is None else place))
    return found


def combined(
    blocks: Sequence[Block], Zs: Sequence[np.ndarray], shape: tuple[int, ...]
) -> np.ndarray:
    """Predictions of all blocks together, of the given shape (n, r, c)."""
    R = np.zeros(shape)
    for block, Z in zip(blocks, Zs, strict=True):
        R[..., block.outputs] += block.operator.forward(Z)
    return R


def pooling_weights(n: int, s: int, lengths: np.ndarray | None) -> np.ndarray:
    """Weights of global average pooling, (n, s): 1/length on the tokens, 0 on padding."""
    if lengths is None:
        return np.full((n, s), 1 / s)
    return (np.arange(s) < lengths[:, None]) / lengths[:, None]


def random_gates(
    head: Head, tokens: int, features: int, count: int, seed: int = 0
) -> list[np.ndarray]:
    """Gates for each group: Gaussian, rounded to multiples of 1/16 (short exact numbers).

    >>> random_gates(Head("mlp", "gated"), tokens=4, features=3, count=5)[0].shape
    (5, 3)
    """
    rng = np.random.default_rng(seed)
    length = int(np.prod(head.weight_shapes(tokens, features, head.groups)[0]))
    return [np.round(16 * rng.normal(size=(count, length))) / 16 for _ in range(head.groups)]


def spectral_norm(N: np.ndarray) -> float:
    """Largest singular value in floating point."""
    if not N.size:
        return 0.0
    gram = N @ N.T if N.shape[0] <= N.shape[1] else N.T @ N
    return float(np.sqrt(max(np.linalg.eigvalsh(gram)[-1], 0.0)))
