"""Claim 15 on the synthetic stand-in, with and without drift.

    python -m studies.transducer.run_climate

Meta-train on windows of 20 days of six years; test on the last three, with contexts from the
week before (P.W) or the year before (P.Y).
"""

from __future__ import annotations

import json
import time
from pathlib import Path

import click
import numpy as np

from hardmax.formats.whole_files import write_text
from hardmax.learned.transducer import Configuration, Settings, Transducer
from studies.transducer import baselines
from studies.transducer.climate import YEAR, Climate, Modes, windows

MODES, TRAIN = 24, 6 * YEAR


def measure(drift: bool, steps: int) -> dict[str, float]:
    """Root of the latitude-weighted mean squared error in hPa, by method."""
    climate = Climate(drift=drift)
    T, p = climate.fields
    code_T = Modes(T[:TRAIN], climate.weights, MODES)
    code_p = Modes(p[:TRAIN], climate.weights, MODES)
    v, u = code_T.encode(T), code_p.encode(p)
    starts = np.arange(0, TRAIN - 20)
    days = starts[:, None] + np.arange(20)
    sizes = Configuration(MODES, MODES, depth=4, heads=8, head_size=8, mlp=64, width=48)
    model = Transducer(sizes)
    settings = Settings(steps=steps, batch=16, queries=5, examples=(15, 15), learning_rate=1e-3,
                        warmup=200, halvings=5)  # fmt: skip
    clock = time.perf_counter()
    model.fit_meta(
        (v[days], u[days]), checkpoint=f"out/climate-{drift}.checkpoint",
        report=lambda step, loss: click.echo(
            f"drift {drift}: {step}  loss {loss:.3e}  {(time.perf_counter() - clock) / 60:.1f} min"
        ),
        **settings.__dict__,
    )  # fmt: skip
    one_map = baselines.cross_validated(v[:TRAIN:4], u[:TRAIN:4], ("linear", "quadratic"))
    by_day = np.stack([u[d:TRAIN:YEAR].mean(0) for d in range(YEAR)])
    totals: dict[str, list[float]] = {}
    for day in range(7 * YEAR, 10 * YEAR, 6):
        q = v[day : day + 1]
        guesses = {
            "nearest day": baselines.nearest(v[:TRAIN], u[:TRAIN], q),
            "climatology": by_day[day % YEAR][None],
            "one map": one_map.predict(v[:TRAIN:4], u[:TRAIN:4], q),
        }
        for kind, name in (("week", "P.W"), ("year", "P.Y")):
            near = windows(day, kind)
            guesses[f"mean of {name}"] = u[near].mean(0, keepdims=True)
            ridge = baselines.cross_validated(v[near], u[near], ("linear",))
            guesses[f"kernel ridge {name}"] = ridge.predict(v[near], u[near], q)
            guesses[f"Transducer {name}"] = model.predict((v[near], u[near]), q)
        guesses["floor of the coding"] = u[day : day + 1]
        for name, guess in guesses.items():
            error = code_p.decode(guess)[0] - p[day].ravel()
            totals.setdefault(name, []).append(float((climate.weights.ravel() * error**2).mean()))
    return {name: float(np.sqrt(np.mean(x))) for name, x in totals.items()}


@click.command()
@click.option("--out", type=click.Path(path_type=Path),
              default=Path("studies/transducer/results/climate.json"))  # fmt: skip
@click.option("--steps", default=3000, show_default=True)
def main(out: Path, steps: int) -> None:
    """Write the errors with and without drift."""
    import torch

    torch.set_num_threads(1)
    result = {}
    for name, drift in (("drift", True), ("no drift", False)):
        result[name] = measure(drift, steps)
        click.echo(f"{name}: {result[name]}")
    out.parent.mkdir(parents=True, exist_ok=True)
    write_text(out, json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
