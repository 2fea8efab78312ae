"""Print the tables of README.md: ``python studies/convex_attention/tables.py``."""

from __future__ import annotations

import json
from pathlib import Path
from statistics import mean, stdev

RESULTS = Path(__file__).parent / "results"


def digits() -> None:
    rows = json.loads((RESULTS / "digits.json").read_text())
    names = list(dict.fromkeys((row["head"], row["activation"]) for row in rows))
    print("| head | activation | seeds | test accuracy | heads | largest gap | train | check |")
    print("|---|---|---|---|---|---|---|---|")
    for name, activation in names:
        own = [r for r in rows if (r["head"], r["activation"]) == (name, activation)]
        tests = [100 * r["test"] for r in own]
        spread = f" ± {stdev(tests):.1f}" if len(own) > 1 else ""
        certified = "gap" in own[0]
        gap = f"{max(r['gap'] for r in own):.1e}" if certified else "none"
        heads = f"{mean(sum(r['ranks']) for r in own):.0f}" if certified else "4"
        check = f"{mean(r['seconds']['check'] for r in own):.2f} s" if certified else ""
        train = f"{mean(r['seconds']['train'] for r in own):.2f} s"
        print(f"| {name} | {activation} | {len(own)} | {mean(tests):.1f}{spread} % | {heads} "
              f"| {gap} | {train} | {check} |")  # fmt: skip


def solvers() -> None:
    rows = json.loads((RESULTS / "solvers.json").read_text())
    print("\n| d² × dc | n | solver | seconds | above the best | memory |")
    print("|---|---|---|---|---|---|")
    for row in rows:
        d, c, n = row["d"], row["c"], row["n"]
        size = f"{d * d} × {d * c}"
        same = [r for r in rows if (r["d"], r["c"], r["n"]) == (d, c, n) and "objective" in r]
        if "failed" in row:
            print(f"| {size} | {n} | {row['solver']} | {row['failed']} | | |")
            continue
        best = min(r["objective"] for r in same)
        above = f"{row['objective'] / best - 1:.0e}" if row["objective"] > best else "0"
        print(f"| {size} | {n} | {row['solver']} | {row['seconds']:.2f} | {above} "
              f"| {row['peak_mb']} MB |")  # fmt: skip


if __name__ == "__main__":
    digits()
    solvers()
