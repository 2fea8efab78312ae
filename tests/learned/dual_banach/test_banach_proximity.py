"""Appendix D: the iteration as printed and mended, its optimum, correctors and their metrics."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hardmax import InputError
from hardmax.learned.dual_banach.corrector import (
    fit_network,
    fit_ridge,
    judge,
    persistence,
    transitions,
)
from hardmax.learned.dual_banach.proximity import (
    SvmProblem,
    TwoStep,
    alignment,
    cosine,
    hinge_prox,
    soft_threshold,
)


@given(st.floats(-5, 5), st.floats(0.01, 3), st.floats(-6, 6))
def test_proximity_operators_minimise(z, t, other):
    for prox, g in (
        (soft_threshold, abs),
        (hinge_prox, lambda x: max(0.0, 1 - x)),
    ):
        x = float(prox(np.array([z]), t)[0])
        assert (x - z) ** 2 / 2 + t * g(x) <= (other - z) ** 2 / 2 + t * g(other) + 1e-12


@pytest.mark.parametrize("seed", range(3))
def test_the_mended_iteration_reaches_the_optimum(seed):
    problem = SvmProblem.random(seed)
    low, high = problem.bracket()
    assert low <= high <= low + Fraction(1, 10**6)
    method = TwoStep.safe(problem)
    states = method.run(np.zeros(75), 4000)
    value = problem.objective(states[-1][:11])
    assert float(low) - 1e-9 <= value <= float(high) + 5e-3


def test_the_optimum_with_another_C():
    B = SvmProblem.random(0).B
    problem = SvmProblem(B, 0.3)
    low, high = problem.bracket()
    states = TwoStep.safe(problem).run(np.zeros(75), 4000)
    assert problem.objective(states[-1][:11]) == pytest.approx(float(high), abs=1e-2)
    assert high - low < Fraction(1, 10**6)
    assert float(high) != pytest.approx(float(SvmProblem(B).bracket()[1]), abs=0.1)


def test_the_printed_iteration_ends_at_zero():
    """At a fixed point (28) reads w = soft(w, 1/λ), so w = 0 and the objective is n = 64."""
    problem = SvmProblem.random(0)
    good = TwoStep.safe(problem)
    printed = TwoStep(problem, good.lam, printed=True)
    w = printed.run(np.zeros(75), 4000)[-1][:11]
    assert abs(w).max() < 1e-6
    assert problem.objective(w) == pytest.approx(64, abs=1e-3)
    assert problem.bracket()[1] < 10


@pytest.mark.parametrize("seed", range(3))
def test_the_stated_parameters_break_the_step_condition(seed):
    problem = SvmProblem.random(seed)
    with pytest.raises(InputError, match=r"step condition .* take λ above"):
        TwoStep(problem, 1.0)
    states = TwoStep(problem, 1.0, unchecked=True).run(np.zeros(75), 2000)
    assert np.linalg.norm(states[-1] - states[-2]) > 0.1


def test_a_fixed_point_is_optimal():
    """B = (2), λ = 5: the optimum 1/2 at w = 1/2 is a fixed point of the mended iteration only."""
    problem = SvmProblem(np.array([[2.0]]))
    state = np.array([0.5, -0.5])
    assert TwoStep(problem, 5.0).step(state, state) == pytest.approx(state, abs=1e-15)
    assert TwoStep(problem, 5.0, printed=True).step(state, state)[0] != 0.5
    assert problem.bracket()[0] <= Fraction(1, 2) <= problem.bracket()[1]


def test_the_alignment_is_no_cosine():
    reference = np.array([1.0, 0.0])
    assert alignment(np.array([1.0, 10.0]), reference) == 1
    assert cosine(np.array([1.0, 10.0]), reference) == pytest.approx(0.0995, abs=1e-4)
    assert alignment(3 * reference, reference) == 3
    assert cosine(3 * reference, reference) == 1
    assert cosine(np.zeros(2), reference) == 0


def test_persistence_needs_no_training_to_align():
    """The control the paper lacks: repeating the last step has alignment above 0.98."""
    method = TwoStep.safe(SvmProblem.random(0))
    states = method.run(method.random_starts(5, 1), 750)
    result = judge(persistence, states, method)
    assert result["alignment"] > 0.98
    assert result["cosine"] > 0.98


def test_the_oracle_judged_as_a_corrector():
    method = TwoStep.safe(SvmProblem.random(0))
    states = method.run(method.random_starts(4, 1), 60)
    result = judge(lambda v, before: method.step(v, before) - v, states, method)
    assert result["alignment"] == pytest.approx(1)
    assert result["error"] == pytest.approx(0, abs=1e-12)


def test_learned_correctors_learn():
    pytest.importorskip("torch")
    method = TwoStep.safe(SvmProblem.random(0, 16, 3))
    train, held_out = (method.run(method.random_starts(20, s), 40) for s in (0, 1))
    now, before, change = transitions(train)
    assert now.shape == before.shape == change.shape == (20 * 39, 20)
    assert (now + change)[0] == pytest.approx(train[2, 0])
    for corrector in (fit_ridge(train), fit_network(train, width=32, epochs=40)):
        assert judge(corrector, train, method)["error"] < 1
        assert judge(corrector, held_out, method)["cosine"] > 0.3
    again = fit_network(train, width=32, epochs=40)
    assert (again(now, before) == corrector(now, before)).all()
    with pytest.raises(InputError, match="too short"):
        fit_network(train[:2])


def test_bad_problems():
    with pytest.raises(InputError, match="finite"):
        SvmProblem(np.array([[np.nan]]))
    with pytest.raises(InputError, match="C = 0"):
        SvmProblem(np.ones((1, 1)), 0)
    with pytest.raises(InputError, match="positive"):
        TwoStep(SvmProblem(np.ones((1, 1))), -1.0)
