"""Depth of strategy fold on random labels: L, bits and times, beside 2√(N log₂M/(d−2)).

Run ``python benchmarks/fold.py [--only table|more|ladder] [--least N] [--most N]``; prints what it
measures, writes it into results/fold.json, where other rows stay, and draws results/fold.svg.
Points are uniform, labels random and independent of them; every model is proved.
"""

from __future__ import annotations

import argparse
import json
import resource
from math import log2 as log
from math import sqrt
from pathlib import Path
from time import perf_counter, process_time

import numpy as np
from machine import facts

import hardmax as hm
from hardmax.certify.lower_bounds import counting_lower_bound

RESULTS = Path(__file__).parent / "results" / "fold.json"
TABLE = [(n, d, m) for n in (1000, 10_000) for m in (2, 10) for d in (4, 8, 16, 32)]
MORE = [
    (100, 4, 2), (100, 8, 10), (300, 5, 3), (1000, 12, 100), (3000, 3, 2), (3000, 8, 2),
    (3000, 64, 2), (10_000, 24, 4),
]  # fmt: skip
LADDER = [(n, d, 2) for n in (1000, 3000, 10_000, 30_000, 100_000, 300_000, 10**6) for d in (8, 32)]
CASES = {"table": TABLE, "more": MORE, "ladder": LADDER}


def uniform(count: int, dimension: int, labels: int) -> hm.Dataset:
    """Sequences of one token with 20 bits in each coordinate."""
    rng = np.random.default_rng(count + dimension + labels)
    points = rng.integers(0, 1 << 20, (count, dimension))
    return hm.Dataset(points[:, None], rng.integers(0, labels, count))


def measure(count: int, dimension: int, labels: int) -> dict[str, object]:
    """Build and prove one model."""
    data = uniform(count, dimension, labels)
    start, cpu = perf_counter(), process_time()
    model = hm.build(data, strategy="fold")
    built, built_cpu = perf_counter() - start, process_time() - cpu
    start, cpu = perf_counter(), process_time()
    proof = hm.certify(model, data)
    verified, verified_cpu = perf_counter() - start, process_time() - cpu
    if not proof.proved:
        raise SystemExit(f"refuted: {proof.witnesses[0].sentence()}")
    formula = 2 * sqrt(count * log(labels) / (dimension - 2))
    return {
        "N": count,
        "d": dimension,
        "M": labels,
        "blocks": len(model),
        "stages": model.stage_counts(),
        "formula": round(formula, 1),
        "ladder": round(2 * len(model) / formula, 3),
        "lower_bound": counting_lower_bound(count, dimension, labels),
        "parameters": proof.parameters,
        "total_bits": proof.total_bits,
        "max_bits": proof.max_bits,
        "build_s": round(built, 2),
        "build_cpu_s": round(built_cpu, 2),
        "verify_s": round(verified, 2),
        "verify_cpu_s": round(verified_cpu, 2),
        "peak_gib": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20, 2),
    }


def draw(rows: list[dict[str, object]]) -> None:
    """The ladder, beside the 2 that Theorem 11 promises for typical points and large N."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams |= {"svg.hashsalt": "fold", "svg.fonttype": "none"}
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(6, 3), layout="constrained")
    for d, colour in ((8, "#0072b2"), (32, "#d55e00")):
        steps = sorted((row["N"], row["ladder"]) for row in rows if row["d"] == d and row["M"] == 2)
        axes.plot(*zip(*steps, strict=True), color=colour, marker="o", label=f"d = {d}")
    axes.axhline(2, color="#444444", linewidth=0.9, dashes=(4, 3), label="limit of Theorem 11")
    axes.set(xscale="log", ylim=(0, None), xlabel="sequences N", ylabel="L / √(N log₂M / (d−2))")
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False)
    figure.savefig(RESULTS.with_suffix(".svg"), metadata={"Date": None})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", choices=CASES, help="one of the three lists of cases")
    parser.add_argument("--least", type=int, default=0, help="smallest number of points")
    parser.add_argument("--most", type=int, default=10_000, help="largest number of points")
    options = parser.parse_args()
    chosen = [options.only] if options.only else list(CASES)
    cases = dict.fromkeys(case for name in chosen for case in CASES[name])
    known = json.loads(RESULTS.read_text())["rows"] if RESULTS.exists() else []
    rows = {(row["N"], row["d"], row["M"]): row for row in known}
    for case in cases:
        if options.least <= case[0] <= options.most:
            row = rows[case] = measure(*case)
            print(*(f"{key} {value}" for key, value in row.items() if key != "stages"), flush=True)
            results = {"machine": facts(), "rows": [rows[key] for key in sorted(rows)]}
            RESULTS.write_text(json.dumps(results, indent=1, default=str) + "\n")
    draw(list(rows.values()))


if __name__ == "__main__":
    main()
