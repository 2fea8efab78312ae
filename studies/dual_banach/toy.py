"""Figure 1: three two-dimensional sets, with and without the regulariser, and weight decay.

    python studies/dual_banach/toy.py [--seeds 10]

Follows Appendix F.1: 1 encoder layer, 4 heads, width 16, layer norm, Adam at 0.01, 500 epochs,
split 6:4. Left open there and chosen here: 100 points a set, fresh for every seed, with the noise
of scikit-learn's plot_mlp_alpha; pre-LN, ReLU, no dropout, full batches; f̃* the attention output,
Frobenius norms, mean over tokens. A point is one token of two coordinates, or two tokens of one.
Test accuracy is measured on 1000 fresh points, beside the 40 held out. Weight decay is AdamW's.
"""

from __future__ import annotations

import argparse
from functools import partial

import numpy as np
import torch
from ensemble import Member, train
from matplotlib.figure import Figure
from sklearn.datasets import make_circles, make_classification, make_moons
from statistics_of_runs import RESULTS, interval, shown, write
from torch import nn

SETS = ("moons", "circles", "linear")
ARMS = {  # name: (λ, weight decay)
    "plain": (0.0, 0.0),
    "λ = 0.01": (0.01, 0.0),
    "λ = 0.1": (0.1, 0.0),
    "decay 0.1": (0.0, 0.1),
    "decay 1": (0.0, 1.0),
}
GRID = np.stack(np.meshgrid(*[np.linspace(-3, 3, 101)] * 2), -1).reshape(-1, 2)


def points(kind: str, seed: int) -> list[np.ndarray]:
    """60 training, 40 held-out and 1000 fresh points with labels; standardised by the first 100."""
    n = 1100
    if kind == "moons":
        X, y = make_moons(n, noise=0.3, random_state=seed)
    elif kind == "circles":
        X, y = make_circles(n, noise=0.2, factor=0.5, random_state=seed)
    else:
        X, y = make_classification(
            n, n_features=2, n_redundant=0, n_informative=2, random_state=seed,
            n_clusters_per_class=1,
        )  # fmt: skip
        X = X + 2 * np.random.RandomState(seed + 2).uniform(size=X.shape)
    order = np.random.default_rng(seed).permutation(n)
    X, y = X[order], y[order]
    X = (X - X[:100].mean(0)) / X[:100].std(0)
    return [X[:60], y[:60], X[60:100], y[60:100], X[100:], y[100:]]


class Model(nn.Module):
    """Tokens → embedding (with a position each) → one block → mean → two logits."""

    def __init__(self, tokens: int) -> None:
        super().__init__()
        self.tokens = tokens
        self.embedding = nn.Linear(2 // tokens, 16)
        self.position = nn.Parameter(0.1 * torch.randn(tokens, 16))
        self.block = nn.TransformerEncoderLayer(
            16, 4, 16, dropout=0.0, batch_first=True, norm_first=True
        )
        self.norm, self.readout = nn.LayerNorm(16), nn.Linear(16, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.embedding(x.unflatten(1, (self.tokens, -1))) + self.position
        return self.readout(self.norm(self.block(x)).mean(1))


def judge(model: Model, data: list[np.ndarray], term: float) -> tuple[dict[str, float], np.ndarray]:
    """Accuracies, length of the boundary, the regulariser's term; labels on the grid."""

    def labels(x: np.ndarray) -> np.ndarray:
        with torch.no_grad():
            return model(torch.tensor(x).float()).argmax(1).numpy()

    names = ("train", "held out", "fresh")
    right = {name: float((labels(data[2 * k]) == data[2 * k + 1]).mean())
             for k, name in enumerate(names)}  # fmt: skip
    grid = labels(GRID).reshape(101, 101)
    boundary = int((np.diff(grid, axis=0) != 0).sum() + (np.diff(grid, axis=1) != 0).sum())
    return {**right, "boundary": boundary, "term": term}, grid


def draw(grids: dict[tuple[str, int, str], np.ndarray]) -> None:
    """Decision regions of seed 0, as in Figure 1, for both tokenisations."""
    rows = [(1, "plain"), (1, "λ = 0.1"), (2, "plain"), (2, "λ = 0.1")]
    figure = Figure(figsize=(7.5, 10), layout="constrained")
    for i, (tokens, arm) in enumerate(rows):
        for j, kind in enumerate(SETS):
            axes = figure.add_subplot(4, 3, 3 * i + j + 1)
            grid = grids[kind, tokens, arm]
            axes.contourf(
                GRID[:101, 0], GRID[:101, 0], grid, levels=1, colors=["#cfe2f3", "#fbdcc4"]
            )
            X, y, *_ = points(kind, 0)
            for label, colour in ((0, "#2166ac"), (1, "#c2510c")):
                axes.scatter(*X[y == label].T, s=8, color=colour)
            axes.set(xticks=[], yticks=[], xlim=(-3, 3), ylim=(-3, 3))
            if i == 0:
                axes.set_title(kind)
            if j == 0:
                axes.set_ylabel(f"{tokens} token{'s' * (tokens > 1)}, {arm}")
    figure.savefig(RESULTS / "toy.png", dpi=110)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=10)
    seeds = range(parser.parse_args().seeds)
    torch.set_num_threads(1)
    results: list[dict[str, object]] = []
    grids: dict[tuple[str, int, str], np.ndarray] = {}
    print(f"{'set':8}{'tokens':7}{'arm':11}{'train':>14}{'fresh':>14}{'gain':>14}{'boundary':>16}")
    for kind in SETS:
        data = [points(kind, seed) for seed in seeds] * len(ARMS)
        x = torch.stack([torch.tensor(d[0]).float() for d in data])
        y = torch.stack([torch.tensor(d[1]) for d in data])
        members = [Member(seed, *arm) for arm in ARMS.values() for seed in seeds]
        for tokens in (1, 2):
            models, terms = train(
                partial(Model, tokens), members, lambda step, x=x, y=y: (x, y), steps=500, rate=0.01
            )
            judged = list(map(judge, models, data, terms))
            plain = [run["fresh"] for run, _ in judged[: len(seeds)]]
            for k, arm in enumerate(ARMS):
                part = judged[k * len(seeds) : (k + 1) * len(seeds)]
                grids[kind, tokens, arm] = part[0][1]
                runs = [run for run, _ in part]
                fresh = [run["fresh"] for run in runs]
                gains = [a - b for a, b in zip(fresh, plain, strict=True)]
                row = {"set": kind, "tokens": tokens, "arm": arm, "runs": runs,
                       "gain in fresh accuracy": interval(gains)}  # fmt: skip
                results.append(row)
                text = [shown([run[key] for run in runs], 100) for key in ("train", "fresh")]
                lengths = shown([run["boundary"] for run in runs], digits=0)
                print(f"{kind:8}{tokens:<7}{arm:11}{text[0]:>14}{text[1]:>14}"
                      f"{shown(gains, 100):>14}{lengths:>16}", flush=True)  # fmt: skip
    write("toy", results)
    draw(grids)


if __name__ == "__main__":
    main()
