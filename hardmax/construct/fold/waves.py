"""Slopes that put every point of a string into the band of its class.

A point with frequency f and phase φ ends in band T(φ + fβ), T(t) = dist(t, 2ℤ), where β is the
slope of its string. Points are taken by rising frequency; what is left of the slopes is a union of
intervals, which each point cuts. Floats, relative to exact integer bases, propose a slope; whether
it serves is decided in integers (`Wave.code`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from .common import Array

_BASES = 8  # intervals searched for each exact base of a string
_REACH = 40  # log2 of the turns, over the number of bands, up to which floats are used
_INSIDE = 1 - 2.0**-9  # part of a band that floats aim at
_SPENT = 2.0**-12  # an interval of slopes shorter than this many turns is dropped
_KEPT = 8  # slopes returned for a string
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
        """The band of y, −1 between bands. The outer ends of the outer bands are inside."""
        height = self.height(y)
        code, rest = divmod(height * self.bands, 1 << self.bits)
        if rest:
            return code
        return 0 if height == 0 else self.bands - 1 if height >> self.bits else -1

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


def solve(jobs: Sequence[Job], wave: Wave, beam: int, rng: np.random.Generator) -> None:
    """Fill in ``slopes`` of every job, at most a dozen, the best first; empty if none was found."""
    likely = [job for job in jobs if not doubtful(job, wave, beam)]
    if not likely:
        return
    search = _Search(likely, wave, beam, rng)
    for j in range(max(len(job.steps) for job in likely)):
        if not search.step(j):
            break


def doubtful(job: Job, wave: Wave, beam: int) -> bool:
    """Whether hardly an interval is expected to be left behind a point, which is then ``died``.

    A point leaves one part in ``bands`` of the slopes, so only frequencies matter here, not phases.
    """
    outer, pieces, turns, before = wave.bands - 1, 1.0, 1.0, 2 << wave.bits
    for j, (step, code) in enumerate(zip(job.steps, job.codes, strict=True)):
        rise = step if j else step * job.length
        turns *= min((rise << _FINE) // before, 1 << 2 * _FINE) / (1 << _FINE)
        over = max(1.0, (pieces + turns) / (2 * beam))  # so many times more than are kept
        arcs = 1 if code in (0, outer) else 2
        pieces = (pieces / wave.bands + turns * arcs) / over
        turns, before = turns / over / wave.bands, step
        if pieces < _LEFT:
            job.died = j
            return len(job.steps) > 1
    return False


class _Search:
    """The intervals of slopes of all jobs: [lo, hi] from an exact base, in units 2^unit."""

    def __init__(
        self, jobs: Sequence[Job], wave: Wave, beam: int, rng: np.random.Generator
    ) -> None:
        self.jobs, self.wave, self.beam, self.rng = jobs, wave, beam, rng
        self.units = [max(0, job.length.bit_length() - 50) for job in jobs]
        self.bases = np.array([job.low for job in jobs], dtype=object)
        self.owner = np.arange(len(jobs))  # the job of each base
        self.base = np.arange(len(jobs))  # the base of each interval
        self.lo = np.zeros(len(jobs))
        self.hi = np.array(
            [float(job.length >> e) for job, e in zip(jobs, self.units, strict=True)]
        )
        for job in jobs:
            if not job.steps:
                job.slopes = [short(job.low, job.low + job.length)]
        self._keep(np.array([bool(job.steps) for job in jobs]))

    def step(self, j: int) -> bool:
        """Cut all intervals by the j-th point of every job; False when no job is left."""
        of = self.owner[self.base]
        reach = np.zeros(len(self.jobs))
        np.maximum.at(reach, of, self.hi)  # errors are relative to it
        present = np.flatnonzero(reach).tolist()
        if not present:
            return False
        frequency = self._frequencies(present, j)
        far = np.flatnonzero(frequency * reach > 2.0**_REACH / self.wave.bands).tolist()
        if far:
            self._rebase(far)
            frequency = self._frequencies(present, j)
        self._thin(frequency)
        self._cut(j, frequency, self._phases(j))
        left = np.bincount(self.owner[self.base], minlength=len(self.jobs))
        for k in present:
            if not left[k]:
                self.jobs[k].died = j
        last = np.array([len(job.steps) == j + 1 for job in self.jobs])
        if last.any():
            self._finish(last)
        return bool(len(self.lo))

    def _phases(self, j: int) -> Array:
        """The phase of the j-th point at every base that is in use."""
        bits = self.wave.bits
        mask, down = (2 << bits) - 1, max(0, bits - 60)
        phase = np.zeros(len(self.bases))
        used = np.flatnonzero(np.bincount(self.base, minlength=len(phase)))
        of = self.owner[used]
        for k in np.flatnonzero(np.bincount(of)).tolist():
            job, mine = self.jobs[k], used[of == k]
            ys = self.bases[mine] * job.steps[j] + job.bases[j]
            phase[mine] = (ys & mask) >> down
        return phase * 2.0 ** (down - bits)

    def _frequencies(self, present: list[int], j: int) -> Array:
        """Turns per unit of slope, for every job."""
        found = np.zeros(len(self.jobs))
        for k in present:
            found[k] = (self.jobs[k].steps[j] << self.units[k]) / (1 << self.wave.bits)
        return found

    def _keep(self, which: Array) -> None:
        self.lo, self.hi, self.base = self.lo[which], self.hi[which], self.base[which]

    def _thin(self, frequency: Array) -> None:
        """At most ``beam`` new intervals for each job: the widest."""
        of = self.owner[self.base]
        f = frequency[of]
        self.hi = np.minimum(self.hi, self.lo + self.beam / f)
        width = self.hi - self.lo
        grows = 1 + f * width / 2
        if (np.bincount(of, grows, len(self.jobs)) <= 2 * self.beam).all():
            return
        # wide intervals are worth more
        total = np.bincount(of, grows, len(self.jobs))
        count = np.bincount(of, minlength=len(total))
        share = (
            2 * self.beam * count / np.maximum(total * np.bincount(of, width, len(total)), 1e-300)
        )
        self._keep(self.rng.random(len(of)) < share[of] * width)

    def _rebase(self, far: list[int]) -> None:
        """New exact bases, at the lower ends of the widest intervals of some jobs."""
        of = self.owner[self.base]
        kept = [np.flatnonzero(~np.isin(of, far))]
        lo, hi = self.lo.copy(), self.hi.copy()
        base = self.base.copy()
        bases, owner = self.bases.tolist(), self.owner.tolist()
        for k in far:
            mine = np.flatnonzero(of == k)
            width = hi[mine] - lo[mine]
            mine = mine[np.argsort(-width, kind="stable")[: self.beam // _BASES]]
            unit = self.units[k]
            longest = _whole((hi[mine] - lo[mine]).max(), unit)
            self.units[k] = max(0, longest.bit_length() - 50)
            for i in mine.tolist():
                length = _whole(hi[i] - lo[i], unit)
                bases.append(self.bases[base[i]] + _whole(lo[i], unit))
                owner.append(k)
                base[i] = len(bases) - 1
                lo[i], hi[i] = 0.0, float(length >> self.units[k])
            kept.append(mine)
        self.lo, self.hi, self.base = lo, hi, base
        self.bases, self.owner = np.array(bases, dtype=object), np.array(owner)
        self._keep(np.concatenate(kept))

    def _cut(self, j: int, frequency: Array, phase: Array) -> None:
        bands = self.wave.bands
        codes = np.array([job.codes[j] if j < len(job.codes) else 0 for job in self.jobs])
        outer = (codes == 0) | (codes == bands - 1)
        center = np.where(outer, codes / max(1, bands - 1), (codes + 0.5) / bands)
        half = np.where(outer, 1.0, 0.5) / bands * _INSIDE
        of = self.owner[self.base]
        rows = np.arange(len(of))
        twice = np.flatnonzero(~outer[of])
        at = np.concatenate([rows, twice])
        of = of[at]
        middle = center[of]
        middle[len(rows) :] *= -1.0
        width, f = half[of], frequency[of]
        offset = phase[self.base[at]] - middle
        lo, hi = self.lo[at], self.hi[at]
        first = np.ceil((offset + f * lo - width) / 2)
        count = np.maximum(np.floor((offset + f * hi + width) / 2) - first + 1, 0).astype(np.int64)
        some = np.repeat(np.arange(len(at)), count)
        turn = first[some] + (np.arange(len(some)) - np.repeat(np.cumsum(count) - count, count))
        away, width, f = 2 * turn - offset[some], width[some], f[some]
        lo = np.maximum(lo[some], (away - width) / f)
        hi = np.minimum(hi[some], (away + width) / f)
        good = hi - lo > _SPENT / bands / f
        self.lo, self.hi, self.base = lo[good], hi[good], self.base[at[some[good]]]

    def _finish(self, last: Array) -> None:
        of = self.owner[self.base]
        done = last[of]
        for k in np.unique(of[done]).tolist():
            mine = np.flatnonzero(of == k)
            width = self.hi[mine] - self.lo[mine]
            for i in mine[np.argsort(-width, kind="stable")[:_KEPT]].tolist():
                eighth, unit = (self.hi[i] - self.lo[i]) / 8, self.units[k]
                start = self.bases[self.base[i]]
                low = start + _whole(self.lo[i] + eighth, unit)
                high = start + _whole(self.hi[i] - eighth, unit)
                self.jobs[k].slopes.append(short(low, max(low, high)))
        self._keep(~done)


def _whole(value: float, unit: int) -> int:
    """value·2^unit, rounded down."""
    above, below = float(value).as_integer_ratio()
    return (above << unit) // below


def short(low: int, high: int) -> int:
    """The multiple of the largest power of two between two integers.

    >>> short(5, 11), short(-3, 4), short(9, 9)
    (8, 0, 9)
    """
    if low <= 0 <= high:
        return 0
    down = max(0, ((low - 1) ^ high).bit_length() - 1)
    return high >> down << down
