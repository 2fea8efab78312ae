"""Depth of every strategy beside the bounds: data × strategy → blocks, parameters, bits, ….

Run ``python benchmarks/depth.py [--digits FOLDER] [--only NAME …]``; prints a table and writes
results/depth.json. FOLDER holds what make_digits.py wrote. Every model is proved on its training
data; accuracy is the share of right predictions.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from pathlib import Path
from time import perf_counter

sys.path.insert(0, str(Path(__file__).parent))

from data import gaussian, text_like
from machine import facts

import hardmax as hm
from hardmax.certify.floating import certify_float
from hardmax.certify.lower_bounds import lower_block_bound
from hardmax.certify.radius import radii

HERE = Path(__file__).parent
EXAMPLES = HERE.parent / "examples"
MEMORISE = "cover --no-learn"
SMALL = 3000  # sequences up to which models as deep as N are built
RUNS = 400_000  # blocks × sequences up to which radii and float margins are computed


def accuracy(model: hm.Transformer, data: hm.Dataset, sets: dict[str, object]) -> float:
    """Share of sequences with the right prediction, in per cent."""
    outputs = model.outputs(data.sequences)
    right = [hm.predict(y, sets) == c for y, c in zip(outputs, data.labels, strict=True)]
    return round(100 * sum(right) / len(right), 2)


def measure(
    name: str, data: hm.Dataset, strategy: str, test: hm.Dataset | None
) -> dict[str, object]:
    start = perf_counter()
    model = hm.build(data, strategy=strategy.split()[0], learn=strategy != MEMORISE)
    built = perf_counter() - start
    start = perf_counter()
    proof = hm.certify(model, data)
    verified = perf_counter() - start
    margin = radius = None
    if len(model) * len(data) <= RUNS:
        margin = certify_float(model, data).least_margin
        radius = radii(model, data).least
    count, d = proof.N, proof.d
    return {
        "data": name,
        "strategy": strategy,
        "form": model.meta.get("form", strategy),
        "N": count,
        "d": d,
        "M": proof.M,
        "verdict": proof.verdict,
        "blocks": proof.blocks,
        "parameters": proof.parameters,
        "total_bits": proof.total_bits,
        "overrides": proof.overrides,
        "margin": None if margin is None else float(f"{float(margin):.3g}"),
        "radius": None if radius is None else float(f"{float(radius):.3g}"),
        "train_%": accuracy(model, data, data.sets) if not proof.proved else 100.0,
        "test_%": None if test is None else accuracy(model, test, data.sets),
        "build_s": round(built, 2),
        "verify_s": round(verified, 2),
        "8N+4": 8 * count + 4,
        "2N-1": max(2 * count - 1, 1),
        "almost_all_targets": lower_block_bound(count, d) if count == proof.M else None,
    }


def distinct_labels(count: int, d: int) -> hm.Dataset:
    """Gaussian sequences, each with a label of its own and a target on a line."""
    data = gaussian(count, d)
    return hm.Dataset(data.sequences, range(count))


def sources(digits: Path | None) -> dict[str, Callable[[], tuple[hm.Dataset, hm.Dataset | None]]]:
    found: dict[str, Callable[[], tuple[hm.Dataset, hm.Dataset | None]]] = {}
    if digits is not None:
        found["digits"] = lambda: tuple(
            hm.load(digits / f"digits_{part}.npz") for part in ("train", "test")
        )
    return found | {
        "vowels": lambda: tuple(
            hm.load(EXAMPLES / f"vowels{part}.json.gz") for part in ("", "_test")
        ),
        "gaussian M=N=300 d=16": lambda: (distinct_labels(300, 16), None),
        "text-like N=2000 d=16": lambda: (text_like(2000), None),
        "gaussian N=1000 d=16": lambda: (gaussian(1000, 16), None),
        "gaussian N=10000 d=16": lambda: (gaussian(10_000, 16), None),
        "gaussian N=10000 d=64": lambda: (gaussian(10_000, 64), None),
    }


def show(rows: list[dict[str, object]]) -> None:
    columns = list(rows[0])
    table = [columns, *(["" if v is None else str(v) for v in row.values()] for row in rows)]
    widths = [max(len(cells[i]) for cells in table) for i in range(len(columns))]
    for cells in table:
        print("  ".join(cell.rjust(w) for cell, w in zip(cells, widths, strict=True)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--digits", type=Path, help="folder with digits_train.npz, digits_test.npz")
    parser.add_argument("--only", nargs="*", help="names of data sets")
    options = parser.parse_args()
    rows = []
    for name, load in sources(options.digits).items():
        if options.only and name not in options.only:
            continue
        data, test = load()
        strategies = ["cover", MEMORISE] if test is not None else ["cover"]
        if len(data) <= SMALL:
            strategies = ["paper", "peel", *strategies]
        for strategy in strategies:
            rows.append(measure(name, data, strategy, test))
            print(json.dumps(rows[-1]), file=sys.stderr, flush=True)
    show(rows)
    results = {"machine": facts(), "rows": rows}
    (HERE / "results").mkdir(exist_ok=True)
    (HERE / "results" / "depth.json").write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
