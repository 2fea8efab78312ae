"""Where every register begins, so that its kill ends at the constant that the end needs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor

from .address import Points
from .frame import Frame


@dataclass(frozen=True)
class Layout:
    """Registers by role, and their ``start``: register j begins as z_j + start_j.

    ``rest`` is the value that each register is killed to. h begins above its own, which all
    folds keep, and x and the strings other than y below theirs.
    """

    frame: Frame
    points: Points
    rest: list[Fraction]
    start: list[Fraction]
    fixed: list[bool]  # whether the register is constant from the start

    @classmethod
    def of(cls, frame: Frame, points: Points, place: Sequence[Fraction]) -> Layout:
        """``place`` is where all points lie in the end but for what the end adds."""
        rest = points.registers.of_point(place)
        layout = cls(frame, points, rest, [], [])
        for j, column in enumerate(points.columns):
            value, constant = rest[j], False
            if j == layout.x:
                begin = Fraction(floor(value) - points.last)
            elif j == layout.h:
                begin = ceil(value) + layout.hash_start
            elif j in layout.strings:
                m = layout.strings.index(j)
                begin = Fraction(frame.starts[m]) + layout.offset(m)
            else:
                constant = bool((column == column[0]).all())
                begin = value - int(column[0]) if constant else Fraction(ceil(value))
            layout.start.append(begin)
            layout.fixed.append(constant)
        return layout

    @property
    def x(self) -> int:
        """The address's register."""
        return self.points.roles[0]

    @property
    def h(self) -> int:
        """The hash's register, −1 without one."""
        return self.points.roles[1] if self.frame.plan.hashed else -1

    @property
    def strings(self) -> list[int]:
        """Registers of the strings; the first is y."""
        return self.points.strings[: self.frame.plan.strings]

    @property
    def y(self) -> int:
        """The register that ends as the wave."""
        return self.strings[0]

    @property
    def hash_start(self) -> Fraction:
        """Where h stands at the first hinge, counted from the bottom of the lowest cell."""
        ends = self.frame.hash.top - self.points.width
        return Fraction(ends << self.frame.scale >> 1, 1 << self.frame.scale)

    @property
    def top(self) -> int:
        """Above the known parts of all strings, counted without `offset`."""
        spacing = self.frame.reach + self.points.width
        return 2 * self.frame.half + self.frame.plan.strings * spacing

    def offset(self, m: int) -> Fraction:
        """What string m lies above its known part: its register stays below its rest; 0 for y."""
        return Fraction(floor(self.rest[self.strings[m]]) - self.top) if m else Fraction(0)

    @property
    def bottom(self) -> Fraction:
        """What h lies above the bottom of its lowest cell."""
        return Fraction(ceil(self.rest[self.h]))
