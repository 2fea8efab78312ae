"""The mode of float arithmetic in a thread, on which every bound on rounding errors rests.

The bounds hold where IEEE 754 does: sums and products are rounded to nearest, and subnormal numbers
are numbers. A library built with ``gcc -ffast-math`` may change that for the thread that loads it,
and ``torch.set_flush_denormal(True)`` does. Some operations whose results are known tell the modes
apart; where one fails, nothing is decided.
"""

from __future__ import annotations

import struct

from .errors import FloatModeError

_ONE, _QUARTER, _THREE_QUARTERS = 1.0, 2.0**-54, 3 * 2.0**-54  # of the distance of 1 to its next
_LEAST_NORMAL, _HALF, _LARGE = 2.0**-1022, 0.5, 2.0**1000
# from its bytes: compiled in a wrong mode, a literal might be 0
(_LEAST,) = struct.unpack("<d", bytes([1, 0, 0, 0, 0, 0, 0, 0]))  # 2^-1074
_LEAST_ENLARGED = 2.0**-74


def is_standard() -> bool:
    """Whether this thread rounds to nearest and keeps subnormal numbers.

    >>> is_standard()
    True
    """
    return (
        _ONE + _QUARTER == _ONE  # does not round up,
        and -_ONE - _QUARTER == -_ONE  # nor down,
        and _ONE + _THREE_QUARTERS > _ONE  # nor towards zero
        and _LEAST * _LARGE == _LEAST_ENLARGED  # reads subnormal numbers,
        and _LEAST_NORMAL * _HALF * _LARGE > 0.0  # and makes them
    )


def check_float_mode() -> None:
    """Raise FloatModeError where float arithmetic in this thread breaks IEEE 754."""
    if not is_standard():
        raise FloatModeError(
            "float arithmetic in this process flushes subnormal numbers to zero or does not round "
            "to nearest, so nothing is decided; some library changed the mode of the processor "
            "(one built with -ffast-math, or torch.set_flush_denormal): run without it"
        )
