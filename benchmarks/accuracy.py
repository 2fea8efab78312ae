"""How well do models of strategy `learn` predict, beside what others would take?

    python -m benchmarks.accuracy               # five data sets; writes results/accuracy.json
    python -m benchmarks.accuracy --train-only  # the same; our models never see a test part
    python -m benchmarks.accuracy --families    # generated series; writes results/families.json

Needs the extra ``bench`` (aeon, scikit-learn, PyTorch). With ``--data`` or ``--method`` only some
rows are computed, and nothing is written. Ours is ``hm.build(train, strategy="learn")``, the
verdict is `hm.certify` on the training part. All methods see the training part alone, with their
own defaults and seed 0. *cv* is the accuracy of five-fold cross-validation on the training part,
repeated on small data; of ours it is what the build itself found while it chose, so that it is a
little too high. Build time is that of fitting, without compiling (MiniRocket runs once before).
"""

from __future__ import annotations

import argparse
import json
import sys
import warnings
from collections.abc import Sequence
from pathlib import Path
from time import perf_counter

import numpy as np

import hardmax as hm
from benchmarks import families
from benchmarks.classifiers import METHODS, NOT_CROSS_VALIDATED, Method, minirocket
from benchmarks.machine import facts
from benchmarks.splits import REAL, Split, needed
from hardmax.errors import MissingExtraError

RESULTS = Path(__file__).parent / "results"
OURS = "hardmax learn"
COLUMNS = ("test", "cv", "blocks", "parameters", "build_s", "verify_s", "verdict")
_PREDICTIONS = 250  # of cross-validation, at least
Row = dict[str, object]


def ours(split: Split, with_test: bool = True) -> Row:
    """A row of the table for a model that is built on the training part and proved on it."""
    train = split.train()
    start = perf_counter()
    model = hm.build(train, strategy="learn")
    built = perf_counter()
    proof = hm.certify(model, train)
    verified = perf_counter()
    error = model.meta.get("learned", {}).get("cross_validated_error")
    row: Row = {
        "method": OURS,
        "test": None,
        "cv": None if error is None else round(100 * (1 - error), 1),
        "blocks": proof.blocks,
        "parameters": proof.parameters,
        "build_s": round(built - start, 2),
        "verify_s": round(verified - built, 2),
        "verdict": proof.verdict,
        "bounds": proof.bounds.status,
        "reading": model.reading.to_meta(),
        "learned": model.meta.get("learned"),
    }
    if with_test:
        found = model.predict(split.test_X)
        row["test"] = _per_cent(found, split.test_y)
    return row


def other(name: str, method: Method, split: Split, cross_validated: bool = True) -> Row:
    """A row of the table for a baseline; it is not verified."""
    y = np.array(split.train_y)
    found = method(split.train_X, y, split.test_X)
    cv = None
    if cross_validated and name not in NOT_CROSS_VALIDATED:
        cv = round(cross_validation(method, split.train_X, y), 1)
    return {
        "method": name,
        "test": _per_cent(found.labels, split.test_y),
        "cv": cv,
        "parameters": found.parameters,
        "build_s": round(found.seconds, 2),
    }


