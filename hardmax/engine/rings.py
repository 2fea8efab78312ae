"""Two kinds of numbers to compute with exactly: integers, and residues of them.

Arrays have a leading axis: of length 1 for Python integers; one entry for each modulus for
residues, which are float64 integers of at most p/2 + 4 in absolute value. Sums of so many products
of two of them as the `rings` are for are integers below 2^53: float64 arithmetic on them is exact,
in any order. Such a sum is *wide*: it is `reduced` before it is multiplied again.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import cache, cached_property
from math import prod

import numpy as np

from .rounding import Array
from .sums import PIECE, Limbs

TERMS = 2000  # products in a sum, at most
_ROOMS = 24, 22  # bits of a modulus; float32 holds 24
_LARGEST = (1 << 53) - (1 << 24)  # sums: float64 holds them, and multiples of a modulus near them
_WINDOW = 1 << 11  # below 2^24 or 2^22, where the moduli come from
_FEW = 5  # primes of a ring: what is computed at once stays in the cache


class Integers:
    """ℤ, in arrays (1, …) of Python integers."""

    exact = True
    primes: tuple[int, ...] = ()
    kind = np.dtype(object)
    size = 1
    bits = sys.maxsize  # any number is told from 0

    def part(self, bits: int) -> Integers:
        """All of ℤ."""
        return self

    def of(self, limbs: Limbs, factor: int = 1, counts: Array | None = None) -> Array:
        """The numerators of some rationals, times a factor; and times ``counts`` (n,), int64 ≥ 0,
        rows (n, d) of them."""
        found = limbs.integers()[None] * factor
        return found if counts is None else found * self.counts(counts)[..., None]

    def counts(self, numbers: Array) -> Array:
        """Some int64 ≥ 0 (n,), (1, n)."""
        return numbers[None].astype(object)

    def scalars(self, *integers: int) -> Array:
        """Some integers, (1, number of them)."""
        return np.array([integers], dtype=object)

    def reduced(self, x: Array) -> Array:
        """The same numbers, as short as can be."""
        return x


class Residues:
    """ℤ modulo a few odd primes p < 2^24, in arrays (len(primes), …) of float64.

    >>> ring = Residues([5, 7])
    >>> ring.of(Limbs.of(np.array([10**30 + 1], dtype=object))).tolist()
    [[1.0], [2.0]]
    """

    exact = False
    kind = np.dtype(np.float32)  # what is kept fits

    def __init__(self, primes: Sequence[int]) -> None:
        self.primes = tuple(primes)
        self.size = len(primes)
        self.bits = prod(primes).bit_length() - 1  # numbers below 2^bits are told from 0
        self._p = np.array(primes, dtype=np.float64)
        self._many = (2 << 53 - PIECE) // max(primes) - 1  # pieces times residues in a sum

    def part(self, bits: int) -> Residues:
        """The first of the primes, as many as tell numbers below 2^bits from 0; or all.

        >>> rings(17)[0].part(40).primes
        (16777213, 16777199)
        """
        for part in self._parts:
            if part.bits >= bits:
                return part
        return self

    @cached_property
    def _parts(self) -> list[Residues]:
        return [Residues(self.primes[:k]) for k in range(1, self.size)]

    def of(self, limbs: Limbs, factor: int = 1, counts: Array | None = None) -> Array:
        """Residues of the numerators of some rationals, times a factor: one matrix product. And
        times ``counts`` (n,), int64 ≥ 0, rows (n, d) of them."""
        pieces, places = limbs.pieces
        if counts is not None:
            if len(places) * int(counts.max(initial=1)) > self._many:
                return self.reduced(self.of(limbs, factor) * self.counts(counts)[..., None])
            pieces = pieces * counts[:, None]  # as if so many were added
        if len(places) > self._many:  # their sum might not be exact
            integers = limbs.integers() * factor
            return self.reduced(np.array([(integers % p).astype(np.float64) for p in self.primes]))
        weights = self.scalars(*(factor << place for place in places))
        found = weights @ pieces.reshape(len(pieces), -1)
        return self.reduced(found.reshape(self.size, *pieces.shape[1:]))

    def counts(self, numbers: Array) -> Array:
        """Residues of some int64 ≥ 0 (n,), (primes, n)."""
        if 2 * int(numbers.max(initial=0)) > min(self.primes):
            return self.of(Limbs((numbers,), 0, 1))
        return np.repeat(numbers[None].astype(np.float64), self.size, axis=0)

    def scalars(self, *integers: int) -> Array:
        """Residues of some integers, (primes, number of them)."""
        return np.array([[float(self._balanced(k % p, p)) for k in integers] for p in self.primes])

    def reduced(self, x: Array) -> Array:
        """Residues of integers up to 2^53 − 2^24, in place; zero for multiples of p.

        The computed quotient is within 2^53/p · 2^-52 = 2/p of the true one, so the residues are at
        most p/2 + 2 in absolute value, and every operation here is exact or followed by rint.
        """
        p = self._p.reshape(-1, *(1,) * (x.ndim - 1))
        quotients = x * (1 / p)
        np.rint(quotients, out=quotients)
        quotients *= p
        x -= quotients
        return x

    @staticmethod
    def _balanced(residue: int, p: int) -> int:
        return residue - p if 2 * residue > p else residue


Ring = Integers | Residues


def rings(terms: int) -> tuple[Residues, ...]:
    """Rings of residues modulo a few primes each, no prime twice, that so many products of
    residues may be added in. The fewer these are, the larger are the primes.

    >>> [ring.bits for ring in rings(TERMS)[:2]], rings(TERMS)[0].primes[:3]
    ([109, 109], (4194301, 4194287, 4194277))
    >>> [ring.bits for ring in rings(17)[:2]]
    [119, 119]
    """
    return _rings(next(room for room in _ROOMS if terms * ((1 << room - 1) + 4) ** 2 < _LARGEST))


@cache
def _rings(room: int) -> tuple[Residues, ...]:
    low = (1 << room) - _WINDOW
    prime = np.ones(_WINDOW, dtype=bool)
    prime[::2] = False
    for factor in range(3, 1 << room // 2, 2):
        prime[-low % factor :: factor] = False
    primes = (low + np.flatnonzero(prime))[::-1].tolist()
    return tuple(Residues(primes[i : i + _FEW]) for i in range(0, len(primes) - _FEW + 1, _FEW))
