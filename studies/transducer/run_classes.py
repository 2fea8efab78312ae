"""Meta-train in-context classifiers: on random tasks, and on permuted digits (claim 16).

python -m studies.transducer.run_classes prior --out hardmax/learned/transducer/classifier.npz
python -m studies.transducer.run_classes digits
"""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import click
import numpy as np

from hardmax.formats.whole_files import write_text
from hardmax.learned.transducer import Configuration, Settings, Transducer
from studies.transducer import baselines
from studies.transducer.classes import accuracy, digits, permuted_tasks, random_tasks
from studies.transducer.metric import confidence


def meta_train(
    model: Transducer, data: tuple[np.ndarray, np.ndarray], settings: Settings, checkpoint: Path
) -> None:
    """Train with a line of progress every 250 steps."""
    import torch

    torch.set_num_threads(1)
    checkpoint.parent.mkdir(parents=True, exist_ok=True)
    clock = time.perf_counter()

    def report(step: int, loss: float) -> None:
        click.echo(f"{step:7d}  loss {loss:.4f}  {(time.perf_counter() - clock) / 60:.1f} min")

    model.trainer(data, settings).run(checkpoint, every=250, report=report)


def at_equal_n(
    model: Transducer, v: np.ndarray, u: np.ndarray, sizes: tuple[int, ...], queries: int
) -> dict[str, Any]:
    """Accuracies of the model, 1-NN and RBF ridge (leave-one-out) on tasks (M, pairs, …)."""
    result: dict[str, Any] = {}
    for n in sizes:
        found: dict[str, list[float]] = {"Transducer": [], "1-NN": [], "RBF ridge": []}
        for a, b in zip(v.astype(float), u.astype(float), strict=True):
            x, y, q, truth = a[:n], b[:n], a[-queries:], b[-queries:]
            choice = baselines.cross_validated(x, y, ("rbf",))
            found["Transducer"].append(accuracy(model.predict((x, y), q), truth))
            found["1-NN"].append(accuracy(baselines.nearest(x, y, q), truth))
            found["RBF ridge"].append(accuracy(choice.predict(x, y, q), truth))
        result[str(n)] = {name: confidence(np.array(x)) for name, x in found.items()}
    return result


@click.group()
def main() -> None:
    """Meta-train in-context classifiers."""


@main.command()
@click.option("--out", type=click.Path(path_type=Path), required=True)
@click.option("--steps", default=8000, show_default=True)
@click.option("--tasks", default=8000, show_default=True)
def prior(out: Path, steps: int, tasks: int) -> None:
    """The classifier behind `hardmax.learned.transducer.InContextClassifier`."""
    sizes = Configuration(
        32, 10, depth=4, heads=8, head_size=16, mlp=128, width=64, map_outputs=False
    )
    model = Transducer(sizes)
    settings = Settings(
        steps=steps, batch=8, queries=40, examples=(10, 150), loss="mse", learning_rate=1e-3,
        warmup=300, halvings=6,
    )  # fmt: skip
    meta_train(model, random_tasks(0, tasks, 200), settings, Path("out/classifier.checkpoint"))
    np.savez(out, **model.arrays(half=True))
    click.echo(json.dumps(at_equal_n(model, *random_tasks(1, 50, 250), (20, 100, 200), 50)))


@main.command(name="digits")
@click.option("--out", type=click.Path(path_type=Path),
              default=Path("studies/transducer/results/digits.json"))  # fmt: skip
@click.option("--steps", default=6000, show_default=True)
def digits_(out: Path, steps: int) -> None:
    """Meta-train on permuted digits; test on other images, permuted and not."""
    images, labels = digits()
    train, test = slice(0, 1100), slice(1100, None)
    sizes = Configuration(64, 10, depth=2, heads=16, head_size=16, mlp=128, map_outputs=False)
    model = Transducer(sizes)
    settings = Settings(
        steps=steps, batch=4, queries=40, examples=(20, 200), loss="mse", learning_rate=1e-3,
        warmup=300, halvings=6,
    )  # fmt: skip
    data = permuted_tasks(0, 2000, 240, images[train], labels[train])
    meta_train(model, data, settings, Path("out/digits.checkpoint"))
    result: dict[str, Any] = {"parameters": model.parameters}
    for name, pixels in (("permuted", True), ("unpermuted", False)):
        v, u = permuted_tasks(9, 20, 650, images[test], labels[test], pixels=pixels)
        result[name] = at_equal_n(model, v, u, (20, 50, 100, 200, 400), 200)
        click.echo(f"{name}: {result[name]}")
    out.parent.mkdir(parents=True, exist_ok=True)
    write_text(out, json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
