"""Proximal gradient and Burer–Monteiro against cvxpy, on linear self-attention with squared loss.

Run ``python studies/convex_attention/solvers.py [SECONDS]``: each solver gets a process of its own
and at most so many seconds of processor time (default 600) and 4 GiB for each size. cvxpy and its
solvers are needed. It writes results/solvers.json: processor time, objective and relative gap, or
why there is none; and it goes on where it stopped.
"""

from __future__ import annotations

import json
import multiprocessing as mp
import resource
import sys
from collections.abc import Callable
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import numpy as np

from hardmax.learned.convex import Head, Problem, factored, proximal_gradient
from hardmax.learned.convex.choose import pooled_features

RESULTS = Path(__file__).parent / "results" / "solvers.json"
SIZES = [(3, 2, 8), (6, 4, 30), (10, 10, 60), (40, 10, 40)]  # d, c, n
TOKENS = 6
MEMORY = 4 << 30  # bytes that each solver may take


def problem(d: int, c: int, n: int) -> Problem:
    """Gaussian tokens in eighths, targets of four heads and noise; β a twentieth of the largest."""
    rng = np.random.default_rng(0)
    X = np.rint(8 * rng.normal(size=(n, TOKENS, d)) / d**0.5) / 8
    made = Problem(Head("self-attention"), X, np.zeros((n, 1, c)), 1.0)
    a, b = made.shapes[0]
    U, V = rng.normal(size=(a, 4)), rng.normal(size=(b, 4))
    Y = made.predict([U @ V.T])
    Y /= Y.std()
    made.targets = np.rint(64 * (Y + 0.1 * rng.normal(size=Y.shape))) / 64
    N = made.adjoints(made.targets)[0]
    made.beta = float(2.0 ** np.floor(np.log2(np.linalg.norm(N, 2) / 20)))
    return made


def ours(solver: Callable[..., Any]) -> Callable[[Problem], dict[str, Any]]:
    def run(case: Problem) -> dict[str, Any]:
        found = solver(case, tolerance=1e-6)
        return {"objective": found.upper, "gap": found.gap}

    return run


def oracle(name: str) -> Callable[[Problem], dict[str, Any]]:
    def run(case: Problem) -> dict[str, Any]:
        import cvxpy as cp

        n, s, _ = case.tokens.shape
        features = pooled_features("attention", case.tokens, np.full((n, s), 1 / s), (s, 1))
        (a, b), c = case.shapes[0], case.targets.shape[2]
        Z = cp.Variable((a, b))
        flat = features.reshape(n, a, b // c)
        fit = 0
        for p in range(c):
            column = sum(flat[:, :, k] @ Z[:, k * c + p] for k in range(b // c))
            fit += cp.sum_squares(column - case.targets[:, 0, p]) / 2
        program = cp.Problem(cp.Minimize(fit + case.beta * cp.normNuc(Z)))
        program.solve(solver=name, **({"eps": 1e-6} if name == "SCS" else {}))
        return {"objective": case.objective([np.asarray(Z.value)]), "status": program.status}

    return run


SOLVERS = {
    "proximal gradient": ours(proximal_gradient),
    "Burer–Monteiro": ours(factored),
    "cvxpy, SCS": oracle("SCS"),
    "cvxpy, Clarabel": oracle("CLARABEL"),
}


def _child(name: str, size: tuple[int, int, int], limit: int, pipe: Any) -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 5))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    case = problem(*size)
    wall, cpu = perf_counter(), process_time()
    try:
        found = SOLVERS[name](case)
    except Exception as error:
        found = {"failed": f"{type(error).__name__}: {error}"[:200]}
    found |= {"seconds": process_time() - cpu, "wall": perf_counter() - wall}
    found["peak_mb"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    pipe.send(found)


def main() -> None:
    limit = int(sys.argv[1]) if len(sys.argv) > 1 else 600
    rows = json.loads(RESULTS.read_text()) if RESULTS.exists() else []
    done = {(row["d"], row["c"], row["n"], row["solver"]) for row in rows}
    for size in SIZES:
        for name in SOLVERS:
            if (*size, name) in done:
                continue
            here, there = mp.Pipe(duplex=False)
            child = mp.Process(target=_child, args=(name, size, limit, there))
            child.start()
            there.close()
            try:
                found = here.recv()
            except EOFError:
                found = {"failed": f"not done in {limit} s of processor time and 4 GiB"}
            child.join()
            d, c, n = size
            rows.append({"d": d, "c": c, "n": n, "solver": name, **found})
            print(rows[-1], flush=True)
            RESULTS.write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
