"""Time of build and of exact verdict, every strategy.

Run ``python benchmarks/build.py``; prints a table and writes results/build.json. Every time is
the median of some repetitions. Those of build and verdict are in one process, on fresh data and a
fresh model: reading the data is not counted, compiling the plan is. The commands are ``hardmax
build``, which proves what it built, and ``hardmax verify``, in turns, from start to exit. Labels
are random, but for vowels; so `cover` runs without learning, the time of which is a choice of its
own (--no-learn). A limit that is missed has a "!".
"""

from __future__ import annotations

import json
import statistics
import sys
import tempfile
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from time import perf_counter

sys.path.insert(0, str(Path(__file__).parent))

from data import fresh_data, fresh_model, gaussian, save, text_like
from machine import command, facts

import hardmax as hm
from hardmax.certify.verify import misclassified

HERE = Path(__file__).parent
VOWELS = HERE.parent / "examples" / "vowels.json.gz"
REPETITIONS = 5
COMMANDS = 3
LIMIT_S = {("vowels", "paper"): 10.0, ("text-like N=1000", "paper"): 60.0}
EVERY = ("paper", "peel", "cover")


def sources() -> dict[str, tuple[Callable[[], hm.Dataset], Sequence[str]]]:
    """The data sets and their strategies."""
    return {
        "vowels": (partial(hm.load, VOWELS), EVERY),
        "text-like N=1000": (partial(text_like, 1000), EVERY),
        "text-like N=2000": (partial(text_like, 2000), EVERY),
        "text-like N=10000": (partial(text_like, 10_000), EVERY),
        "gaussian N=10000 d=16": (partial(gaussian, 10_000, 16), ("cover",)),
        "gaussian N=10000 d=64": (partial(gaussian, 10_000, 64), ("cover",)),
    }


def timed(run: Callable[[], object]) -> tuple[float, object]:
    start = perf_counter()
    result = run()
    return perf_counter() - start, result


def commands(name: str, data: hm.Dataset, strategy: str) -> tuple[float, float]:
    """Times of ``hardmax build`` and ``hardmax verify`` as whole processes."""
    with tempfile.TemporaryDirectory() as folder:
        given, model = VOWELS, Path(folder) / "model.npz"
        if name != "vowels":
            given = Path(folder) / "data.npz"
            save(data, given)
        how = ["--strategy", strategy, *(["--no-learn"] if strategy == "cover" else [])]
        builds, verdicts = [], []
        for _ in range(COMMANDS):
            builds.append(command("build", given, "-o", model, *how))
            verdicts.append(command("verify", model, given))
    return statistics.median(builds), statistics.median(verdicts)


def measure(name: str, data: hm.Dataset, strategy: str) -> dict[str, object]:
    builds, proofs = [], []
    for _ in range(REPETITIONS):
        took, model = timed(partial(hm.build, fresh_data(data), strategy=strategy, learn=False))
        builds.append(took)
        took, wrong = timed(partial(misclassified, fresh_model(model), fresh_data(data)))
        proofs.append(took)
    build, verdict = statistics.median(builds), statistics.median(proofs)
    whole_build, whole_verify = commands(name, data, strategy)
    return {
        "data": name,
        "strategy": strategy,
        "N": len(data),
        "tokens": len(data.tokens),
        "d": data.dimension,
        "blocks": len(model),
        "verdict": "refuted" if wrong else "proved",
        "build_s": float(f"{build:.3g}"),
        "verdict_s": float(f"{verdict:.3g}"),
        "build/verdict": float(f"{build / verdict:.3g}"),
        "hardmax build_s": float(f"{whole_build:.3g}"),
        "hardmax verify_s": float(f"{whole_verify:.3g}"),
        "commands": float(f"{whole_build / whole_verify:.3g}"),
        "limit_s": LIMIT_S.get((name, strategy)),
    }


def shown(row: dict[str, object], column: str) -> str:
    value = row[column]
    missed = column == "build_s" and row["limit_s"] is not None and value > row["limit_s"]
    missed |= column == "verdict" and value != "proved"
    return "" if value is None else f"{value}{'!' * missed}"


def main() -> None:
    rows = []
    for name, (load, strategies) in sources().items():
        data = load()
        rows += [measure(name, data, strategy) for strategy in strategies]
    columns = list(rows[0])
    table = [columns, *([shown(row, c) for c in columns] for row in rows)]
    widths = [max(len(cells[i]) for cells in table) for i in range(len(columns))]
    for cells in table:
        print("  ".join(cell.rjust(w) for cell, w in zip(cells, widths, strict=True)))
    results = {"machine": facts(), "repetitions": REPETITIONS, "rows": rows}
    (HERE / "results").mkdir(exist_ok=True)
    (HERE / "results" / "build.json").write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
