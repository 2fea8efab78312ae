"""The strings of one group: every string gets a slope, or the group gives up its last points."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from math import log2

import numpy as np

from .address import Points
from .common import Array
from .frame import Frame
from .hash import Reading
from .search import solve
from .waves import Job, doubtful, serves, single

_OVER = 0.5  # bits by which a string may be overloaded when it is tried
_LESS = 8  # 1/8 of the intervals are kept where a string is searched first
_HASTE = 96  # after k tries a group gives up at least k/96 of its points
_KEEP = 8  # a group gives up at most 1/8 of its points at once


@dataclass
class Group:
    """Points first … first + size − 1 behind one hinge; ``length`` reaches to the next hinge.

    ``slopes`` (k,) and ``kappa`` are in units 2^-scale; ``values`` (k,) are the strings at the
    hinge.
    """

    first: int
    size: int
    length: int
    kappa: int
    slopes: list[int]
    values: list[int]
    jobs: list[Job]
    reading: Reading

    def ends(self) -> list[int]:
        """The strings at the next hinge."""
        pairs = zip(self.values, self.slopes, strict=True)
        return [value + slope * self.length for value, slope in pairs]


@dataclass
class Strings:
    """The task of one group: points from ``first`` on, ``x`` behind the hinge, as ``reading`` says.

    ``length_of(size)`` is the way to the next hinge behind ``size`` points.
    """

    frame: Frame
    points: Points
    columns: list[Array]
    codes: list[int]
    values: list[int]
    first: int
    x: list[int]
    reading: Reading
    kappa: int
    length_of: Callable[[int], int]
    beam: int
    rng: np.random.Generator

    def __post_init__(self) -> None:
        plan = self.frame.plan
        self.shifts = [plan.window * r for r in self.reading.window.tolist()]
        self.noise = [0] * len(self.x)
        of = self.reading.string
        self.members = [np.flatnonzero(of == m).tolist() for m in range(plan.strings)]
        self.jobs: dict[int, Job] = {}

    def solved(self, least: int) -> Group | None:
        """The largest group that was found, None if it has fewer than ``least`` points."""
        size, tries = self.bearable, 0
        if size < max(1, least):
            return None
        if self.frame.plan.b:
            self.noise = self._noise()
        left = list(range(len(self.members)))
        while True:
            length = self.length_of(size)
            for m in left:
                self.jobs[m] = self._job(m, size, length)
            jobs = [self.jobs[m] for m in left]
            failed = [job for job in jobs if doubtful(job, self.frame.wave, self.beam)]
            if not failed:
                tries += 1
                left = self._attempt(left)
                if not left:
                    break
                failed = [self.jobs[m] for m in left]
            # without the last of the points that do not go together; more and more of them
            last = min(max(job.rows[: job.died + 1]) for job in failed)
            size = min(size - 1 - size * tries // _HASTE, max(last, size - max(1, size // _KEEP)))
            if size < max(1, least):
                return None
        jobs = [self.jobs[m].only(size) for m in range(len(self.members))]
        slopes = [job.slopes[0] for job in jobs]
        return Group(self.first, size, length, self.kappa, slopes, self.values, jobs, self.reading)

    @cached_property
    def bearable(self) -> int:
        """The size up to which no string has far more points than it carries."""
        plan, bands = self.frame.plan, self.frame.wave.bands
        most = np.array(plan.capacity(bands)) + _OVER / log2(bands)
        of, window = self.reading.string, self.reading.window
        size, order = len(self.x), np.argsort(of, kind="stable")
        of, window = of[order], window[order]
        starts = np.searchsorted(of, np.arange(plan.strings))
        for r, capacity in enumerate(most.tolist()):
            counts = np.concatenate([[0], np.cumsum(window <= r)])
            over = order[counts[1:] - counts[starts][of] > capacity]
            size = min(size, int(over.min(initial=size)))
        return max(1, size)

    def _job(self, m: int, size: int, length: int) -> Job:
        """The points of string m among the first ``size``."""
        frame, value = self.frame, self.values[m]
        steps = {i: self.x[i] << self.shifts[i] for i in self.members[m] if i < size}
        rows = sorted(steps, key=steps.__getitem__)
        own = self.columns[m][self.first + np.array(rows, dtype=np.int64)].tolist()
        bases = [
            (((z << frame.scale) + value) << self.shifts[i]) + self.noise[i]
            for z, i in zip(own, rows, strict=True)
        ]
        lowest = (frame.starts[m] - frame.reach // 2) << frame.scale
        low = -((value - lowest) // length)
        high = (lowest + (frame.reach << frame.scale) - value) // length
        codes = [self.codes[self.first + i] for i in rows]
        return Job([steps[i] for i in rows], bases, codes, rows, low, high - low)

    def _noise(self) -> list[int]:
        """What the shifts add to y: a small part of p, doubled with y."""
        frame, low = self.frame, self.points.first
        x = self.points.x[self.first : self.first + len(self.x)].tolist()
        levels = len(frame.hash.tree.levels)
        doublings = [frame.plan.window << q for q in range(frame.plan.b)]
        found = []
        for value, held in zip(x, self.reading.held[:, levels:].tolist(), strict=True):
            p, noise = (value - low) << frame.scale >> frame.grain, 0
            for doubling, above in zip(doublings, held, strict=True):
                if above:
                    p = 0
                else:
                    noise = (noise << doubling) + ((1 << doubling) - 1) * p
            found.append(noise)
        return found

    def _attempt(self, strings: list[int]) -> list[int]:
        """Solve some strings; those that failed."""
        for beam in (self.beam // _LESS, self.beam):  # most strings have slopes to spare
            self._solve([self.jobs[m] for m in strings], beam)
            strings = [m for m in strings if not self.jobs[m].slopes]
        return strings

    def _solve(self, jobs: list[Job], beam: int) -> None:
        wave = self.frame.wave
        solve([job for job in jobs if len(job.steps) != 1], wave, beam, self.rng)
        for job in jobs:
            if len(job.steps) == 1:
                slope = single(job, wave)
                job.slopes = [] if slope is None else [slope]
            while job.slopes and not serves(job, wave, job.slopes[0]):
                del job.slopes[0]
