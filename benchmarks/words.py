"""Verdicts on discrete data: words, counts, grids and binary vectors, where means tie, points
share hyperplanes and thresholds hold with equality.

Run ``python benchmarks/words.py [--only TEXT …] [-o FILE]``; it prints a table and writes
results/words.json (with --only, just what -o names). Of each row:

- build: of the model, in seconds, from data of which nothing is remembered.
- cold: the exact verdict on a fresh model and fresh data, compilation included.
- B1: a plain NumPy forward pass of the same model in float64 (baselines/numpy_blocks.py).
- cold/B1, the least of three turns. A ratio above 1 has a "!", as has a build that takes more than
  10 s and more than 10 cold verdicts.
- exponent: of cold in N, from the row before of the same data and strategy, where there is one.

All times are of the processor, of all threads together (``time.process_time``), so that they mean
something on a machine where other work runs. BLAS is kept to one thread.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from functools import partial
from math import log
from pathlib import Path
from time import process_time

sys.path.insert(0, str(Path(__file__).parent))

from baselines import numpy_blocks
from data import fresh_data, fresh_model, lattice, words
from machine import facts

import hardmax as hm
from hardmax.certify.verify import misclassified
from hardmax.model.parameters import NAMES
from hardmax.threads import one_blas_thread

HERE = Path(__file__).parent
TURNS = 3
Load = Callable[[int], hm.Dataset]

SOURCES: dict[str, tuple[Load, dict[str, tuple[int, ...]]]] = {
    "words, positions": (
        partial(words, positional=True),
        {"cover": (1000, 5000, 30_000, 100_000), "paper": (1000, 5000, 30_000)},
    ),
    "words, bags": (
        partial(words, positional=False),
        {"cover": (1000, 5000, 30_000), "paper": (1000, 5000)},
    ),
    **{
        kind: (partial(lattice, kind), {"cover": (1000, 5000, 30_000), "paper": (1000, 5000)})
        for kind in ("counts", "grid", "binary")
    },
}


def timed(run: Callable[[], object]) -> float:
    start = process_time()
    run()
    return process_time() - start


def measure(name: str, strategy: str, count: int, data: hm.Dataset) -> dict[str, object]:
    """One row; times in seconds."""
    models: list[hm.Transformer] = []
    build = timed(lambda: models.append(hm.build(fresh_data(data), strategy=strategy)))
    model = models[0]
    arrays = [model.parameters.arrays[each].values for each in NAMES]
    turns: list[tuple[float, float]] = []
    for turn in range(TURNS + 1):
        fresh = fresh_model(model), fresh_data(data)
        wrong: list[object] = []
        cold = timed(lambda fresh=fresh, wrong=wrong: wrong.extend(misclassified(*fresh)))
        if wrong:
            raise AssertionError(f"{name} {strategy} {count} is refuted")
        given = (*arrays, fresh[1].tokens.values, fresh[1].offsets)
        plain = timed(partial(numpy_blocks.outputs, *given))
        if turn:  # the first one imports what the others find
            turns.append((cold, plain))
    cold, plain = min(turns, key=lambda pair: pair[0] / pair[1])
    return {
        "data": name,
        "strategy": strategy,
        "N": len(data),
        "T": len(data.tokens),
        "d": data.dimension,
        "blocks": len(model),
        "build": round(build, 2),
        "cold": round(cold, 4),
        "B1": round(plain, 4),
        "cold/B1": round(cold / plain, 2),
    }


def cell(column: str, row: dict[str, object]) -> str:
    value = row.get(column, "")
    missed = column == "cold/B1" and row["N"] >= 5000 and value > 1
    missed |= column == "build" and value > max(10, 10 * row["cold"])
    return f"{value}{'!' if missed else ''}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="*", help='words of rows: "cover 5000" counts')
    parser.add_argument("-o", "--output", type=Path, help="where the results go")
    options = parser.parse_args()
    rows: list[dict[str, object]] = []
    for name, (load, ways) in SOURCES.items():
        for strategy, counts in ways.items():
            last: dict[str, object] | None = None
            for count in counts:
                title = f"{name} {strategy} {count}"
                named = [set(part.split()) <= set(title.split()) for part in options.only or [""]]
                if not any(named):
                    continue
                with one_blas_thread():
                    row = measure(name, strategy, count, load(count))
                if last is not None:
                    growth = log(row["cold"] / last["cold"]) / log(row["N"] / last["N"])
                    row["exponent"] = round(growth, 2)
                rows.append(row)
                last = row
                print("  ".join(f"{c}: {cell(c, row)}" for c in row), flush=True)
    if options.only and not options.output:
        return
    path = options.output or HERE / "results" / "words.json"
    path.write_text(json.dumps({"machine": facts(), "rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
