"""Growth with N: load, build and exact verdict on up to a million sequences.

Run ``python benchmarks/scale.py [--sizes N …] [--paper]``; prints tables and writes
results/scale.json (with --sizes, just what -o names). Gaussian tokens in float64, n = 4, d = 32,
two random labels, in an uncompressed .npz; strategy cover without learning, for there is nothing
to learn in random labels. Every size runs in a process of its own: wall time of each phase, peak
memory (ru_maxrss), blocks, verdict. After that:

- the growth exponent, the slope of log(time) against log(N) by least squares;
- vowels: ``hardmax build`` as a whole process, the median of 5;
- with --paper, text-like N = 10 000 by the strategy paper.

A limit that is missed has a "!".
"""

from __future__ import annotations

import argparse
import json
import math
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter

sys.path.insert(0, str(Path(__file__).parent))

from machine import command, facts

HERE = Path(__file__).parent
VOWELS = HERE.parent / "examples" / "vowels.json.gz"
SIZES = (10_000, 100_000, 1_000_000)
LENGTH, DIMENSION = 4, 32
LIMIT_S = {100_000: 20.0, 1_000_000: 240.0, "vowels, whole process": 1.0, "paper": 300.0}
LIMIT_GIB = {1_000_000: 12.0}


# ---- one phase each, in a process of its own ----


def write(path: str, count: int) -> dict[str, object]:
    """Write the data set; NumPy streams the array, so this takes little more than its size."""
    import numpy as np

    rng = np.random.default_rng(0)
    np.savez(
        path,
        tokens=rng.normal(size=(count * LENGTH, DIMENSION)),
        offsets=np.arange(count + 1, dtype=np.int64) * LENGTH,
        label=np.array(["no", "yes"])[rng.integers(0, 2, size=count)],
    )
    return {}


def prove(path: str, strategy: str) -> dict[str, object]:
    """Load, build and judge; what each phase took."""
    start = perf_counter()
    import hardmax as hm
    from hardmax.certify.verify import misclassified

    imported = perf_counter()
    data = hm.load(path)
    loaded = perf_counter()
    model = hm.build(data, strategy=strategy, **({"learn": False} if strategy == "cover" else {}))
    made = perf_counter()
    wrong = misclassified(model, data)
    judged = perf_counter()
    return {
        "N": len(data),
        "T": len(data.tokens),
        "d": data.dimension,
        "strategy": strategy,
        "blocks": len(model),
        "verdict": "refuted" if wrong else "proved",
        "import_s": imported - start,
        "load_s": loaded - imported,
        "build_s": made - loaded,
        "exact_s": judged - made,
        "total_s": judged - start,
        "peak_GiB": peak_gib(),
        "build/exact": (made - loaded) / (judged - made),
    }


def peak_gib() -> float:
    """Peak resident memory of this process; ru_maxrss counts KiB, on macOS bytes."""
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 2**30


def write_text(path: str, count: int) -> dict[str, object]:
    """Write the text-like data set of data.py."""
    from data import save, text_like

    save(text_like(count), path)
    return {}


# ---- the parent, which stays small: ru_maxrss of a child starts at what its parent had ----


def in_process(name: str, *arguments: object) -> dict[str, object]:
    """Call a function above in a fresh interpreter."""
    words = [sys.executable, __file__, "--call", name, *map(str, arguments)]
    done = subprocess.run(words, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{name} {arguments} failed:\n{done.stderr[-3000:]}")
    return json.loads(done.stdout.splitlines()[-1])


def vowels(repetitions: int = 5) -> dict[str, object]:
    """Wall time of ``hardmax build`` on the vowels, from start to exit."""
    times = []
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(repetitions):
            times.append(command("build", VOWELS, "-o", Path(folder) / "model.npz"))
    name = "vowels, whole process"
    return {"what": name, "median_s": statistics.median(times), "limit_s": LIMIT_S[name]}


def paper(folder: str, count: int = 10_000) -> dict[str, object]:
    """Load, build and judge text-like data by the strategy paper."""
    path = Path(folder) / "text.npz"
    in_process("write_text", path, count)
    return in_process("prove", path, "paper") | {"limit_s": LIMIT_S["paper"]}


def exponent(rows: list[dict], column: str) -> float | None:
    """Slope of log(time) against log(N), by least squares."""
    if len(rows) < 2:
        return None
    x = [math.log(row["N"]) for row in rows]
    y = [math.log(row[column]) for row in rows]
    return statistics.linear_regression(x, y).slope


def shown(row: dict[str, object], column: str) -> str:
    value, limit = row.get(column), None
    if column == "total_s" or column == "median_s":
        limit = row.get("limit_s")
    elif column == "peak_GiB":
        limit = row.get("limit_GiB")
    if value is None:
        return ""
    text = f"{value:.3g}" if isinstance(value, float) and abs(value) < 1000 else f"{value}"
    missed = limit is not None and value > limit
    missed |= column == "verdict" and value != "proved"
    return text + "!" * missed


def show(rows: list[dict[str, object]]) -> None:
    """Print an aligned table."""
    columns = list(dict.fromkeys(column for row in rows for column in row))
    table = [columns, *([shown(row, c) for c in columns] for row in rows)]
    widths = [max(len(cells[i]) for cells in table) for i in range(len(columns))]
    for cells in table:
        print("  ".join(text.rjust(w) for text, w in zip(cells, widths, strict=True)))
    print()


def rounded(row: dict[str, object]) -> dict[str, object]:
    return {k: float(f"{v:.4g}") if isinstance(v, float) else v for k, v in row.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", type=int, nargs="*", default=list(SIZES))
    parser.add_argument("--paper", action="store_true", help="also text-like N=10000, a minute")
    parser.add_argument("--folder", help="where to write the data, by default a temporary folder")
    parser.add_argument("-o", "--output", type=Path, help="where the results go")
    parser.add_argument("--call", nargs="+", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.call:
        name, path, argument = options.call
        known = {"write": write, "write_text": write_text, "prove": prove}
        print(json.dumps(known[name](path, argument if name == "prove" else int(argument))))
        return
    setting = {key: os.environ.get(key) for key in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS")} | {
        "load_before": round(os.getloadavg()[0], 2)
    }
    processes, rows, papers = [rounded(vowels())], [], []
    print(json.dumps(processes[-1]), file=sys.stderr, flush=True)
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        for count in options.sizes:
            path = Path(folder) / f"{count}.npz"
            in_process("write", path, count)
            row = in_process("prove", path, "cover")
            path.unlink()
            row |= {"limit_s": LIMIT_S.get(count), "limit_GiB": LIMIT_GIB.get(count)}
            rows.append(rounded(row))
            print(json.dumps(rows[-1]), file=sys.stderr, flush=True)
        if options.paper:
            papers.append(rounded(paper(folder)))
    growth = {
        column: exponent(rows, column) for column in ("load_s", "build_s", "exact_s", "total_s")
    }
    print("strategy cover, --no-learn", end="\n\n")
    if rows:
        show(rows)
    print(
        "growth exponents:",
        ", ".join(f"{k} {v:.2f}" for k, v in growth.items() if v is not None) or "one size only",
        end="\n\n",
    )
    show(processes)
    if papers:
        show(papers)
    if options.sizes != list(SIZES) and not options.output:
        return
    results = {
        "machine": facts() | setting,
        "rows": rows,
        "growth": rounded(growth),
        "whole_process": processes,
        "paper": papers,
    }
    path = options.output or HERE / "results" / "scale.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
