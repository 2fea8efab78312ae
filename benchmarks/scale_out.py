"""Past one file: build and verdict on shards, over one and two workers, and what 10⁹ would cost.

Run ``python benchmarks/scale_out.py [--sizes N …] [--workers K …] [--engine NAME …] [--large]``;
prints tables and writes results/scale_out.json. The data are generated shard by shard: d = 32,
n = 4, float64, Gaussian tokens, in 64 shards, an uncompressed .npz each:

- random: two random labels, 10⁵ and 10⁶ sequences, strategy cover without learning;
- half-spaces: with 9 labels, the number of the first of 8 random half-spaces that holds the mean of
  the sequence; the labels of 0.1 % are changed. 10⁵ and 10⁶ sequences, with ``--large`` 10⁷.

Every run is a process of its own: the seconds of collapsing all shards, of choosing the blocks and
of the verdict, as time on the wall and as processor time (of the parent in each phase: with one
worker it does all the work itself; of the workers in all phases together); peak memory of the
parent and of the largest worker; SHA-256 of model and certificate, which must not depend on workers
or engine. A limit that is missed has a "!".
"""

from __future__ import annotations

import argparse
import hashlib
import json
import resource
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter, process_time

sys.path.insert(0, str(Path(__file__).parent))

from machine import facts
from scale import show

HERE = Path(__file__).parent
SIZES, LARGE = (100_000, 1_000_000), 10_000_000
LENGTH, DIMENSION, SHARDS, HALFSPACES, FLIPPED = 4, 32, 64, 8, 0.001
LIMIT_S, LIMIT_GIB = {LARGE: 45 * 60.0}, 6.0  # in all; of a worker


def write(folder: Path, count: int, kind: str) -> None:
    """Write the shards, each from a seed of its own, and labels.json."""
    import numpy as np

    from hardmax.shards.writer import write_labels

    folder.mkdir(parents=True)
    rng = np.random.default_rng(0)
    normals = rng.normal(size=(HALFSPACES, DIMENSION))
    # each takes about a ninth of what the ones before it leave, or a little more
    offsets = np.quantile(rng.normal(size=10**5), 1 - 1 / np.arange(9, 1, -1))
    offsets = offsets * np.linalg.norm(normals, axis=1) / LENGTH**0.5
    labels = ["no", "yes"] if kind == "random" else [str(k) for k in range(HALFSPACES + 1)]
    bounds = np.linspace(0, count, SHARDS + 1).astype(int)
    for k in range(SHARDS):
        rng = np.random.default_rng((1, k))
        size = int(bounds[k + 1] - bounds[k])
        tokens = rng.normal(size=(size * LENGTH, DIMENSION))
        if kind == "random":
            codes = rng.integers(0, 2, size=size)
        else:
            means = tokens.reshape(size, LENGTH, DIMENSION).mean(axis=1)
            inside = np.c_[means @ normals.T > offsets, np.ones(size, dtype=bool)]
            codes = inside.argmax(axis=1)
            flips = np.flatnonzero(rng.random(size) < FLIPPED)
            other = rng.integers(1, HALFSPACES + 1, len(flips))
            codes[flips] = (codes[flips] + other) % (HALFSPACES + 1)
        np.savez(
            folder / f"part-{k:05d}.npz",
            tokens=tokens,
            offsets=np.arange(size + 1, dtype=np.int64) * LENGTH,
            label=np.array(labels)[codes],
        )
    write_labels(folder, labels)


