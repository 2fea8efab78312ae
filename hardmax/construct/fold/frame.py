"""The numbers that all stages share."""

from __future__ import annotations

from dataclasses import dataclass

from .address import Points
from .hash import Hash
from .plan import Plan
from .waves import Wave


@dataclass(frozen=True)
class Frame:
    """Registers are multiples of 2^-scale of a unit; ``wave`` is that of y, in these multiples.

    ``half`` is half of the wave's period, ``reach`` the range that the known part of a string is
    kept in. ``starts`` (k,) are the strings before the first hinge: two half periods, the rank's
    offset and half of the range. ``grain`` is log2 of the part of p that joins y in a shift.
    """

    plan: Plan
    hash: Hash
    wave: Wave
    scale: int
    grain: int
    half: int
    reach: int
    starts: tuple[int, ...]

    @classmethod
    def of(cls, points: Points, plan: Plan, bands: int) -> Frame:
        """The numbers for a plan."""
        half, k = points.width // 2, plan.strings
        # k strings side by side, two half periods below them, and the noise of the shifts
        reach = ((half << plan.base) - 2 * half - half // 16) // k - points.width
        span = (points.last - points.first + 1).bit_length()
        size = half.bit_length() - 1
        grain = max(0, span - size + 6)
        fine = max(16, bands.bit_length() + 6)
        scale = max(grain, plan.shift + max(0, span - size) + fine)
        hashing = Hash(plan, points.width)
        starts = tuple(
            2 * half + (reach + points.width) * rank + reach // 2 for rank in hashing.tree.rank
        )
        return cls(plan, hashing, Wave(size + scale, bands), scale, grain, half, reach, starts)
