"""Solvers: against each other, an outside solver, closed forms, and the paper's statements."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from convex_cases import HEADS, problem
from hypothesis import given
from hypothesis import strategies as st

from hardmax.errors import InputError
from hardmax.learned.convex import (
    Head,
    Problem,
    beta_path,
    certify,
    checker,
    factored,
    proximal_gradient,
    random_gates,
    recover,
    width_bound,
)
from hardmax.learned.convex.burer_monteiro import descend, product
from hardmax.learned.convex.certificate import interval
from hardmax.learned.convex.cones import cone_heads, cone_norm
from hardmax.learned.convex.relu import ReluProblem, certify_relu, solve
from hardmax.learned.convex.uncorrelated import shared_heads, split_problem


@pytest.mark.parametrize("loss", ["squared", "cross-entropy"])
@pytest.mark.parametrize(("name", "activation"), HEADS)
def test_two_solvers_agree(name, activation, loss):
    """Both bounds are true, so each solver's lower bound is below the other's upper bound."""
    case = problem(name, activation, loss, beta=0.7)
    one, two = proximal_gradient(case, tolerance=1e-6), factored(case, tolerance=1e-6)
    assert max(one.gap, two.gap) <= 1e-6
    assert max(one.lower, two.lower) <= min(one.upper, two.upper) * (1 + 1e-12)


@pytest.mark.parametrize("loss", ["squared", "cross-entropy"])
@pytest.mark.parametrize(
    ("name", "activation"), [("self-attention", "gated"), ("mixer", "linear"), ("b-fno", "gated")]
)
def test_cvxpy_agrees(name, activation, loss):
    cp = pytest.importorskip("cvxpy")
    pytest.importorskip("clarabel")
    case = problem(name, activation, loss, n=5)
    mine = proximal_gradient(case, tolerance=1e-8)
    Zs = [cp.Variable(shape) for shape in case.shapes]
    columns = [[0] * case.targets.shape[2] for _ in range(5)]
    for block, Z in zip(case.blocks, Zs, strict=True):
        op = block.operator  # pooled and small: its features are written out
        flat = op.matrix.reshape(5, op.shape[0], -1)
        for i in range(5):
            for place, p in enumerate(range(block.outputs.start, block.outputs.stop)):
                columns[i][p] += cp.sum(cp.multiply(flat[i], Z[:, place :: op.outputs]))
    R = cp.vstack([cp.hstack(row) for row in columns])
    Y = case.targets[:, 0]
    if loss == "squared":
        fit = cp.sum_squares(R - Y) / 2
    else:
        fit = cp.sum(cp.log_sum_exp(R, axis=1)) - cp.sum(cp.multiply(R, Y))
    program = cp.Problem(cp.Minimize(fit + case.beta * sum(cp.normNuc(Z) for Z in Zs)))
    program.solve(solver="CLARABEL")
    assert abs(program.value - mine.upper) <= 1e-6 * mine.upper


def test_warm_start_along_a_path():
    case = problem("mixer", "gated", "cross-entropy")
    most, cold = case.largest_beta(), []
    for one, found in beta_path(case, (1.01 * most, most / 4, most / 16)):
        cold.append(proximal_gradient(one, tolerance=1e-6).upper)
        assert abs(found.upper - cold[-1]) <= 2e-6 * cold[-1]
        assert one.beta <= most or not any(Z.any() for Z in found.Zs)
    assert cold[0] > cold[1] > cold[2]  # the optimum rises with β


def test_width_staircase():
    """No start reaches p* with fewer heads than rank Z*; with enough heads L-BFGS does."""
    case = problem("self-attention", "linear")
    best = proximal_gradient(case, tolerance=1e-9, most=50_000)
    rank = len(recover(case, [Z * (abs(Z) > 1e-7) for Z in best.Zs]))
    rank = min(rank, int(np.linalg.matrix_rank(best.Zs[0], 1e-5)))
    assert rank <= width_bound(case)
    rng, found = np.random.default_rng(0), {}
    for width in (rank - 1, rank):
        values = []
        for _ in range(4):
            start = [(rng.normal(size=(a, width)), rng.normal(size=(b, width)))
                     for a, b in case.shapes]  # fmt: skip
            values.append(case.objective(product(descend(case, start))))
        found[width] = min(values)
    assert found[rank] <= best.upper * (1 + 1e-5)
    assert found[rank - 1] > best.upper * (1 + 1e-5)


def test_pooled_fourier_is_linear():
    """Pooled linear Fourier at β and a linear MLP at β/√s have the same value."""
    X = np.random.default_rng(0).normal(size=(8, 4, 3))
    Y = np.random.default_rng(1).normal(size=(8, 1, 2))
    one = proximal_gradient(Problem(Head("fno", grid=(2, 2)), X, Y, 1.0), tolerance=1e-9)
    two = proximal_gradient(Problem(Head("mlp"), X, Y, 0.5), tolerance=1e-9)
    assert abs(one.upper - two.upper) <= 1e-8 * one.upper


def test_pooled_mixer_is_flattened():
    """Pooled linear Mixer at β is a linear model of the flattened tokens, Z ∈ ℝ^{s×dc}, at β√s."""
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(9, 4, 3)), rng.normal(size=(9, 1, 2))
    one = proximal_gradient(Problem(Head("mixer"), X, Y, 1.0), tolerance=1e-8, most=50_000)
    s, d, c = 4, 3, 2
    flat = Problem(Head("mlp"), X.reshape(9, 1, s * d), Y, 2.0)
    inner = flat.blocks[0].operator

    class Lifted:  # the same features, but with the shape (s, d·c) of Z
        shape = (s, d * c)

        def forward(self, Z):
            return inner.forward(Z.reshape(s * d, c))

        def adjoint(self, V):
            return inner.adjoint(V).reshape(s, d * c)

    flat.blocks = [type(flat.blocks[0])(Lifted(), slice(0, c), 0, None)]
    two = proximal_gradient(flat, tolerance=1e-8, most=50_000)
    assert abs(one.upper - two.upper) <= 1e-7 * one.upper


def relu_problem(seed, loss="squared", n=3):
    rng = np.random.default_rng(seed)
    X = rng.integers(-4, 5, size=(n, 2, 1)) / 2
    Y = rng.integers(-4, 5, size=(n, 2, 2)) / 2
    if loss != "squared":
        Y = np.eye(2)[rng.integers(2, size=(n, 2))]
    return ReluProblem(Head("fno", "relu"), X, Y, 0.5, loss, pooled=False)


@pytest.mark.parametrize("loss", ["squared", "cross-entropy"])
@pytest.mark.parametrize("seed", range(3))
def test_relu_is_solved_and_certified(seed, loss):
    case = relu_problem(seed, loss)
    found = solve(case, 1e-6)
    assert found.gap <= 1e-6
    cert = certify_relu(case, found)
    checker.check(cert)
    low, high = interval(cert)
    assert float(high - low) <= 3e-6 * float(high)
    spoiled = {**cert, "dual": {**cert["dual"], "denominator": cert["dual"]["denominator"] // 2}}
    with pytest.raises(checker.Stop, match="refuted"):
        checker.check(spoiled)


def test_relu_width_erratum():
    """n = 1, s = 2, d = c = 1: one head reaches 119/200, two reach 19/100; the paper says one."""
    X, Y = np.array([[[1.0], [0.0]]]), np.array([[[1.0], [-1.0]]])
    case = ReluProblem(Head("fno", "relu"), X, Y, 0.1, pooled=False)
    low, high = interval(certify_relu(case, solve(case)))
    exact = Fraction(19, 100)  # for β = 1/10; the float 0.1 is larger by 6e-18
    assert abs(low - exact) < Fraction(1, 10**7)
    assert abs(high - exact) < Fraction(1, 10**7)
    assert high < Fraction(119, 200)


def test_relu_elsewhere_is_refused():
    with pytest.raises(InputError, match="two dimensions"):
        ReluProblem(Head("fno", "relu"), np.ones((1, 3, 1)), np.ones((1, 3, 1)), 1.0, pooled=False)
    with pytest.raises(InputError, match="exact ReLU"):
        ReluProblem(Head("mixer", "relu"), np.ones((1, 2, 1)), np.ones((1, 1, 1)), 1.0)
    with pytest.raises(InputError, match="ReLU"):
        Problem(Head("mlp", "relu"), np.ones((1, 2, 2)), np.ones((1, 1, 1)), 1.0)


vectors = st.tuples(st.integers(-5, 5), st.integers(-5, 5)).filter(any)


@given(st.integers(0, 10**6), vectors, vectors)
def test_cone_norm_is_the_gauge(seed, g, h):
    """The closed form is reached by heads in the cone, and no dual point of a grid exceeds it."""
    g, h = np.array(g, float), np.array(h, float)
    if abs(g[0] * h[1] - g[1] * h[0]) < 1:
        return
    Z = np.random.default_rng(seed).normal(size=(2, 3))
    U, V = cone_heads(Z, g, h)
    assert np.abs(U.T @ V - Z).max() < 1e-8 * (1 + abs(Z).max()) * 100
    inside = np.linalg.solve(np.column_stack([g, h]), U.T)
    assert inside.min() > -1e-7
    value = cone_norm(Z, g, h)
    assert value >= np.linalg.svd(Z, compute_uv=False).sum() * (1 - 1e-9)
    # weak duality: ⟨A, Z⟩ ≤ ‖Z‖ max |Aᵀu| over unit u of the cone
    rng = np.random.default_rng(seed + 1)
    turn = np.linspace(0, 1, 200)[:, None]
    rays = (1 - turn) * g / np.linalg.norm(g) + turn * h / np.linalg.norm(h)
    rays /= np.linalg.norm(rays, axis=1, keepdims=True)
    for _ in range(5):
        A = rng.normal(size=Z.shape)
        assert (A * Z).sum() <= value * np.linalg.norm(rays @ A, axis=1).max() * (1 + 1e-3) + 1e-9


def test_gates_are_short_numbers():
    gates = random_gates(Head("mixer", "gated"), 4, 3, 2, seed=1)
    assert (16 * gates[0] == np.round(16 * gates[0])).all()


def test_uncorrelated_features():
    """Corollary 3.2: the split program has the same value, and groups share heads."""
    rng = np.random.default_rng(0)
    X = np.zeros((8, 6, 4))
    X[:, :3, :2] = rng.integers(-4, 5, size=(8, 3, 2)) / 2
    X[:, 3:, 2:] = rng.integers(-4, 5, size=(8, 3, 2)) / 2
    case = Problem(Head("self-attention"), X, rng.integers(-4, 5, size=(8, 1, 2)) / 2, 0.5)
    split, places = split_problem(case)
    assert [len(rows) for rows, _ in places] == [8, 8]
    found = proximal_gradient(split, tolerance=1e-8, most=50_000)
    whole = proximal_gradient(case, tolerance=1e-6)
    assert abs(found.upper - whole.upper) <= 2e-6 * whole.upper
    factors = shared_heads(case, found.Zs, places)
    ranks = [np.linalg.matrix_rank(Z, 1e-7) for Z in found.Zs]
    assert factors[0][0].shape[1] <= sum(ranks)
    low, high = interval(certify(case, factors=factors, dual=found.V))  # of the whole problem
    assert float(high - low) <= 1e-7 * float(high)
    with pytest.raises(InputError, match="self-attention only"):
        split_problem(problem("mixer", "linear"))
