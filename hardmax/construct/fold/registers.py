"""Registers: d independent linear functions of a point, in which the blocks are written.

Register ``axis`` is the address x = Σ a_j z_j, every other register its own coordinate. Writing a
layer in registers is a change of basis; it costs no block.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from ...exact.numbers import Vector
from ...model.layers import RankOneBlock


@dataclass(frozen=True)
class Registers:
    """The registers of points in ℚ^d; one unit of a register is ``unit`` in the data's space.

    >>> registers = Registers((4, 1), 0, Fraction(1))
    >>> registers.layer({0: 1}, -3, {1: 1}).w  # register 1 moves, the address stays
    (Fraction(-1, 4), Fraction(1, 1))
    """

    weights: tuple[int, ...]
    axis: int
    unit: Fraction

    @property
    def dimension(self) -> int:
        """Number d of registers."""
        return len(self.weights)

    def of_point(self, point: Sequence[Fraction]) -> list[Fraction]:
        """The registers of a point of the data's space."""
        values = [x / self.unit for x in point]
        values[self.axis] = self._address(values)
        return values

    def coordinates(self, registers: Sequence[Fraction]) -> list[Fraction]:
        """The coordinates, in units, of given registers: the inverse of `of_point`."""
        values = list(registers)
        values[self.axis] = Fraction(0)
        rest = self._address(values)
        values[self.axis] = (registers[self.axis] - rest) / self.weights[self.axis]
        return values

    def layer(
        self,
        u: Mapping[int, int | Fraction],
        b: int | Fraction,
        w: Mapping[int, int | Fraction],
        rho: int | Fraction = 1,
    ) -> RankOneBlock:
        """The feed-forward layer z ↦ z + w·max(0, ⟨u,z⟩ + b) in registers, then attention ρ."""
        d = self.dimension
        reads = [Fraction(0)] * d
        for j, value in u.items():
            if j == self.axis:
                reads = [x + value * a for x, a in zip(reads, self.weights, strict=True)]
            else:
                reads[j] += value
        writes = self.coordinates([Fraction(w.get(j, 0)) for j in range(d)])
        return RankOneBlock.of(d, u=reads, b=b * self.unit, w=writes, rho=rho)

    def direction(self, vector: Vector) -> dict[int, Fraction]:
        """A vector of the data's space in registers, as `layer` writes it."""
        return dict(enumerate(self.of_point(vector)))

    def _address(self, values: Sequence[Fraction]) -> Fraction:
        pairs = zip(self.weights, values, strict=True)
        return sum((a * x for a, x in pairs), Fraction(0))
