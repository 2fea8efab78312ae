"""Do maxima of features help strategy `learn`, beside their means?

    python -m studies.pooling.pooling                # the table, from results/pooling.json
    python -m studies.pooling.pooling --data chirp --seed 1   # computes these rows, keeps the rest
    python -m studies.pooling.pooling --check        # the construction of README.md, exactly

Everything is as in ``hm.build(strategy="learn")``: candidates, pools, cross-validation, ridge.
Only the pool differs: *means* is what the strategy has; *maxima* adds, for every kernel of the
pool, the largest value of one ReLU feature in a sequence. A maximum counts as one block, as the
mean does, or as two, which is what it takes (*blocks*).
"""

from __future__ import annotations

import argparse
import json
from fractions import Fraction
from pathlib import Path
from time import perf_counter

import numpy as np

from benchmarks import families
from hardmax.construct.learn.candidates import Candidate, candidates
from hardmax.construct.learn.features import Features
from hardmax.construct.learn.ridge import cross_validate, fit
from hardmax.construct.learn.strategy import _BUDGETS, _drawn
from hardmax.dataset import Dataset, Reading
from hardmax.model.layers import RankOneBlock
from hardmax.model.transformer import Transformer

RESULTS = Path(__file__).parent / "results" / "pooling.json"
VARIANTS = ("means", "maxima", "blocks")
COST = 2  # blocks of a maximum
_CHUNK = 2**22


def first_of_each_kernel(pool: Features) -> Features:
    """One ReLU for each kernel of a pool, with the lowest of its thresholds."""
    order = np.argsort(pool.low, kind="stable")
    rows = order[np.unique(pool.u[order], axis=0, return_index=True)[1]]
    return Features(pool.u[rows], pool.low[rows], np.full(len(rows), np.inf))


