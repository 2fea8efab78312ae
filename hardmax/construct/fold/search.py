"""Search for slopes: floats, relative to exact integer bases, propose some.

Points are taken by rising frequency; what is left of the slopes is a union of intervals, which each
point cuts. Whether a slope serves is decided in integers (`waves.serves`).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .common import Array
from .waves import Job, Wave, doubtful

_BASES = 8  # a string has at most one exact base for this many of its intervals
_REACH = 40  # log2 of the turns, over the number of bands, up to which floats are used
_INSIDE = 1 - 2.0**-9  # part of a band that floats aim at
_SPENT = 2.0**-12  # an interval of slopes shorter than this many turns is dropped
_KEPT = 8  # at most this many slopes are returned for a string


def solve(jobs: Sequence[Job], wave: Wave, beam: int, rng: np.random.Generator) -> None:
    """Fill in ``slopes`` of every job, the best first: none where the search failed."""
    likely = [job for job in jobs if not doubtful(job, wave, beam)]
    if not likely:
        return
    search = _Search(likely, wave, beam, rng)
    for j in range(max(len(job.steps) for job in likely)):
        if not search.step(j):
            break


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
