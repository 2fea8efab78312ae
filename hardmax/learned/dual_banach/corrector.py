"""Learned correctors for a fixed-point iteration, and the baselines the paper lacks (Appendix D).

A corrector predicts Δ_k = v_{k+1} − v_k from (v_k, v_{k−1}). The paper trains a three-layer ReLU
network of width 1024 and reports its "alignment". Two rules without training, or nearly so,
belong beside it: repeat the last step (`persistence`), and linear regression (`fit_ridge`).
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np

from ...errors import InputError
from .enclosures.balls import Array
from .proximity import TwoStep, alignment, cosine
from .torch_blocks import require_torch

Corrector = Callable[[Array, Array], Array]  # (v_k, v_{k−1}) → Δ̂, arrays (…, m)


def persistence(state: Array, before: Array) -> Array:
    """Δ̂ = v_k − v_{k−1}."""
    return state - before


def transitions(states: Array) -> tuple[Array, Array, Array]:
    """v_k, v_{k−1} and Δ_k of all steps of runs (steps + 1, runs, m); each (N, m)."""
    width = states.shape[-1]
    now, before, after = states[1:-1], states[:-2], states[2:]
    return tuple(x.reshape(-1, width) for x in (now, before, after - now))  # type: ignore[return-value]


def fit_ridge(states: Array, strength: float = 1e-6) -> Corrector:
    """Linear corrector [v_k, v_{k−1}, 1] → Δ by ridge regression; closed form."""
    now, before, change = transitions(states)
    design = np.c_[now, before, np.ones(len(now))]
    gram = design.T @ design + strength * len(design) * np.eye(design.shape[1])
    weights = np.linalg.solve(gram, design.T @ change)
    return lambda state, before: (
        np.concatenate([state, before, np.ones((*state.shape[:-1], 1))], axis=-1) @ weights
    )


def fit_network(
    states: Array, *, width: int = 1024, epochs: int = 30, rate: float = 1e-3, seed: int = 0
) -> Corrector:
    """The paper's corrector: three linear layers with ReLU, trained by Adam on mean squared error.

    Inputs and targets are standardised. Raises InputError where there is nothing to learn.

    >>> from .proximity import SvmProblem
    >>> method = TwoStep.safe(SvmProblem.random(0, 4, 2))
    >>> states = method.run(method.random_starts(8, 0), 20)
    >>> network = fit_network(states, width=16, epochs=2)
    >>> network(states[1], states[0]).shape
    (8, 7)
    """
    torch = require_torch()
    now, before, change = transitions(states)
    if not len(now):
        raise InputError("the runs are too short: two steps at least")
    inputs = np.c_[now, before]
    centre, scale = inputs.mean(axis=0), inputs.std(axis=0) + 1e-8
    middle, unit = change.mean(axis=0), change.std(axis=0) + 1e-8

    def tensor(array: Array) -> Any:
        return torch.from_numpy(array.astype(np.float32))

    x, y = tensor((inputs - centre) / scale), tensor((change - middle) / unit)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        nn = torch.nn
        sizes = (x.shape[1], width, width, y.shape[1])
        layers = [nn.Linear(a, b) for a, b in pairwise(sizes)]
        network = nn.Sequential(layers[0], nn.ReLU(), layers[1], nn.ReLU(), layers[2])
        optimiser = torch.optim.Adam(network.parameters(), rate)
        for _ in range(epochs):
            for chosen in torch.randperm(len(x)).split(256):
                loss = (network(x[chosen]) - y[chosen]).square().mean()
                optimiser.zero_grad()
                loss.backward()
                optimiser.step()

    def predict(state: Array, before: Array) -> Array:
        joined = (np.concatenate([state, before], axis=-1) - centre) / scale
        with torch.no_grad():
            result = network(tensor(joined)).numpy().astype(np.float64)
        return np.asarray(result * unit + middle)

    return predict


def judge(corrector: Corrector, states: Array, method: TwoStep) -> dict[str, float]:
    """Medians over the steps of held-out runs (steps + 1, runs, m) with Δ ≠ 0.

    "alignment" is the paper's, "cosine" the true one, "error" ‖Δ̂ − Δ‖/‖Δ‖, "residual ratio" the
    fixed-point residual ‖v − T(v)‖ after the correction over that before it.
    """
    now, before, change = transitions(states)
    moving = np.linalg.norm(change, axis=1) > 1e-10
    now, before, change = now[moving], before[moving], change[moving]
    predicted = corrector(now, before)
    after = now + predicted
    next_change = method.step(after, now) - after
    size = np.linalg.norm(change, axis=1)
    return {
        "alignment": float(np.median(alignment(predicted, change))),
        "cosine": float(np.median(cosine(predicted, change))),
        "error": float(np.median(np.linalg.norm(predicted - change, axis=1) / size)),
        "residual ratio": float(np.median(np.linalg.norm(next_change, axis=1) / size)),
    }