def maxima(features: Features, tokens: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    """Largest values (N, K) of K ReLUs in the sequences tokens[offsets[j]:offsets[j+1]].

    >>> one = Features(np.array([[1.0]]), np.array([2.0]), np.array([np.inf]))
    >>> maxima(one, np.array([[3.0], [5.0], [1.0]]), np.array([0, 2, 3]))
    array([[3.],
           [0.]])
    """
    parts = []
    for k in range(0, len(features), step := max(1, _CHUNK // len(tokens))):
        values = tokens @ features.u[k : k + step].T - features.low[k : k + step]
        parts.append(np.maximum.reduceat(np.maximum(values, 0), offsets[:-1], axis=0))
    return np.hstack(parts)


def compare(name: str, seed: int) -> list[dict[str, object]]:
    """A row for each variant on one family."""
    split = families.split(name, seed)
    train = split.train()
    test = Dataset(split.test_X, split.test_y, sets=train)
    train = train.read_as(Reading(label_sets="argmax"))
    place = {c: k for k, c in enumerate(train.sets)}
    y = np.array([place[c] for c in train.need_labels()])
    true = np.array([place[c] for c in test.need_labels()])
    best: dict[str, tuple[float, dict[str, object]]] = {}
    for k, candidate in enumerate(candidates(train)):
        for variant, row in _variants(candidate, k, train, test, y, true).items():
            error = row["cv"]
            assert isinstance(error, float)
            if variant not in best or error < best[variant][0]:
                best[variant] = error, row
    return [{"data": name, "seed": seed, "variant": v, **best[v][1]} for v in VARIANTS]


def _variants(
    candidate: Candidate,
    k: int,
    train: Dataset,
    test: Dataset,
    y: np.ndarray,
    true: np.ndarray,
) -> dict[str, dict[str, object]]:
    """What each variant finds with one candidate; its folds are the same for all."""
    seen, new = train.read_as(candidate.reading), test.read_as(candidate.reading)
    found: dict[str, dict[str, object]] = {}
    for variant in VARIANTS:
        start = perf_counter()
        rng = np.random.default_rng([0, k])
        tokens = seen.tokens.values
        pool = _drawn(candidate, tokens, train.written_dimension, rng)
        features, cost = pool.means(tokens, seen.offsets), pool.cost
        unseen = pool.means(new.tokens.values, new.offsets)
        single = max(np.diff(seen.offsets)) == 1  # the maximum is the mean
        if variant != "means" and not single:
            first = first_of_each_kernel(pool)
            features = np.c_[features, maxima(first, tokens, seen.offsets)]
            unseen = np.c_[unseen, maxima(first, new.tokens.values, new.offsets)]
            cost = np.r_[cost, np.full(len(first), COST if variant == "blocks" else 1)]
        rows = rng.permutation(len(y))
        plan = cross_validate(features[rows], y[rows], cost, _BUDGETS, rng)
        scores = fit(features, y, len(train.sets), cost, plan)
        found[variant] = {
            "cv": plan.error,
            "test": float((scores.of(unseen).argmax(axis=1) != true).mean()),
            "features": len(scores.kept),
            "maxima": int((scores.kept >= len(pool)).sum()),
            "seconds": round(perf_counter() - start, 2),
        }
    return found


def pooled(u: list[int], b: int, delta: Fraction, bound: Fraction) -> list[RankOneBlock]:
    """The three blocks of README.md for tokens (z, 0, 0, 0): constant, then the two of a maximum.

    Behind them a token is (z, 1, F(z), max(F(z), (1 − delta) M)), F = ReLU of ⟨u, z⟩ + b, M its
    largest value in the sequence, where M < ``bound``.
    """
    d = len(u) + 3
    one, feature, score = d - 3, d - 2, d - 1

    def unit(**entries: Fraction | int) -> list[Fraction]:
        at = {"one": one, "feature": feature, "score": score}
        row = [Fraction(0)] * d
        for name, x in entries.items():
            row[at[name]] = Fraction(x)
        return row

    return [
        RankOneBlock.translation(unit(one=1)),
        RankOneBlock.of(
            d, u=[*u, 0, 0, 0], b=b, w=unit(feature=1),
            rho=1, alpha=delta - 1, v=unit(one=1, feature=1),
        ),
        RankOneBlock.of(
            d, u=unit(feature=1), b=0, w=unit(score=1),
            rho=1, alpha=(1 - delta) / delta, v=unit(one=bound / delta, feature=1),
        ),
    ]  # fmt: skip


def check(trials: int = 300) -> None:
    """The blocks against the formula, in exact arithmetic, with ties and features at rest."""
    rng = np.random.default_rng(0)
    for _ in range(trials):
        n, d, delta = int(rng.integers(1, 7)), int(rng.integers(1, 4)), Fraction(1, 2**20)
        Z = [tuple(Fraction(int(x)) for x in rng.integers(-3, 4, d)) for _ in range(n)]
        u, b = [int(x) for x in rng.integers(-3, 4, d)], int(rng.integers(-4, 5))
        values = [max(0, sum(a * x for a, x in zip(u, z, strict=True)) + b) for z in Z]
        model = Transformer(pooled(u, b, delta, Fraction(100)))
        data = Dataset([Z], reading=Reading(lift=3))
        last = model.trace(data[0])[-1]
        largest = (1 - delta) * max(values)
        wanted = [(*z, 1, f, max(f, largest)) for z, f in zip(Z, values, strict=True)]
        assert [tuple(z) for z in last] == wanted, (Z, u, b)
    print(f"{trials} sequences: as the formula says")


def table(rows: list[dict[str, object]]) -> str:
    """Error in per cent, mean of the seeds, a line for each family and one for the mean of all."""
    each = "means | + maxima | the same, 2 blocks each"
    lines = [f"| family | cv: {each} | test: {each} |", "|---|---|---|---|---|---|---|"]
    names = list(dict.fromkeys(str(row["data"]) for row in rows))
    for name in [*names, "mean"]:
        cells = []
        for part in ("cv", "test"):
            for variant in VARIANTS:
                found = [
                    float(str(r[part]))
                    for r in rows
                    if r["variant"] == variant and name in ("mean", r["data"])
                ]
                cells.append(f"{100 * np.mean(found):.1f}")
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def main() -> None:
    """Run."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", action="append", choices=families.FAMILIES)
    parser.add_argument("--seed", type=int, default=0, help="of the families")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    if options.check:
        check()
        return
    rows = json.loads(RESULTS.read_text()) if RESULTS.exists() else []
    rank = list(families.FAMILIES)
    for name in options.data or []:
        rows = [row for row in rows if (row["data"], row["seed"]) != (name, options.seed)]
        rows += compare(name, options.seed)
        rows.sort(key=lambda row: (rank.index(row["data"]), row["seed"]))
        RESULTS.write_text(json.dumps(rows, indent=1) + "\n")
    print(table(rows))


if __name__ == "__main__":
    main()
