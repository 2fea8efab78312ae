"""Codings: what they keep, and that grids do not matter (t10)."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hardmax.errors import InputError
from hardmax.learned.transducer import Fourier, Plain, Sine


def series(rng, modes, kind):
    """A function with these modes only, as a callable on any grid."""
    c = rng.normal(size=modes)
    k = np.arange(1, modes + 1)
    if kind is Sine:
        return lambda x: np.sin(np.pi * np.outer(x, k)) @ c
    s = rng.normal(size=modes)
    angles = lambda x: 2 * np.pi * np.outer(x, k - 1)  # noqa: E731
    return lambda x: np.cos(angles(x)) @ c + np.sin(angles(x)) @ s


@pytest.mark.parametrize("kind", [Fourier, Sine])
@given(seed=st.integers(0, 10**6), modes=st.integers(1, 20), points=st.integers(42, 400))
def test_what_the_modes_hold_comes_back_on_every_grid(kind, seed, modes, points):
    f = series(np.random.default_rng(seed), modes, kind)
    code = kind(modes)
    vector = code.encode(f(np.linspace(0, 1, points)))
    assert vector.shape == (code.size,)
    for other in (50, 200):
        np.testing.assert_allclose(
            code.decode(vector, other), f(np.linspace(0, 1, other)), atol=1e-10
        )


@pytest.mark.parametrize("kind", [Fourier, Sine])
def test_the_norm_is_that_of_L2(kind):
    f = series(np.random.default_rng(3), 10, kind)
    x = np.linspace(0, 1, 20001)
    exact = np.trapezoid(f(x) ** 2, x)
    found = np.sum(kind(10).encode(f(np.linspace(0, 1, 100))) ** 2)
    assert abs(found - exact) < 1e-6 * exact


def test_fourier_is_the_fft():
    samples = np.random.default_rng(0).normal(size=(2, 100))
    c = np.fft.rfft(samples[:, :-1]) / 99
    vector = Fourier(25).encode(samples)
    np.testing.assert_allclose(vector[:, 1:25], np.sqrt(2) * c.real[:, 1:25])
    np.testing.assert_allclose(vector[:, 26:], np.sqrt(2) * c.imag[:, 1:25])
    np.testing.assert_allclose(vector[:, 0], c.real[:, 0])
    assert vector.shape == (2, 50)


def test_t10_grids_of_100_and_400_points_give_the_same_output_up_to_aliasing():
    torch = pytest.importorskip("torch")
    from hardmax.learned.transducer import Configuration, Transducer

    torch.manual_seed(0)
    rng = np.random.default_rng(0)
    for kind in (Fourier, Sine):
        code = kind(10)
        model = Transducer(Configuration(code.size, code.size, depth=2, heads=2), code, code)
        fs = [series(rng, 10, kind) for _ in range(12)]
        fine, coarse = (np.array([f(np.linspace(0, 1, m)) for f in fs]) for m in (400, 100))
        by_fine = model.predict((fine[:5], fine[5:10]), fine[10:], points=60)
        by_coarse = model.predict((coarse[:5], coarse[5:10]), coarse[10:], points=60)
        np.testing.assert_allclose(by_coarse, by_fine, atol=1e-5)
        rough = fine + 0.1 * np.sin(2 * np.pi * 150 * np.linspace(0, 1, 400))  # aliases at 100
        by_rough = model.predict((rough[:5], fine[5:10]), fine[10:], points=60)
        np.testing.assert_allclose(by_rough, by_fine, atol=1e-5)


@pytest.mark.parametrize("code", [Fourier(25), Sine(50)])
def test_too_few_samples_are_refused(code):
    with pytest.raises(InputError, match="give at least 5"):
        code.encode(np.zeros((3, 20)))


def test_plain_vectors_are_checked():
    with pytest.raises(InputError, match="expected"):
        Plain(3).encode(np.zeros((2, 4)))
