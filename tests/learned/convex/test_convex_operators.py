"""Operators, adjoints, and the equality of the lifted and the network's forward pass."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from convex_cases import HEADS, problem
from hypothesis import given
from hypothesis import strategies as st

from hardmax.errors import InputError
from hardmax.learned.convex import Head, NetworkHead, Problem, matrices, network, random_gates
from hardmax.learned.convex.choose import pooled_features
from hardmax.learned.convex.gates import mask as gate_mask
from hardmax.learned.convex.operators import Attention, Features, Fourier, Mixer, Pooled


def close(a, b):
    """Floats that differ by rounding alone: these tests compare float code with float code."""
    return np.abs(a - b).max() <= 1e-10 * (1 + np.abs(a).max())


@pytest.mark.parametrize("pooled", [True, False])
@pytest.mark.parametrize(("name", "activation"), HEADS)
def test_adjoint(name, activation, pooled):
    """⟨A(Z), V⟩ = ⟨Z, N(V)⟩ for all Z and V."""
    case, rng = problem(name, activation, pooled=pooled), np.random.default_rng(1)
    for _ in range(3):
        Zs = [rng.normal(size=shape) for shape in case.shapes]
        V = rng.normal(size=case.targets.shape)
        left = (case.predict(Zs) * V).sum()
        right = sum((N * Z).sum() for N, Z in zip(case.adjoints(V), Zs, strict=True))
        assert abs(left - right) <= 1e-12 * np.linalg.norm(V) * sum(map(np.linalg.norm, Zs)) * 100


@pytest.mark.parametrize("pooled", [True, False])
@pytest.mark.parametrize(("name", "activation"), HEADS)
def test_lifted_is_the_network(name, activation, pooled):
    """Predictions linear in Z = Σ vec(W1) vec(W2ᵀ)ᵀ are those of the paper's forward pass."""
    case, rng = problem(name, activation, pooled=pooled), np.random.default_rng(2)
    s, d, c = *case.tokens.shape[1:], case.targets.shape[2]
    first, second = case.head.weight_shapes(s, d, c)
    heads = [
        NetworkHead(rng.normal(size=first), rng.normal(size=second), block.group, block.gate)
        for block in case.blocks
        for _ in range(2)
    ]
    lifted = case.predict(matrices(case, heads))
    for X, row in zip(case.tokens, lifted, strict=True):
        out = network(case.head, X, heads, c, case.gates)
        assert close(out.mean(0, keepdims=True) if pooled else out, row)


@pytest.mark.parametrize("gated", [False, True])
@pytest.mark.parametrize("mixing", ["attention", "mixer", "fourier", "tokens"])
def test_matrix_free_is_written_out(mixing, gated):
    """Pooled operators without matrices agree with features that are written out."""
    rng = np.random.default_rng(3)
    n, s, d, c, grid = 5, 6, 3, 2, (3, 2)
    X = rng.normal(size=(n, s, d))
    length = {"attention": d * d, "mixer": s * s, "fourier": s * d, "tokens": d}[mixing]
    seen = gate_mask(mixing, X, rng.normal(size=length), grid) if gated else None
    weights = rng.random((n, s))
    if mixing == "attention":
        inner = Attention(X, c, seen)
    elif mixing == "mixer":
        inner = Mixer(X, c, seen)
    elif mixing == "fourier":
        inner = Fourier(X, c, grid, seen)
    else:
        inner = Features((X if seen is None else X * seen)[..., None], c)
    free = Pooled(inner, weights)
    written = Features(pooled_features(mixing, X, weights, grid, seen), c)
    Z, V = rng.normal(size=free.shape), rng.normal(size=(n, 1, c))
    assert free.shape == written.shape
    assert close(free.forward(Z), written.forward(Z))
    assert close(free.adjoint(V), written.adjoint(V))


@given(st.integers(1, 4), st.integers(1, 4), st.integers(0, 99))
def test_fourier_is_the_block_of_two_dimensional_discrete_fourier_transforms(h, w, seed):
    """(22) with F = F_h ⊗ F_w, before the activation: each frequency has a matrix of its own."""
    rng = np.random.default_rng(seed)
    s, d = h * w, 2
    X, L = rng.normal(size=(s, d)), rng.normal(size=(s, d, d))
    F = np.kron(np.fft.fft(np.eye(h)), np.fft.fft(np.eye(w)))
    V = np.einsum("ft,tij->fij", F, L)
    direct = np.linalg.inv(F) @ np.einsum("fi,fij->fj", F @ X, V)
    head = Fourier(X[None], d, (h, w))
    assert close(direct.real, head.forward(L.reshape(s * d, d))[0])
    assert np.abs(direct.imag).max() < 1e-9


