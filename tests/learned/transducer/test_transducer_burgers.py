"""The Burgers solver against the Cole-Hopf solution, heat decay and refinement."""

from __future__ import annotations

import numpy as np
import pytest

from studies.transducer.burgers import (
    DEVIATION,
    LENGTH,
    SIDE,
    Quadrants,
    initial_fields,
    make_tasks,
    solve,
)
from studies.transducer.metric import relative_error

K = 2 * np.pi / SIDE


def cole_hopf(m, nu, t):
    """−2ν∇φ/φ with φ = 3 + exp(−νK²t)(cos Kx + cos Ky) + …: exact for a curl-free field."""
    x = np.arange(m) * SIDE / m
    X, Y = np.meshgrid(x, x, indexing="ij")
    one, two = np.exp(-nu * K**2 * t), np.exp(-2 * nu * K**2 * t)
    phi = 3 + one * np.cos(K * X) + 0.7 * one * np.sin(K * Y) + 0.5 * two * np.cos(K * (X + Y))
    dx = -one * K * np.sin(K * X) - 0.5 * two * K * np.sin(K * (X + Y))
    dy = 0.7 * one * K * np.cos(K * Y) - 0.5 * two * K * np.sin(K * (X + Y))
    return -2 * nu * np.stack([dx, dy]) / phi


def test_cole_hopf_is_met_with_order_4_in_time():
    errors = []
    for steps in (20, 40, 80):
        found = solve(cole_hopf(64, 0.5, 0)[None], np.array([0.5]), 5.0, steps=steps)
        errors.append(np.abs(found - cole_hopf(64, 0.5, 5.0)).max())
    assert errors[-1] < 1e-8
    assert np.log2(errors[0] / errors[1]) > 3.7


def test_cole_hopf_is_met_spectrally_in_space():
    errors = [
        np.abs(
            solve(cole_hopf(m, 0.5, 0)[None], np.array([0.5]), 2.0) - cole_hopf(m, 0.5, 2.0)
        ).max()
        for m in (8, 16, 32)
    ]
    assert errors[1] < errors[0] / 30
    assert errors[2] < errors[1] / 30


def test_small_fields_decay_like_heat():
    x = np.arange(32) * SIDE / 32
    state = 1e-7 * np.stack(
        [np.outer(np.cos(K * x), np.sin(2 * K * x)), np.outer(x * 0 + 1, np.cos(K * x))]
    )
    found = solve(state[None], np.array([0.3]), 4.0)[0]
    rates = np.array([5 * K**2, K**2])[:, None, None]
    np.testing.assert_allclose(found, np.exp(-0.3 * rates * 4.0) * state, atol=1e-13)


def test_random_fields_agree_with_a_finer_grid_and_finer_steps():
    coarse = initial_fields(np.random.default_rng(1), 3, 32)
    fine = np.fft.irfft2(
        np.pad(np.fft.fftshift(np.fft.rfft2(coarse), axes=-2), [(0, 0)] * 2 + [(16, 16), (0, 16)])
        [..., np.fft.ifftshift(np.arange(64)), :], s=(64, 64)
    ) * 4  # fmt: skip
    np.testing.assert_allclose(fine[..., ::2, ::2], coarse, atol=1e-10)
    nu = np.array([0.1, 0.2, 0.5])
    a = solve(coarse, nu, 5.0)
    b = solve(fine, nu, 5.0, steps=250)[..., ::2, ::2]
    assert relative_error(a.reshape(3, -1), b.reshape(3, -1)) < 3e-3
    again = solve(coarse, nu, 5.0, steps=250)
    assert relative_error(a.reshape(3, -1), again.reshape(3, -1)) < 1e-5


def test_initial_fields_have_variance_1_and_the_stated_covariance():
    fields = initial_fields(np.random.default_rng(0), 2000)
    assert fields.std() == pytest.approx(DEVIATION, rel=0.02)
    lag = round(LENGTH / SIDE * 32)  # cells: r = ℓ
    covariance = (fields * np.roll(fields, lag, -1)).mean()
    assert covariance == pytest.approx(np.exp(-0.5) * DEVIATION**2, rel=0.05)


def test_quadrants_keep_low_modes_and_the_norm():
    rng = np.random.default_rng(0)
    code = Quadrants(5)
    low = code.decode(code.encode(rng.normal(size=(3, 2, 32, 32))))
    np.testing.assert_allclose(code.decode(code.encode(low)), low, atol=1e-12)
    np.testing.assert_allclose(
        (code.encode(low) ** 2).sum(-1), (low**2).mean((-1, -2)).sum(-1), rtol=1e-10
    )
    np.testing.assert_allclose(code.decode(code.encode(low), 64)[..., ::2, ::2], low, atol=1e-12)


def test_the_target_is_not_constant_on_this_box_but_is_on_the_unit_box():
    _, u = make_tasks(0, np.array([0.1, 0.5]), 4, times=(5.0,))
    assert (u.std((-1, -2)) > 0.02).all()
    state = initial_fields(np.random.default_rng(0), 1, side=1.0, length=0.125, deviation=1.0)
    late = solve(state, np.array([0.1]), 5.0, side=1.0)
    assert (late.std((-1, -2)) < 1e-6).all()
