"""Discrete data, where means tie and thresholds hold with equality: exact outputs without a run
through all blocks."""

from __future__ import annotations

from fractions import Fraction
from unittest.mock import patch

import pytest
import reference
from hypothesis import given, settings
from hypothesis import strategies as st

import hardmax as hm
from hardmax import RankOneBlock, Transformer
from hardmax.certify.verify import misclassified
from hardmax.engine import evaluate
from hardmax.testing import DISCRETE, adversarial, rationals, sequences

F = Fraction
# one sequence that float64 can't hold as integers, so that no other one of the data is, either
WIDE = F(2**60) + F(1, 2**10)


def no_run(*_):
    raise AssertionError("a batch ran through all blocks")


@st.composite
def parting_models(draw, d):
    """Layers that are active on some tokens of a sequence, then a collapse, then more layers."""
    vector = st.tuples(*[rationals()] * d)

    def layer():
        return RankOneBlock.of(d, u=draw(vector), b=draw(rationals()), w=draw(vector))

    before = [layer() for _ in range(draw(st.integers(1, 3)))]
    pull = RankOneBlock.of(d, rho=F(1, 2), alpha=F(1, 3), v=draw(st.just([F(0)] * d) | vector))
    before += [pull] * draw(st.integers(0, 1))
    collapse = RankOneBlock.of(d, u=draw(vector), b=draw(rationals()), w=draw(vector), alpha=2)
    behind = [layer() for _ in range(draw(st.integers(0, 3)))]
    return Transformer([*before, collapse, *behind], dimension=d)


@pytest.mark.parametrize("wide", [False, True])
@settings(deadline=None, max_examples=60)
@given(st.data())
def test_tokens_that_part_before_the_collapse(wide, data):
    d = data.draw(st.integers(1, 3))
    model = data.draw(parting_models(d))
    batch = data.draw(st.lists(sequences(d), min_size=1, max_size=5))
    batch += [[(WIDE,) * d]] * wide
    found = evaluate(model, *_packed(batch))
    assert [found[j] for j in range(len(batch))] == [
        reference.output(model.blocks, Z) for Z in batch
    ]


def _packed(batch):
    data = hm.Dataset(batch)
    return data.tokens, data.offsets


@pytest.mark.parametrize("wide", [False, True])
def test_equal_scores_before_the_collapse(wide):
    """Two leaders with one score, hinges at zero, tokens on either side: decided at that layer."""
    model = Transformer(
        [
            RankOneBlock.of(2, u=[1, 0], b=-1, w=[0, 3]),  # zero on (1, ·), active on (2, ·)
            RankOneBlock.of(2, rho=0, alpha=F(1, 3), v=[1, 0]),
            RankOneBlock.of(2, u=[0, 1], b=-1, w=[1, 0]),
        ]
    )
    batch = [[(2, 0), (2, 6), (1, 7)], [(1, 0), (1, 5)], [(2, -3)], [(-1, 1), (-1, 4), (-2, 0)]]
    batch += [[(WIDE, WIDE)]] * wide
    expected = [reference.output(model.blocks, [tuple(map(F, z)) for z in Z]) for Z in batch]
    with patch.object(Transformer, "run", no_run):
        found = evaluate(model, *_packed(batch))
    assert [found[j] for j in range(len(batch))] == expected


@pytest.mark.parametrize("strategy", ["cover", "paper", "peel"])
@pytest.mark.parametrize("family", DISCRETE)
def test_no_replay_of_the_whole_model(family, strategy):
    data = adversarial(family, 60)
    model = hm.build(data, strategy=strategy)
    with patch.object(Transformer, "run", no_run):
        assert misclassified(model, data) == []
    outputs = evaluate(model, data.tokens, data.offsets)
    for j in range(0, len(data), 20):
        assert outputs[j] == reference.output(model.blocks, data[j])


@pytest.mark.parametrize("family", DISCRETE)
def test_a_wrong_layer_is_found(family):
    """A layer more, active on half of the points, and plain Fractions agree on who is wrong."""
    data = adversarial(family, 25)
    model = hm.build(data, strategy="cover")
    unit = [F(int(i == 0)) for i in range(data.dimension)]
    worse = Transformer([RankOneBlock.of(data.dimension, u=unit, b=-1, w=unit), *model.blocks])
    expected = [
        j
        for j, label in enumerate(data.labels)
        if not data.sets[label].contains(reference.output(worse.blocks, data[j]))
    ]
    assert [j for j, _ in misclassified(worse, data)] == expected
