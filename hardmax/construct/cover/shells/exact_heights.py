"""Shells that park every point at exactly the height of its label (docs/theory.md, Theorem 6c).

The hyperplane of a shell (`park`) takes nearly the right values on the points it parks. These are
affinely independent, so a small rational change of as many of its entries as there are points
makes the values exact; a bound of the change over all points shows that the others stay. So the
heights can be those of points on a line, and no staircase is needed: L ≤ K + 1 + S + (d−1) + 1
for targets on a line, whatever the number of labels. The price is long parameters.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

import numpy as np

from ....exact.array import Array
from ....exact.matrix import Matrix
from ....exact.numbers import Vector, dot, power_of_two_below
from ....model.layers import RankOneBlock
from ..height_slice import HeightSlice, TooClose
from ..products import homogeneous
from .park import find_shells
from .tilt import Shell

# After this many rounds in a row without a shell that can be made exact, the form is given up.
_FAILED_ROUNDS = 4


def park_exactly(
    base: HeightSlice, heights: Mapping[str, Fraction], seed: int = 0, limit: int | None = None
) -> list[RankOneBlock] | None:
    """Blocks that raise every point from height B to exactly B + heights[label], all > 0.

    ``limit`` gives up (None) past so many blocks. Raises TooClose where no shell that floats
    propose can be made exact.
    """
    unit = power_of_two_below(min(heights.values()))
    wanted = [heights[name] / unit for name in base.names]
    least = min(wanted)
    rank = np.array([float(x) for x in wanted])[base.codes]
    standing = np.ones(len(base), dtype=bool)
    blocks: list[RankOneBlock] = []
    failed = 0

    def keep(found: list[Shell]) -> list[Shell]:
        nonlocal failed
        kept = []
        for shell in found:  # each needs the points of those before it gone
            aims = [wanted[c] for c in base.codes[shell.parked].tolist()]
            block = made_exact(base, shell, aims, standing, least, unit)
            if block is None:
                break
            standing[shell.parked] = False
            blocks.append(block)
            kept.append(shell)
        failed = 0 if kept else failed + 1
        if failed == _FAILED_ROUNDS:
            raise TooClose
        return kept

    return None if find_shells(base, rank, seed, limit, keep) is None else blocks


def made_exact(
    base: HeightSlice,
    shell: Shell,
    aims: list[Fraction],
    standing: Array,
    least: Fraction,
    unit: Fraction,
) -> RankOneBlock | None:
    """The block of a shell with its hyperplane changed so that it raises the i-th point it parks
    by exactly unit·aims[i]; None where the change is not proven harmless.

    ``standing`` (n,) are the points still at height B; what is parked is at least unit·least
    higher.
    """
    rows = [
        [*(x / base.points.scale for x in point), Fraction(1)]
        for point in base.cloud.exact(shell.parked.tolist())
    ]
    plane = [*map(Fraction, shell.cut.u.tolist()), Fraction(shell.cut.beta)]
    gaps = [aim / shell.factor - dot(row, plane) for aim, row in zip(aims, rows, strict=True)]
    columns = _columns(homogeneous(base.points.values[shell.parked]))
    if columns is None:
        return None
    try:
        change = Matrix([[row[k] for k in columns] for row in rows]).solve(
            Matrix([[gap] for gap in gaps])
        )
    except ZeroDivisionError:
        return None
    room = Fraction(0)  # the most that t changes anywhere
    for i, k in enumerate(columns):
        plane[k] += change[i, 0]
        room += abs(change[i, 0]) * _reach(base, k)
    others = standing.copy()
    others[shell.parked] = False
    _, high = base.values(shell.cut)
    if others.any() and Fraction(float(high[others].max())) + room > 0:
        return None
    if Fraction(float(high.max())) + room + shell.gate * least > 0:
        return None
    return _block(base, plane, shell.gate / unit, shell.factor * unit)


def _columns(rows: Array) -> list[int] | None:
    """As many columns of rows (m, d) as there are rows, far from dependent; None if there are
    none."""
    if len(rows) > rows.shape[1]:
        return None
    left, found = rows.copy(), []
    for _ in range(len(rows)):
        sizes = np.einsum("ij,ij->j", left, left)
        k = int(np.argmax(sizes))
        if sizes[k] <= 0:
            return None
        found.append(k)
        unit = left[:, k] / np.sqrt(sizes[k])
        left -= np.outer(unit, unit @ left)
        left[:, found] = 0
    return sorted(found)


def _reach(base: HeightSlice, k: int) -> Fraction:
    """A bound of the k-th homogeneous coordinate over all points."""
    if k == base.dimension:
        return Fraction(1)
    low, high = base.points.column(k)
    return Fraction(float(np.maximum(np.abs(low), np.abs(high)).max()))


def _block(
    base: HeightSlice, plane: list[Fraction], gate: Fraction, rise: Fraction
) -> RankOneBlock:
    """Raise a point of height B + h by rise·max(0, t + gate·h)."""
    u: list[Fraction] = [x / base.points.scale for x in plane[:-1]]
    b = plane[-1] - dot(u, base.shift) - gate * base.height
    u.insert(base.axis, gate)
    w: Vector = tuple(rise if i == base.axis else Fraction(0) for i in range(len(u)))
    return RankOneBlock.of(len(u), u=u, b=b, w=w)
