"""Changing the float mode of a process, as a library built with -ffast-math does when loaded.

The C library's fegetenv and fesetenv, called by ctypes, read and write the processor's control
register: mxcsr at byte 28 of the environment on x86-64, fpcr at byte 0 on 64-bit ARM.
"""

import platform
import subprocess
import sys

import pytest

BITS = {  # place of the register, and the bits that a mode sets
    "x86_64": (28, {"flush": 0x8040, "results": 0x8000, "operands": 0x40, "down": 0x2000,
                    "up": 0x4000, "zero": 0x6000}),
    "aarch64": (0, {"flush": 1 << 24, "up": 1 << 22, "down": 2 << 22, "zero": 3 << 22}),
}  # fmt: skip
PRELUDE = """
import ctypes, struct
_libm = ctypes.CDLL({library!r})
_place, _bits = {place!r}, {bits!r}
_all_bits = 0
for _each in _bits.values():
    _all_bits |= _each
def set_mode(name):
    environment = ctypes.create_string_buffer(64)
    _libm.fegetenv(environment)
    (register,) = struct.unpack_from("<I", environment, _place)
    register = register & ~_all_bits | _bits.get(name, 0)
    struct.pack_into("<I", environment, _place, register)
    _libm.fesetenv(environment)
"""


def prelude():
    """Python text that defines set_mode(name); any other name restores the standard mode."""
    found = BITS.get(platform.machine())
    if found is None or not sys.platform.startswith("linux"):
        pytest.skip("no way known to set the float mode here")
    place, bits = found
    return PRELUDE.format(library="libm.so.6", place=place, bits=bits)


def python(program, *arguments, folder=None, before=""):
    """Run ``before`` (in the standard mode), then a program that may call set_mode."""
    code = prelude() + before + "\n" + program
    return subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)],
        cwd=folder, capture_output=True, text=True, timeout=120,
    )  # fmt: skip
