"""Appendix D: learned correctors for the ℓ¹-SVM beside persistence, ridge and the oracle.

    python studies/dual_banach/correctors.py

The paper's data (n = 64, d = 10, C = 1), two draws of them. The iteration is the mended one with
λ = 1.05‖B‖²: the printed one does not converge to the optimum, and the printed λ = 1 breaks the
step condition. Training: 24 runs of 300 steps from Gaussian states; testing: 8 runs of 750. The
network is the paper's, width 1024, Adam at 1e-3, 40 epochs. Medians over all steps of the tests,
and over steps 200 to 750, where runs spend most of their time.
"""

from __future__ import annotations

import time

import numpy as np
import torch
from statistics_of_runs import write

from hardmax.learned.dual_banach.corrector import fit_network, fit_ridge, judge, persistence
from hardmax.learned.dual_banach.proximity import SvmProblem, TwoStep


def convergence(seed: int) -> dict[str, object]:
    """Objectives after 4000 steps of three iterations from 0, beside the proved optimum."""
    problem = SvmProblem.random(seed)
    good = TwoStep.safe(problem)
    low, high = problem.bracket()
    d = problem.B.shape[1]
    start = np.zeros(sum(problem.B.shape))
    variants = {
        "mended, λ = 1.05‖B‖²": good,
        "printed (28), λ = 1.05‖B‖²": TwoStep(problem, good.lam, printed=True),
        "mended, λ = 1 as stated": TwoStep(problem, 1.0, unchecked=True),
        "printed (28), λ = 1 as stated": TwoStep(problem, 1.0, printed=True, unchecked=True),
    }
    ends = {name: method.run(start, 4000)[-1][:d] for name, method in variants.items()}
    states = good.run(start, 4000)
    change = np.linalg.norm(np.diff(states, axis=0), axis=1)
    return {
        "optimum between": [float(low), float(high)],
        "‖B‖²": good.lam / 1.05,
        "objective": {name: problem.objective(w) for name, w in ends.items()},
        "steps to residual 1e-2, 1e-3": [int(np.argmax(change < t)) for t in (1e-2, 1e-3)],
    }


def correctors(seed: int) -> dict[str, dict[str, dict[str, float]]]:
    """Judgement of every corrector on all steps and on late steps."""
    method = TwoStep.safe(SvmProblem.random(seed))
    train = method.run(method.random_starts(24, 10 + seed), 300)
    test = method.run(method.random_starts(8, 20 + seed), 750)
    entries = {
        "oracle": lambda v, before: method.step(v, before) - v,
        "persistence": persistence,
        "ridge": fit_ridge(train),
        "network": fit_network(train, epochs=40, seed=seed),
    }
    return {
        name: {"all steps": judge(entry, test, method), "late": judge(entry, test[200:], method)}
        for name, entry in entries.items()
    }


def main() -> None:
    torch.set_num_threads(1)
    results = []
    for seed in (0, 1):
        start = time.process_time()
        result = {"seed": seed, **convergence(seed), "correctors": correctors(seed)}
        results.append(result)
        print(f"seed {seed}: optimum {result['optimum between'][0]:.4f}, ‖B‖² {result['‖B‖²']:.1f}")
        for name, value in result["objective"].items():
            print(f"  {name:32}{value:12.4f}")
        for name, parts in result["correctors"].items():
            for part, row in parts.items():
                values = "".join(f"{key} {value:8.4f}  " for key, value in row.items())
                print(f"  {name:12}{part:10} {values}")
        print(f"  {time.process_time() - start:.0f} s", flush=True)
    write("correctors", results)


if __name__ == "__main__":
    main()
