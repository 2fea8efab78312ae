"""Linear self-attention, n = 4, s = d = 3, c = 2: the optimum to 1e-9, and the staircase of widths.

Theorem 3.1 promises (12) = (13) for m ≥ m*, m* ≤ min{d², dc}. Here the optimum of (13) is certified
exactly, and for each number of heads m the best of 12 starts of L-BFGS on (12) is compared with it.
Run ``python studies/convex_attention/instance.py``; it writes results/instance.json.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from hardmax.learned.convex import (
    Head,
    Problem,
    certify,
    checker,
    gap,
    network_objective,
    proximal_gradient,
    recover,
    width_bound,
)
from hardmax.learned.convex.burer_monteiro import balanced, descend, descent_heads, product

RESULTS = Path(__file__).parent / "results"
BETA, STARTS = 0.8, 12


def problem() -> Problem:
    """Integer data, drawn once: tokens in −2 … 2, targets in −3 … 3."""
    rng = np.random.default_rng(0)
    X, Y = rng.integers(-2, 3, size=(4, 3, 3)), rng.integers(-3, 4, size=(4, 3, 2))
    return Problem(Head("self-attention"), X, Y, BETA, pooled=False)


def main() -> None:
    case = problem()
    found = proximal_gradient(case, tolerance=3e-12, most=200_000, every=100)
    certificate = certify(case, found)
    print(checker.check(certificate))
    rank = int(np.linalg.matrix_rank(found.Zs[0], 1e-6))
    heads = recover(case, found.Zs)
    reached = network_objective(case, heads)
    rng = np.random.default_rng(1)
    stairs, one = [], None
    for width in range(1, 9):
        values = []
        for _ in range(STARTS):
            start = [(rng.normal(size=(a, width)), rng.normal(size=(b, width)))
                     for a, b in case.shapes]  # fmt: skip
            end = descend(case, start, 5000, 1e-15)
            values.append(case.objective(product(end)))
            if width == 1 and values[-1] == min(values):
                one = balanced(product(end))
        hits = sum(value <= found.upper * (1 + 1e-6) for value in values)
        stairs.append({"heads": width, "best": min(values), "above": min(values) - found.upper,
                       "global": hits})  # fmt: skip
        print(stairs[-1], flush=True)
    assert one is not None
    V = case.criterion.residual(case.predict(product(one)), case.targets)
    more = certify(case, factors=one, dual=V, descent=descent_heads(case, one))
    print(checker.check(more))
    result = {
        "lower": certificate["lower"], "upper": certificate["upper"], "gap": gap(certificate),
        "rank": rank, "width_bound": width_bound(case), "paper_bound": min(9, 6),
        "recovered": reached, "starts": STARTS, "stairs": stairs,
        "one_head": {"upper": more["upper"], "drop": more["descent"]["drop"]},
    }  # fmt: skip
    (RESULTS / "instance.json").write_text(json.dumps(result, indent=1))
    (RESULTS / "instance_certificate.json").write_text(json.dumps(certificate))


if __name__ == "__main__":
    main()
