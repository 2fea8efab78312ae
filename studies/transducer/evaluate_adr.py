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

from hardmax.formats.whole_files import write_text
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


SMALL, LARGE = (3, 5, 10, 15, 20, 30, 50), (100, 200, 500)


def against_n(methods: Any, seeds: int, operators: int, sizes: tuple[int, ...]) -> Found:
    """Claims 5 to 7: errors against the number of examples, over ``seeds`` sets of operators.

    ``methods`` maps examples v, u and queries to estimates by name.
    """
    errors: dict[str, dict[int, list[float]]] = {}
    for seed in range(seeds):
        v, u = tasks(seed, operators, max(sizes) + QUERIES)
        for a, b in zip(v, u, strict=True):
            for n in sizes:
                for name, estimate in methods(a[:n], b[:n], a[-QUERIES:]).items():
                    error = relative_error(estimate, b[-QUERIES:])
                    errors.setdefault(name, {}).setdefault(n, []).append(error)
    return {
        name: {str(n): summary(values) for n, values in by_n.items()}
        for name, by_n in errors.items()
    }


class Baselines:
    """All regressions without a network; hyper-parameters by leave-one-out or on meta-train."""

    def __init__(self) -> None:
        v, u = (x.astype(float) for x in make_tasks(0, 64, 100))
        self.mean_operator = baselines.MeanOperator(v, u)
        self.choices = {
            (family, n): baselines.chosen_on_meta_train(v[:24], u[:24], n, family)
            for family in FAMILIES
            for n in SMALL
        }

    def __call__(self, v: np.ndarray, u: np.ndarray, queries: np.ndarray) -> dict[str, Any]:
        found = {
            "identity": queries,
            "mean operator": self.mean_operator.predict(queries),
            "1-NN": baselines.nearest(v, u, queries),
            "3-NN": baselines.nearest(v, u, queries, 3),
        }
        for families in (*((f,) for f in FAMILIES), FAMILIES):
            name = families[0] if len(families) == 1 else "best of three"
            choice = baselines.cross_validated(v, u, families)
            found[f"kernel ridge, {name}, CV"] = choice.predict(v, u, queries)
        for family in FAMILIES:
            if (family, len(v)) in self.choices:
                choice = self.choices[family, len(v)]
                found[f"kernel ridge, {family}, meta"] = choice.predict(v, u, queries)
        return found


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


def costs(n: int, operators: int) -> Found:
    """Claim 12: an FNO from scratch and cross-validated kernel ridge; seconds and errors."""
    v, u = tasks(80, operators, n + QUERIES)
    found: Found = {"n": n, "queries": QUERIES}
    for name, run in (
        (
            "kernel ridge",
            lambda x, y, q: baselines.cross_validated(x, y, FAMILIES).predict(x, y, q),
        ),
        ("FNO", lambda x, y, q: fno.predict(fno.train(x, y), q)),
    ):
        found[name] = timed(run, v, u, n)
    return found


def timed(run: Any, v: np.ndarray, u: np.ndarray, n: int) -> Found:
    """Median seconds and errors of one regression method on several operators."""
    seconds, errors = [], []
    for a, b in zip(v, u, strict=True):
        start = time.perf_counter()
        estimate = run(a[:n], b[:n], a[n:])
        seconds.append(time.perf_counter() - start)
        errors.append(relative_error(estimate, b[n:]))
    return {"seconds": float(np.median(seconds)), **summary(errors)}


@click.command()
@click.option(
    "--model",
    "path",
    type=click.Path(path_type=Path),
    help="without it, the baselines are measured",
)
@click.option("--out", type=click.Path(path_type=Path),
              default=Path("studies/transducer/results"))  # fmt: skip
@click.option("--seeds", default=3, show_default=True)
@click.option("--operators", default=50, show_default=True, help="for each seed")
@click.option("--fno", "fno_operators", default=4, show_default=True)
@click.option("--minutes", default=0.0, help="time of the meta-training, for the record")
@click.option("--trained-on", type=(int, int), default=(4, 40), show_default=True)
def main(
    path: Path | None,
    out: Path,
    seeds: int,
    operators: int,
    fno_operators: int,
    minutes: float,
    trained_on: tuple[int, int],
) -> None:
    """Measure the baselines, or a model, and write OUT/adr_baselines.json or OUT/adr.json."""
    import torch

    torch.set_num_threads(1)
    result: Found = {"machine": f"{platform.machine()}, 1 thread of a shared core"}
    if path is None:
        name, methods = "adr_baselines", Baselines()
        steps = {"costs": lambda: costs(50, fno_operators)}
    else:
        name, model = "adr", Transducer.load(path)
        _, u = tasks(0, 50, 60)
        result |= {"meta_training_minutes": minutes, "trained_on": trained_on}
        result |= {"model": path.name, "parameters": model.parameters, "floor": floor(model, u),
                   "sizes": model.sizes.as_dict()}  # fmt: skip

        def methods(v: np.ndarray, u: np.ndarray, queries: np.ndarray) -> dict[str, Any]:
            return {"Transducer": model.predict((v, u), queries)}

        steps = {
            "by_layer": lambda: {str(n): by_layer(model, n) for n in (10, 50)},
            "extrapolation": lambda: extrapolation(model, 20),
            "resolutions": lambda: resolutions(model, 20),
            "costs": lambda: {
                "gflops": model.sizes.flops(50, QUERIES) / 1e9,
                **timed(lambda x, y, q: model.predict((x, y), q), *tasks(80, 20, 100), 50),
            },
        }
    steps = {
        "against_n": lambda: against_n(methods, seeds, operators, SMALL),
        "against_large_n": lambda: against_n(methods, 1, operators, LARGE),
        **steps,
    }
    for step, measure in steps.items():
        start = time.perf_counter()
        result[step] = measure()
        click.echo(f"{step}: {time.perf_counter() - start:.0f} s")
        out.mkdir(parents=True, exist_ok=True)
        write_text(out / f"{name}.json", json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
