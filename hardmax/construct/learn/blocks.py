"""The blocks of a learned model (docs/theory.md, *learn before the collapse*).

Coordinates: first those of the tokens as read, and at least M of them; then M − 1 *scores*, one
for each class but the last; then *mixtures* of the features, random and only there to tell
sequences apart. A feature block adds its feature, times its weights, to scores and mixtures of
every token. The collapse takes means, and a mean of weighted features is the weighted sum of
their means, so the scores are there without a further block. The read-out makes coordinate c
exactly (coordinate M) + (score c), so class c wins where its score is the largest; class M has
score zero.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from ...exact.array import Array
from ...model.layers import RankOneBlock
from .features import Features

# Bits of a weight, relative to the scores that its feature adds.
_WEIGHT_BITS = 14
# Bits of an entry of a random mixture of coordinates.
_MIXTURE_BITS = 4
# The offset of the read-out is this many times larger than any score of the data.
_OFFSET_RATIO = 2**10


@dataclass(frozen=True)
class Layout:
    """Which coordinate holds what.

    First the ``own`` coordinates of the tokens, of which the read-out changes M = ``classes``
    ones, or zeros behind them; ``scores`` is the first of M − 1 coordinates for the scores;
    ``mixtures`` more follow.
    """

    own: int
    scores: int
    classes: int
    mixtures: int = 0

    @property
    def dimension(self) -> int:
        """Of the model."""
        return self.scores + self.classes - 1 + self.mixtures

    @property
    def lift(self) -> int:
        """Coordinates that the model has more than its tokens."""
        return self.dimension - self.own


@dataclass(frozen=True)
class Weights:
    """What each of k features adds to the scores and mixtures, rounded to short numbers.

    Shapes: ``rows`` (k, M − 1 + mixtures), ``constants`` (M − 1,), added by the read-out.
    """

    rows: Array
    constants: Array

    def scores(self, features: Array) -> Array:
        """Scores (n, M) of means of features (n, k), as floats; the last is zero."""
        count = len(self.constants)
        found = features @ self.rows[:, :count] + self.constants
        return np.asarray(np.c_[found, np.zeros(len(found))])

    def lifted(self, features: Array) -> Array:
        """The lifted coordinates (n, M − 1 + mixtures) behind the collapse, as floats."""
        return np.asarray(features @ self.rows)

    def mixed(self, features: Array, count: int, rng: np.random.Generator) -> Weights:
        """With ``count`` random mixtures, in which every feature varies alike."""
        deviation = features.std(axis=0)
        size = np.where(deviation > 0, deviation, 1.0)
        random = rng.normal(size=(len(self.rows), count)) / size[:, None]
        more = np.c_[self.rows, _rounded(random, 2.0**-_MIXTURE_BITS / size[:, None])]
        return Weights(more, self.constants)


def weights(features: Array, matrix: Array, constants: Array) -> Weights:
    """Scores against the last class, in rounded numbers, for ``matrix`` (k, M), constants (M,)."""
    rows, shift = matrix[:, :-1] - matrix[:, -1:], constants[:-1] - constants[-1]
    deviation = features.std(axis=0)
    size = np.where(deviation > 0, deviation, 1.0)[:, None]
    unit = float((np.abs(rows) * size).max(initial=0.0)) or 1.0
    grid = unit * 2.0**-_WEIGHT_BITS
    return Weights(_rounded(rows, grid / size), _rounded(shift, np.full_like(shift, grid)))


def _rounded(values: Array, grid: Array) -> Array:
    """Multiples of the power of two next below ``grid``."""
    unit = 2.0 ** np.floor(np.log2(grid))
    return np.asarray(np.round(values / unit) * unit)


def feature_blocks(features: Features, weights: Weights, layout: Layout) -> list[RankOneBlock]:
    """One block for a ReLU, two for a ramp; attention is the identity."""
    blocks, d = [], layout.dimension
    for u, low, high, row in zip(
        features.u, features.low, features.high, weights.rows, strict=True
    ):
        inner, outer = [Fraction(0)] * d, [Fraction(0)] * d
        inner[: len(u)] = map(Fraction, u.tolist())
        outer[layout.scores :] = map(Fraction, row.tolist())
        blocks.append(RankOneBlock.of(d, u=inner, b=-Fraction(low), w=outer))
        if np.isfinite(high):
            back = [-x for x in outer]
            blocks.append(RankOneBlock.of(d, u=inner, b=-Fraction(high), w=back))
    return blocks


def collapse_block(layout: Layout, offset: Fraction = Fraction(0)) -> RankOneBlock:
    """Every token becomes the mean of its sequence, with ``offset`` added to coordinate M."""
    shift = [Fraction(0)] * layout.dimension
    shift[layout.classes - 1] = offset
    return RankOneBlock.translation(shift, rho=0, alpha=1)


def offset_for(means: Array, lifted: Array, weights: Weights) -> Fraction:
    """A power of two far above all numbers that the read-out adds on data like these."""
    largest = max(
        float(np.abs(part).max(initial=0.0)) for part in (means, lifted, weights.constants)
    )
    return Fraction(2) ** int(np.ceil(np.log2(max(largest, 2.0**-100)))) * _OFFSET_RATIO


def readout_blocks(weights: Weights, layout: Layout, offset: Fraction) -> list[RankOneBlock]:
    """M − 1 blocks: coordinate c becomes coordinate M plus score c, for c = 1 … M − 1.

    The collapse has put ``offset`` on coordinate M, so what each of them adds is positive.
    """
    blocks, d, last = [], layout.dimension, layout.classes - 1
    for c, constant in enumerate(weights.constants.tolist()):
        u, w = [Fraction(0)] * d, [Fraction(0)] * d
        u[layout.scores + c], u[c], u[last] = Fraction(1), Fraction(-1), Fraction(1)
        w[c] = Fraction(1)
        blocks.append(RankOneBlock.of(d, u=u, b=Fraction(constant), w=w))
    return blocks
