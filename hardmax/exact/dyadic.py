"""Float64 numbers as the integers times powers of two that they are, whole arrays at once."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

_CHUNK = 1 << 16  # entries that are processed at once: they fit the processor's cache


def chunks(size: int) -> Iterator[slice]:
    """Slices that cut 0, …, size − 1 into parts, so that no temporary is as large as the whole.

    >>> list(chunks(3))
    [slice(0, 65536, None)]
    """
    return (slice(start, start + _CHUNK) for start in range(0, size, _CHUNK))


def odd_parts(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Write finite floats as n·2^p with n odd, or n = p = 0: int64 arrays n, p of their shape.

    >>> odd_parts(np.array([0.5, -12.0, 0.0]))
    (array([ 1, -3,  0]), array([-1,  2,  0]))
    """
    mantissas, exponents = np.frexp(values)
    integers = (mantissas * 2.0**53).astype(np.int64)  # exact: 53 bits each
    trailing = np.bitwise_count((integers & -integers) - 1).astype(np.int64)
    powers = exponents - 53 + trailing
    powers[integers == 0] = 0
    return integers >> trailing, powers


def float_bits(values: np.ndarray) -> np.ndarray:
    """Bits of each finite float other than zero, as `hardmax.numbers.bits` counts them; int64.

    >>> float_bits(np.array([5.0, -0.375]))
    array([3, 6])
    """
    odd, powers = odd_parts(values)
    # |n| < 2^53 is a float, so its exponent is its number of bits
    sizes = np.frexp(odd.astype(np.float64))[1].astype(np.int64)
    return sizes + np.where(powers < 0, 1 - powers, powers)


def least_shift(values: np.ndarray, room: int) -> int | None:
    """Least s ≥ 0 such that all of a flat array times 2^s are integers.

    None where some of these integers would need more than ``room`` ≤ 1000 bits.

    >>> least_shift(np.array([0.75, 8.0]), 53), least_shift(np.array([0.75, 2.0**52]), 53)
    (2, None)
    """
    shift, longest = 0, -2000
    for part in chunks(len(values)):
        some = values[part][values[part] != 0]
        if len(some):
            shift = max(shift, -int(odd_parts(some)[1].min()))
            longest = max(longest, int(np.frexp(some)[1].max()))
            if longest + shift > room:
                return None
    return shift


def rounded_to(values: np.ndarray, bits: int) -> np.ndarray:
    """Nearest numbers with at most ``bits`` bits.

    >>> rounded_to(np.array([0.7, -3.3]), 2)
    array([ 0.75, -3.  ])
    """
    mantissa, exponent = np.frexp(values)
    return np.asarray(np.ldexp(np.round(np.ldexp(mantissa, bits)), exponent - bits))