def cross_validation(method: Method, X: Sequence[np.ndarray], y: np.ndarray) -> float:
    """Per cent of right predictions in five folds, cut anew until there are 250 of them."""
    folds = needed("sklearn.model_selection").RepeatedStratifiedKFold(
        n_splits=5, n_repeats=-(-_PREDICTIONS // len(y)), random_state=0
    )
    right = []
    for train, test in folds.split(y, y):
        found = method([X[j] for j in train], y[train], [X[j] for j in test])
        right.append(found.labels == y[test])
    return 100 * float(np.concatenate(right).mean())


def _per_cent(found: Sequence[object], true: Sequence[str]) -> float:
    right = sum(str(a) == str(b) for a, b in zip(found, true, strict=True))
    return round(100 * right / len(true), 1)


def real(data: Sequence[str], methods: Sequence[str], with_test: bool) -> list[Row]:
    """Rows of the five data sets."""
    rows = []
    for name in data:
        split = REAL[name]()
        facts = {"data": name, "N": len(split.train_X), "test_N": len(split.test_X)}
        for method in methods:
            row = (
                ours(split, with_test) if method == OURS else other(method, METHODS[method], split)
            )
            rows.append(_told(facts | row))
    return rows


def generated(data: Sequence[str], methods: Sequence[str], seeds: Sequence[int]) -> list[Row]:
    """Rows of the generated families; nothing else is cross-validated here than ours."""
    rows = []
    for name in data:
        for seed in seeds:
            split = families.split(name, seed)
            facts = {"data": name, "seed": seed}
            for method in methods:
                row = (
                    ours(split)
                    if method == OURS
                    else other(method, METHODS[method], split, cross_validated=False)
                )
                rows.append(_told(facts | row))
    return rows


def _told(row: Row) -> Row:
    print(_line(row), flush=True)
    return row


def _line(row: Row) -> str:
    name = f"{row['data']} {row['seed']}" if "seed" in row else str(row["data"])
    cells = ("–" if row.get(c) is None else str(row[c]) for c in COLUMNS)
    return f"{name:20} {row['method']:22}" + "".join(f"{cell:>11}" for cell in cells)


def heading() -> str:
    """The names of the columns."""
    return f"{'data':20} {'method':22}" + "".join(f"{c:>11}" for c in COLUMNS)


def means(rows: Sequence[Row]) -> list[str]:
    """A line for each method that has a test accuracy everywhere: the mean over all rows."""
    lines = []
    for method in dict.fromkeys(str(row["method"]) for row in rows):
        found = [row["test"] for row in rows if row["method"] == method]
        if all(isinstance(x, float) for x in found):
            lines.append(f"{'mean':20} {method:22}{np.mean(found):>11.1f}")
    return lines


def _warm() -> None:
    """Compile MiniRocket, with one channel and with several."""
    rng = np.random.default_rng(0)
    for channels in (1, 2):
        X = list(rng.normal(size=(8, 20, channels)))
        minirocket(X, np.arange(8) % 2, X)


def _run(options: argparse.Namespace, data: Sequence[str], methods: Sequence[str]) -> None:
    libraries = () if options.families and set(methods) == {OURS} else ("aeon", "sklearn")
    for library in (*libraries, *(["torch"] if "softmax transformer" in methods else [])):
        needed(library)  # before the work, not behind it
    if "MiniRocket" in methods:
        _warm()
    print(heading())
    if options.families:
        rows = generated(data, methods, range(options.seeds))
    else:
        rows = real(data, methods, not options.train_only)
    print("\n".join(means(rows)))
    if not options.data and not options.method:
        path = RESULTS / ("families.json" if options.families else "accuracy.json")
        path.write_text(json.dumps({"machine": facts(), "rows": rows}, indent=1) + "\n")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run; 2 where a library is missing."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.accuracy",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--families", action="store_true", help="generated series")
    parser.add_argument("--seeds", type=int, default=2, help="of each family: 0, 1, … (2 of them)")
    parser.add_argument(
        "--train-only", action="store_true", help="our models do not see the test parts"
    )
    parser.add_argument("--data", action="append", help="only this data set; may be repeated")
    parser.add_argument("--method", action="append", help="only this method; may be repeated")
    options = parser.parse_args(arguments)
    known = families.FAMILIES if options.families else REAL
    every = (OURS, *METHODS)
    data = options.data or list(known)
    methods = options.method or ([OURS, "MiniRocket"] if options.families else every)
    for name, names in [*((x, known) for x in data), *((x, every) for x in methods)]:
        if name not in names:
            parser.error(f"{name!r} is unknown; known are {', '.join(names)}")
    warnings.filterwarnings("ignore")  # of the libraries that baselines need
    try:
        _run(options, data, methods)
    except MissingExtraError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main())
