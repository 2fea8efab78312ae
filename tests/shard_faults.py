"""Functions that workers run in the tests of faults; workers import this file."""

from __future__ import annotations

import os
import signal
from pathlib import Path


def die_once(marker: str, x: int) -> int:
    """Kill the worker the first time that this runs."""
    try:
        Path(marker).touch(exist_ok=False)
    except FileExistsError:
        return x * x
    os.kill(os.getpid(), signal.SIGKILL)
    return -1


def die(x: int) -> int:
    """Kill the worker."""
    os.kill(os.getpid(), signal.SIGKILL)
    return x
