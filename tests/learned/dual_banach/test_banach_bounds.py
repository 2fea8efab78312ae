"""Proposition 4.1 pointwise, its hidden hypotheses, the repairs R1 and R2, and the verifier."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.figure import Figure

from hardmax import InputError
from hardmax.learned.dual_banach.activations import ACTIVATIONS, activation
from hardmax.learned.dual_banach.bounds import BlockBounds, missing_hypotheses
from hardmax.learned.dual_banach.enclosures.balls import Balls
from hardmax.learned.dual_banach.enclosures.enclose import feed_forward, layer_norm, run_block
from hardmax.learned.dual_banach.enclosures.propagate import propagate
from hardmax.learned.dual_banach.examples import random_block
from hardmax.learned.dual_banach.layers import Attention, Block, LayerNorm
from hardmax.learned.dual_banach.report import CLAIMS, draw_looseness
from hardmax.learned.dual_banach.theory.attention import dual_expansion, softmax
from hardmax.learned.dual_banach.verify import verify_blocks

SEEDS = st.integers(0, 10**6)
QUICK_AND_SLOW = [
    pytest.param(name, marks=[] if name in ("gelu", "sigmoid") else pytest.mark.slow)
    for name in sorted(ACTIVATIONS)
]


def bare(W1, W2, *, gamma=None, beta=None, b1=None, b2=None, sigma="relu", eps=1e-300):
    """A block whose attention is 0, with a given feed-forward network."""
    W1, W2 = np.array(W1, dtype=float), np.array(W2, dtype=float)
    h, d = W1.shape
    zero = np.zeros((d, d))
    attention = Attention(*([zero] * 4), *([np.zeros(d)] * 4), heads=1)
    plain = LayerNorm(np.ones(d), np.zeros(d), 1e-5)
    norm = LayerNorm(
        np.ones(d) if gamma is None else gamma, np.zeros(d) if beta is None else beta, eps
    )
    return Block(
        plain, attention, norm, W1, np.zeros(h) if b1 is None else b1,
        W2, np.zeros(d) if b2 is None else b2, activation(sigma),
    )  # fmt: skip


def reference(block, u):
    """‖u + FFN(LN(u))‖ in plain float64, written independently of the enclosures."""
    gelu = np.vectorize(lambda z: z * (1 + math.erf(z / math.sqrt(2))) / 2)
    functions = {
        "relu": lambda z: np.maximum(z, 0), "gelu": gelu, "tanh": np.tanh,
        "silu": lambda z: z / (1 + np.exp(-z)), "sigmoid": lambda z: 1 / (1 + np.exp(-z)),
        "identity": lambda z: z,
        "gelu_tanh": lambda z: z / 2 * (1 + np.tanh(math.sqrt(2 / math.pi)
                                                    * (z + 0.044715 * z**3))),
    }  # fmt: skip
    n = block.norm2
    z = (u - u.mean(-1, keepdims=True)) / np.sqrt(u.var(-1, keepdims=True) + n.eps)
    hidden = functions[block.activation.name]((z * n.gamma + n.beta) @ block.W1.T + block.b1)
    return np.linalg.norm(u + hidden @ block.W2.T + block.b2, axis=-1)


def true_norm(block, u):
    """Enclosure of ‖u + FFN(LN(u))‖."""
    u = Balls.exact(u)
    return (u + feed_forward(block, layer_norm(block.norm2, u))).norm()


def test_the_printed_bound_is_attained():
    root = 0.5**0.5
    block = bare([[root, -root]], [[root], [-root]])
    f = np.array([[1.0, -1.0]])
    bound, true = BlockBounds(block).printed(Balls.exact(f)), true_norm(block, f)
    assert bound.mid == pytest.approx([8**0.5], rel=1e-12)
    assert true.mid == pytest.approx([8**0.5], rel=1e-12)
    # with divisor d − 1 the deviation of f is √2 and the "bound" 1 + 1/√2 times √2, below the norm
    assert (1 + 1 / np.std(f, ddof=1)) * np.linalg.norm(f) == pytest.approx(1 + 2**0.5)
    assert true.lower[0] > 1 + 2**0.5


@pytest.mark.parametrize("matrix_norm", ["spectral", "frobenius"])
@pytest.mark.parametrize("sigma", ["relu", "gelu", "gelu_tanh", "silu", "tanh", "identity"])
@settings(max_examples=5)
@given(seed=SEEDS)
def test_the_printed_bound_holds_under_its_hypotheses(sigma, matrix_norm, seed):
    block = random_block(seed, sigma=sigma, biases=False)
    assert missing_hypotheses(block) == ()
    rng = np.random.default_rng(seed)
    f = rng.normal(size=(40, 4)) * 10.0 ** rng.integers(-2, 3, size=(40, 1)) + rng.normal()
    bound = BlockBounds(block, matrix_norm).printed(Balls.exact(f))
    assert (bound.lower >= true_norm(block, f).upper).all()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"sigma": "sigmoid"}, "sigmoid"),
        ({"b1": np.array([5.0])}, "b₁"),
        ({"b2": np.array([5.0, -5.0])}, "b₂"),
        ({"beta": np.array([5.0, -5.0])}, "β"),
    ],
)
def test_every_hypothesis_is_needed(change, words):
    W1 = [[0.0, 0.0]] if words == "sigmoid" else [[0.7, -0.7]]
    block = bare(W1, [[1.0], [-1.0]], **change)
    f = np.array([[0.01, -0.01]])
    assert any(words in text for text in missing_hypotheses(block))
    bounds, true = BlockBounds(block), true_norm(block, f)
    assert (bounds.printed(Balls.exact(f)).upper < true.lower).all()  # the printed one fails
    r1 = bounds.r1(Balls.exact(f))  # R1 holds: here with equality, and close to it below
    assert (r1.upper >= true.lower).all()
    f[0, 0] = 0.02
    assert (bounds.r1(Balls.exact(f)).lower > true_norm(block, f).upper).all()


def test_a_constant_token_leaves_the_printed_bound_open():
    bound = BlockBounds(random_block(0)).printed(Balls.exact(np.ones((1, 4))))
    assert np.isinf(bound.rad).all()
    assert np.isfinite(BlockBounds(random_block(0)).r1(Balls.exact(np.ones((1, 4)))).rad).all()


def test_the_printed_factor_is_loose_by_the_mean():
    """‖f‖/std f grows with mean/std, ‖LN(f)‖ does not (spec ERR-15)."""
    block = bare(np.eye(2), np.eye(2))
    bounds = BlockBounds(block)
    for t in (0.0, 1.0, 10.0, 100.0):
        f = Balls.exact(np.array([[t + 1, t - 1]]))
        assert layer_norm(block.norm2, f).norm().mid == pytest.approx([2**0.5])
        ffn = bounds.printed(f) - f.norm()
        assert ffn.mid == pytest.approx([2**0.5 * (1 + t * t) ** 0.5])
        assert bounds.feed_forward(f).mid == pytest.approx([2**0.5])


def inputs(seed, count, d):
    """Random tokens, and adversarial ones: scaled, shifted, one-sided, along singular vectors."""
    rng = np.random.default_rng(seed)
    tokens = rng.normal(size=(count, d)) * 10.0 ** rng.integers(-6, 7, size=(count, 1))
    tokens[::3] += 10.0 ** rng.integers(-3, 6)
    tokens[::5] = np.eye(d)[rng.integers(0, d, len(tokens[::5]))] * rng.normal()
    return tokens


@pytest.mark.parametrize("sigma", sorted(ACTIVATIONS))
@pytest.mark.parametrize("matrix_norm", ["spectral", "frobenius"])
def test_r1_on_ten_thousand_tokens(sigma, matrix_norm):
    """14 activation and norm pairs × 8 blocks × 100 tokens = 11 200 tokens."""
    for seed in range(8):
        block = random_block(seed, dimension=5, hidden=7, heads=1, sigma=sigma)
        u = inputs(seed, 100, 5)
        bound, true = BlockBounds(block, matrix_norm).r1(Balls.exact(u)), true_norm(block, u)
        assert (bound.lower >= true.upper).all()
        assert (true.lower <= reference(block, u) * (1 + 1e-9)).all()
        assert (reference(block, u) * (1 - 1e-9) <= true.upper).all()


def climb(block, ratio, d, steps):
    """Tokens that push a ratio of norms up by random search from many starts."""
    rng = np.random.default_rng(0)
    best = rng.normal(size=(300, d))
    score = ratio(best)
    for k in range(steps):
        trial = best + rng.normal(size=best.shape) * 0.5 ** (k / 12)
        new = ratio(trial)
        better = new > score
        best[better], score[better] = trial[better], new[better]
    return best


@pytest.mark.parametrize("sigma", ["relu", "gelu"])
def test_bounds_survive_adversaries(sigma):
    """Tokens optimised to make true/bound as large as possible stay below the bound."""
    tried = 0
    for seed in range(3):
        for biases in (False, True):
            block = random_block(seed, dimension=2, hidden=2, heads=1, sigma=sigma, biases=biases)
            bounds = BlockBounds(block)

            def ratio(u, block=block, bounds=bounds):
                return reference(block, u) / bounds.r1(Balls.exact(u)).mid

            worst = climb(block, ratio, 2, 60)
            tried += 300 * 61
            true = true_norm(block, worst)
            assert (bounds.r1(Balls.exact(worst)).lower >= true.upper).all()
            if not biases:
                assert (bounds.printed(Balls.exact(worst)).lower >= true.upper).all()
                assert ratio(worst).max() > 0.55  # the search gets somewhere
    assert tried > 10**4


@settings(max_examples=5)
@given(SEEDS, st.integers(1, 3), st.booleans(), st.booleans())
def test_r2_and_the_bound_of_all_inputs(seed, depth, causal, biases):
    blocks = [random_block(seed + k, biases=biases, causal=causal) for k in range(depth)]
    rng = np.random.default_rng(seed)
    X = [rng.normal(size=(n, 4)) * 10.0 ** rng.integers(-2, 3) for n in (1, 3, 3, 6)]
    report = verify_blocks(blocks, X)
    for layer in range(1, depth + 1):
        assert report.row(layer, "R1").verdict == "proved"
        assert report.row(layer, "R2").verdict == "proved"
        assert report.row(layer, "all inputs").verdict == "proved"
        if not biases:
            for claim in ("printed, no residual", "printed, residual", "R2 squares"):
                assert report.row(layer, claim).fails == 0
        assert report.row(layer, "R1").holds == 13


def test_the_printed_bound_fails_on_the_real_block():
    """With f̃* the attention output it says nothing about x + attention (spec GAP-13)."""
    block = random_block(3, biases=False)
    X = np.random.default_rng(0).normal(size=(5, 4)) * 1000
    report = verify_blocks([block], [X])
    row = report.row(1, "printed, attention")
    assert row.verdict == "refuted"
    assert row.fails == 5
    assert row.witness == (0, 0)
    assert report.row(1, "printed, residual").verdict == "proved"


def test_report():
    blocks = [random_block(0), random_block(1)]
    X = [np.random.default_rng(k).normal(size=(4, 4)) for k in range(3)]
    report = verify_blocks(blocks, X)
    plain = report.to_json()
    assert len(plain["rows"]) == 2 * len(CLAIMS)
    assert set(plain["claims"]) == set(CLAIMS)
    assert all(row["holds"] + row["fails"] + row["open"] == 12 for row in plain["rows"])
    r1 = next(row for row in plain["rows"] if row["claim"] == "R1")
    assert 1 <= r1["median looseness"] <= r1["largest looseness"]
    assert "bias b₁" in str(report)
    assert str(report).count("proved") >= 6
    figure = Figure()
    axes = figure.add_subplot()
    draw_looseness(report, axes)
    assert len(axes.lines) == len(CLAIMS) + 1


def test_layerwise_reaches_any_depth():
    blocks = [random_block(k, dimension=8, hidden=16) for k in range(12)]
    X = [np.random.default_rng(0).normal(size=(5, 8))]
    deep, layerwise = verify_blocks(blocks, X), verify_blocks(blocks, X, layerwise=True)
    assert deep.row(12, "R1").verdict == "undecided"  # radii grow; nothing false is claimed
    assert deep.row(12, "R1").fails == 0
    assert layerwise.row(12, "R1").verdict == "proved"
    assert {row.claim for row in layerwise.rows} == set(list(CLAIMS)[:4])


@pytest.mark.parametrize("sigma", QUICK_AND_SLOW)
@settings(max_examples=2)
@given(seed=SEEDS, causal=st.booleans())
def test_propagation_contains_other_points_of_the_balls(sigma, seed, causal):
    """Runs from points inside the input balls end inside the enclosures, block by block."""
    rng = np.random.default_rng(seed)
    blocks = [random_block(seed + k, sigma=sigma, causal=causal) for k in range(3)]
    radius = 10.0 ** rng.integers(-9, -3)
    X = rng.normal(size=(2, 3, 4))
    steps = list(propagate(blocks, Balls.around(X, radius)))
    for _ in range(3):
        points = [Balls.exact(X + radius * rng.choice([-1.0, 1.0, 0.3], size=X.shape))]
        for block in blocks:
            points.append(run_block(block, points[-1]).out)
        for step, point in zip(steps, points[1:], strict=True):
            assert (step.out.lower <= point.upper).all()
            assert (point.lower <= step.out.upper).all()
    # it is not vacuous
    assert np.isfinite(steps[0].out.rad).all()


def test_radii_are_smaller_than_by_plain_interval_arithmetic():
    blocks = [random_block(k, dimension=16, hidden=32, heads=4) for k in range(5)]
    x = Balls.exact(np.random.default_rng(0).normal(size=(6, 16)))
    *_, last = propagate(blocks, x)
    for block in blocks:
        x = run_block(block, x).out
    assert last.out.rad.max() < x.rad.max() / 100


def test_attention_is_a_dual_expansion():
    """(27), standard attention by concatenated heads, and what the expansion is made of."""
    rng = np.random.default_rng(0)
    for heads, causal in ((1, False), (2, True), (4, False)):
        layer = random_block(heads, dimension=8, heads=heads, causal=causal).attention
        X = rng.normal(size=(5, 8))
        expansion = dual_expansion(layer, X)
        assert expansion.coefficients.shape == (heads, 5, 8)
        assert expansion.pairings.sum(-1) == pytest.approx(np.ones((heads, 5)))
        parts = []
        for rows in np.split(np.arange(8), heads):
            q, k, v = (X @ getattr(layer, name)[rows].T + getattr(layer, f"{name}_bias")[rows]
                       for name in ("query", "key", "value"))  # fmt: skip
            parts.append(softmax(q @ k.T / np.sqrt(8 / heads), causal) @ v)
        joined = np.concatenate(parts, axis=1) @ layer.output.T + layer.output_bias
        assert expansion.evaluate() == pytest.approx(joined, abs=1e-13)


def test_a_weight_is_no_function_of_two_tokens():
    """The pairing of tokens 1 and 2 changes when a third one comes (spec GAP-11)."""
    layer = random_block(0).attention
    X = np.random.default_rng(0).normal(size=(3, 4))
    two, three = dual_expansion(layer, X[:2]), dual_expansion(layer, X)
    assert abs(two.pairings[0, 0, 1] - three.pairings[0, 0, 1]) > 1e-3


def test_bad_layers():
    block = random_block(0)
    with pytest.raises(InputError, match="expected"):
        replace(block, W2=np.ones((3, 8)))
    with pytest.raises(InputError, match="not finite"):
        replace(block, W1=np.full((8, 4), np.nan))
    with pytest.raises(InputError, match="do not divide"):
        replace(block.attention, heads=3)
    with pytest.raises(InputError, match="positive"):
        replace(block.norm1, eps=0.0)
    with pytest.raises(InputError, match="sequence 1 has shape"):
        verify_blocks([block], [np.ones((2, 5))])
    with pytest.raises(InputError, match="not finite"):
        verify_blocks([block], [np.full((2, 4), np.nan)])
    with pytest.raises(InputError, match="no blocks"):
        verify_blocks([], [])
    with pytest.raises(InputError, match="known are spectral"):
        BlockBounds(block, "nuclear")
    with pytest.raises(InputError, match="known are relu"):
        activation("swoosh")
    with pytest.raises(InputError, match="do not fit"):
        dual_expansion(block.attention, np.ones((2, 5)))
