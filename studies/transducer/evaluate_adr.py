"""Measure a meta-trained ADR Transducer beside the baselines, on operators it never saw.

    python -m studies.transducer.evaluate_adr --model examples/transducer_adr.safetensors

Every error is `metric.relative_error`, beside the floor of the coding. Results go to a JSON
file, from which `claims.py` and `figures.py` read.
"""

from __future__ import annotations

import json
import platform
import time
from pathlib import Path
from typing import Any

import click
import numpy as np

from hardmax.formats.files import write_text
from hardmax.learned.transducer import Transducer
from studies.transducer import baselines, fno
from studies.transducer.adr import make_tasks
from studies.transducer.metric import confidence, relative_error

FAMILIES = ("linear", "quadratic", "rbf")
QUERIES = 50
Found = dict[str, Any]


def tasks(seed: int, operators: int, pairs: int, **options: Any) -> tuple[np.ndarray, np.ndarray]:
    """Unseen operators, float64; seeds from 2 000 000 on are used by nothing else."""
    v, u = make_tasks(2_000_000 + seed, operators, pairs, **options)
    return v.astype(float), u.astype(float)


def floor(model: Transducer, u: np.ndarray) -> float:
    """Error that the coding of u alone makes."""
    flat = u[np.isfinite(u).all(-1)]
    return relative_error(model.coding_u.decode(model.coding_u.encode(flat)), flat)


def summary(errors: list[float]) -> Found:
    mean, half = confidence(np.array(errors))
    return {"mean": mean, "half_width": half, "median": float(np.median(errors)),
            "operators": len(errors)}  # fmt: skip


def against_n(model: Transducer, seeds: int, operators: int, sizes: list[int]) -> Found:
    """Claims 5 to 7: errors of everything against the number of examples."""
    meta_v, meta_u = (x.astype(float) for x in make_tasks(0, 64, 100))
    mean_operator = baselines.MeanOperator(meta_v, meta_u)
    errors: dict[str, dict[int, list[float]]] = {}
    choices: dict[str, dict[int, baselines.Choice]] = {
        family: {
            n: baselines.chosen_on_meta_train(meta_v[:24], meta_u[:24], n, family)
            for n in sizes
            if n <= 60
        }
        for family in FAMILIES
    }
    for seed in range(seeds):
        v, u = tasks(seed, operators, max(sizes) + QUERIES)
        for a, b in zip(v, u, strict=True):
            queries, targets = a[-QUERIES:], b[-QUERIES:]
            for n in sizes:
                x, y = a[:n], b[:n]
                found = {
                    "Transducer": model.predict((x, y), queries),
                    "identity": queries,
                    "mean operator": mean_operator.predict(queries),
                    "1-NN": baselines.nearest(x, y, queries),
                    "3-NN": baselines.nearest(x, y, queries, 3),
                }
                for family in (*((f,) for f in FAMILIES), FAMILIES):
                    choice = baselines.cross_validated(x, y, family)
                    name = family[0] if len(family) == 1 else "best of three"
                    found[f"kernel ridge, {name}, CV"] = choice.predict(x, y, queries)
                for family in FAMILIES:
                    if n in choices[family]:
                        found[f"kernel ridge, {family}, meta"] = choices[family][n].predict(
                            x, y, queries
                        )
                for name, estimate in found.items():
                    error = relative_error(estimate, targets)
                    errors.setdefault(name, {}).setdefault(n, []).append(error)
    return {
        name: {str(n): summary(values) for n, values in by_n.items()}
        for name, by_n in errors.items()
    }


def by_layer(model: Transducer, n: int) -> list[float]:
    """Claim 9: error of the query's state after each layer, decoded as it is."""
    import torch

    v, u = tasks(50, 50, n + QUERIES)
    totals = []
    for a, b in zip(v, u, strict=True):
        x, y = model.encode(a, b)
        parts = (torch.as_tensor(z)[None] for z in (x[:n], y[:n], x[n:]))
        with torch.no_grad():
            states = model.network.states(*parts)
        totals.append([
            relative_error(model.coding_u.decode(state[0].numpy() * model.scale_u), b[n:])
            for state in states
        ])  # fmt: skip
    return [float(x) for x in np.mean(totals, 0)]


