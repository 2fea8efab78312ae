"""Section 2 and 3 of the paper: duality maps, representer, paired features, kernel."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from flint import arb, ctx
from hypothesis import assume, given
from hypothesis import strategies as st

from hardmax import InputError
from hardmax.learned.dual_banach.theory.duality import (
    are_dual,
    conjugate,
    dual_direction,
    duality_map,
    norm,
)
from hardmax.learned.dual_banach.theory.features import PairedFeatures
from hardmax.learned.dual_banach.theory.fock import (
    feature_pair,
    fock_features,
    order_for,
    truncated_exp,
)
from hardmax.learned.dual_banach.theory.representer import Regression, solve_dual, solve_primal

F = Fraction
EXPONENTS = [1.5, 2, F(5, 2), 3, 5, 17]
rationals = st.fractions(-9, 9, max_denominator=20)


@pytest.mark.parametrize("p", EXPONENTS)
@given(seed=st.integers(0, 10**6))
def test_the_duality_map_is_the_derivative_of_the_norm(p, seed):
    rng = np.random.default_rng(seed)
    f, g = rng.normal(size=(2, 6))
    G, q = duality_map(f, p), conjugate(p)
    assert norm(G, q) == pytest.approx(1, rel=1e-12)
    assert f @ G == pytest.approx(norm(f, p), rel=1e-12)
    assert abs(g @ G) <= norm(g, p) * (1 + 1e-12)
    step = 1e-6
    slope = (norm(f + step * g, p) - norm(f - step * g, p)) / (2 * step)
    assert slope == pytest.approx(g @ G, abs=1e-6)
    # (2): the dual space's map brings f back, so the inverse has a closed form
    assert norm(f, p) * duality_map(G, q) == pytest.approx(f, rel=1e-9)


def test_zero_and_overflow():
    assert (duality_map(np.zeros(3), 3) == 0).all()
    assert norm(np.array([1e300, 1e300]), 4) == pytest.approx(2**0.25 * 1e300)
    for p in (1, 0.5, float("inf"), float("nan")):
        with pytest.raises(InputError, match="between 1 and"):
            conjugate(p)


@given(st.lists(rationals, min_size=1, max_size=5), st.integers(2, 6), rationals)
def test_exact_duality(f, p, scale):
    assume(any(f) and scale > 0)
    nu = dual_direction(f, p)
    assert are_dual(f, [scale * x for x in nu], p)
    assert are_dual(nu, f, conjugate(p))  # (2), the other way round
    turned = [-nu[0], *nu[1:]] if nu[0] else [nu[0] + 1, *nu[1:]]
    assert not are_dual(f, turned, p) or turned == list(nu)


def test_one_sign_is_not_enough():
    assert not are_dual([1, 0], [0, 1], 3)
    assert not are_dual([1, 1], [1, 2], 3)
    assert are_dual([1, 2], [1, 2], 2)
    assert are_dual([4, 9], [2, 3], F(3, 2))  # |f|^(1/2)
    with pytest.raises(InputError, match="neither of them 0"):
        are_dual([0, 0], [1, 1], 2)


@pytest.mark.parametrize("p", [1.5, 2, 3, 5])
def test_representer_theorem(p):
    rng = np.random.default_rng(0)
    problem = Regression(rng.normal(size=(4, 12)), rng.normal(size=4), 0.1, p)
    primal, dual = solve_primal(problem), solve_dual(problem)
    for solution in (primal, dual):
        assert -1e-12 <= solution.gap < 1e-8
    assert primal.f == pytest.approx(dual.f, abs=1e-5)
    # (6): the functional of the primal solution lies in the span of the functionals
    functional = duality_map(primal.f, p)
    residual = np.linalg.lstsq(problem.V.T, functional, rcond=None)[1]
    assert residual.max(initial=0) < 1e-10
    # (7): the primal is recovered, and differs in direction from the dual unless p = 2
    assert primal.f == pytest.approx(problem.recover(primal.c), abs=1e-5)
    star = problem.V.T @ dual.c
    cosine = dual.f @ star / np.linalg.norm(dual.f) / np.linalg.norm(star)
    assert (cosine > 1 - 1e-9) == (p == 2)
    # pairing (7): <f, f*> = |f| |f*|
    q = conjugate(p)
    assert dual.f @ star == pytest.approx(norm(dual.f, p) * norm(star, q), rel=1e-9)


def test_ridge_regression_is_the_case_of_two():
    rng = np.random.default_rng(1)
    V, y = rng.normal(size=(3, 5)), rng.normal(size=3)
    expected = np.linalg.solve(V.T @ V + 0.3 * np.eye(5), V.T @ y)
    assert solve_dual(Regression(V, y, 0.3, 2)).f == pytest.approx(expected, abs=1e-8)


@given(st.integers(0, 10**6), st.sampled_from([1.5, 2, 3]))
def test_weak_duality(seed, p):
    rng = np.random.default_rng(seed)
    problem = Regression(rng.normal(size=(3, 6)), rng.normal(size=3), 0.2, p)
    f, c = rng.normal(size=6), rng.normal(size=3)
    assert problem.dual(c) <= problem.primal(f) + 1e-12


def test_bad_problems():
    for V, y, strength in (
        (np.ones((2, 3)), np.ones(3), 1),
        (np.ones((2, 3)), np.array([1, np.nan]), 1),
        (np.ones((2, 3)), np.ones(2), 0),
    ):
        with pytest.raises(InputError):
            Regression(V, y, strength, 2)


small = st.integers(-3, 3)


def matrices(rows, columns):
    return st.lists(
        st.lists(small, min_size=columns, max_size=columns), min_size=rows, max_size=rows
    )


@given(matrices(4, 3), matrices(4, 3), matrices(3, 3), st.lists(rationals, min_size=3, max_size=3))
def test_theorem_3_1(first, second, G, w):
    space = PairedFeatures(first, second, G)
    left, right = space.null_vectors()
    # reproducing: f_w(x) = <f_w, g_{Phi_1(x)}>, g_v(y) = <f_{Phi_2(y)}, g_v>
    assert list(space.values(w)) == [space.pair(x, w) for x in first]
    assert list(space.values_second(w)) == [space.pair(w, y) for y in second]
    for k in range(4):
        bound = space.squared_evaluation_bound(k) * sum(x * x for x in w)
        assert space.values(w)[k] ** 2 <= bound
    if left is None:
        assert space.weights_of(space.values(w)) == tuple(w)
    else:
        assert any(left)
        assert not any(space.values(left))
        with pytest.raises(InputError, match="null condition"):
            space.weights_of(space.values(w))
    if right is not None:
        assert any(right)
        assert not any(space.values_second(right))


@given(matrices(5, 3), matrices(5, 2), matrices(3, 2))
def test_unequal_dimensions_always_break_the_null_conditions(first, second, G):
    assert any(PairedFeatures(first, second, G).null_vectors())


def test_no_function_with_such_values():
    space = PairedFeatures([[1, 0], [0, 1], [1, 1]], [[1, 0], [0, 1]], [[1, 0], [0, 1]])
    with pytest.raises(InputError, match="no w gives"):
        space.weights_of([1, 1, 1])


@given(rationals, st.integers(8, 30))
def test_truncated_exponential(t, order):
    total, bound = truncated_exp(t, order)
    with ctx.workprec(400):
        exact = (arb(t.numerator) / t.denominator).exp()
        gap = abs(exact - arb(total.numerator) / total.denominator)
        assert gap <= arb(bound.numerator) / bound.denominator


def test_truncation_needs_enough_terms():
    with pytest.raises(InputError, match="too low"):
        truncated_exp(10, 8)
    n = order_for(5, F(1, 10**6))
    assert truncated_exp(5, n)[1] <= F(1, 10**6) < truncated_exp(5, n - 1)[1]


def test_the_kernel_is_a_pairing_but_not_positive():
    x = np.array([[0.0], [1.0]])
    first, second = feature_pair(x, -x, 14)  # W_q = 1, W_k = -1
    kernel = first @ second.T
    assert kernel == pytest.approx(np.array([[1, 1], [1, np.exp(-1)]]), abs=1e-10)
    assert np.linalg.eigvalsh(kernel)[0] < -0.36


@given(st.integers(0, 10**6))
def test_features_approach_the_kernel_within_the_bound(seed):
    rng = np.random.default_rng(seed)
    q, k = rng.normal(size=(2, 3, 2))
    t = q @ k.T / np.sqrt(2)
    for order in (0, 2, 6):
        first, second = feature_pair(q, k, order)
        for i, j in np.ndindex(3, 3):
            error = abs(first[i] @ second[j] - np.exp(t[i, j]))
            if abs(t[i, j]) < order + 2:
                assert error <= float(truncated_exp(t[i, j], order)[1]) + 1e-12


def test_too_many_features():
    with pytest.raises(InputError, match="too many"):
        fock_features(np.ones((1, 100)), 4)
