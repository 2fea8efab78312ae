"""Small problems of every kind, for the tests of the convex heads."""

from __future__ import annotations

import numpy as np

from hardmax.learned.convex import Head, Problem, random_gates

HEADS = [
    ("self-attention", "linear"), ("self-attention", "gated"),
    ("mixer", "linear"), ("mixer", "gated"),
    ("fno", "linear"), ("fno", "gated"),
    ("b-fno", "linear"), ("b-fno", "gated"),
    ("poolformer", "linear"), ("poolformer", "gated"),
    ("fnet", "linear"), ("fnet", "gated"),
    ("mlp", "linear"), ("mlp", "gated"), ("linear", "linear"),
]  # fmt: skip


def problem(
    name: str,
    activation: str,
    loss: str = "squared",
    pooled: bool = True,
    seed: int = 0,
    beta: float = 0.5,
    n: int = 7,
) -> Problem:
    """n samples of 6 tokens on a 2 × 3 grid, 4 features, 2 or 4 outputs; short dyadic numbers."""
    rng = np.random.default_rng(seed)
    s, d, c = 6, 4, 4 if name == "b-fno" else 2
    head = Head(name, activation, grid=(2, 3), groups=2 if name == "b-fno" else 1)
    tokens = rng.integers(-8, 9, size=(n, s, d)) / 8
    rows = 1 if pooled else s
    if loss == "squared":
        targets = rng.integers(-8, 9, size=(n, rows, c)) / 4
    else:
        targets = np.eye(c)[rng.integers(c, size=(n, rows))]
    gates = random_gates(head, s, d, 2, seed) if activation == "gated" else None
    return Problem(head, tokens, targets, beta, loss, pooled, gates)
