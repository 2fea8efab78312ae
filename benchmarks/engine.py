"""Speed of the engine beside the frozen baselines in baselines/.

Run ``python benchmarks/engine.py [--only NAME …] [--models FOLDER] [--profile]``; prints tables
and writes results/engine.json (with --only, just what -o names). The columns, in milliseconds:

- B1 … B5: numpy_blocks, torch_blocks, torch_dense, fractions_blocks, sympy_blocks. B3 skip is
  B3 without the attention layers that do nothing. Where B3, B4 or B5 would take longer than a
  few seconds it runs on some of the sequences, evenly spaced (the longest among them for B3,
  which pads to it), and its time is scaled by their number; "B3 of" says how many. PyTorch's
  columns are empty where it is not installed.
- float: the engine's own plan in float64, compiled before; "lost" counts the sequences that it
  can't follow, and where there are any it has no ratios.
- compile: the plan of a fresh model. cold: the exact verdict on a fresh model and a fresh data
  set, compilation included. exact: the same verdict again.
- certify: the whole of `hm.certify` on a fresh model.

B1, float and exact are taken in turns, then B2 and float again (for float/B2), then B3, all in one
process, with pauses in between; each time is a median. What counts is the cold verdict, for that is
what one ``hardmax verify`` takes. A ratio that misses its target has a "!". Every library may use
every core, as the engine does, so results/ need a quiet machine: where something else runs,
threads of BLAS that wait for each other spoil every figure by factors up to a hundred. To develop
beside other work, set ``OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1``; the results say so.
"""

from __future__ import annotations

import argparse
import cProfile
import json
import os
import pstats
import statistics
import sys
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from fractions import Fraction
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from time import perf_counter, sleep
from unittest.mock import patch

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))

from baselines import check, fractions_blocks, numpy_blocks, sympy_blocks
from data import fresh_data, fresh_model, gaussian, text_like
from machine import facts

import hardmax as hm

HERE = Path(__file__).parent
TORCH = find_spec("torch") is not None
TARGETS = {
    "cold/B1": 1.0,
    "float/B2": 1 / 3,
    "float/B3": 1 / 20,
    "cold/B4": 1e-3,
    "cold/B5": 1e-3,
}
PAUSE_S = 0.2  # until idle threads of BLAS and OpenMP have gone to sleep
TURN_S = 0.1  # of runs in a turn
BUDGET_S = 12.0  # for the repetitions of one group of columns
DENSE_S = 4.0  # one run of B3; beyond, it gets fewer sequences
EXACT_S = 4.0  # one run of B4 or B5, about


def sources() -> dict[str, tuple[Callable[[], hm.Dataset], list[tuple[str, bool]]]]:
    """The data sets, each with its strategies and whether they learn."""
    vowels = partial(hm.load, HERE.parent / "examples" / "vowels.json.gz")
    return {
        "vowels": (
            vowels,
            [("paper", True), ("peel", True), ("cover", True), ("cover", False), ("auto", True)],
        ),
        "text-like N=2000": (
            partial(text_like, 2000),
            [("cover", True), ("peel", True), ("paper", True)],
        ),
        "gaussian N=10000 d=64": (partial(gaussian, 10_000, 64), [("cover", True)]),
    }


def title(strategy: str, learn: bool) -> str:
    return strategy if learn else f"{strategy} --no-learn"


def built(data: hm.Dataset, strategy: str, learn: bool, path: Path | None) -> hm.Transformer:
    """The model; read from ``path`` where it is there, kept there where it is not."""
    if path is not None and path.exists():
        return hm.Transformer.load(path)
    model = hm.build(data, strategy=strategy, learn=learn)
    if path is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        model.save(path)
    return model


def timed(run: Callable[[], object]) -> float:
    start = perf_counter()
    run()
    return perf_counter() - start


