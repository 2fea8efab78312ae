"""Time of build and of exact verification, strategy paper.

Run ``python benchmarks/build.py``; prints a table and writes results/build.json. Every time is
the median of some repetitions in one process, reading the data not counted.
"""

from __future__ import annotations

import json
import statistics
import sys
from pathlib import Path
from time import perf_counter

sys.path.insert(0, str(Path(__file__).parent))

from data import text_like
from machine import facts

import hardmax as hm

HERE = Path(__file__).parent
REPETITIONS = 3


def measure(name: str, data: hm.Dataset, limit: float) -> dict[str, object]:
    builds, proofs = [], []
    for _ in range(REPETITIONS):
        start = perf_counter()
        model = hm.build(data)
        builds.append(perf_counter() - start)
        start = perf_counter()
        certificate = hm.certify(model, data)
        proofs.append(perf_counter() - start)
    return {
        "data": name,
        "N": certificate.N,
        "tokens": certificate.tokens,
        "d": certificate.d,
        "blocks": certificate.blocks,
        "bound": certificate.bounds.block_bound,
        "verdict": certificate.verdict,
        "build_s": round(statistics.median(builds), 3),
        "verify_s": round(statistics.median(proofs), 3),
        "limit_s": limit,
    }


def main() -> None:
    rows = [
        measure("vowels", hm.load(HERE.parent / "examples" / "vowels.json.gz"), 10),
        measure("text-like N=1000", text_like(1000), 60),
    ]
    columns = list(rows[0])
    widths = [max(len(c), *(len(str(row[c])) for row in rows)) for c in columns]
    for cells in (columns, *([str(row[c]) for c in columns] for row in rows)):
        print("  ".join(cell.rjust(w) for cell, w in zip(cells, widths, strict=True)))
    results = {"machine": facts(), "repetitions": REPETITIONS, "rows": rows}
    (HERE / "results").mkdir(exist_ok=True)
    (HERE / "results" / "build.json").write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
