"""What pictures show is the exact run: tokens and leaders at every moment."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

import hardmax as hm
from hardmax import Matrix
from hardmax.draw.film import record
from hardmax.draw.moments import moments
from hardmax.draw.sample import sample
from hardmax.testing import rank_one_models, sequences


@st.composite
def runs(draw):
    d = draw(st.integers(1, 3))
    return draw(rank_one_models(d)), draw(st.lists(sequences(d), min_size=1, max_size=3))


@given(runs())
def test_after_each_block_the_tokens_are_those_of_the_trace(run):
    model, batch = run
    traces = [model.trace(Z) for Z in batch]
    seen = []
    for moment in moments(model, batch, layers=False):
        seen.append(moment.number)
        for j, trace in enumerate(traces):
            assert moment.tokens(j) == trace[moment.number]
    assert seen == list(range(len(model) + 1))


@given(runs())
def test_between_the_layers_tokens_and_leaders_are_those_of_the_general_layers(run):
    model, batch = run
    last = {}
    for moment in moments(model, batch):
        if moment.block is None:
            last = {j: Matrix(moment.tokens(j), model.dimension) for j in range(len(batch))}
            continue
        general = moment.block.general()
        for j in range(len(batch)):
            if moment.layer == "feed-forward":
                last[j] = general.feed_forward(last[j])
            else:
                if not any(moment.block.w):
                    last[j] = general.feed_forward(last[j])
                check_leaders(moment, j, general.attention, last[j])
                last[j] = general.attention(last[j])
            assert moment.tokens(j) == last[j].rows()


def check_leaders(moment, j, attention, tokens):
    """The leaders shown are the union of C_i(Z, A) over all tokens, by value."""
    if not moment.leaders:
        assert not (any(moment.block.v) and moment.block.alpha)
        return
    rows = tokens.rows()
    expected = {rows[i] for chosen in attention.leaders(tokens) for i in chosen}
    assert {rows[i] for i in moment.leaders[j]} == expected


@given(runs())
def test_a_film_shows_the_floats_nearest_to_the_exact_tokens(run):
    model, batch = run
    data = hm.Dataset(batch, ["a"] * len(batch))
    film = record(model, data)
    shown = list(moments(model, batch))
    assert len(film.frames) == len(shown) == film.moments
    for k, moment in enumerate(moments(model, batch)):
        expected = [[float(x) for x in z] for j in range(len(batch)) for z in moment.tokens(j)]
        assert film.positions(film.frames[k]).tolist() == expected
        assert film.frames[k].number == moment.number


def test_a_film_of_large_data_is_a_sample_of_every_label_that_keeps_the_ends():
    batch = [[(j, i) for i in range(40)] for j in range(200)]
    data = hm.Dataset(batch, [f"label {j % 7}" for j in range(200)])
    chosen = sample(data)
    assert chosen.tokens <= 900
    assert len(chosen.sequences) < 200
    assert {data.labels[j] for j in chosen.sequences} == set(data.labels)
    model = hm.build(data)
    film = record(model, data)
    numbers = [frame.number for frame in film.frames]
    assert numbers[0] == 0
    assert numbers[-1] == len(model)
    assert {frame.stage for frame in film.frames} == {"input", *model.stages}
    for j, positions in zip(chosen.sequences, chosen.positions, strict=True):
        assert positions == tuple(range(40))
        assert 0 <= j < 200


def test_a_sequence_longer_than_the_picture_is_thinned_out_evenly():
    data = hm.Dataset([[(i,) for i in range(5000)]], ["a"])
    (positions,) = sample(data).positions
    assert positions[0] == 0
    assert positions[-1] == 4999
    assert len(positions) < 200
