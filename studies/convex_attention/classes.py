"""A hundred classes: linear self-attention with N of size d² × dc = 100 × 1000, by enclosure.

800 samples of 6 Gaussian tokens in eighths, d = 10; the class is that of 100 random matrices with
the largest inner product with the sample's Gram matrix. Run
``python studies/convex_attention/classes.py``; it writes results/classes.json.
"""

from __future__ import annotations

import json
from pathlib import Path
from time import process_time

import numpy as np

from hardmax.learned.convex import Head, Problem, proximal_gradient
from hardmax.learned.convex.burer_monteiro import balanced
from hardmax.learned.convex.enclosure import enclosed_interval

RESULTS = Path(__file__).parent / "results" / "classes.json"


def main() -> None:
    rng = np.random.default_rng(0)
    n, s, d, c = 800, 6, 10, 100
    X = np.rint(8 * rng.normal(size=(n, s, d))) / 8
    scores = np.einsum("itk,itl,ckl->ic", X, X, rng.normal(size=(c, d, d)), optimize=True)
    Y = np.eye(c)[scores.argmax(1)][:, None]
    case = Problem(Head("self-attention"), X, Y, 1.0, "cross-entropy")
    case.beta = float(2.0 ** np.floor(np.log2(case.largest_beta() / 8)))
    clock = process_time()
    found = proximal_gradient(case, tolerance=1e-5, most=2000)
    trained = process_time()
    low, high = enclosed_interval(case, balanced(found.Zs, 1e-9), found.V)
    result = {
        "n": n, "d": d, "c": c, "beta": case.beta, "shape": case.shapes[0], "float_gap": found.gap,
        "rank": int(np.linalg.matrix_rank(found.Zs[0], 1e-6)), "lower": low, "upper": high,
        "gap": (high - low) / high,
        "seconds": {"train": trained - clock, "enclosure": process_time() - trained},
    }  # fmt: skip
    RESULTS.write_text(json.dumps(result, indent=1))
    print(result)


if __name__ == "__main__":
    main()
