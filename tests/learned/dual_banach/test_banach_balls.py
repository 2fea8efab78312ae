"""Balls contain every result: against exact rationals and flint's ball arithmetic."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from flint import arb, ctx
from hypothesis import given
from hypothesis import strategies as st

from hardmax.learned.dual_banach.activations import ACTIVATIONS
from hardmax.learned.dual_banach.enclosures import elementary
from hardmax.learned.dual_banach.enclosures.balls import Balls, as_balls
from hardmax.learned.dual_banach.enclosures.spectral import frobenius_norm, spectral_norm

F = Fraction
SEEDS = st.integers(0, 10**6)


def spread(rng, *shape):
    """Floats over many orders of magnitude, some 0."""
    values = rng.normal(size=shape) * 10.0 ** rng.integers(-12, 12, size=shape)
    return np.where(rng.random(shape) < 0.1, 0.0, values)


def members(rng, balls):
    """A rational inside every ball, often at its edge."""
    share = rng.choice([-1, 1, 0, 0.5], size=balls.shape)
    return [
        F(float(m)) + F(float(r)) * F(float(s))
        for m, r, s in zip(balls.mid.flat, balls.rad.flat, share.flat, strict=True)
    ]


def holds(balls, values):
    return all(balls.contains(v, i) for i, v in zip(np.ndindex(balls.shape), values, strict=True))


@given(SEEDS)
def test_entrywise_operations(seed):
    rng = np.random.default_rng(seed)
    x = Balls(spread(rng, 8), abs(spread(rng, 8)) * 1e-6)
    y = Balls(spread(rng, 8), abs(spread(rng, 8)) * 1e-6)
    a, b = members(rng, x), members(rng, y)
    assert holds(x + y, [p + q for p, q in zip(a, b, strict=True)])
    assert holds(x - y, [p - q for p, q in zip(a, b, strict=True)])
    assert holds(x * y, [p * q for p, q in zip(a, b, strict=True)])
    assert holds(x / y, [p / q if q else F(0) for p, q in zip(a, b, strict=True)])
    assert holds(-x, [-p for p in a])
    assert holds(x.square(), [p * p for p in a])
    assert holds(x.relu(), [max(p, F(0)) for p in a])
    assert holds(2.0 - x, [2 - p for p in a])
    assert x.max().contains(max(a))
    roots = x.square().sqrt()
    for low, high, p in zip(np.maximum(roots.lower, 0), roots.upper, a, strict=True):
        assert F(float(low)) ** 2 <= p * p <= F(float(high)) ** 2


@given(SEEDS)
def test_numbers_near_the_ends_of_the_range(seed):
    """Products and quotients that underflow or overflow stay inside, or nothing is claimed."""
    rng = np.random.default_rng(seed)

    def extreme():
        exponents = rng.choice([-1074, -1000, -700, -530, -300, 0, 300, 530, 1000], size=12)
        mid = np.ldexp(rng.choice([-1.0, 1.0], 12) * rng.uniform(1, 2, 12), exponents)
        return Balls(mid, abs(mid) * rng.choice([0.0, 2.0**-40, 2.0**-1], size=12))

    x, y = extreme(), extreme()
    a, b = members(rng, x), members(rng, y)
    assert holds(x * y, [p * q for p, q in zip(a, b, strict=True)])
    assert holds(x / y, [p / q if q else F(0) for p, q in zip(a, b, strict=True)])
    assert holds(x + y, [p + q for p, q in zip(a, b, strict=True)])
    assert (x * y).rad.shape == (12,)


@given(SEEDS, st.integers(1, 40))
def test_sums_and_products(seed, n):
    rng = np.random.default_rng(seed)
    A = Balls(spread(rng, 2, n), abs(spread(rng, 2, n)) * 1e-9)
    B = Balls.exact(spread(rng, n, 2))
    a = np.array(members(rng, A), dtype=object).reshape(2, n)
    b = np.array(members(rng, B), dtype=object).reshape(n, 2)
    assert holds(A @ B, (a @ b).flat)
    assert holds(B.reform(np.transpose) @ A.reform(np.transpose), (a @ b).T.flat)
    assert holds(A.sum(-1), a.sum(axis=-1))
    norms = A.norm()
    for low, high, row in zip(norms.lower, norms.upper, a, strict=True):
        assert F(float(max(low, 0))) ** 2 <= sum(x * x for x in row) <= F(float(high)) ** 2


def test_between_and_edges():
    x = Balls.between([-1.0, 0.1], [2.0, 0.1])
    assert x.contains(F(-1), 0)
    assert x.contains(F(2), 0)
    assert not x.contains(F(3), 0)
    assert as_balls(1.5).lower == 1.5 == as_balls(1.5).upper


def test_nothing_is_claimed_of_what_is_not_finite():
    huge = Balls.exact([1e308])
    for lost in (huge + huge, huge * huge, Balls.exact([1.0]) / Balls.exact([0.0]),
                 Balls.exact([np.nan]), Balls.exact([np.inf]), huge @ huge[:, None],
                 elementary.exp(huge), Balls.exact([1.0]) / Balls([1e-3], [1e-2])):  # fmt: skip
        assert np.isinf(lost.rad).all()
        assert lost.lower[0] == -np.inf
        assert lost.contains(F(10) ** 400, 0)
    zero_times_lost = Balls.exact([0.0]) * (huge + huge)
    assert np.isinf(zero_times_lost.rad).all()


POINTS = st.floats(-900, 900) | st.floats(-8, 8) | st.floats(-1e-6, 1e-6) | st.sampled_from(
    [6.0, -6.0, 690.0, -690.0, 700.0, 20.0, -20.0, 40.0, 0.0, 5e-324, -1e-300]
)  # fmt: skip
GELU = lambda x: x * (1 + (x / arb(2).sqrt()).erf()) / 2  # noqa: E731
TRUTH = {
    "exp": lambda x: x.exp(), "erf": lambda x: x.erf(), "tanh": lambda x: x.tanh(),
    "sigmoid": lambda x: 1 / (1 + (-x).exp()), "gelu": GELU,
    "silu": lambda x: x / (1 + (-x).exp()), "relu": lambda x: x.max(arb(0)),
    "gelu_tanh": lambda x: x / 2 * (1 + ((2 / arb.pi()).sqrt()
                                         * (x + arb(0.044715) * x**3)).tanh()),
    "identity": lambda x: x,
}  # fmt: skip


@pytest.fixture
def precise():
    before, ctx.prec = ctx.prec, 300
    yield
    ctx.prec = before


@pytest.mark.parametrize("name", sorted(TRUTH))
@given(st.lists(POINTS, min_size=5, max_size=5), st.sampled_from([0.0, 1e-12, 0.3]))
def test_elementary_functions(name, precise, points, radius):
    function = ACTIVATIONS[name].enclose if name in ACTIVATIONS else getattr(elementary, name)
    x = np.array(points)
    result = function(Balls.around(x, radius))
    for k, point in enumerate(points):
        for side in (-1, 0, 1):
            member = F(point) + side * F(radius)
            value = TRUTH[name](arb(member.numerator) / member.denominator)
            if np.isfinite(result.rad[k]):
                assert (
                    abs(value - arb(float(result.mid[k])))
                    <= arb(float(result.rad[k])) + arb(2) ** -280
                )
            else:
                assert abs(point) > 600


@pytest.mark.parametrize("name", sorted(ACTIVATIONS))
def test_constants_of_the_activations(name, precise):
    """|σ(z)| ≤ slope |z| + offset, and difference quotients below the Lipschitz constant."""
    a = ACTIVATIONS[name]
    rng = np.random.default_rng(0)
    x = np.concatenate([np.linspace(-12, 12, 401), rng.normal(size=200) * 3])
    y = a.enclose(Balls.exact(x))
    assert (np.maximum(abs(y.lower), abs(y.upper)) <= a.slope * abs(x) + a.offset + 1e-12).all()
    values = [TRUTH[name](arb(v)) if name in TRUTH else arb(v).tanh() for v in np.sort(x)]
    gaps = np.diff(np.sort(x))
    for left, right, gap in zip(values, values[1:], gaps, strict=False):
        assert abs(right - left) <= arb(a.lipschitz) * arb(float(gap)) + arb(1e-12)


@pytest.mark.parametrize("name", ["gelu", "gelu_tanh", "silu"])
def test_lipschitz_constants_are_proved(name, precise):
    """The derivative on small intervals that cover [-10, 10]; beyond, it is near 0 or 1."""

    def derivative(x):
        if name == "gelu":
            density = (-x * x / 2).exp() / (2 * arb.pi()).sqrt()
            return (1 + (x / arb(2).sqrt()).erf()) / 2 + x * density
        if name == "silu":
            s = 1 / (1 + (-x).exp())
            return s + x * s * (1 - s)
        c = (2 / arb.pi()).sqrt()
        t = (c * (x + arb(0.044715) * x**3)).tanh()
        return (1 + t) / 2 + x / 2 * (1 - t * t) * c * (1 + 3 * arb(0.044715) * x * x)

    for k in range(-4000, 4000):
        piece = arb((k + 0.5) / 400, 1 / 800)
        assert abs(derivative(piece)) < arb(ACTIVATIONS[name].lipschitz)


@given(SEEDS, st.integers(1, 12), st.integers(1, 12), st.integers(-60, 60))
def test_spectral_norms(seed, m, n, size):
    """Against the characteristic polynomial: bound² I − WᵀW is positive semidefinite."""
    rng = np.random.default_rng(seed)
    W = rng.normal(size=(m, n)) * 2.0**size
    norm = spectral_norm(W)
    true = np.linalg.norm(W, 2)
    assert norm.lower <= true * (1 + 1e-9)
    assert true <= norm.upper * (1 + 1e-9)
    assert norm.rad <= 1e-2 * norm.mid
    frobenius = frobenius_norm(W)
    exact = sum(F(float(x)) ** 2 for x in W.flat)
    assert F(float(frobenius.lower)) ** 2 <= exact <= F(float(frobenius.upper)) ** 2


def test_spectral_norm_of_a_known_matrix():
    """Norm √2 for [[1, 1]], exactly the golden ratio for [[1, 1], [1, 0]]."""
    low, high = (float(x) for x in (spectral_norm(np.ones((1, 2))).lower,
                                    spectral_norm(np.ones((1, 2))).upper))  # fmt: skip
    assert F(low) ** 2 <= 2 <= F(high) ** 2
    golden = spectral_norm(np.array([[1.0, 1.0], [1.0, 0.0]]))
    for edge, sign in ((F(float(golden.lower)), -1), (F(float(golden.upper)), 1)):
        assert sign * (edge * edge - edge - 1) >= 0
    assert spectral_norm(np.zeros((2, 3))).upper == 0
    assert np.isinf(spectral_norm(np.array([[np.inf]])).rad)
    repeated = spectral_norm(np.eye(30))
    assert repeated.lower <= 1 <= repeated.upper