def extrapolation(model: Transducer, n: int) -> list[Found]:
    """Claim 11: other length scales of δ and ν, other target times, k up to 0.1."""
    found = []
    for length in (0.1, 0.2, 0.3):
        for target in (0.25, 0.5, 1.0, 1.5, 2.0, 3.0):
            if length != 0.2 and target != 1.0:
                continue
            v, u = tasks(60, 50, n + QUERIES, length=length, time=target)
            rows: dict[str, list[float]] = {"Transducer": [], "kernel ridge": [], "identity": []}
            for a, b in zip(v, u, strict=True):
                good = np.isfinite(b).all(-1)
                x, y = a[:n][good[:n]], b[:n][good[:n]]
                choice = baselines.cross_validated(x, y, FAMILIES)
                rows["Transducer"].append(relative_error(model.predict((x, y), a[n:]), b[n:]))
                rows["kernel ridge"].append(relative_error(choice.predict(x, y, a[n:]), b[n:]))
                rows["identity"].append(relative_error(a[n:], b[n:]))
            blown = int((~np.isfinite(u).all(-1)).sum())
            found.append({
                "length": length, "time": target, "blown_up": blown, "pairs": int(u[..., 0].size),
                "floor": floor(model, u), **{k: summary(e) for k, e in rows.items()},
            })  # fmt: skip
    return found


def resolutions(model: Transducer, n: int) -> Found:
    """Claim 18: the same functions sampled on other grids, read on other grids."""
    v, u = tasks(70, 20, n + QUERIES, points=397)
    result: Found = {}
    for step in (4, 2, 1):
        for out in (50, 100, 199, 397):
            errors = []
            for a, b in zip(v[:, :, ::step], u, strict=True):
                wanted = model.coding_u.decode(model.coding_u.encode(b[n:]), out)
                b_in = b[:, ::step]
                found = model.predict((a[:n], b_in[:n]), a[n:], points=out)
                errors.append(relative_error(found, wanted))
            result[f"in {396 // step + 1}, out {out}"] = float(np.mean(errors))
    return result


def costs(model: Transducer, n: int, operators: int) -> Found:
    """Claim 12: seconds and operations of one regression, and an FNO's error from scratch."""
    v, u = tasks(80, operators, n + QUERIES)
    seconds: dict[str, list[float]] = {"Transducer": [], "kernel ridge": [], "FNO": []}
    errors: dict[str, list[float]] = {"Transducer": [], "kernel ridge": [], "FNO": []}
    for a, b in zip(v, u, strict=True):
        x, y, queries, targets = a[:n], b[:n], a[n:], b[n:]
        runs = {
            "Transducer": lambda x=x, y=y, q=queries: model.predict((x, y), q),
            "kernel ridge": lambda x=x, y=y, q=queries: baselines.cross_validated(
                x, y, FAMILIES
            ).predict(x, y, q),
            "FNO": lambda x=x, y=y, q=queries: fno.predict(fno.train(x, y), q),
        }
        for name, run in runs.items():
            start = time.perf_counter()
            estimate = run()
            seconds[name].append(time.perf_counter() - start)
            errors[name].append(relative_error(estimate, targets))
    return {
        "n": n,
        "queries": QUERIES,
        "seconds": {name: float(np.median(x)) for name, x in seconds.items()},
        "errors": {name: summary(x) for name, x in errors.items()},
        "gflops": model.sizes.flops(n, QUERIES) / 1e9,
    }


@click.command()
@click.option("--model", "path", type=click.Path(path_type=Path), required=True)
@click.option("--out", type=click.Path(path_type=Path),
              default=Path("studies/transducer/results/adr.json"))  # fmt: skip
@click.option("--seeds", default=3, show_default=True)
@click.option("--operators", default=50, show_default=True, help="for each seed")
@click.option("--fno", "fno_operators", default=6, show_default=True)
def main(path: Path, out: Path, seeds: int, operators: int, fno_operators: int) -> None:
    """Write all measurements of one model to OUT."""
    import torch

    torch.set_num_threads(1)
    model = Transducer.load(path)
    _, u = tasks(0, 50, 60)
    result: Found = {
        "model": path.name, "parameters": model.parameters, "sizes": model.sizes.as_dict(),
        "floor": floor(model, u),
        "machine": f"{platform.processor() or platform.machine()}, 1 thread, shared",
    }  # fmt: skip
    steps = {
        "against_n": lambda: against_n(model, seeds, operators, [3, 5, 10, 15, 20, 30, 50]),
        "against_large_n": lambda: against_n(model, 1, operators, [100, 200, 500]),
        "by_layer": lambda: {str(n): by_layer(model, n) for n in (10, 50)},
        "extrapolation": lambda: extrapolation(model, 20),
        "resolutions": lambda: resolutions(model, 20),
        "costs": lambda: costs(model, 50, fno_operators),
    }
    for name, measure in steps.items():
        start = time.perf_counter()
        result[name] = measure()
        click.echo(f"{name}: {time.perf_counter() - start:.0f} s")
        out.parent.mkdir(parents=True, exist_ok=True)
        write_text(out, json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
