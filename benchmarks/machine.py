"""Facts about the machine and the versions that a table of timings needs; times of commands."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from time import perf_counter


def facts() -> dict[str, object]:
    """Processor, cores, Python and library versions; no host name, no path."""
    return {
        "processor": _processor(),
        "cores": _cores(),
        "system": platform.system(),
        "python": platform.python_version(),
        **{name: version(name) for name in ("numpy", "scipy", "python-flint", "hardmax")},
    }


def command(*arguments: object) -> float:
    """Wall time of ``hardmax`` with these arguments, a whole process from start to exit."""
    # an installed program is compiled once, not each time
    compiled = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    words = [sys.executable, "-m", "hardmax", *map(str, arguments)]
    start = perf_counter()
    subprocess.run(words, check=True, capture_output=True, env=compiled)
    return perf_counter() - start


def _cores() -> int | None:
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity is not None else os.cpu_count()


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.machine()
