"""Burgers' equation and outliers, reduced: claims 13 and 14.

    python -m studies.transducer.run_burgers train --out out/burgers.safetensors
    python -m studies.transducer.run_burgers evaluate --model out/burgers.safetensors

32 × 32 grid, box side 16, modes |kx|, ky < 6; one model for both target times, 5 and 10.
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
from studies.transducer.burgers import Quadrants, make_tasks
from studies.transducer.metric import confidence, relative_error
from studies.transducer.outliers import detect

CODE = Quadrants(6)
TIMES = (5.0, 10.0)
LOW, HIGH = 0.1, 0.5  # range of ν
Found = dict[str, Any]


def coded(seed: int, viscosities: np.ndarray, pairs: int) -> tuple[np.ndarray, ...]:
    """Vectors v (tasks, pairs, d) and u (2, tasks, pairs, d), and the floors of both times."""
    v, u = make_tasks(seed, viscosities, pairs, times=TIMES)
    a, b = CODE.encode(v), CODE.encode(u)
    floors = [
        relative_error(CODE.decode(y).reshape(-1, x[0, 0].size), x.reshape(-1, x[0, 0].size))
        for x, y in zip(u, b, strict=True)
    ]
    return a, b, np.array(floors)


@click.group()
def main() -> None:
    """Meta-train on Burgers' equation, and measure."""


@main.command()
@click.option("--out", type=click.Path(path_type=Path), required=True)
@click.option("--steps", default=5000, show_default=True)
@click.option("--tasks", default=64, show_default=True)
@click.option("--pairs", default=60, show_default=True)
@click.option("--seed", default=0, show_default=True)
def train(out: Path, steps: int, tasks: int, pairs: int, seed: int) -> None:
    """Meta-train and write OUT; OUT.checkpoint keeps the state, and a second call resumes."""
    import torch

    torch.set_num_threads(1)
    out.parent.mkdir(parents=True, exist_ok=True)
    cache = Path(f"{out}.tasks.npz")
    if not cache.exists():
        nu = np.random.default_rng([seed, 77]).uniform(LOW, HIGH, tasks)
        a, b, _ = coded(seed, nu, pairs)
        np.savez(cache, v=np.concatenate([a, a]), u=b.reshape(-1, *b.shape[2:]))
    with np.load(cache) as file:
        data = file["v"], file["u"]
    sizes = Configuration(CODE.size, CODE.size, depth=4, heads=8, head_size=16, mlp=128, width=96)
    model = Transducer(sizes, seed=seed)
    settings = Settings(
        steps=steps, batch=4, queries=10, examples=(10, 50), loss="relative", warmup=200,
        learning_rate=1e-3, halvings=6, seed=seed,
    )  # fmt: skip
    trainer, clock = model.trainer(data, settings), time.perf_counter()

    def report(step: int, loss: float) -> None:
        passed = (time.perf_counter() - clock) / 60
        click.echo(f"{step:7d}  loss {loss:.3e}  {passed:.1f} min")
        model.save(out, half=True)

    trainer.run(Path(f"{out}.checkpoint"), every=250, report=report)


def outliers(model: Transducer, gap: float, sets: int, rounds: int) -> Found:
    """Sets of 95 elements of ν₀ and 5 of ν₀ + gap, target time 10."""
    rng = np.random.default_rng([5, round(1000 * gap)])

    def draw(k: int) -> tuple[np.ndarray, np.ndarray]:
        nu = rng.uniform(LOW, HIGH - gap)
        good = coded(6000 + k, np.array([nu]), 95)
        bad = coded(7000 + k, np.array([nu + gap]), 5)
        return np.concatenate([bad[0][0], good[0][0]]), np.concatenate(
            [bad[1][1, 0], good[1][1, 0]]
        )

    return {"gap": gap, **detect(model, draw, sets, rounds)}


@main.command()
@click.option("--model", "path", type=click.Path(exists=True, path_type=Path), required=True)
@click.option("--out", type=click.Path(path_type=Path),
              default=Path("studies/transducer/results/burgers.json"))  # fmt: skip
@click.option("--tasks", default=20, show_default=True)
@click.option("--sets", default=6, show_default=True)
@click.option("--rounds", default=150, show_default=True)
def evaluate(path: Path, out: Path, tasks: int, sets: int, rounds: int) -> None:
    """Errors on unseen ν, and outliers for several gaps."""
    import torch

    torch.set_num_threads(1)
    model = Transducer.load(path)
    nu = np.random.default_rng(123).uniform(LOW, HIGH, tasks)
    v, u, floors = coded(5000, nu, 70)
    result: Found = {"parameters": model.parameters, "errors": {}}
    for j, target in enumerate(TIMES):
        rows: dict[str, Any] = {"floor": float(floors[j])}
        for n in (10, 20, 50):
            errors: dict[str, list[float]] = {"Transducer": [], "kernel ridge": [], "identity": []}
            for a, b in zip(v, u[j], strict=True):
                choice = baselines.cross_validated(a[:n], b[:n], ("linear", "quadratic", "rbf"))
                errors["Transducer"].append(
                    relative_error(model.predict((a[:n], b[:n]), a[50:]), b[50:])
                )
                errors["kernel ridge"].append(
                    relative_error(choice.predict(a[:n], b[:n], a[50:]), b[50:])
                )
                errors["identity"].append(relative_error(a[50:], b[50:]))
            rows[str(n)] = {name: confidence(np.array(x)) for name, x in errors.items()}
        result["errors"][str(target)] = rows
        click.echo(f"t = {target}: {rows}")
    result["outliers"] = []
    for gap in (0.02, 0.05, 0.1, 0.2):
        found = outliers(model, gap, sets, rounds)
        result["outliers"].append(found)
        aucs = {name: found[name]["auc"] for name in ("Transducer", "kernel ridge")}
        click.echo(f"gap {gap}: {aucs} {found['precision_recall']}")
    out.parent.mkdir(parents=True, exist_ok=True)
    write_text(out, json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
