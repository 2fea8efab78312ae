"""Slopes that put every point of a string into the band of its class.

A point with frequency f and phase φ ends in band T(φ + fβ), T(t) = dist(t, 2ℤ), where β is the
slope of its string. Whether a slope serves is decided in integers (`Wave.code`).
"""

from __future__ import annotations

from dataclasses import dataclass, field

_FINE = 40  # bits of the ratio of two frequencies
_LEFT = 0.25  # a string is searched if at least 1/4 interval is expected to be left everywhere


@dataclass(frozen=True)
class Wave:
    """The triangle wave T(y/2^bits), cut into ``bands`` bands of equal width.

    >>> wave = Wave(3, 2)
    >>> [wave.code(y) for y in (0, 3, 4, 8, 13, 14)]
    [0, 0, -1, 1, 0, 0]
    """

    bits: int
    bands: int

    def height(self, y: int) -> int:
        """2^bits·T(y/2^bits)."""
        y &= (2 << self.bits) - 1
        return y if y <= 1 << self.bits else (2 << self.bits) - y

    def code(self, y: int) -> int:
        """The band of y, −1 between bands. T = 0 belongs to the first of them, and T = 1 to the
        second of two: of more, it would leave no room between the bands behind a cut."""
        height = self.height(y)
        code, rest = divmod(height * self.bands, 1 << self.bits)
        if rest:
            return code
        if height == 0:
            return 0
        return 1 if height >> self.bits and self.bands == 2 else -1

    def middle(self, code: int) -> int:
        """The middle of a band."""
        return ((2 * code + 1) << self.bits) // (2 * self.bands)


@dataclass
class Job:
    """A string: y = base + step·β for each of its points, by rising step; β in an interval.

    ``rows`` numbers the points. ``slopes`` are those found, the best first; where there is none,
    ``died`` is the place of the point that left nothing.
    """

    steps: list[int]
    bases: list[int]
    codes: list[int]
    rows: list[int]
    low: int
    length: int
    slopes: list[int] = field(default_factory=list)
    died: int = 0

    def only(self, size: int) -> Job:
        """The same with the points whose row is below ``size``."""
        kept = [i for i, row in enumerate(self.rows) if row < size]
        if len(kept) == len(self.rows):
            return self
        steps, bases, codes, rows = (
            [x[i] for i in kept] for x in (self.steps, self.bases, self.codes, self.rows)
        )
        return Job(steps, bases, codes, rows, self.low, self.length, self.slopes)


def serves(job: Job, wave: Wave, slope: int) -> bool:
    """Whether a slope puts all points of a string into their bands, exactly."""
    return all(
        wave.code(base + step * slope) == code
        for step, base, code in zip(job.steps, job.bases, job.codes, strict=True)
    )


def single(job: Job, wave: Wave) -> int | None:
    """The slope nearest to the middle that puts one point into the middle of its band."""
    (step,), (base,), (code,) = job.steps, job.bases, job.codes
    center = job.low + job.length // 2
    y, turn = base + step * center, 2 << wave.bits
    away = (wave.middle(code) - y) % turn
    away = away - turn if away > turn // 2 else away
    slope = center + (2 * away + step) // (2 * step)
    inside = job.low <= slope <= job.low + job.length
    return slope if inside and wave.code(base + step * slope) == code else None


def doubtful(job: Job, wave: Wave, beam: int) -> bool:
    """Whether a search with this ``beam`` is expected to fail; ``died`` is then the point where.

    Each point leaves one part in ``bands`` of the slopes, wherever its phase is. So the expected
    number of intervals behind a point follows from the frequencies alone.
    """
    outer, pieces, turns, before = wave.bands - 1, 1.0, 1.0, 2 << wave.bits
    for j, (step, code) in enumerate(zip(job.steps, job.codes, strict=True)):
        rise = step if j else step * job.length
        turns *= min((rise << _FINE) // before, 1 << 2 * _FINE) / (1 << _FINE)
        # intervals there would be, over those that are kept
        over = max(1.0, (pieces + turns) / (2 * beam))
        arcs = 1 if code in (0, outer) else 2
        pieces = (pieces / wave.bands + turns * arcs) / over
        turns, before = turns / over / wave.bands, step
        if pieces < _LEFT:
            job.died = j
            return len(job.steps) > 1
    return False
