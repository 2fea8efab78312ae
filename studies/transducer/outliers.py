"""Outliers of a data set by the errors of many regressions on random halves (Section 5.2).

    python -m studies.transducer.outliers --model examples/transducer_adr.safetensors

runs it on ADR operators: 95 pairs of one operator, and 5 of another, whose coefficients lie part of
the way (the gap) towards a third. The paper's case, Burgers' equation, is in `run_burgers.py`.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import numpy as np

from hardmax.formats.whole_files import write_text
from hardmax.learned.transducer import Transducer
from studies.transducer import baselines
from studies.transducer.adr import Operators, draw_operators, initial_states, solve

Found = dict[str, Any]
FIRST = np.arange(100) < 5  # the outliers of a set of 100


def regressions(
    v: np.ndarray, u: np.ndarray, predict: Any, rounds: int, rng: np.random.Generator
) -> np.ndarray:
    """Mean relative error of each element while it is in the test half, over random halves."""
    n = len(v)
    total, count = np.zeros(n), np.zeros(n)
    norms = (u**2).sum(1)
    for _ in range(rounds):
        order = rng.permutation(n)
        train, test = order[: n // 2], order[n // 2 :]
        found = predict(v[train], u[train], v[test])
        total[test] += ((found - u[test]) ** 2).sum(1) / norms[test]
        count[test] += 1
    return total / np.maximum(count, 1)


def roc(score: np.ndarray, truth: np.ndarray) -> Found:
    """ROC curve, its area, and precision and recall of "more than mean + 2 deviations"."""
    order = np.argsort(-score, kind="stable")
    tpr = np.cumsum(truth[order]) / truth.sum()
    fpr = np.cumsum(~truth[order]) / (~truth).sum()
    return {
        "auc": float(np.trapezoid(np.r_[0, tpr], np.r_[0, fpr])),
        "fpr": [0.0, *map(float, fpr)],
        "tpr": [0.0, *map(float, tpr)],
    }


def flagged(score: np.ndarray) -> np.ndarray:
    """Elements whose error is above the mean of the set by two standard deviations."""
    return score > score.mean() + 2 * score.std()


def precision_recall(flags: np.ndarray, truth: np.ndarray) -> list[float]:
    hits = float((flags & truth).sum())
    return [hits / max(float(flags.sum()), 1.0), hits / float(truth.sum())]


def detect(
    model: Transducer,
    draw: Callable[[int], tuple[np.ndarray, np.ndarray]],
    sets: int,
    rounds: int,
) -> Found:
    """ROC, precision and recall over ``sets`` sets of 100 pairs whose first 5 are outliers."""
    from sklearn.cluster import SpectralClustering

    rng = np.random.default_rng(11)
    scores: dict[str, list[np.ndarray]] = {"Transducer": [], "kernel ridge": []}
    flags: dict[str, list[np.ndarray]] = {**{k: [] for k in scores}, "spectral clustering": []}
    for k in range(sets):
        v, u = draw(k)
        choice = baselines.cross_validated(v, u, ("linear", "quadratic", "rbf"))
        for name, predict in (
            ("Transducer", lambda a, b, q: model.predict((a, b), q)),
            ("kernel ridge", choice.predict),
        ):
            score = regressions(v, u, predict, rounds, rng)
            scores[name].append(score / score.mean())
            flags[name].append(flagged(score))
        coded = model.coding_u.encode(u)
        clusters = SpectralClustering(2, random_state=0).fit_predict(coded)
        share = [clusters[FIRST].mean(), clusters[~FIRST].mean()]
        flags["spectral clustering"].append(clusters == int(share[0] > share[1]))
    truth = np.tile(FIRST, sets)
    return {
        "sets": sets, "rounds": rounds,
        **{name: roc(np.concatenate(x), truth) for name, x in scores.items()},
        "precision_recall": {
            name: precision_recall(np.concatenate(x), truth) for name, x in flags.items()
        },
    }  # fmt: skip


def adr_set(k: int, gap: float) -> tuple[np.ndarray, np.ndarray]:
    """Pairs v, u (100, 100), the first 5 of the contaminating operator."""
    rng = np.random.default_rng([8_000_000, k])
    two = draw_operators(rng, 2)
    parts = (two.diffusion, two.advection, two.reaction)
    mixed = Operators(*(np.stack([x[0], (1 - gap) * x[0] + gap * x[1]]) for x in parts))
    v = initial_states(rng, 200).reshape(2, 100, 100)
    u = solve(mixed, v)
    return np.concatenate([v[1, :5], v[0, :95]]), np.concatenate([u[1, :5], u[0, :95]])


@click.command()
@click.option("--model", "path", type=click.Path(exists=True, path_type=Path), required=True)
@click.option("--out", type=click.Path(path_type=Path),
              default=Path("studies/transducer/results/outliers.json"))  # fmt: skip
@click.option("--sets", default=8, show_default=True)
@click.option("--rounds", default=60, show_default=True)
def main(path: Path, out: Path, sets: int, rounds: int) -> None:
    """Write ROC curves for several gaps."""
    import torch

    torch.set_num_threads(1)
    model, result = Transducer.load(path), []
    for gap in (0.05, 0.1, 0.2, 0.5):
        found = {"gap": gap, **detect(model, lambda k, g=gap: adr_set(k, g), sets, rounds)}
        result.append(found)
        aucs = {name: found[name]["auc"] for name in ("Transducer", "kernel ridge")}
        click.echo(f"gap {gap}: {aucs} {found['precision_recall']}")
    out.parent.mkdir(parents=True, exist_ok=True)
    write_text(out, json.dumps(result) + "\n")


if __name__ == "__main__":
    main()
