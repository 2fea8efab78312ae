"""The ways of reading tokens among which cross-validation chooses."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ...dataset import Dataset, Reading
from ...exact.array import Array
from .features import Mixture

# A window has this many tokens, as in ROCKET and its kin.
_WINDOW = 9
_DILATIONS = (1, 2, 4, 8, 16, 32, 64)
# A window may have this many coordinates.
_WIDEST_WINDOW = 512
# All windows may have this many coordinates together; longer data get a stride.
_MOST_NUMBERS = 2**26

_MEAN = Mixture(0.0, 0.0)
_ORDERLESS = Mixture(0.5, 0.5)
_BOTH = Mixture(0.35, 0.35, 0.15, 0.15)
_PLACED = Mixture(0.0, 0.0, 0.5, 0.5)


@dataclass(frozen=True)
class Candidate:
    """A reading, and the kinds of feature that are drawn for it.

    ``whole``: each sequence is read as one token that holds all its values, a row of a table.
    """

    reading: Reading
    mixture: Mixture
    whole: bool = False


def candidates(data: Dataset) -> list[Candidate]:
    """What to try: means, whole sequences, windows, tokens alone, windows with positions.

    The last one sees most. Where the data are read in a way of their own already, it stays.

    >>> [c.reading.window for c in candidates(Dataset([[[1]], [[2]]], ["a", "b"]))]
    [1, 1]
    """
    given = replace(data.reading, lift=0)
    if given != Reading(label_sets=given.label_sets):
        mixtures = [_MEAN, _ORDERLESS, *([_BOTH, _PLACED] if given.positional else [])]
        return [Candidate(given, mixture) for mixture in mixtures]
    lengths = np.array([data.written_length(j) for j in range(len(data))])
    mean, alone = Candidate(given, _MEAN), Candidate(given, _ORDERLESS)
    if lengths.max() == 1:
        return [mean, alone]
    window = _window(data, int(np.median(lengths)), int(lengths.sum()), given)
    placed = replace(window, positional=True)
    found = [Candidate(window, _ORDERLESS)] if window.window > 1 else []
    whole = _whole(lengths, data.written_dimension, given)
    return [mean, *whole, *found, alone, Candidate(placed, _BOTH), Candidate(placed, _PLACED)]


def _whole(lengths: Array, channels: int, given: Reading) -> list[Candidate]:
    """Short sequences of one length as rows of a table."""
    length = int(lengths[0])
    if (lengths != length).any() or (2 * length - 1) * channels > _WIDEST_WINDOW:
        return []
    # the token at the first place is the only one, and its window reaches to the last place
    reading = replace(given, window=2 * length - 1, stride=length)
    return [Candidate(reading, mixture, True) for mixture in (_MEAN, _ORDERLESS)]


def _window(data: Dataset, length: int, tokens: int, given: Reading) -> Reading:
    """Nine neighbours at as many dilations as fit in a typical sequence and in the memory."""
    channels = data.written_dimension
    size = min(_WINDOW, max(1, length - 1 + length % 2))
    while size > 1 and size * channels > _WIDEST_WINDOW:
        size -= 2
    size = max(size, 1)
    found = replace(given, window=size)
    for dilation in _DILATIONS[1:]:
        wider = replace(found, dilations=(*found.dilations, dilation))
        if (size - 1) * dilation >= length or len(wider.offsets) * channels > _WIDEST_WINDOW:
            break
        found = wider
    stride = -(-tokens * len(found.offsets) * channels // _MOST_NUMBERS)
    return replace(found, stride=stride)
