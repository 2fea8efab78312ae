"""Random small integers: generic vectors with few bits."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from random import Random

from ...exact.numbers import Vector


def directions(rng: Random, dimension: int, size: int = 2) -> Iterator[Vector]:
    """Random non-zero integer vectors with entries of at most ``size``, then 2·size, ….

    A fixed range can fail for ever on lattices, so the range doubles after every four
    draws; whoever asks checks each vector exactly and stops at the first that serves.

    >>> from itertools import islice
    >>> [max(map(abs, v)) <= 2 for v in islice(directions(Random(0), 3), 4)]
    [True, True, True, True]
    """
    while True:
        for _ in range(4):
            v = tuple(Fraction(rng.randint(-size, size)) for _ in range(dimension))
            if any(v):
                yield v
        size *= 2
