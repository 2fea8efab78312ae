"""The ADR solver against exact solutions and orders of convergence."""

from __future__ import annotations

import numpy as np
import pytest

from hardmax.learned.transducer import Fourier, Sine
from studies.transducer.adr import (
    Operators,
    draw_operators,
    initial_states,
    make_tasks,
    solve,
)
from studies.transducer.metric import relative_error


def constant(diffusion, advection, reaction, points):
    return Operators(
        np.full((1, points - 1), float(diffusion)),
        np.full((1, points), float(advection)),
        np.array([float(reaction)]),
    )


def orders(errors):
    return np.log2(np.array(errors[:-1]) / errors[1:])


def test_a_sine_decays_under_the_heat_equation_with_order_2_in_space():
    errors = []
    for points in (51, 101, 201):
        x = np.linspace(0, 1, points)
        found = solve(constant(0.05, 0, 0, points), np.sin(np.pi * x)[None, None])
        errors.append(np.abs(found - np.exp(-0.05 * np.pi**2) * np.sin(np.pi * x)).max())
    assert errors[-1] < 1e-4
    assert (orders(errors) > 1.9).all()


def test_advection_and_diffusion_together_have_order_2_in_space():
    """exp(−νx/2δ) sin(πx) is an eigenfunction with eigenvalue −(δπ² + ν²/4δ)."""
    errors = []
    for points in (51, 101, 201):
        x = np.linspace(0, 1, points)
        state = np.exp(-0.1 * x / (2 * 0.05)) * np.sin(np.pi * x)
        found = solve(constant(0.05, 0.1, 0, points), state[None, None])
        rate = 0.05 * np.pi**2 + 0.1**2 / (4 * 0.05)
        errors.append(np.abs(found - np.exp(-rate) * state).max())
    assert errors[-1] < 1e-4
    assert (orders(errors) > 1.9).all()


def test_pure_reaction_is_exact():
    x = np.linspace(0, 1, 100)
    state = np.sin(np.pi * x)[None, None] * np.array([1.0, -2.0])[:, None]
    found = solve(constant(0, 0, 0.3, 100), state, time=2.0, steps=7)
    np.testing.assert_allclose(found, state / (1 - 0.3 * 2 * state), atol=1e-12)


def test_blow_ups_come_back_as_nan():
    x = np.linspace(0, 1, 100)
    found = solve(constant(0, 0, 0.3, 100), 4 * np.sin(np.pi * x)[None, None])
    assert np.isnan(found).all()


def test_random_operators_have_order_2_in_time():
    rng = np.random.default_rng(1)
    operators = draw_operators(rng, 8, most_reaction=0.3)
    states = initial_states(rng, 40).reshape(8, 5, 100)
    fine = solve(operators, states, steps=1024)
    errors = [np.nanmax(np.abs(solve(operators, states, steps=k) - fine)) for k in (64, 128, 256)]
    assert (orders(errors) > 1.9).all()
    assert np.nanmax(np.abs(solve(operators, states) - fine)) < 1e-4


def test_random_operators_agree_with_a_stiff_integrator():
    from scipy.integrate import solve_ivp

    from studies.transducer.adr import generator

    rng = np.random.default_rng(5)
    operators = draw_operators(rng, 2)
    states = initial_states(rng, 2).reshape(2, 1, 100)
    found = solve(operators, states, steps=256)
    for k, matrix in enumerate(generator(operators)):
        result = solve_ivp(
            lambda _, s, A=matrix, k=k: A @ s + operators.reaction[k] * s**2,
            (0, 1), states[k, 0, 1:-1], method="BDF", rtol=1e-8, atol=1e-10,
            jac=lambda _, s, A=matrix, k=k: A + 2 * operators.reaction[k] * np.diag(s),
        )  # fmt: skip
        np.testing.assert_allclose(found[k, 0, 1:-1], result.y[:, -1], atol=1e-5)


def test_both_ends_stay_zero_and_seeds_repeat():
    v, u = make_tasks(7, 3, 4)
    assert (v[..., [0, -1]] == 0).all()
    assert (u[..., [0, -1]] == 0).all()
    again = make_tasks(7, 3, 4)
    assert (v == again[0]).all()
    assert (u == again[1]).all()
    assert not (make_tasks(8, 3, 4)[0] == v).all()


@pytest.mark.parametrize(
    ("code", "low", "high"), [(Fourier(25), 3e-4, 1e-3), (Sine(50), 5e-5, 3e-4)]
)
def test_the_floor_of_the_truncation_is_above_the_papers_error_for_fourier(code, low, high):
    """50 real Fourier numbers lose more than the 2.39e-4 of Table 1."""
    _, u = make_tasks(11, 60, 40)
    assert low < relative_error(code.decode(code.encode(u)), u) < high