def prove(folder: Path, kind: str, workers: int, name: str) -> dict[str, object]:
    """Build and judge; what each phase took."""
    from hardmax.shards import Shards
    from hardmax.shards.build import Options, build_shards
    from hardmax.shards.engines import engine
    from hardmax.shards.judge import certify_shards

    model_path, cert_path = folder.with_suffix(".model.npz"), folder.with_suffix(".cert.json")
    start, spent = perf_counter(), [process_time()]
    shards = Shards.open(folder)
    ends: list[float] = []

    def collapsed(done: int) -> None:
        ends.append(perf_counter())
        spent[1:] = [process_time()]

    with engine(name, workers) as chosen:
        model, journal = build_shards(
            shards,
            model_path,
            chosen,
            Options(learn=kind != "random"),
            progress=collapsed,
        )
        built = perf_counter()
        spent.append(process_time())
        model.save(model_path)
        saved = perf_counter()
        spent.append(process_time())
        found = certify_shards(model_path, shards, chosen)
        judged = perf_counter()
        spent.append(process_time())
    journal.end()
    if found.certificate.proved:
        found.certificate.save(cert_path)
    certificate = found.certificate
    return {
        "data": kind,
        "N": certificate.sequences,
        "engine": name,
        "workers": workers,
        "blocks": certificate.blocks,
        "form": model.meta.get("form"),
        "verdict": certificate.verdict,
        "collapse_s": ends[-1] - start,
        "blocks_s": built - ends[-1],
        "exact_s": judged - saved,
        "total_s": judged - start,
        "cpu_collapse_s": spent[1] - spent[0],
        "cpu_blocks_s": spent[2] - spent[1],
        "cpu_exact_s": spent[4] - spent[3],
        "cpu_workers_s": cpu_of_children(),
        "parent_GiB": peak_gib(resource.RUSAGE_SELF),
        "worker_GiB": peak_gib(resource.RUSAGE_CHILDREN),
        "model": digest(model_path),
        "certificate": digest(cert_path) if certificate.proved else None,
    }


def peak_gib(whose: int) -> float:
    """Peak resident memory; ru_maxrss counts KiB, on macOS bytes."""
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(whose).ru_maxrss * unit / 2**30


def cpu_of_children() -> float:
    """Processor seconds of all workers, in all phases."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()[:12]


def in_process(*words: object) -> str:
    """Call this file in a fresh interpreter."""
    command = [sys.executable, __file__, "--call", *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{words} failed:\n{done.stderr[-3000:]}")
    return done.stdout


def called(name: str, folder: str, kind: str, *rest: str) -> None:
    if name == "write":
        write(Path(folder), int(rest[0]), kind)
    else:
        print(json.dumps(prove(Path(folder), kind, int(rest[0]), rest[1])))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", type=int, nargs="*", default=list(SIZES))
    parser.add_argument("--kinds", nargs="*", default=["random", "half-spaces"])
    parser.add_argument("--workers", type=int, nargs="*", default=[1, 2])
    parser.add_argument("--engine", nargs="*", default=["local"], choices=["local", "dask"])
    parser.add_argument("--large", action="store_true", help=f"also {LARGE} sequences, 10 GB")
    parser.add_argument("--folder", help="where to write the data, by default a temporary folder")
    parser.add_argument("-o", "--output", type=Path, help="where the results go")
    parser.add_argument("--call", nargs="+", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.call:
        called(*options.call)
        return
    runs = [(kind, count) for kind in options.kinds for count in options.sizes]
    runs += [("half-spaces", LARGE)] if options.large else []
    rows = []
    for kind, count in runs:
        folder = Path(tempfile.mkdtemp(dir=options.folder)) / "data"
        start = perf_counter()
        in_process("write", folder, kind, count)
        written = perf_counter() - start
        for name in options.engine:
            for workers in options.workers:
                row = json.loads(in_process("prove", folder, kind, workers, name).splitlines()[-1])
                limits = {"limit_s": LIMIT_S.get(count), "limit_GiB": LIMIT_GIB}
                row |= {"write_s": written} | limits
                rows.append(
                    {k: float(f"{v:.4g}") if isinstance(v, float) else v for k, v in row.items()}
                )
                print(json.dumps(rows[-1]), file=sys.stderr, flush=True)
        shutil.rmtree(folder.parent)
    show(rows)
    for kind, count in runs:
        mine = [row for row in rows if (row["data"], row["N"]) == (kind, count)]
        same = {(row["model"], row["certificate"]) for row in mine}
        print(f"{kind}, {count}: {'the same bytes in all runs' if len(same) == 1 else same}")
    if options.output or options.large:
        path = options.output or HERE / "results" / "scale_out.json"
        path.write_text(json.dumps({"machine": facts(), "rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
