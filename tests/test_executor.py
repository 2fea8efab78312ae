"""The float64 executor: the exact run to rounding, whatever the batch; no loop over tokens."""

from __future__ import annotations

import sys
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import reference
from hypothesis import given
from hypothesis import strategies as st

import hardmax as hm
from hardmax import RankOneBlock, Transformer
from hardmax.errors import InputError
from hardmax.execute.floating import outputs
from hardmax.testing import adversarial, general_models, rank_one_models, sequences

EXAMPLES = Path(__file__).parent.parent / "examples"
F = Fraction


@st.composite
def with_batches(draw, models):
    d = draw(st.integers(1, 3))
    return draw(models(d)), draw(st.lists(sequences(d), min_size=1, max_size=5))


def numbers_of(layer):
    """All entries of U, b, W, ρ, V, A."""
    U, b, W, rho, V, A = layer
    return [*b, rho, *(x for matrix in (U, W, V, A) for row in matrix for x in row)]


def is_dyadic(numbers):
    return all(x.denominator & (x.denominator - 1) == 0 for x in numbers)


def stable(model, Z):
    """Rounding tears exact ties apart: here ties come only where nothing has been rounded yet,
    and all other scores keep a distance."""
    rounded = False
    for block, state in zip(model.blocks, reference.trace(model.blocks, Z), strict=False):
        layer = reference.layers(block)
        U, b, W, _, _, A = layer
        after = [reference.feed_forward(U, b, W, z) for z in state]
        rounded = rounded or not is_dyadic([*numbers_of(layer), *(x for z in after for x in z)])
        for z in after:
            scores = sorted({reference.dot(reference.apply(A, z), y) for y in after})
            if any(y - x < F(1, 10**6) for x, y in pairwise(scores)):
                return False
            if rounded and len(scores) < len({tuple(y) for y in after}):
                return False
    return True


@given(with_batches(rank_one_models))
def test_small_models_are_exact(drawn):
    """Halves of small integers, and means of 1, 2 or 4 tokens: no rounding, equality."""
    model, batch = drawn
    batch = [Z[: 1 << (len(Z).bit_length() - 1)] for Z in batch]
    exact = [reference.output(model.blocks, Z) for Z in batch]
    found = model(batch)
    assert found.shape == (len(batch), model.dimension)
    states = [x for Z in batch for s in reference.trace(model.blocks, Z) for z in s for x in z]
    layers = [x for block in model.blocks for x in numbers_of(reference.layers(block))]
    if is_dyadic([*states, *layers]):
        assert [tuple(map(F, row)) for row in found.tolist()] == exact


@given(with_batches(rank_one_models) | with_batches(general_models))
def test_models_agree_to_rounding(drawn):
    model, batch = drawn
    batch = [Z for Z in batch if stable(model, Z)]
    exact = [reference.output(model.blocks, Z) for Z in batch]
    found = model(batch)
    for row, output in zip(found.tolist(), exact, strict=True):
        size = max(1.0, *(abs(float(x)) for x in output))
        assert row == pytest.approx([float(x) for x in output], rel=1e-9, abs=1e-9 * size)


@given(with_batches(rank_one_models), st.randoms(use_true_random=False))
def test_outputs_do_not_depend_on_the_batch(drawn, rng):
    """One sequence at a time, in any order, or all together."""
    model, batch = drawn
    batch = [Z for Z in batch if stable(model, Z)]
    together = model(batch)
    order = list(range(len(batch)))
    rng.shuffle(order)
    shuffled = model([batch[j] for j in order])
    for place, j in enumerate(order):
        assert np.allclose(shuffled[place], together[j], rtol=1e-9)
        assert np.allclose(model([batch[j]])[0], together[j], rtol=1e-9)


def example(name):
    data = hm.load(EXAMPLES / name)
    return hm.build(data), data


@pytest.mark.parametrize("name", ["figure2.json", "text.json", "zen.json", "vowels.json.gz"])
def test_examples_agree_to_rounding(name):
    model, data = example(name)
    exact = np.array([[float(x) for x in row] for row in model.outputs(data.sequences)])
    found = model(data.arrays())
    # relative to the largest number on the way: parameters of a move are that long
    scale = max(1.0, np.abs(model.parameters.w.values).max(), np.abs(exact).max())
    assert np.abs(found - exact).max() <= 1e-9 * scale
    for row, label in zip(found.tolist(), data.labels, strict=True):
        assert hm.predict(tuple(map(F, row)), data.sets) == label


@pytest.mark.parametrize("name", ["figure2.json", "text.json"])
def test_traces_agree_to_rounding(name):
    model, data = example(name)
    history = []
    model_outputs = outputs(model, data.arrays(), lambda states: history.append(states))
    assert len(history) == len(model) + 1
    for j, Z in enumerate(data.sequences):
        exact = model.trace(Z)
        for states, state in zip(history, exact, strict=True):
            assert states[j].shape == (len(Z), data.dimension)
            assert np.allclose(states[j], [[float(x) for x in z] for z in state], atol=1e-9)
        assert np.allclose(history[-1][j].mean(axis=0), model_outputs[j], atol=1e-9)


@given(with_batches(general_models))
def test_general_models_report_their_states(drawn):
    model, batch = drawn
    history = []
    outputs(model, batch, lambda states: history.append([np.array(Z) for Z in states]))
    assert len(history) == len(model) + 1
    assert [Z.shape for Z in history[0]] == [(len(Z), model.dimension) for Z in batch]
    assert np.allclose(history[0][0], np.array(batch[0], dtype=float))


def test_the_callers_arrays_do_not_change():
    model = Transformer([RankOneBlock.translation((1, 1), rho=0, alpha=1)])
    Z = np.ones((3, 2))
    model([Z, Z])
    assert (Z == 1).all()


def calls(function):
    """Number of Python and C calls while ``function`` runs."""
    count = 0

    def watch(frame, event, argument):
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(watch)
    try:
        function()
    finally:
        sys.setprofile(None)
    return count


def test_no_loop_over_tokens_or_sequences():
    """The number of calls does not grow with the tokens, and with sequences only by checking."""
    data = adversarial("collinear", 8)
    model = hm.build(data)
    rng = np.random.default_rng(0)
    short, long = ([rng.normal(size=(n, 3)) for _ in range(4)] for n in (4, 4000))
    model(short)  # imports and caches
    assert calls(lambda: model(long)) == calls(lambda: model(short))
    many = [rng.normal(size=(4, 3)) for _ in range(400)]
    grown = calls(lambda: model(many)) - calls(lambda: model(short))
    assert grown < 400 * 12
    deep = Transformer([*model.blocks] * 5)
    assert calls(lambda: deep(many)) - calls(lambda: deep(short)) < grown + 400


def test_numbers_past_float64_become_infinite_without_a_warning():
    model = Transformer([RankOneBlock.of(1, u=(1,), w=(2,))] * 1100)
    assert not np.isfinite(model([[(1.0,)]])).all()


def test_nothing_in_nothing_out():
    assert Transformer([RankOneBlock.of(3)])([]).shape == (0, 3)


@pytest.mark.parametrize("sequence", [[], [(1,)], [(1, 2, 3)], 5, "ab", [(1, "x")], [[(1, 2)]]])
def test_unusable_sequences(sequence):
    model = Transformer([RankOneBlock.of(2)])
    with pytest.raises(InputError, match="sequence 2"):
        model([[(1, 2)], sequence])