def medians(runs: dict[str, Callable[[], object]], budget: float = BUDGET_S) -> dict[str, float]:
    """Median times of functions that take turns, several runs a turn where they are short.

    Before each turn there is a pause, and its first run does not count: else a function would
    find one core busy with the threads of BLAS that the one before it woke, or the cache cold.
    """
    single = {name: timed(run) for name, run in runs.items()}
    turns = int(np.clip(budget / sum(PAUSE_S + max(x, TURN_S) for x in single.values()), 3, 15))
    times: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(turns):
        for name, run in runs.items():
            sleep(PAUSE_S)
            if single[name] < 1:
                run()
            count = int(np.clip(TURN_S / single[name], 1, 20))
            times[name].extend(timed(run) for _ in range(count))
    return {name: statistics.median(found) for name, found in times.items()}


def median_cold(model: hm.Transformer, data: hm.Dataset, run: Callable, count: int = 5) -> float:
    """Median time of a run on fresh objects, which are made off the clock."""
    times: list[float] = []
    while len(times) < count and sum(times) < 3 * BUDGET_S:
        pair = fresh_model(model), fresh_data(data)
        times.append(timed(partial(run, *pair)))
    return statistics.median(times)


def some(data: hm.Dataset, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Tokens and offsets of evenly spaced sequences and the longest one."""
    lengths = np.diff(data.offsets)
    chosen = np.unique([*np.linspace(0, len(data) - 1, count).astype(int), lengths.argmax()])
    places = [np.arange(data.offsets[j], data.offsets[j + 1]) for j in chosen]
    offsets = np.concatenate([[0], np.cumsum(lengths[chosen])])
    return data.tokens.values[np.concatenate(places)], offsets


def dense(given: tuple[np.ndarray, ...], data: hm.Dataset) -> dict[str, object]:
    """Times of B3, which may have to run on fewer sequences."""
    from baselines import torch_dense

    *parameters, tokens, offsets = given
    first = [part[:5] for part in parameters]
    torch_dense.outputs(*first, tokens, offsets)
    pilot = timed(lambda: torch_dense.outputs(*first, tokens, offsets))
    whole = pilot * len(parameters[0]) / len(first[0])
    count = len(data)
    if whole > DENSE_S:
        tokens, offsets = some(data, max(1, int(count * DENSE_S / whole)))
    used = len(offsets) - 1
    run = partial(torch_dense.outputs, *parameters, tokens, offsets)
    check_near(run(), numpy_blocks.outputs(*parameters, tokens, offsets), given)
    found = medians({"B3": run, "B3 skip": partial(run, skip_identity=True)})
    scaled = {name: time * count / used for name, time in found.items()}
    return {**scaled, "B3 of": f"{used}/{count}"}


def check_near(found: np.ndarray, expected: np.ndarray, given: tuple[np.ndarray, ...]) -> None:
    """Raise where two results in floats are apart by more than rounding."""
    size = max(1.0, *(float(np.abs(x).max(initial=0)) for x in given[:-1]))
    if not np.abs(found - expected).max(initial=0) <= check.TOLERANCE * size:
        raise AssertionError("two executors in float64 are apart by more than rounding")


def measure(name: str, data: hm.Dataset, model: hm.Transformer, how: str) -> dict:
    """One row: everything but B4 and B5. Times in milliseconds."""
    from hardmax.certify.verify import misclassified
    from hardmax.engine import Plan, float_outputs

    cold = median_cold(model, data, misclassified)
    compiling = median_cold(model, data, lambda m, _: Plan.of(m))
    certify = median_cold(model, data, hm.certify, 3)
    given = check.arrays(model, data)
    plan = Plan.of(model)
    runs = {
        "B1": partial(numpy_blocks.outputs, *given),
        "float": partial(float_outputs, plan, data.tokens, data.offsets),
        "exact": partial(misclassified, model, data),
    }
    if misclassified(model, data):
        raise AssertionError(f"{name} {how} is refuted")
    expected, own = runs["B1"](), runs["float"]()
    followed = ~np.isnan(own).any(axis=1)
    check_near(own[followed], expected[followed], given)
    times = medians(runs) | {"cold": cold, "compile": compiling, "certify": certify}
    beside: dict[str, float] = {}
    if TORCH:  # apart from B1: its threads keep cores busy for a while after each run
        from baselines import torch_blocks

        B2 = partial(torch_blocks.outputs, *given)
        check_near(B2(), expected, given)
        beside = medians({"B2": B2, "float": runs["float"]})
        times["B2"] = beside["B2"]
    slow = dense(given, data) if TORCH else {}
    share = slow.pop("B3 of", None)
    times |= slow
    columns = ("B1", "B2", "B3", "B3 skip", "float", "compile", "cold", "exact", "certify")
    ratios = ("exact/B1", "cold/B1", "exact/float", "float/B2", "float/B3", "float/B3 skip")
    found = {column: ratio(times, column) for column in ratios}
    found["float/B2"] = ratio(beside, "float/B2")
    return {
        **described(name, data, model, how),
        **{column: milliseconds(times.get(column)) for column in columns},
        "B3 of": share,
        "lost": int((~followed).sum()),
        # a plan that gives up is no executor to compare with
        **{c: None if "float" in c and not followed.all() else x for c, x in found.items()},
    }


def measure_exact(name: str, data: hm.Dataset, model: hm.Transformer, how: str) -> dict:
    """One row of the exact baselines, which may have to run on fewer sequences."""
    from hardmax.certify.verify import misclassified

    count = len(data)
    times = {"cold": median_cold(model, data, misclassified)}
    verdict = {"exact": partial(misclassified, model, data)}
    exact = [medians(verdict, 1)["exact"]]
    used: dict[str, str] = {}
    ratios: dict[str, float | None] = {}
    for column, run in (("B4", fractions_blocks.outputs), ("B5", sympy_blocks.outputs)):
        took, few = 0.0, 3
        while True:  # ever more sequences, until the time is worth measuring
            chosen = np.unique(np.linspace(0, count - 1, min(few, count)).astype(int)).tolist()
            given = check.numbers(model, check.part(data, chosen))
            given = check.rationals(given) if column == "B5" else given
            found: list[list] = []
            took = timed(lambda run=run, given=given, found=found: found.extend(run(*given)))
            if len(chosen) == count or took > EXACT_S / 4:
                break
            few = int(np.ceil(few * min(30, max(2, EXACT_S / took / 2))))
        for j, y in zip(chosen, found, strict=True):
            output = [Fraction(int(x.numerator), int(x.denominator)) for x in y]
            if not data.sets[data.labels[j]].contains(output):
                raise AssertionError(f"{column} refutes {name} {how}")
        turns: list[tuple[float, float]] = []  # of the baseline; of the verdict before and after
        while len(turns) < 7 and took * len(turns) < EXACT_S:
            whole = timed(partial(run, *given)) * count / len(chosen)
            exact.append(medians(verdict, 1)["exact"])
            turns.append((whole, sum(exact[-2:]) / 2))
        times[column] = statistics.median(whole for whole, _ in turns)
        used[f"{column} of"] = f"{len(chosen)}/{count}"
        beside = statistics.median(judged / whole for whole, judged in turns)
        ratios[f"exact/{column}"] = float(f"{beside:.3g}")
        ratios[f"cold/{column}"] = ratio(times, f"cold/{column}")
    times["exact"] = statistics.median(exact)
    columns = ("B4", "B5", "cold", "exact")
    return {
        **described(name, data, model, how),
        **{column: milliseconds(times[column]) for column in columns},
        **used,
        **ratios,
    }


def described(name: str, data: hm.Dataset, model: hm.Transformer, how: str) -> dict[str, object]:
    return {
        "data": name,
        "strategy": how,
        "N": len(data),
        "T": len(data.tokens),
        "d": data.dimension,
        "blocks": len(model),
    }


def milliseconds(seconds: float | None) -> float | None:
    return None if seconds is None else float(f"{1e3 * seconds:.4g}")


def ratio(times: dict[str, float], name: str) -> float | None:
    above, _, below = name.partition("/")
    if above not in times or below not in times:
        return None
    return float(f"{times[above] / times[below]:.3g}")


def cell(column: str, value: object) -> str:
    missed = column in TARGETS and isinstance(value, float) and value > TARGETS[column]
    missed |= column == "lost" and value != 0
    return "" if value is None else f"{value}{'!' if missed else ''}"


def show(rows: list[dict[str, object]]) -> None:
    """Print an aligned table, with the targets as its last line."""
    if not rows:
        return
    columns = list(rows[0])
    table = [columns, *([cell(c, row[c]) for c in columns] for row in rows)]
    table.append(["target", *(f"{TARGETS[c]:.3g}" if c in TARGETS else "" for c in columns[1:])])
    widths = [max(len(cells[i]) for cells in table) for i in range(len(columns))]
    for cells in table:
        print("  ".join(text.rjust(w) for text, w in zip(cells, widths, strict=True)))
    print()


def profile(name: str, data: hm.Dataset, model: hm.Transformer, lines: int = 16) -> None:
    """Print where the time of the exact verdict goes, cold and then again, in one thread."""
    from hardmax.certify.verify import misclassified

    misclassified(fresh_model(model), fresh_data(data))  # what is imported on the way
    cold = [(fresh_model(model), fresh_data(data)) for _ in range(5)]
    misclassified(model, data)
    for state, pairs in (("cold", cold), ("again", [(model, data)] * 50)):
        profiler = cProfile.Profile()
        start = perf_counter()
        with patch.object(ThreadPoolExecutor, "submit", at_once):
            runs = 0
            for pair in pairs:
                profiler.runcall(misclassified, *pair)
                runs += 1
                if perf_counter() - start > BUDGET_S:
                    break
        found = pstats.Stats(profiler).stats  # place: calls, .., own time, time with callees
        whole = sum(own for _, _, own, *_ in found.values())
        print(f"{name}, {state}: {1e3 * whole / runs:.2f} ms a verdict, under the profiler")
        print("    own  own ms   all ms   calls  where")
        for (file, line, function), (_, calls, own, everything, _) in sorted(
            found.items(), key=lambda entry: -entry[1][2]
        )[:lines]:
            where = f"{Path(file).parent.name}/{Path(file).name}:{line} " if line else ""
            print(
                f"{own / whole:7.1%} {1e3 * own / runs:7.3f} {1e3 * everything / runs:8.3f} "
                f"{calls / runs:7.0f}  {where}{function}"
            )
        print()


def at_once(_: ThreadPoolExecutor, run: Callable, /, *given: object, **named: object) -> Future:
    """In place of `submit`: run now, in this thread, where the profiler sees it."""
    future: Future = Future()
    future.set_result(run(*given, **named))
    return future


def threads() -> dict[str, object]:
    """How many threads the libraries were allowed, and the load that was there before."""
    found: dict[str, object] = {
        key: os.environ.get(key) for key in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS")
    }
    if TORCH:
        import torch

        found |= {"torch": torch.__version__, "torch_threads": torch.get_num_threads()}
    return found | {"load_before": round(os.getloadavg()[0], 2)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="*", help="names of data sets, or data set/strategy")
    parser.add_argument("--models", type=Path, help="folder that keeps the models between runs")
    parser.add_argument("-o", "--output", type=Path, help="where the results go")
    parser.add_argument("--no-check", action="store_true", help="trust the baselines")
    parser.add_argument("--profile", action="store_true", help="only say where the time goes")
    options = parser.parse_args()
    setting = threads()
    if not (options.no_check or options.profile) and TORCH:
        check.check_all()
    rows, exact = [], []
    for name, (load, ways) in sources().items():
        chosen = [
            (strategy, learn)
            for strategy, learn in ways
            if not options.only or {name, f"{name}/{title(strategy, learn)}"} & {*options.only}
        ]
        data = load() if chosen else None
        for strategy, learn in chosen:
            how = title(strategy, learn)
            file = f"{name} {how}.npz".replace(" ", "_")
            path = options.models / file if options.models else None
            if options.profile:
                profile(f"{name} {how}", data, built(data, strategy, learn, path))
                continue
            model = built(data, strategy, learn, path)
            rows.append(measure(name, data, model, how))
            print(json.dumps(rows[-1]), file=sys.stderr, flush=True)
            exact.append(measure_exact(name, data, model, how))
            print(json.dumps(exact[-1]), file=sys.stderr, flush=True)
    if options.profile:
        return
    print("times in milliseconds\n")
    show(rows)
    show(exact)
    if options.only and not options.output:
        return
    results = {"machine": facts() | setting, "targets": TARGETS, "rows": rows, "exact": exact}
    path = options.output or HERE / "results" / "engine.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
