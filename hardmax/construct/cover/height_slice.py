"""Points of equal height, and the hyperplanes that cut them (Theorem B, step B4; docs/theory.md).

The coordinates other than the height are together called E. Hyperplanes in E are proposed in
float64 and rounded to a grid; where the points lie is then proven (`Enclosed`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import lcm

import numpy as np

from ...enclosure.rounding import error
from ...exact.array import Array, ExactArray
from ...exact.numbers import Vector, power_of_two_below
from ...model.layers import RankOneBlock
from ...model.parameters import Parameters
from ..shared.filtered_cloud import FilteredCloud

# Directions and offsets are multiples of 2^-GRID, relative to the size of the cloud.
GRID = 36
# Directions are float64 numbers where the scale lies between 2^-_SAFE and 2^_SAFE.
_SAFE = 900


class TooClose(Exception):  # noqa: N818
    """Points lie so close together that float64 cannot propose hyperplanes; another strategy is
    needed.
    """


@dataclass(frozen=True)
class Cut:
    """Hyperplane t(x) = ⟨u, r(x)⟩ + beta in E, exact; r are the slice's relative coordinates.

    ``u`` has shape (d−1,), its entries and ``beta`` are multiples of 2^-36.
    """

    u: Array
    beta: float

    @classmethod
    def near(cls, u: Array, beta: float) -> Cut:
        """The cut with u scaled to entries of at most 2, and everything rounded to the grid."""
        size = np.abs(u).max(keepdims=True)
        if not np.isfinite(size) or size == 0 or not np.isfinite(beta):
            raise TooClose
        row = on_grid(np.r_[u, beta], size)
        return cls(row[:-1], float(row[-1]))

    def moved(self, by: float) -> Cut:
        """The parallel cut t + by."""
        grid = 2.0**GRID
        return Cut(self.u, float(np.round((self.beta + by) * grid) / grid))

    def shifted(self, by: float) -> Cut:
        """The parallel cut t + by, without rounding; ``by`` has few bits."""
        beta = Fraction(self.beta) + Fraction(by)
        if Fraction(float(beta)) != beta:
            raise TooClose
        return Cut(self.u, float(beta))


def on_grid(values: Array, size: Array) -> Array:
    """Values in units of the power of two next below ``size``, as multiples of 2^-36.

    >>> on_grid(np.array([3.0, 0.75]), np.array([3.0]))
    array([1.5  , 0.375])
    """
    return np.asarray(np.round(values / 2.0 ** np.floor(np.log2(size)) * 2.0**GRID) / 2.0**GRID)


class HeightSlice:
    """Points of equal height B, one for each different x, with their labels.

    Shapes: ``points`` (n, d−1) in `Enclosed`, relative to the exact shift fB and divided
    by a power of two; ``codes`` (n,) index ``names``, ``rows`` (n,) the means. ``middle`` is set
    where all label sets are open and every point may keep its difference to this point of E: then E
    needs no kills.
    """

    def __init__(
        self,
        axis: int,
        f: Sequence[Fraction],
        height: Fraction,
        cloud: FilteredCloud,
        names: Sequence[str],
        codes: Array,
        rows: Array,
        middle: Vector | None = None,
    ) -> None:
        self.axis, self.f, self.height, self.middle = axis, f, height, middle
        self.cloud, self.points = cloud, cloud.points
        self.names, self.codes, self.rows = names, codes, rows
        self.shift = [g * height for i, g in enumerate(f) if i != axis]
        self._ranges: dict[int, tuple[Fraction, Fraction]] = {}

    def __len__(self) -> int:
        return len(self.points)

    @cached_property
    def exact(self) -> list[Vector]:
        """All points exactly, relative to the shift."""
        return self.cloud.exact(range(len(self)))

    @cached_property
    def labels(self) -> Array:
        """The label of every point, (n,)."""
        return np.asarray(np.array(self.names)[self.codes])

    @property
    def dimension(self) -> int:
        """Dimension d − 1 of E."""
        return int(self.points.values.shape[1])

    def values(self, cut: Cut) -> tuple[Array, Array]:
        """Proven lower and upper bounds of t on all points."""
        t, room = (rows[0] for rows in self.points.products(cut.u[None]))
        room = error(4, np.abs(t) + abs(cut.beta), room)
        t += cut.beta
        return t - room, t + room

    def block(
        self,
        cut: Cut,
        rise: Fraction,
        *,
        gate: Fraction = Fraction(0),
        level: Fraction = Fraction(0),
    ) -> RankOneBlock:
        """Raise a point of height B + h by rise·max(0, t + gate·(h − level))."""
        d = len(self.f)
        u = [Fraction(x) / self.points.scale for x in cut.u.tolist()]
        b = Fraction(cut.beta) - sum(
            (x * s for x, s in zip(u, self.shift, strict=True)), Fraction(0)
        )
        u.insert(self.axis, gate)
        b -= gate * (self.height + level)
        return RankOneBlock.of(d, u=u, b=b, w=self._along(rise))

    def packed(
        self, cuts: Sequence[Cut], rises: Sequence[Fraction], gates: Sequence[Fraction]
    ) -> Parameters:
        """`block` of many cuts, at level zero."""
        d, k = len(self.f), self.axis
        scale, height = self.points.scale, self.height
        if not 2**-_SAFE < scale < 2**_SAFE:
            blocks = zip(cuts, rises, gates, strict=True)
            return Parameters.pack([self.block(cut, r, gate=g) for cut, r, g in blocks], d)
        u, w = np.zeros((len(cuts), d)), np.zeros((len(cuts), d))
        directions = np.array([cut.u for cut in cuts]).reshape(len(cuts), d - 1)
        u[:, np.arange(d) != k] = directions / float(scale)  # exact
        u[:, k], w[:, k] = gates, rises  # floats, all of them
        common = lcm(*(g.denominator for g in self.f))
        f = [int(g * common) for i, g in enumerate(self.f) if i != k]
        whole = (directions * 2.0**GRID).astype(np.int64).astype(object) @ np.array(f, dtype=object)
        b = [
            Fraction(cut.beta) - (Fraction(dot, common * 2**GRID) / scale + gate) * height
            for cut, dot, gate in zip(cuts, whole, gates, strict=True)
        ]
        one, zero = ExactArray.owning(np.ones(len(b))), ExactArray.owning(np.zeros(len(b)))
        offsets = ExactArray.from_flat(b, (len(b),))
        nothing = ExactArray.owning(np.zeros((len(b), d)))
        return Parameters(
            ExactArray.owning(u + 0.0), offsets, ExactArray.owning(w), one, zero, nothing
        )

    def clamp(self, level: Fraction) -> RankOneBlock:
        """Lower everything above height B + level to exactly this height."""
        up = self._along(Fraction(1))
        return RankOneBlock.of(
            len(self.f), u=up, b=-self.height - level, w=self._along(Fraction(-1))
        )

    def _along(self, factor: Fraction) -> list[Fraction]:
        return [factor if i == self.axis else Fraction(0) for i in range(len(self.f))]

    def coordinate_range(self, i: int) -> tuple[Fraction, Fraction]:
        """Bounds of x_i, i ≠ axis, over all points; they are equal where x_i is constant."""
        if i not in self._ranges:
            place = i - (i > self.axis)
            value = self.cloud.constant(place)
            if value is None:
                low, high = self.points.column(place)
                ends = Fraction(float(low.min())), Fraction(float(high.max()))
                ends = ends[0] * self.points.scale, ends[1] * self.points.scale
            else:
                ends = value, value
            shift = self.f[i] * self.height
            self._ranges[i] = ends[0] + shift, ends[1] + shift
        return self._ranges[i]


def short_power(value: float, at_least: Fraction) -> Fraction:
    """Least power of two R with R·value ≥ at_least, for value > 0.

    >>> short_power(0.75, Fraction(3))
    Fraction(4, 1)
    """
    if not value > 0:
        raise TooClose
    power = power_of_two_below(at_least / Fraction(value))
    return power if power * Fraction(value) >= at_least else 2 * power
