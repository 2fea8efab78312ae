"""Address: one number that differs on all points, and the roles of the coordinates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import lcm
from random import Random

import numpy as np

from ...exact.numbers import Vector
from ...model.layers import RankOneBlock
from .common import Array, IntegerPoints
from .registers import Registers

_SIZE = 16  # bits of the first coefficients that are tried
_LEAST = 40  # bits of the range of the integers at least
_LONG = 60  # bits of integers up to which int64 holds their sums and differences
_SAMPLE = 2048  # points that show which coordinate takes the most values


@dataclass
class Points:
    """Distinct points as integers z ≥ 0 below ``width``, in the order of their addresses x.

    ``columns[j]`` holds coordinate j of all points, ``codes`` the class of each. ``roles`` lists
    the coordinates: first the axis that the address stands for, then that of the hash, then those
    of the strings, y first. Point j lies at (z_j + lows)/``common`` in the data. ``x`` and the
    columns (n,) hold int64, or Python integers where these are too long.
    """

    x: Array
    columns: list[Array]
    codes: Array
    width: int
    registers: Registers
    roles: list[int]
    lows: list[Fraction]
    common: Fraction

    def __len__(self) -> int:
        return len(self.x)

    @cached_property
    def hashed(self) -> Array:
        """The hash's coordinate in widths, in float64."""
        return np.asarray(self.columns[self.roles[1]] / self.width, dtype=np.float64)

    @property
    def first(self) -> int:
        """The lowest address."""
        return int(self.x[0])

    @property
    def last(self) -> int:
        """The highest address."""
        return int(self.x[-1])

    @property
    def strings(self) -> list[int]:
        """The coordinates of the strings, that of y first."""
        return self.roles[1:] if len(self.roles) < 3 else self.roles[2:]

    def collapse(self, start: Sequence[Fraction]) -> RankOneBlock:
        """The block that collapses sequences to points z + ``start`` in registers."""
        shift = self.registers.coordinates(start)
        move = [(s - low) / self.common for s, low in zip(shift, self.lows, strict=True)]
        return RankOneBlock.translation(move, rho=0, alpha=self.registers.unit * self.common)


def addressed(
    means: IntegerPoints, codes: Array, targets: Sequence[Vector], axis_y: int, seed: int
) -> Points:
    """Points with distinct addresses x = Σ a_j z_j, sorted by x.

    |a_j| ≤ a_axis, all of one size: with one small coefficient lattices have many addresses near
    each other. The range doubles until all addresses differ. ``axis_y`` is the coordinate of y.
    """
    common = lcm(*{row[-1] for row in means.rows})
    table = _numerators(means, common)
    lows = table.min(axis=0).tolist()
    table = table - table.min(axis=0)
    factor = int(np.gcd.reduce(table, axis=None)) or 1
    largest = int(table.max()) // factor
    up = max(0, _LEAST - largest.bit_length())
    columns = [column // factor * (1 << up) for column in np.ascontiguousarray(table.T)]
    del table
    # z = (numerator − low)/scale with scale = factor / 2^up
    scale = Fraction(factor, 1 << up)
    width = 1 << max(_LEAST, largest.bit_length() + up)
    roles = _roles(columns, axis_y)
    rng = Random(seed)
    weights, x = _address(columns, roles[0], rng)
    order = np.argsort(x, kind="stable")
    reach = max((abs(t) for target in targets for t in target), default=Fraction(0))
    # half a width is at least 1, and no target lies further out
    power = max(0, (reach.numerator // reach.denominator).bit_length())
    unit = Fraction(2 << power, width)
    return Points(
        x=x[order],
        columns=[column[order] for column in columns],
        codes=codes[order],
        width=width,
        registers=Registers(weights, roles[0], unit),
        roles=roles,
        lows=[Fraction(low) / scale for low in lows],
        common=common / scale,
    )


def _numerators(points: IntegerPoints, common: int) -> Array:
    """All coordinates over one denominator, (n, d)."""
    try:
        rows = np.array(points.rows, dtype=np.int64)
        factors = common // rows[:, -1]
        short = int(np.abs(rows).max()) * int(factors.max()) < 2**_LONG
    except OverflowError:
        short = False
    if not short:
        rows = np.array(points.rows, dtype=object)
        factors = common // rows[:, -1]
    return np.asarray(rows[:, :-1] * factors[:, None])


def _roles(columns: list[Array], axis_y: int) -> list[int]:
    """Coordinates in the order axis, hash, y, other strings: the hash takes the most values."""
    others = [j for j in range(len(columns)) if j != axis_y]
    if len(others) == 1:
        return [others[0], axis_y]
    step = max(1, len(columns[0]) // _SAMPLE)
    values = [len(np.unique(columns[j][::step])) for j in others]
    by_values = sorted(range(len(others)), key=lambda i: -values[i])
    hashed = others[by_values[0]]
    rest = [j for j in others if j != hashed]
    return [rest[0], hashed, axis_y, *rest[1:]]


def _address(columns: list[Array], axis: int, rng: Random) -> tuple[tuple[int, ...], Array]:
    size, largest = _SIZE, max(int(column.max()) for column in columns)
    while True:
        top = 1 << size
        weights = [rng.randint(-top, top) for _ in columns]
        weights[axis] = top
        short = len(columns) * largest * top < 2**_LONG
        x = sum(
            a * (z if short else z.astype(object)) for a, z in zip(weights, columns, strict=True)
        )
        if bool((np.diff(np.sort(x)) != 0).all()):
            return tuple(weights), np.asarray(x)
        size += 1
