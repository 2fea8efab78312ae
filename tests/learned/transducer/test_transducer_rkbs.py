"""Theorems 1 and 2 on finite spaces: what holds, what fails, what the mended form says."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hardmax.errors import InputError
from hardmax.learned.transducer.rkbs import FiniteRKBS, dual

SEEDS = st.integers(0, 10**6)
EXPONENTS = st.sampled_from([4 / 3, 1.7, 2.0, 3.0, 4.0])


def space(seed, p, n=4, m=2, size=5):
    return FiniteRKBS(np.random.default_rng(seed).normal(size=(n, m, size)), p)


@given(SEEDS, EXPONENTS)
def test_the_duality_map_is_isometric_bijective_and_compatible(seed, p):
    g = np.random.default_rng(seed).normal(size=6)
    q = p / (p - 1)
    np.testing.assert_allclose(g @ dual(g, p), np.linalg.norm(g, p) ** 2)
    np.testing.assert_allclose(np.linalg.norm(dual(g, p), q), np.linalg.norm(g, p))
    np.testing.assert_allclose(dual(dual(g, p), q), g)
    assert (dual(np.zeros(3), p) == 0).all()


@given(SEEDS, EXPONENTS)
def test_theorem_1_reproducing_and_bounded(seed, p):
    B, rng = space(seed, p), np.random.default_rng([seed, 1])
    w, u = rng.normal(size=5), rng.normal(size=2)
    for v in range(4):
        left = (B.features[v] @ w) @ u
        np.testing.assert_allclose(left, B.pairing(w, B.section(v, u)), atol=1e-9)
        for other in range(4):
            # |δ_v| is the norm of Φ(v) : ℓ_p → ℓ_2, at most the p → 2 norm by rows' ℓ_q norms
            bound = np.prod([
                np.linalg.norm(np.linalg.norm(B.features[k], B.q, axis=1)) for k in (v, other)
            ])  # fmt: skip
            assert np.linalg.norm(B.kernel(v, other, u)) <= bound * np.linalg.norm(u) + 1e-9


@given(SEEDS, EXPONENTS, st.floats(-3, 3))
def test_the_kernel_is_homogeneous_and_linear_only_for_p_2(seed, p, t):
    B, rng = space(seed, p), np.random.default_rng([seed, 2])
    a, b = rng.normal(size=(2, 2))
    np.testing.assert_allclose(B.kernel(0, 1, t * a), t * B.kernel(0, 1, a), atol=1e-9)
    defect = np.abs(B.kernel(0, 1, a + b) - B.kernel(0, 1, a) - B.kernel(0, 1, b)).max()
    if p == 2:
        assert defect < 1e-9


def test_the_additivity_defect_of_the_close_reading():
    """U = ℝ² with ℓ₂, B = ℝ² with ℓ₄, one point: K is not additive."""
    B = FiniteRKBS(np.eye(2)[None], 4)
    a, b = np.array([1, 0.5]), np.array([-0.3, 2])
    q = 4 / 3
    printed = np.sign(a) * np.abs(a) ** (q - 1) / np.linalg.norm(a, q) ** (q - 2)
    np.testing.assert_allclose(B.kernel(0, 0, a), printed)
    defect = np.linalg.norm(B.kernel(0, 0, a + b) - B.kernel(0, 0, a) - B.kernel(0, 0, b))
    assert round(defect, 2) == 1.73


@given(SEEDS, st.sampled_from([1.7, 2.0, 3.0, 4.0]))
def test_theorem_2_mended(seed, p):
    """The dual of the minimiser is in the span of K(v_i, .)(u)*, and nothing is better."""
    B, rng = space(seed, p), np.random.default_rng([seed, 3])
    observed, values, ridge = [0, 2], rng.normal(size=(2, 2)), 0.3
    w, c = B.represent(observed, values, ridge)
    A = B.features[observed].reshape(4, 5)
    np.testing.assert_allclose(dual(w, p), A.T @ c.ravel(), atol=1e-5)
    np.testing.assert_allclose(ridge * c.ravel(), values.ravel() - A @ w, atol=1e-4)

    def objective(x):
        return 0.5 * np.sum((A @ x - values.ravel()) ** 2) + 0.5 * ridge * np.linalg.norm(x, p) ** 2

    for step in (1.0, 1e-2):
        assert objective(w) <= objective(w + step * rng.normal(size=5)) + 1e-8


def test_p_2_is_kernel_ridge_regression():
    B = space(5, 2.0)
    A = B.features[[1, 3]].reshape(4, 5)
    u = np.arange(4.0)
    w, c = B.represent([1, 3], u.reshape(2, 2), 0.5)
    np.testing.assert_allclose(c.ravel(), np.linalg.solve(A @ A.T + 0.5 * np.eye(4), u), atol=1e-6)
    np.testing.assert_allclose(w, A.T @ c.ravel(), atol=1e-6)


def test_spaces_without_a_norm_are_refused():
    with pytest.raises(InputError, match="not defined"):
        FiniteRKBS(np.ones((2, 1, 3)), 2)
    with pytest.raises(InputError, match="p lie"):
        FiniteRKBS(np.ones((2, 1, 1)), 1)
    with pytest.raises(InputError, match="positive"):
        space(0, 2).represent([0], np.ones((1, 2)), 0)
