"""Random features of tokens, each made of one or two ReLUs, and their means over sequences.

A feature of a token z is clip(⟨u, z⟩ − low, 0, high − low): the ReLU of ⟨u, z⟩ − low where
high is infinite, else a *ramp*, the difference of two ReLUs. The mean of a steep ramp is nearly
the share of the tokens with ⟨u, z⟩ > low, as in ROCKET (Dempster et al. 2020); its kernels of
weights −1 and 2 are among those drawn here. Everything in this module is a proposal in float64.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...dataset import Reading
from ...exact.array import Array

# A pool has this many kernels.
_KERNELS = 600
# Each kernel has this many thresholds, spread over the quantiles of its values.
_THRESHOLDS = 4
# A ramp covers this share of the values of its kernel.
_RAMP_WIDTH = 0.1
# This many tokens show how the values of a kernel are spread.
_SAMPLED_TOKENS = 15_000
# This many values of features are computed at a time.
_VALUES_AT_A_TIME = 2**22
# Bits of an entry of a kernel, relative to the largest.
_KERNEL_BITS = 6
# Bits of a threshold, relative to the standard deviation of the kernel's values.
_THRESHOLD_BITS = 8
# A kernel sees this many channels at most.
_MOST_CHANNELS = 9


@dataclass(frozen=True)
class Features:
    """K features of tokens in ℝ^d.

    Shapes: ``u`` (K, d), ``low`` and ``high`` (K,). All are short dyadic numbers, but for an
    infinite ``high``.
    """

    u: Array
    low: Array
    high: Array

    def __len__(self) -> int:
        return len(self.low)

    @property
    def cost(self) -> Array:
        """Blocks that each feature takes, (K,): one, or two for a ramp."""
        return np.where(np.isfinite(self.high), 2, 1)

    def select(self, rows: Array) -> Features:
        """Some of the features."""
        return Features(self.u[rows], self.low[rows], self.high[rows])

    def means(self, tokens: Array, offsets: Array) -> Array:
        """Means (N, K) over the sequences ``tokens[offsets[j]:offsets[j+1]]`` of tokens (T, d).

        >>> one = Features(np.array([[1.0, 0.0]]), np.array([2.0]), np.array([np.inf]))
        >>> one.means(np.array([[3.0, 9.0], [5.0, 9.0], [1.0, 0.0]]), np.array([0, 2, 3]))
        array([[2.],
               [0.]])
        """
        found = np.empty((len(offsets) - 1, len(self)))
        width = self.high - self.low
        first = 0
        while first < len(found):
            room = offsets[first] + max(1, _VALUES_AT_A_TIME // max(1, len(self)))
            last = max(first + 1, int(np.searchsorted(offsets, room, side="right")) - 1)
            values = tokens[offsets[first] : offsets[last]] @ self.u.T
            values -= self.low
            np.clip(values, 0, width, out=values)
            np.add.reduceat(
                values, offsets[first:last] - offsets[first], axis=0, out=found[first:last]
            )
            first = last
        return found / np.diff(offsets)[:, None]

    def behind(self, count: int) -> Features:
        """The same features of tokens that have ``count`` more coordinates in front."""
        return Features(np.pad(self.u, ((0, 0), (count, 0))), self.low, self.high)

    @classmethod
    def joined(cls, parts: Sequence[Features]) -> Features:
        """All features of several pools on the same tokens."""
        return cls(*(np.concatenate([getattr(p, name) for p in parts]) for name in _FIELDS))


_FIELDS = ("u", "low", "high")


@dataclass(frozen=True)
class Mixture:
    """The shares of four kinds of feature in a pool; those with positions need them read.

    Every pool holds the coordinates of the tokens as well; with no share at all, only these.
    """

    relus: float
    ramps: float
    placed_relus: float = 0.0
    placed_ramps: float = 0.0

    @property
    def places(self) -> bool:
        """Whether some kernels look at the positions of tokens."""
        return self.placed_relus > 0 or self.placed_ramps > 0


def draw(
    tokens: Array, reading: Reading, channels: int, mixture: Mixture, rng: np.random.Generator
) -> Features:
    """Draw a pool of features for tokens (T, d) that were read as ``reading`` says.

    ``channels`` is the dimension of the tokens in the file. Kernels whose values do not vary over
    the tokens are left out.
    """
    some = tokens[rng.permutation(len(tokens))[:_SAMPLED_TOKENS]]
    spread = some.std(axis=0)
    parts = [_coordinates(some, reading.offsets.index(0) * channels, channels)]
    kinds = (
        (mixture.relus, False, False),
        (mixture.ramps, True, False),
        (mixture.placed_relus, False, True),
        (mixture.placed_ramps, True, True),
    )
    for share, ramps, placed in kinds:
        count = round(share * _KERNELS)
        if count:
            u = _kernels(count, spread, reading, channels, tokens.shape[1], rng)
            if placed:
                _place(u, some, len(reading.offsets) * channels, rng)
            parts.append(_thresholds(_short(u, _KERNEL_BITS), some, ramps, rng))
    return Features.joined(parts)


def _coordinates(some: Array, first: int, count: int) -> Features:
    """The coordinates of the tokens themselves, as ReLUs that are linear on data like these."""
    values = some[:, first : first + count]
    deviation = values.std(axis=0)
    varies = np.flatnonzero(deviation > 0)
    grid = 2.0 ** np.floor(np.log2(deviation[varies]))
    low = np.floor(values.min(axis=0)[varies] / grid - 8) * grid
    u = np.zeros((len(varies), some.shape[1]))
    u[np.arange(len(varies)), first + varies] = 1
    return Features(u, low, np.full(len(varies), np.inf))


def _kernels(
    count: int,
    spread: Array,
    reading: Reading,
    channels: int,
    width: int,
    rng: np.random.Generator,
) -> Array:
    """Kernels (count, d): one dilation and a few channels each, in units of their deviation.

    Half of them have the weights −1 and three times 2; the others are Gaussian, half of these
    with mean zero. A window of one token gets Gaussian weights.
    """
    u = np.zeros((count, width))
    place = {offset: k * channels for k, offset in enumerate(reading.offsets)}
    size = reading.window
    steps = np.arange(size) - (size - 1) // 2
    unit = np.where(spread > 0, 1 / np.where(spread > 0, spread, 1.0), 0.0)
    most = min(channels, _MOST_CHANNELS)
    for row in u:
        dilation = int(rng.choice(reading.dilations))
        several = min(most, int(2 ** rng.uniform(0, np.log2(most + 1))))
        for channel in rng.choice(channels, several, replace=False).tolist():
            kind = rng.random()
            if size == 1 or kind < 0.5:
                weights = rng.normal(size=size)
                if size > 1 and kind < 0.25:
                    weights -= weights.mean()
            else:
                weights = np.full(size, -1.0)
                weights[rng.choice(size, min(3, size), replace=False)] = 2.0
                weights *= rng.choice([-1, 1])
            for step, weight in zip((steps * dilation).tolist(), weights.tolist(), strict=True):
                row[place[step] + channel] += weight * unit[place[step] + channel]
    return u


def _place(u: Array, some: Array, place: int, rng: np.random.Generator) -> None:
    """Let kernels look at the positions, which are coordinate ``place`` of the tokens.

    For half of them a position is worth as much as a value of the kernel; the others are steep,
    so that only tokens behind a place, or only those before it, count.
    """
    deviation = (some @ u.T).std(axis=0)
    length = float(some[:, place].max())
    gentle = rng.normal(size=len(u)) * deviation * 6 / length
    steep = 8 * deviation * rng.choice([-1, 1], len(u)) / max(1.0, length / 16)
    u[:, place] = np.where(rng.random(len(u)) < 0.5, gentle, steep)


def _thresholds(u: Array, some: Array, ramps: bool, rng: np.random.Generator) -> Features:
    """Features of all kernels at random quantiles of their values, one in each quarter."""
    values = np.sort(some @ u.T, axis=0)
    deviation = values.std(axis=0)
    varies = deviation > 1e-9 * np.abs(values).max(axis=0)
    u, values, deviation = u[varies], values[:, varies], deviation[varies]
    last, every = len(values) - 1, np.arange(len(u))
    grid = 2.0 ** (np.floor(np.log2(deviation)) - _THRESHOLD_BITS)
    parts = []
    for k in range(_THRESHOLDS):
        level = (k + rng.random(len(u))) / _THRESHOLDS
        ends = level[:, None] + (np.array([-0.5, 0.5]) * _RAMP_WIDTH if ramps else np.zeros(2))
        rank = np.clip(ends * last, 0, last).astype(int)
        low, high = (np.round(values[rank[:, i], every] / grid) * grid for i in (0, 1))
        high = np.maximum(high, low + grid) if ramps else np.full(len(u), np.inf)
        parts.append(Features(u, low, high))
    return Features.joined(parts)


def _short(values: Array, bits: int) -> Array:
    """Rows rounded to so many bits behind the leading one of their largest entry.

    >>> _short(np.array([[1.0, 0.301]]), 2)
    array([[1.  , 0.25]])
    """
    size = np.abs(values).max(axis=1, keepdims=True)
    grid = 2.0 ** (np.floor(np.log2(np.where(size > 0, size, 1.0))) - bits)
    return np.asarray(np.round(values / grid) * grid)
