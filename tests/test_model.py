"""Exact models: the rank-1 path, the general layers and the definition agree entry by entry."""

from __future__ import annotations

from fractions import Fraction

import pytest
import reference
from hypothesis import given, settings
from hypothesis import strategies as st

import hardmax as hm
from hardmax import Block, FeedForward, Matrix, RankOneBlock, SelfAttention, Transformer
from hardmax.errors import InputError
from hardmax.model.tokens import Tokens
from hardmax.testing import general_models, rank_one_models, sequences

F = Fraction


@st.composite
def with_sequences(draw, models, most=3):
    d = draw(st.integers(1, 3))
    return draw(models(d)), draw(st.lists(sequences(d), min_size=1, max_size=most))


def check_rank_one(model, batch):
    """Fast path == general layers == definition, for the outputs and every state between."""
    general = Transformer([block.general() for block in model.blocks])
    assert model.parameters is not None
    assert general.parameters is None
    expected = [reference.output(model.blocks, Z) for Z in batch]
    assert model.outputs(batch) == expected
    assert general.outputs(batch) == expected
    for Z, output in zip(batch, expected, strict=True):
        states = reference.tuples(reference.trace(model.blocks, Z))
        assert model.trace(Z) == states
        assert general.trace(Z) == states
        assert model.output(Z) == output


@given(with_sequences(rank_one_models))
@settings(max_examples=100)
def test_rank_one_models(drawn):
    check_rank_one(*drawn)


@pytest.mark.slow
@given(with_sequences(rank_one_models, most=6))
@settings(max_examples=3000)
def test_rank_one_models_more(drawn):
    check_rank_one(*drawn)


@given(with_sequences(general_models))
def test_general_models(drawn):
    model, batch = drawn
    assert model.parameters is None
    assert model.outputs(batch) == [reference.output(model.blocks, Z) for Z in batch]
    assert model.trace(batch[0]) == reference.tuples(reference.trace(model.blocks, batch[0]))


@given(with_sequences(rank_one_models), with_sequences(general_models))
def test_mixed_models(first, second):
    """A rank-1 block among general ones runs by the general layers."""
    if first[0].dimension != second[0].dimension:
        return
    model = Transformer([*first[0].blocks, *second[0].blocks])
    for Z in first[1]:
        assert model.output(Z) == reference.output(model.blocks, Z)


@given(with_sequences(rank_one_models), st.randoms(use_true_random=False), st.integers(2, 3))
def test_only_the_measure_matters(drawn, rng, copies):
    """Theory A1: order and common multiplicity of the tokens change nothing."""
    model, batch = drawn
    for Z in batch:
        shuffled = list(Z) * copies
        rng.shuffle(shuffled)
        assert model.output(shuffled) == model.output(Z)


def test_ties_are_averaged_over_positions():
    """(2.4b): two tokens tie; the one that stands twice counts twice (Remark 2.6)."""
    block = RankOneBlock.of(2, rho=0, alpha=1, v=(1, 0))
    Z = [(3, 0), (3, 0), (3, 6), (1, 5)]
    assert Transformer([block]).trace(Z)[1] == ((3, 2),) * 4


def test_negative_scores_follow_the_smallest_and_zero_scores_all():
    block = RankOneBlock.of(1, rho=0, alpha=1, v=(2,))
    Z = [(-1,), (0,), (1,), (4,), (-3,)]
    assert Transformer([block]).trace(Z)[1] == ((-3,), (F(1, 5),), (4,), (4,), (-3,))


def test_an_identity_and_a_translation():
    assert Transformer([RankOneBlock.of(2)]).trace([(1, 2)])[1] == ((1, 2),)
    assert Transformer([RankOneBlock.translation((1, -1))]).trace([(1, 2)])[1] == ((2, 1),)


def test_relu_is_zero_at_zero_and_below():
    block = RankOneBlock.of(1, u=(1,), b=-1, w=(5,))
    assert Transformer([block]).trace([(1,), (0,), (2,)])[1] == ((1,), (0,), (7,))


def test_numbers_of_any_kind():
    model = Transformer([RankOneBlock.translation(("1/3",))])
    assert model.output([(0.5,), ("1/2",), (F(1, 2),)]) == (F(5, 6),)


def test_models_without_blocks_are_the_readout():
    model = Transformer([], dimension=2)
    assert model.output([(1, 2), (3, 4)]) == (2, 3)
    assert len(model) == 0
    with pytest.raises(InputError, match="needs its dimension"):
        Transformer([])


def test_no_sequences_no_outputs():
    assert Transformer([RankOneBlock.of(1)]).outputs([]) == []


@pytest.mark.parametrize(
    ("sequence", "message"),
    [([], "no tokens"), ([(1, 2, 3)], "has 3 coordinates, the model has dimension 2"),
     ([(1, 2), (1,)], "token 2"), ([(1, "x")], "not a number")],
)  # fmt: skip
def test_unusable_sequences(sequence, message):
    model = Transformer([RankOneBlock.of(2)])
    with pytest.raises(InputError, match=message):
        model.output(sequence)


def test_shapes_of_layers_must_fit():
    wide, tall = Matrix([[1, 2]]), Matrix([[1], [2]])
    with pytest.raises(InputError, match="feed-forward shapes"):
        FeedForward(U=wide, b=(0,), W=wide)
    with pytest.raises(InputError, match="feed-forward shapes"):
        FeedForward(U=wide, b=(0, 0), W=tall)
    with pytest.raises(InputError, match="attention shapes"):
        SelfAttention(rho=1, V=wide, A=wide)
    with pytest.raises(InputError, match="block 2 has dimension 1"):
        Transformer([RankOneBlock.of(2), RankOneBlock.of(1)])
    with pytest.raises(InputError, match="2 stage names for 1 blocks"):
        Transformer([RankOneBlock.of(2)], stages=["a", "b"])


def test_structure_of_a_general_block():
    block = RankOneBlock.of(2, u=(1, 2), b=3, w=(4, 5), rho=6, alpha=7, v=(8, 9)).general()
    assert isinstance(block, Block)
    assert block.feed_forward.hidden_width == 1
    assert block.attention.A.rows() == ((64, 72), (72, 81))
    assert block.attention.V.rows() == ((7, 0), (0, 7))
    assert block.attention.A.rank() == 1


def test_stage_counts_keep_their_order():
    blocks = [RankOneBlock.of(1)] * 4
    model = Transformer(blocks, stages=["b", "a", "b", "c"])
    assert list(model.stage_counts().items()) == [("b", 2), ("a", 1), ("c", 1)]


def test_readout_is_the_mean():
    assert hm.readout(Matrix([[1, 0], [2, 0], [4, 1]])) == (F(7, 3), F(1, 3))


@given(with_sequences(rank_one_models))
def test_progress_counts_blocks(drawn):
    model, batch = drawn
    seen = []
    model.run(Tokens.from_sequences(batch), seen.append)
    assert seen == list(range(1, len(model) + 1))
    seen.clear()
    model.outputs(batch, seen.append)
    assert seen[-1] == len(model)
    assert 0 <= min(seen) <= max(seen) <= len(model)
