"""The heads of the paper: how tokens are mixed, the activation, and the layout of the weights.

All have the form f(X) = Σ_j g(X; W1j) W2j (Sahiner et al., 2022), and all are sums of one atom.
Row o of the head (u, v), for output p, is

    f(X)[o, p] = Σ_τ σ(⟨q_oτ, u⟩) · Σ_l r_τ[l] v[l, p],

with queries q_oτ and values r_τ that the mixing sets:

| mixing    | equation | u is            | τ       | q_oτ            | r_τ |
|-----------|----------|-----------------|---------|-----------------|-----|
| attention | (12)     | W1[a, k], d × d | token t | X[o, a] X[t, k] | X[t] |
| mixer     | (17)     | W1[o, t], s × s | feature k | X[t, k] in row o | e_k |
| fourier   | (23)     | w1[t, k], s × d | one     | X[o − t, k]     | 1 |
| tokens    | (2)      | w1[k], d        | one     | X[o, k]         | 1 |

u is stored as vec(W1), column-major, and v row-major, so that a linear head predicts linearly in
the matrix Z = Σ_j u_j v_jᵀ. (The paper prints vec(W2j), which fails; vec(W2jᵀ) is meant.)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ...errors import InputError

MIXINGS = ("attention", "mixer", "fourier", "tokens")
ACTIVATIONS = ("linear", "gated", "relu")


class Kind(NamedTuple):
    """What a name of a head stands for."""

    mixing: str
    transform: str | None = None  # what happens to the tokens before
    penalty: str = "nuclear"
    grouped: bool = False


KINDS = {
    "self-attention": Kind("attention"),
    "mixer": Kind("mixer"),
    "fno": Kind("fourier"),
    "b-fno": Kind("fourier", grouped=True),
    "poolformer": Kind("tokens", "pool"),
    "fnet": Kind("tokens", "fourier"),
    "mlp": Kind("tokens"),
    "linear": Kind("tokens", penalty="squared"),
}


@dataclass(frozen=True)
class Head:
    """One head: its name, its activation, the grid of its tokens, and groups of features.

    ``grid`` (h, w) with h·w = s places the tokens in two dimensions, where shifts or pooling
    need it; None is (s, 1). ``groups`` is B of the block-diagonal Fourier operator.

    >>> Head("self-attention").weight_shapes(tokens=4, features=3, outputs=2)
    ((3, 3), (3, 2))
    """

    name: str
    activation: str = "linear"
    grid: tuple[int, int] | None = None
    groups: int = 1

    def __post_init__(self) -> None:
        if self.name not in KINDS:
            raise InputError(f"unknown head {self.name!r}; there are {', '.join(KINDS)}")
        if self.activation not in ACTIVATIONS:
            raise InputError(
                f"unknown activation {self.activation!r}; there are {', '.join(ACTIVATIONS)}"
            )
        if self.name == "linear" and self.activation != "linear":
            raise InputError("the head 'linear' has no activation; take 'mlp'")
        if self.groups < 1 or (self.groups > 1 and not KINDS[self.name].grouped):
            raise InputError("only the head 'b-fno' takes groups, one or more")

    @property
    def mixing(self) -> str:
        """One of `MIXINGS`."""
        return KINDS[self.name].mixing

    @property
    def penalty(self) -> str:
        """``nuclear``, β‖Z‖_*; or ``squared``, ½β‖Z‖_F² (the linear baseline)."""
        return KINDS[self.name].penalty

    @property
    def moves_tokens(self) -> bool:
        """Whether the tokens are transformed together before the head (PoolFormer, FNet)."""
        return KINDS[self.name].transform is not None

    def grid_for(self, tokens: int) -> tuple[int, int]:
        """The grid for so many tokens; raises InputError where it does not hold them."""
        grid = self.grid or (tokens, 1)
        if grid[0] * grid[1] != tokens:
            raise InputError(f"a grid of {grid[0]} × {grid[1]} does not hold {tokens} tokens")
        return grid

    def weight_shapes(
        self, tokens: int, features: int, outputs: int
    ) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Shapes of W1 and W2 of one head (of one group, where there are groups)."""
        features, outputs = self.group_sizes(features, outputs)
        if self.mixing == "attention":
            return (features, features), (features, outputs)
        if self.mixing == "mixer":
            return (tokens, tokens), (features, outputs)
        return (tokens * features if self.mixing == "fourier" else features,), (outputs,)

    def group_sizes(self, features: int, outputs: int) -> tuple[int, int]:
        """Features and outputs of one group; raises InputError where B does not divide both."""
        if features % self.groups or outputs % self.groups:
            raise InputError(
                f"{self.groups} groups do not divide {features} features and {outputs} outputs"
            )
        return features // self.groups, outputs // self.groups

    def transformed(self, X: np.ndarray) -> np.ndarray:
        """The tokens h(X) of shape (n, s, d) that the mixing sees.

        PoolFormer averages each token with its neighbours on the grid (3 × 3, fewer at an
        edge). FNet takes the real part of the two-dimensional discrete Fourier transform; the
        paper's theorem needs h(X) to be real.
        """
        transform = KINDS[self.name].transform
        if transform is None:
            return X
        if transform == "fourier":
            return np.ascontiguousarray(np.fft.fft2(X, axes=(1, 2)).real)
        h, w = self.grid_for(X.shape[1])
        return np.einsum("ot,ntk->nok", _pooling(h, w), X)


def _pooling(h: int, w: int) -> np.ndarray:
    """Averages over each token's neighbours on an h × w grid, as a matrix (s, s)."""
    row, column = np.divmod(np.arange(h * w), w)
    near = (abs(row[:, None] - row) <= 1) & (abs(column[:, None] - column) <= 1)
    return near / near.sum(1, keepdims=True)


def shifts(grid: tuple[int, int]) -> np.ndarray:
    """Places o − t on the grid, both coordinates modulo its sides; shape (s, s), [o, t].

    All h·w two-dimensional shifts: those "along its first dimension" of Lemma 4.3 are enough
    only where one side is 1.

    >>> shifts((3, 1))[:, 1].tolist()
    [2, 0, 1]
    """
    h, w = grid
    row, column = np.divmod(np.arange(h * w), w)
    return (row[:, None] - row) % h * w + (column[:, None] - column) % w
