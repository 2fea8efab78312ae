"""What several heads (4.1) spare the separation: blocks of `build --heads H` against H.

Run ``python benchmarks/heads.py [--count N]``; prints a table and writes results/heads.json and
results/heads.svg. Every sequence has a label of its own. For each family and each H: D, the number
of different tuples of the mean and H − 1 leaders (docs/theory.md, Theorems 9b and 9c); K, the
number of blocks in front of the clustering block, by which one head pulls tokens apart and several
heads split ties; L, the number of all blocks. Every model is proved. Everything is exact; nothing
is timed.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np
from machine import facts

import hardmax as hm
from hardmax.construct.paper.heads import separate_by_heads
from hardmax.construct.paper.state import TokenState
from hardmax.dataset import merge
from hardmax.model.tokens import Tokens
from hardmax.testing import adversarial

RESULTS = Path(__file__).parent / "results" / "heads.json"
HEADS = (1, 2, 3, 4, 8)
FAMILIES = (
    "same-hull-same-mean", "text-like", "zero-tokens", "collinear", "one-dimensional",
    "dimension-48", "zero-one-lattice", "equal-means-unequal-lengths", "repeated-tokens",
    "one-hot-words", "count-vectors", "integer-grid", "binary-vectors",
)  # fmt: skip


def different(data: hm.Dataset, heads: int) -> int:
    """The number of different tuples of the mean and the leaders, in the directions chosen."""
    chosen = np.array(merge(data).representatives, dtype=np.int64)
    state = TokenState.of_array(data.tokens, data.offsets, chosen)
    names = [str(j) for j in range(len(chosen))]
    directions = separate_by_heads(state, names, heads).heads[1:]
    batch = Tokens.of_sequences(data.tokens, data.offsets, chosen)
    keys: list[Any] = [batch.mean_keys()]
    for v in directions:
        keys.append([None if row is None else batch.token(row) for row in batch.leaders(v)])
    return len(set(zip(*keys, strict=True)))


def measure(family: str, count: int) -> list[dict[str, object]]:
    """One family for every number of heads."""
    data = adversarial(family, count, seed=1)
    data = hm.Dataset(list(data.sequences), [str(k) for k in merge(data).group])
    rows = []
    for heads in HEADS:
        model = hm.build(data, heads=heads)
        found = hm.certify(model, data)
        if not found.proved:
            raise SystemExit(f"{family}, {heads} heads: {found.verdict}")
        separation = model.stages.index("cluster")
        rows.append(
            {"family": family, "N": found.N, "H": heads,
             "D": None if heads == 1 else different(data, heads),
             "K": separation, "L": len(model), "bits": found.total_bits}
        )  # fmt: skip
    return rows


def draw(rows: list[dict[str, Any]]) -> None:
    """The blocks against the number of heads, a line for the families that need as many."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams |= {"svg.hashsalt": "heads", "svg.fonttype": "none"}
    import matplotlib.pyplot as plt

    lines: dict[tuple[int, ...], list[str]] = {}
    for family in FAMILIES:
        own = tuple(row["K"] for row in rows if row["family"] == family)
        lines.setdefault(own, []).append(family)
    figure, axes = plt.subplots(figsize=(7.2, 3), layout="constrained")
    for own, names in sorted(lines.items(), reverse=True):
        if any(own):
            told = names[0] if len(names) == 1 else f"{names[0]} and {len(names) - 1} more"
            axes.plot(range(len(HEADS)), own, marker="o", label=told)
    axes.set_xticks(range(len(HEADS)), [str(h) for h in HEADS])
    axes.set(xlabel="heads H", ylabel="blocks before clustering")
    axes.yaxis.get_major_locator().set_params(integer=True)
    axes.legend(frameon=False, loc="center left", bbox_to_anchor=(1, 0.5))
    figure.savefig(RESULTS.with_suffix(".svg"), metadata={"Date": None})


def main() -> None:
    """Print the table and write it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=200)
    count = parser.parse_args().count
    rows: list[dict[str, Any]] = []
    print(f"{'D, K, L for H =':36}" + "".join(f"{h:>16}" for h in HEADS))
    for family in FAMILIES:
        found = measure(family, count)
        rows += found
        cells = "".join(f"{row['D'] or '':>6}{row['K']:4}{row['L']:6}" for row in found)
        print(f"{family:28} N {found[0]['N']:<5} {cells}", flush=True)
    content = {"machine": facts(), "heads": HEADS, "rows": rows}
    RESULTS.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    draw(rows)


if __name__ == "__main__":
    main()
