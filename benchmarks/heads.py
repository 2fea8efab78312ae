"""What several heads (4.1) spare the separation: feed-forward blocks against the number of heads.

Run ``python benchmarks/heads.py [--count N]``; prints a table and writes results/heads.json and
results/heads.svg. One block with a uniform head and H leader heads sends a sequence to a
combination of its mean and its H leaders (docs/theory.md, Theorems 9b and 9c). For each family: N,
the number of different combinations, and the number of blocks of tie splitting in front after which
all differ; H = 0 is the uniform head alone, as in strategy peel. Everything is exact; nothing is
timed.
"""

from __future__ import annotations

import argparse
import json
from fractions import Fraction
from pathlib import Path
from random import Random

from machine import facts

import hardmax as hm
from hardmax.dataset import merge
from hardmax.exact.numbers import short_between
from hardmax.model.tokens import Tokens
from hardmax.testing import adversarial

RESULTS = Path(__file__).parent / "results" / "heads.json"
HEADS = (0, 1, 2, 4, 8)
FAMILIES = (
    "same-hull-same-mean", "equal-means-unequal-lengths", "repeated-tokens", "zero-one-lattice",
    "count-vectors", "integer-grid", "binary-vectors", "text-like",
)  # fmt: skip


def features(batch: Tokens, heads: list[tuple[int, ...]]) -> list[tuple[object, ...]]:
    """The mean and the leaders of every sequence; directions that tie are refused."""
    found: list[list[object]] = [[mean] for mean in batch.means()]
    for v in heads:
        for j, row in enumerate(batch.leaders(tuple(map(Fraction, v)))):
            if row is None:
                raise SystemExit(f"the direction {v} has ties")
            found[j].append(batch.token(row))
    return [tuple(entry) for entry in found]


def directions(batch: Tokens, count: int, rng: Random) -> list[tuple[int, ...]]:
    """Integer vectors with positive first entry that take different values on different tokens."""
    tokens = len(set(batch.token_keys()))
    found: list[tuple[int, ...]] = []
    while len(found) < count:
        size = 10**6
        v = (size, *(rng.randint(-size, size) for _ in range(batch.dimension - 1)))
        if len(set(batch.projections(tuple(map(Fraction, v))))) == tokens:
            found.append(v)
    return found


def split(batch: Tokens, heads: list[tuple[int, ...]], rng: Random) -> int:
    """Feed-forward blocks until all combinations differ, each parting a tied pair (Lemma 4)."""
    blocks = 0
    while True:
        known = features(batch, heads)
        places: dict[object, list[int]] = {}
        for j, entry in enumerate(known):
            places.setdefault(entry, []).append(j)
        tied = [group for group in places.values() if len(group) > 1]
        if not tied:
            return blocks
        before = len(set(batch.token_keys()))
        best: tuple[int, Tokens] | None = None
        for attempt in range(200):
            group = rng.choice(tied)
            pair = rng.sample(group, 2)
            own = {z for j in pair for z in batch.sequence(j)}
            u = tuple(Fraction(rng.randint(-2, 2)) for _ in range(batch.dimension))
            values = sorted({sum(a * b for a, b in zip(u, z, strict=True)) for z in own})
            if len(values) < 2:
                continue
            k = rng.randrange(1, len(values))
            threshold = short_between(values[k - 1], values[k])
            w = [Fraction(rng.randint(-3, 3), 16 << attempt // 20) for _ in u]
            moved = batch.copy()
            moved.feed_forward(u, -threshold, w)
            different = len(set(features(moved, heads)))
            if len(set(moved.token_keys())) == before and different > (
                best[0] if best else len(places)
            ):
                best = different, moved
            if best and attempt >= 8:
                break
        if best is None:
            raise SystemExit("no layer parts a tied pair")
        batch.become(best[1])
        blocks += 1


def measure(family: str, count: int) -> list[dict[str, object]]:
    """One family for every number of heads, which take the first of the same directions."""
    data = adversarial(family, count, seed=1)
    data = hm.Dataset(list(data.sequences), [str(k) for k in merge(data).group])
    chosen = merge(data).representatives
    rng = Random(1)
    sequences = [data.sequence(j) for j in chosen]
    every = directions(Tokens.from_sequences(sequences), max(HEADS), rng)
    rows = []
    for number in HEADS:
        batch = Tokens.from_sequences(sequences)
        different = len(set(features(batch, every[:number])))
        blocks = split(batch, every[:number], Random(2))
        rows.append(
            {"family": family, "N": len(chosen), "H": number, "different": different, "K": blocks}
        )
    return rows


def draw(rows: list[dict[str, object]]) -> None:
    """The blocks against the number of heads, one line for each family that needs some."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams |= {"svg.hashsalt": "heads", "svg.fonttype": "none"}
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(5, 3), layout="constrained")
    for family in FAMILIES:
        own = [row["K"] for row in rows if row["family"] == family]
        if any(own):
            axes.plot(range(len(HEADS)), own, marker="o", label=family)
    axes.set_xticks(range(len(HEADS)), [str(h) for h in HEADS])
    axes.set(xlabel="leader heads H, beside the uniform head", ylabel="blocks of tie splitting")
    axes.yaxis.get_major_locator().set_params(integer=True)
    axes.legend(frameon=False)
    figure.savefig(RESULTS.with_suffix(".svg"), metadata={"Date": None})


def main() -> None:
    """Print the table and write it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=200)
    count = parser.parse_args().count
    rows = []
    for family in FAMILIES:
        found = measure(family, count)
        rows += found
        cells = "  ".join(f"{row['different']:5} {row['K']:3}" for row in found)
        print(f"{family:30} N {found[0]['N']:4}  {cells}", flush=True)
    content = {"machine": facts(), "heads": HEADS, "rows": rows}
    RESULTS.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    draw(rows)


if __name__ == "__main__":
    main()
