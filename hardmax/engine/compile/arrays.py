"""The feed-forward parameters of all blocks in float64, for the compiled plan and its panels."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ...exact.array import Array
from ...model.parameters import Parameters


@dataclass(frozen=True, eq=False)
class BlockArrays:
    """Nearest floats of u (L, d), b (L,) and w (L, d) of L blocks, beside the exact parameters."""

    parameters: Parameters

    @property
    def dimension(self) -> int:
        """Dimension d of the tokens."""
        return self.parameters.dimension

    def __len__(self) -> int:
        return len(self.parameters)

    @cached_property
    def u(self) -> Array:
        return self.parameters.u.values

    @cached_property
    def b(self) -> Array:
        return self.parameters.b.values

    @cached_property
    def w(self) -> Array:
        return self.parameters.w.values

    @cached_property
    def absolute_u(self) -> Array:
        return np.abs(self.u)

    @cached_property
    def absolute_w(self) -> Array:
        return np.abs(self.w)

    @cached_property
    def norms(self) -> Array:
        """|u|₁ of every block, (L,)."""
        return np.asarray(self.absolute_u.sum(axis=1))
