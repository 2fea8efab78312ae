"""Exact affine maps from some place in a model to its output.

If the active layers of a point from block k on are known, its output is A x + c, where x is the
point in front of block k. Walking backwards, an active layer turns (A, c) into (A + (A w) uᵀ, c +
(A w) b). If A w = 0 it does not matter whether the layer is active. As soon as A = 0 the output is
c, whatever happened before.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from ...exact.array import Array, ExactArray
from ...exact.numbers import Vector
from ...model.parameters import Parameters

Sparse = list[tuple[int, Fraction]]


class ExactBlocks:
    """Exact u, b and w of single blocks as sparse vectors; remembered."""

    def __init__(self, parameters: Parameters) -> None:
        self.parameters = parameters
        self._known: dict[int, tuple[Sparse, Fraction, Sparse]] = {}

    def __getitem__(self, k: int) -> tuple[Sparse, Fraction, Sparse]:
        found = self._known.get(k)
        if found is None:
            p = self.parameters
            found = self._known[k] = _sparse(p.u, k), p.b.entry(k), _sparse(p.w, k)
        return found


def _sparse(array: ExactArray, k: int) -> Sparse:
    """Row k of an array (L, d)."""
    if array.exact:  # the float of a number other than zero may be zero
        return [(j, x) for j, x in enumerate(array.row(k)) if x]
    row = array.values[k]
    return [(j, Fraction(float(row[j]))) for j in np.flatnonzero(row).tolist()]


@dataclass(frozen=True, eq=False)
class Suffix:
    """x ↦ A x + c; ``columns`` holds the columns of A other than zero.

    >>> end = Suffix.identity(2)
    >>> clamp = ([(0, Fraction(1))], Fraction(-3), [(0, Fraction(-1))])
    >>> end.after(clamp).columns.keys(), end.after(clamp).constant
    (dict_keys([1]), (Fraction(3, 1), Fraction(0, 1)))
    """

    columns: Mapping[int, Sequence[Fraction]]
    constant: Vector

    @classmethod
    def identity(cls, dimension: int) -> Suffix:
        """The map behind the last block."""
        zeros = (Fraction(0),) * dimension
        units = {
            i: tuple(Fraction(int(i == j)) for j in range(dimension)) for i in range(dimension)
        }
        return cls(units, zeros)

    @cached_property
    def is_constant(self) -> bool:
        """Whether the map is constant: the output is `constant` whatever x is."""
        return not self.columns

    @cached_property
    def reads(self) -> Array:
        """The coordinates of x on which the output depends."""
        return np.array(sorted(self.columns), dtype=int)

    def image(self, w: Sparse) -> list[Fraction] | None:
        """A w; None where it is zero."""
        total: list[Fraction] | None = None
        for i, weight in w:
            column = self.columns.get(i)
            if column is None:
                continue
            if total is None:
                total = [weight * a if a else a for a in column]
            else:
                total = [t + weight * a if a else t for t, a in zip(total, column, strict=True)]
        return total if total is not None and any(total) else None

    def after(self, block: tuple[Sparse, Fraction, Sparse]) -> Suffix:
        """The map from in front of an active layer."""
        u, b, w = block
        image = self.image(w)
        if image is None:
            return self
        columns = dict(self.columns)
        for j, weight in u:
            old = columns.get(j)
            new = [weight * y if y else y for y in image]
            if old is not None:
                new = [x + y if y else x for x, y in zip(old, new, strict=True)]
            if any(new):
                columns[j] = new
            else:
                columns.pop(j, None)
        pairs = zip(self.constant, image, strict=True)
        return Suffix(columns, tuple(c + b * y if y else c for c, y in pairs))

    def scaled(self, factor: Fraction) -> Suffix:
        """The map from in front of a multiplication by ``factor``."""
        if factor == 0:
            return Suffix({}, self.constant)
        return Suffix(
            {i: [factor * a for a in column] for i, column in self.columns.items()}, self.constant
        )
