"""Means with confidence intervals, results as JSON with the machine's facts."""

from __future__ import annotations

import json
import platform
import sys
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path

import numpy as np
from scipy.stats import t as student

RESULTS = Path(__file__).parent / "results"


def interval(values: Sequence[float]) -> tuple[float, float]:
    """Mean and half-width of the 95 % interval of Student's t."""
    array = np.asarray(values, dtype=float)
    n = len(array)
    half = student.ppf(0.975, n - 1) * array.std(ddof=1) / np.sqrt(n) if n > 1 else float("nan")
    return float(array.mean()), float(half)


def shown(values: Sequence[float], factor: float = 1.0, digits: int = 1) -> str:
    """Mean ± half-width as text."""
    mean, half = interval(values)
    return f"{factor * mean:.{digits}f} ± {factor * half:.{digits}f}"


def write(name: str, content: object) -> None:
    """Write results/NAME.json with command and versions."""
    facts = {
        "command": f"python {Path(sys.argv[0]).name} {' '.join(sys.argv[1:])}".strip(),
        "processor": _processor(),
        "python": platform.python_version(),
        **{library: version(library) for library in ("numpy", "scipy", "torch", "scikit-learn")},
    }
    RESULTS.mkdir(exist_ok=True)
    text = json.dumps({"run": facts, "results": content}, indent=1, ensure_ascii=False)
    (RESULTS / f"{name}.json").write_text(text + "\n", encoding="utf-8")


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    for line in info.read_text().splitlines() if info.exists() else ():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.machine()
