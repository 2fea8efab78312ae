"""Advection-diffusion-reaction operators (8), (31): s(·, 0) ↦ s(·, t) by Strang splitting.

∂ₜs = ∂ₓ(δ ∂ₓs) + ν ∂ₓs + k s² on [0, 1] with s = 0 at both ends. The linear part is stepped by
the exponential of its finite-difference matrix, the reaction exactly by s ↦ s/(1 − k h s). The
paper steps by explicit Euler with h = 1e-2, which is unstable for most of its operators
(proofs/errata/transducer_euler.py).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import expm

from studies.transducer.fields import gaussian_field, mask


@dataclass(frozen=True)
class Operators:
    """Coefficients of M equations on a grid of m points of [0, 1].

    ``diffusion`` δ (M, m−1) at the midpoints, ``advection`` ν (M, m), ``reaction`` k (M,).
    """

    diffusion: np.ndarray
    advection: np.ndarray
    reaction: np.ndarray

    def __len__(self) -> int:
        return len(self.reaction)


def draw_operators(
    rng: np.random.Generator,
    count: int,
    *,
    points: int = 100,
    length: float = 0.2,
    most_reaction: float = 0.1,
) -> Operators:
    """δ = 0.01 u² m, ν = 0.05 y m with Gaussian fields u, y, and k uniform (S.10.1).

    Section 5.1 prints k up to 0.1, S.10.1 up to 0.3.
    """
    fine = 2 * points - 1
    m = mask(fine)
    u = gaussian_field(rng, count, fine, length)
    y = gaussian_field(rng, count, fine, length)
    k = rng.uniform(0, most_reaction, count)
    return Operators((0.01 * u**2 * m)[:, 1::2], (0.05 * y * m)[:, ::2], k)


def initial_states(
    rng: np.random.Generator, count: int, *, points: int = 100, length: float = 0.2
) -> np.ndarray:
    """V = m u with a Gaussian field u, of shape (count, points)."""
    return gaussian_field(rng, count, points, length) * mask(points)


def generator(operators: Operators) -> np.ndarray:
    """Finite-difference matrices (M, m−2, m−2) of s ↦ ∂ₓ(δ ∂ₓs) + ν ∂ₓs, order 2 in 1/(m−1)."""
    count, m = operators.advection.shape
    dx = 1 / (m - 1)
    left, right = operators.diffusion[:, :-1] / dx**2, operators.diffusion[:, 1:] / dx**2
    drift = operators.advection[:, 1:-1] / (2 * dx)
    matrix = np.zeros((count, m - 2, m - 2))
    i = np.arange(m - 2)
    matrix[:, i, i] = -left - right
    matrix[:, i[1:], i[:-1]] = (left - drift)[:, 1:]
    matrix[:, i[:-1], i[1:]] = (right + drift)[:, :-1]
    return matrix


def solve(
    operators: Operators, states: np.ndarray, *, time: float = 1.0, steps: int = 32
) -> np.ndarray:
    """s(·, time) of shape (M, n, m) from ``states`` (M, n, m) at time 0; order 2 in 1/steps.

    A state that blows up before ``time`` comes back as NaN.
    """
    h = time / steps
    flow = np.swapaxes(expm(h * generator(operators)), 1, 2)
    k = operators.reaction[:, None, None]
    s = np.array(states[..., 1:-1], dtype=np.float64)
    with np.errstate(invalid="ignore", divide="ignore"):
        for step in range(steps):
            for span in (h / 2,) if step == 0 else (h,):
                s = _react(s, k * span)
            s = s @ flow
        s = _react(s, k * (h / 2))
    result = np.zeros((*s.shape[:2], s.shape[2] + 2))
    result[..., 1:-1] = s
    result[~np.isfinite(s).all(-1)] = np.nan
    return result


def _react(s: np.ndarray, kh: np.ndarray) -> np.ndarray:
    rest = 1 - kh * s
    return np.where(rest > 0, s / rest, np.nan)


def make_tasks(
    seed: int,
    operators: int,
    pairs: int,
    *,
    length: float = 0.2,
    time: float = 1.0,
    most_reaction: float = 0.1,
    points: int = 100,
    chunk: int = 64,
) -> tuple[np.ndarray, np.ndarray]:
    """Samples v and u, float32 (operators, pairs, points); chunk c is drawn from (seed, c).

    ``length`` is the length scale of δ and ν alone, as in the extrapolation experiment.
    """
    v = np.empty((operators, pairs, points), np.float32)
    u = np.empty_like(v)
    for c, start in enumerate(range(0, operators, chunk)):
        rng = np.random.default_rng([seed, c])
        stop = min(start + chunk, operators)
        drawn = draw_operators(
            rng, stop - start, points=points, length=length, most_reaction=most_reaction
        )
        states = initial_states(rng, (stop - start) * pairs, points=points)
        states = states.reshape(stop - start, pairs, points)
        v[start:stop], u[start:stop] = states, solve(drawn, states, time=time)
    return v, u
