"""Load: groups of points with consecutive addresses, and one hinge in front of each.

Behind hinge g every string m has a slope β_{g,m} and the hash a slope κ_g. The hash is chosen so
that the loads of all strings are even, then the strings of a group are solved one by one. Where one
finds no slope the group gives up its last points.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import inf, log2

import numpy as np

from ...stages import tell
from .address import Points
from .common import Array
from .frame import Frame
from .hash import Reading
from .strings import Group, Strings

_SEEDS = 192, 4096  # slopes of the hash that are drawn for a group: at least, and at most
_WORK = 2**22, 2**34  # points times slopes of the hash looked at for a group, and for all groups
# number of points, at most: intervals of slopes that are kept, slopes of the hash that are tried
_EFFORTS = {3_000: (8192, 16), 300_000: (4096, 12)}
_SHORT = 2048, 3  # the same for more points
_LONG = 12  # a search that tries at least this many slopes of the hash is called long
_GOOD = 0.98, 1.04  # a short search ends at this part of the size hoped for, and a long one
_POOR = 0.6  # a slope of the hash is given up below this part of the size expected
_READ = 2  # twice as many slopes of the hash are read exactly as are tried
_APART = 100  # slopes of the hash that are tried differ by 1/100 of its range
_GRID = 16  # sizes of the group for which a slope of the hash is judged
_SAFE = 0.5, 1.0  # bits of a string's capacity that are not counted on, without and with windows
_CAP = 1.5  # a window carries this many points more than bring twice the beam down to one slope
_PLACES = 0.2, 0.5, 0.8  # plans are compared by groups at these parts of the points
_EARLY = 8  # the number of groups is judged from 1/8 of the points on
_GAP = 8  # a hinge lies at most 1/8 of the group's length behind its last point


@dataclass(frozen=True)
class Effort:
    """How long the search is: ``beam`` intervals of slopes are kept for a string, and ``tries``
    slopes of the hash are tried for a group."""

    beam: int
    tries: int

    @classmethod
    def of(cls, count: int) -> Effort:
        """The effort for ``count`` points.

        >>> Effort.of(10_000)
        Effort(beam=4096, tries=12)
        """
        return cls(*next((e for most, e in _EFFORTS.items() if count <= most), _SHORT))


class TooDeepError(Exception):
    """The model would have more blocks than it may."""


@dataclass
class Loads:
    """The hinges, with the slopes behind each (in units 2^-scale), and where every y ends.

    ``least`` is the least excess of h over each fold that is recorded, 0 where there is none.
    """

    hinges: list[int] = field(default_factory=list)
    kappas: list[int] = field(default_factory=list)
    slopes: list[list[int]] = field(default_factory=list)
    ys: list[int] = field(default_factory=list)
    least: list[int] = field(default_factory=list)

    def note(self, group: Group, hinge: int) -> None:
        """Add a solved group."""
        self.hinges.append(hinge)
        self.kappas.append(group.kappa)
        self.slopes.append(group.slopes)
        self.ys += [0] * group.size
        for job, slope in zip(group.jobs, group.slopes, strict=True):
            for row, base, step in zip(job.rows, job.bases, job.steps, strict=True):
                self.ys[group.first + row] = base + step * slope
        least = group.reading.least.tolist()
        self.least = self.least or [0] * len(least)
        self.least = [min(a, b) if a and b else a or b
                      for a, b in zip(self.least, least, strict=True)]  # fmt: skip


class Loader:
    """Takes groups from the lowest address up."""

    def __init__(self, points: Points, frame: Frame, seed: int, effort: Effort) -> None:
        self.points, self.frame, self.effort = points, frame, effort
        plan = frame.plan
        self.rng = np.random.default_rng(seed)
        names = points.strings[: plan.strings]
        self.columns = [points.columns[j] for j in names]
        self.z = points.columns[points.roles[1]]  # of the hash, where there is one
        self.most = np.array(plan.capacity(frame.wave.bands))
        self.codes = points.codes.tolist()
        self.ends = frame.hash.top - points.width  # h ends a group below this
        self.h = self.ends << frame.scale >> 1
        self.values = [start << frame.scale for start in frame.starts]

    def run(self, most: float = inf) -> Loads:
        """Load all points; at least one for each hinge.

        Raises `TooDeepError` as soon as the points loaded so far say that there will be more than
        ``most`` groups.
        """
        x, count, loads = self.points.x, len(self.points), Loads()
        first, expected = 0, max(2, int(len(self.columns) * self.most[-1] * 0.9))
        near = int(x[min(count - 1, expected)])
        hinge = self.points.first - max(1, (near - self.points.first) // _GAP)
        while first < count:
            group = self._group(first, hinge, expected)
            loads.note(group, hinge)
            tell("load", count - first - group.size)
            self.h += group.kappa * group.length
            self.values = group.ends()
            first += group.size
            if len(loads.hinges) * count > most * max(first, count // _EARLY):
                raise TooDeepError
            hinge += group.length
            expected = max(2, int(0.7 * expected + 0.3 * group.size))
        return loads

    def _group(self, first: int, hinge: int, expected: int) -> Group:
        best: Group | None = None
        left = len(self.points) - first
        while best is None and expected > 1:
            solved = 0
            goal, candidates = self._candidates(first, hinge, expected)
            for size, kappa in candidates:
                task = self._task(first, size, hinge, kappa)
                least = int(_POOR * expected) if best is None else best.size + 1
                if task is None or (best is not None and task.bearable < least):
                    continue
                group = task.solved(min(least, len(self.points) - first))
                best, solved = group or best, solved + 1
                hoped = goal * _GOOD[self.effort.tries >= _LONG]
                good = best is not None and best.size >= min(hoped, left)
                if good or solved == self.effort.tries:
                    break
            expected = expected * 3 // 4
        while best is None:  # a single point can always be solved
            length = self._length(first, hinge, 1)
            end = int(self.rng.integers(1 << 40)) * self.ends >> 40
            task = self._task(first, 1, hinge, self._kappa(end, length))
            best = task.solved(1) if task is not None else None
        return best

    def _kappa(self, end: int, length: int) -> int:
        """The slope, with few bits, that takes h from where it stands to ``end``."""
        if not self.frame.plan.hashed:
            return 0
        kappa = ((end << self.frame.scale) - self.h) // length
        top = (self.frame.hash.top << self.frame.scale).bit_length()
        down = max(0, top - length.bit_length() - 36)
        return kappa >> down << down

    def _length(self, first: int, hinge: int, size: int) -> int:
        """From the hinge to the next one, which lies anywhere in the gap behind the group."""
        x, end = self.points.x, first + size
        length = int(x[end - 1]) - hinge
        if end < len(x):
            gap = min(int(x[end]) - int(x[end - 1]), length // _GAP)
            length += int(self.rng.integers(1 << 30)) * gap >> 30
        return length

    def _candidates(
        self, first: int, hinge: int, expected: int
    ) -> tuple[float, list[tuple[int, int]]]:
        """The size to hope for; sizes and slopes of the hash, the most promising first."""
        left = len(self.points) - first
        if not self.frame.plan.hashed:
            return 1.0, [(min(left, expected + 3), 0)]
        worth, ends, length, largest = self._looked_at(first, hinge, expected)
        order = np.argsort(-worth, kind="stable").tolist()
        apart = self.ends / self.points.width / _APART
        taken: list[int] = []
        for c in order[: _READ * self.effort.tries * _APART]:  # slopes nearly alike fail alike
            if all(abs(ends[c] - ends[other]) > apart for other in taken):
                taken.append(c)
            if len(taken) == _READ * self.effort.tries:
                break
        found = []
        for c in taken:
            end = int(ends[c] * 2.0**40) * self.points.width >> 40
            found.append((largest, self._kappa(end, length)))
        return float(worth[order[0]]), found

    def _looked_at(self, first: int, hinge: int, expected: int) -> tuple[Array, Array, int, int]:
        """Many slopes of the hash: how many points each will serve, where h ends, and how far and
        for how many points that is."""
        largest = min(len(self.points) - first, int(1.35 * expected) + 3)
        x = self.points.x[first : first + largest]
        length, unit = int(x[-1]) - hinge, self.points.width << self.frame.scale
        ways = np.asarray((x - hinge) / length, dtype=np.float64)
        work = min(_WORK[0], _WORK[1] // (len(self.points) + 1024))
        seeds = min(max(_SEEDS[0], work // largest), _SEEDS[1])
        ends = self.rng.uniform(0, self.ends / self.points.width, seeds)
        sizes = np.unique(np.linspace(1, largest, min(_GRID, largest)).astype(np.int64))
        z = self.points.hashed[first : first + largest]
        bits = log2(self.frame.wave.bands)
        most = self.most - _SAFE[self.frame.plan.b > 0] / bits
        cap = (1 + log2(self.effort.beam)) / bits + _CAP
        given = z, ways, self.h / unit, ends, most, cap, sizes, bits
        return self.frame.hash.propose(*given), ends, length, largest

    def typical(self) -> float:
        """About how many points a group will have."""
        count = len(self.points)
        expected = max(2, int(len(self.columns) * self.most[-1]))
        if not self.frame.plan.hashed or count <= expected:
            return 0.93 * expected
        found = []
        for part in _PLACES:
            first = int(part * max(0, count - 1.35 * expected))
            hinge = int(self.points.x[first]) - 1
            found.append(float(self._looked_at(first, hinge, expected)[0].max()))
        return sum(found) / len(found)

    def _task(self, first: int, size: int, hinge: int, kappa: int) -> Strings | None:
        """The strings behind a hinge; None where h of a point lies too near to a fold."""
        frame = self.frame
        x = [v - hinge for v in self.points.x[first : first + size].tolist()]
        if frame.plan.hashed:
            z = self.z[first : first + size].tolist()
            h = [(a << frame.scale) + self.h + kappa * b for a, b in zip(z, x, strict=True)]
            reading = frame.hash.read(h, frame.scale)
            if not reading.clear:
                return None
        else:
            reading = Reading.none(size)
        return Strings(
            frame, self.points, self.columns, self.codes, self.values, first, x,
            reading, kappa, lambda count: self._length(first, hinge, count), self.effort.beam,
            self.rng,
        )  # fmt: skip
