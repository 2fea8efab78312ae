"""Pushes along a vector p, also for points that were pushed before (Theorem B, step B4).

Source: docs/theory.md, open label sets. If ⟨u,p⟩ = 0 exactly, all blocks with this u and w ∈ ℝp see
the same t = ⟨u,x⟩. Together they add p·f(t), where f rises linearly over a width δ, stays 1, and
falls again: 2 blocks if f never falls, 3 if it stays 1 at one point only (a tent), otherwise 4.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from ....enclosure.enclosed import Enclosed
from ....enclosure.rounding import error
from ....exact.array import Array
from ....exact.numbers import Vector, dot, power_of_two_below
from ....model.layers import RankOneBlock

# A ramp takes this share of the free room beside it.
_RAMP_SHARE = 1 - 2.0**-8
# The width of a push is halved this many times at most.
_HALVINGS = 40


class Crowd:
    """Points base + S·(points_j + share_j·steps[taken_j]), some of them pushed already.

    ``taken[j]`` is −1 for a point in its first place, the last of the ``steps`` is zero; the
    share lies between 1 − ``missing[j]`` and 1. S is ``scale``, a power of two.
    """

    def __init__(self, points: Enclosed, base: Vector, scale: Fraction) -> None:
        self.points, self.base, self.scale = points, base, scale
        self.taken, self.missing = np.full(len(points), -1), np.zeros(len(points))
        self.steps = np.zeros((1, len(base)))

    def take(self, p: Vector, rows: Array, missing: Array) -> None:
        """Push the points of a mask by p, up to a share that is ``missing``."""
        step = [float(t / self.scale) for t in p]
        if len(self.steps) == 1 or self.steps[-2].tolist() != step:
            self.steps = np.vstack([self.steps[:-1], step, self.steps[-1]])
        self.taken[rows] = len(self.steps) - 2
        self.missing[rows] = missing[rows]

    def floats(self) -> Array:
        """About where the points are, relative to the base, divided by S."""
        return np.asarray(self.points.values + self.steps[self.taken])

    def values(self, u: Array) -> tuple[Array, Array]:
        """Proven lower and upper bounds of ⟨u, x_j − base⟩/S for an exact u."""
        lengths = np.linalg.norm(self.steps, axis=1) * float(np.linalg.norm(u))
        shift, doubt = (self.steps @ u)[self.taken], lengths[self.taken]
        value, room = (rows[0] for rows in self.points.products(u[None, :]))
        room = error(len(u) + 8, np.abs(value) + doubt, room)
        short = shift * (1 - self.missing)
        return (
            np.asarray(value + np.minimum(shift, short) - room),
            np.asarray(value + np.maximum(shift, short) + room),
        )


@dataclass(frozen=True)
class Push:
    """A ramp in a pencil of hyperplanes: up before ``start``, down after ``end`` (None: never).

    ``captured`` is the mask of what it pushes by p, ``missing`` bounds the share of p by which
    these points fall short.
    """

    pencil: Pencil
    start: Fraction | None
    end: Fraction | None
    width: Fraction
    captured: Array
    missing: Array

    @property
    def stage(self) -> str:
        """Name of the blocks."""
        return "half-space" if len(self) == 2 else "tent"

    def __len__(self) -> int:
        return len(self._hinges)

    @property
    def _hinges(self) -> list[tuple[Fraction, int]]:
        """Places where the slope of f changes, and by how much, in units of 1/width."""
        start, end, width = self.start, self.end, self.width
        if start is not None and start == end:
            return [(start - width, 1), (start, -2), (start + width, 1)]
        rising = [] if start is None else [(start - width, 1), (start, -1)]
        falling = [] if end is None else [(end, -1), (end + width, 1)]
        return rising + falling

    def blocks(self) -> list[RankOneBlock]:
        """One for each hinge."""
        found = []
        sign = -1 if self.start is None else 1  # without a start f is a function of −t
        u = [sign * t for t in self.pencil.u]
        for place, weight in self._hinges:
            w = [weight * t / self.width for t in self.pencil.p]
            b = -sign * (place + self.pencil.origin)
            found.append(RankOneBlock.of(len(u), u=u, b=b, w=w))
        return found


class Pencil:
    """The hyperplanes ⟨u,x⟩ = h, and where the points lie among them."""

    def __init__(self, crowd: Crowd, u: Array, p: Vector) -> None:
        self.p = p
        self.low, self.high = crowd.values(u)
        self.u = [Fraction(t) / crowd.scale for t in u.tolist()]
        self.origin = dot(self.u, crowd.base)
        reach = abs(self.origin) + Fraction(float(max(-self.low.min(), self.high.max(), 2.0**-60)))
        self.grid = power_of_two_below(reach) / 2**48  # of b, so that it is a float

    def pushes(self, group: Array, left: Array, tolerance: float) -> Iterator[Push]:
        """Pushes around the group, and beyond everything that is not ``left``; masks."""
        low, high = self.low, self.high
        avoid = ~left
        up, down = left & (low > high[avoid].max()), left & (high < low[avoid].min())
        if up.any():
            first = float(low[up].min())
            yield from self._push(first, None, first - high[avoid].max(), left, tolerance)
        if down.any():
            last = float(high[down].max())
            yield from self._push(None, last, low[avoid].min() - last, left, tolerance)
        inner, outer = float(low[group].min()), float(high[group].max())
        below, above = avoid & (high < inner), avoid & (low > outer)
        if not below.any() or not above.any() or (avoid & ~below & ~above).any():
            return
        p, q = float(high[below].max()), float(low[above].min())
        middle = (inner + outer) / 2
        width = min(middle - p, q - middle)
        for _ in range(_HALVINGS):
            found = list(self._push(middle, middle, width, left, tolerance))
            if found or width * tolerance < (outer - inner) / 2:
                yield from found
                break
            width /= 2
        run = left & (low > p) & (high < q)
        first, last = float(low[run].min()), float(high[run].max())
        yield from self._push(first, last, min(first - p, q - last), left, tolerance)

    def _push(
        self, first: float | None, last: float | None, width: float, left: Array, tolerance: float
    ) -> Iterator[Push]:
        """The push with plateau from ``first`` to ``last`` (None: no end), if it can be proven.

        Every point is captured, within the tolerance, or stays where it is.
        """
        if not width * _RAMP_SHARE > self.grid:
            return
        ramp = power_of_two_below(Fraction(width * _RAMP_SHARE))
        start = None if first is None else self._rounded(first)
        end = None if last is None else self._rounded(last)
        if start is not None and end is not None and first != last and end <= start:
            return
        missing, clear = np.zeros(len(left)), np.zeros(len(left), dtype=bool)
        if start is not None:
            missing = np.maximum(missing, _upper(float(start), self.low) / float(ramp))
            clear |= -_upper(self.high, float(start)) >= float(ramp)
        if end is not None:
            missing = np.maximum(missing, _upper(self.high, float(end)) / float(ramp))
            clear |= -_upper(float(end), self.low) >= float(ramp)
        captured = left & (missing <= tolerance)
        if captured.any() and (captured | clear).all():
            yield Push(self, start, end, ramp, captured, missing)

    def _rounded(self, place: float) -> Fraction:
        """A place near this one whose b is on the grid."""
        return round((Fraction(place) + self.origin) / self.grid) * self.grid - self.origin


def _upper(x: float | Array, y: float | Array) -> Array:
    """Upper bound of x − y, for numbers that were rounded once."""
    return np.asarray(x - y + error(8, np.abs(x) + np.abs(y)))