def test_padding_does_not_change_attention():
    rng = np.random.default_rng(4)
    sequences = [rng.normal(size=(length, 3)) for length in (2, 5, 4)]
    padded = np.zeros((3, 5, 3))
    for row, X in zip(padded, sequences, strict=True):
        row[: len(X)] = X
    targets = np.zeros((3, 1, 2))
    for activation in ("linear", "gated"):
        head = Head("self-attention", activation)
        gates = random_gates(head, 5, 3, 2) if activation == "gated" else None
        case = Problem(head, padded, targets, 1.0, gates=gates, lengths=np.array([2, 5, 4]))
        Zs = [rng.normal(size=shape) for shape in case.shapes]
        for i, X in enumerate(sequences):
            alone = Problem(head, X[None], targets[:1], 1.0, gates=gates)
            assert close(alone.predict(Zs)[0], case.predict(Zs)[i])


X, ONE = np.ones((2, 3, 2)), np.ones((2, 1, 1))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"tokens": np.ones((2, 3)), "targets": ONE, "beta": 1.0}, "shape"),
        ({"tokens": X, "targets": np.ones((2, 3, 1)), "beta": 1.0}, "targets"),
        ({"tokens": X, "targets": ONE, "beta": 0.0}, "beta"),
        ({"tokens": X * np.nan, "targets": ONE, "beta": 1.0}, "finite"),
        ({"tokens": X, "targets": ONE, "beta": 1.0, "loss": "hinge"}, "unknown loss"),
    ],
)
def test_bad_problems(arguments, words):
    with pytest.raises(InputError, match=words):
        Problem(Head("mlp"), **arguments)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("transformer",), "unknown head"),
        (("mlp", "tanh"), "unknown activation"),
        (("linear", "gated"), "no activation"),
        (("fno", "linear", None, 2), "groups"),
    ],
)
def test_bad_heads(arguments, words):
    with pytest.raises(InputError, match=words):
        Head(*arguments)
    with pytest.raises(InputError, match="grid"):
        Head("fno", grid=(2, 2)).grid_for(6)


@pytest.mark.parametrize("mixing", ["attention", "mixer", "fourier", "tokens"])
def test_gates_that_touch_zero_open(mixing):
    """⟨q, h⟩ = 0 exactly, where floats give a sum of either sign."""
    rng, s, d, grid = np.random.default_rng(0), 3, 4, (3, 1)
    X = np.tile(np.array([0.1, 0.2, 0.3, 0.7]), (1, s, 1))
    X[0, :, 3] = [0.1, 0.2, 0.3]
    length = {"attention": d * d, "mixer": s * s, "fourier": s * d, "tokens": d}[mixing]
    gate = rng.integers(-3, 4, size=length).astype(float)
    found = gate_mask(mixing, X, gate, grid)
    for o in range(s):
        for place in range(found.shape[2]):
            if mixing == "attention":
                q = [Fraction(X[0, o, j]) * Fraction(X[0, place, k])
                     for k in range(d) for j in range(d)]  # fmt: skip
            elif mixing == "mixer":
                q = [Fraction(X[0, t, place]) * (o == i) for t in range(s) for i in range(s)]
            elif mixing == "fourier":
                q = [Fraction(X[0, (o - t) % s, k]) for t in range(s) for k in range(d)]
            else:
                q = [Fraction(x) for x in X[0, o]]
            exact = sum(x * Fraction(h) for x, h in zip(q, gate, strict=True))
            assert found[0, o, place] == (exact >= 0)


def test_a_gate_at_zero_is_decided_by_rationals():
    X, gate = np.array([[[0.1, 0.2, 0.3]]]), np.array([1.0, 1.0, -1.0])
    exact = Fraction(0.1) + Fraction(0.2) - Fraction(0.3)
    assert exact > 0  # the decimals cancel, the floats do not
    for sign in (1.0, -1.0):
        assert gate_mask("tokens", X, sign * gate, (1, 1))[0, 0, 0] == (sign * exact >= 0)
