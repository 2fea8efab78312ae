"""Tokens while they are pulled: floats and exact numbers against plain runs of the blocks."""

from fractions import Fraction
from random import Random

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hardmax as hm
from hardmax.construct.paper.leaders import shift_above
from hardmax.construct.paper.pulls import Pull
from hardmax.construct.paper.state import TokenState
from hardmax.construct.shared.filtered_cloud import FilteredCloud
from hardmax.construct.shared.sharing import Sharing, token_numbers
from hardmax.dataset import merge
from hardmax.model.blocks import apply
from hardmax.model.layers import RankOneBlock
from hardmax.model.tokens import Tokens
from hardmax.testing import FAMILIES, adversarial, datasets

F = Fraction


def numbers(keys):
    known = {}
    return [known.setdefault(key, len(known)) for key in keys]


def classes(values):
    """Which places hold equal values, whatever these are called."""
    return numbers(np.asarray(values).tolist())


def check_state(state, batch, rng):
    """The state describes the batch, for some directions and in every respect."""
    assert state.token.tolist() == numbers(batch.token_keys())
    assert state.starts.tolist() == batch.starts
    everything = np.arange(batch.starts[-1])
    exact = [batch.token(i) for i in everything.tolist()]
    assert state.exact.tokens(everything).vectors() == exact
    assert state.exact.means(np.arange(len(batch))).vectors() == batch.means()
    assert state.exact.batch().token_keys() == batch.token_keys()
    scale = state.points.scale
    for z, x, error in zip(exact, state.points.values, state.points.radius, strict=True):
        for t, s in zip(z, x.tolist(), strict=True):
            assert abs(t / scale - F(s)) <= F(float(error)) + abs(F(s)) / 2**53 + F(1, 2**300)
    assert classes(state.mean_numbers()) == numbers(batch.mean_keys())
    for size in (1, 3, 2**60):
        v = tuple(F(rng.randint(-size, size)) for _ in range(batch.dimension))
        v = v if any(v) else (F(1), *v[1:])
        expected = batch.leaders(v)
        found = state.leaders(v)
        assert (found is None) == (None in expected)
        assert found is None or found.tolist() == expected
        values = batch.projections(v)
        assert state.least(v) == min(values)
        low, high = state.values(v)
        assert all(
            a == -np.inf or F(float(a)) * scale <= t <= F(float(b)) * scale
            for a, b, t in zip(low, high, values, strict=True)
        )
    assert all(state.holds(z) for z in exact[:4])
    assert state.holds((F(1, 7),) * batch.dimension) == ((F(1, 7),) * batch.dimension in exact)


def pulled(state, batch, rng):
    """Pull to leaders or to means, by an α that merges nothing; both representations."""
    v = tuple(F(rng.randint(-9, 9)) for _ in range(batch.dimension))
    leaders = state.leaders(v) if any(v) else None
    if leaders is None:
        v = shift = (F(0),) * batch.dimension
        aims = state.mean_numbers()
    else:
        shift, aims = shift_above(state.least(v), v), state.token[leaders]
    alpha = F(1, 2)
    while True:
        trial = batch.copy()
        apply(trial, RankOneBlock.translation(shift, rho=1 - alpha, alpha=alpha, v=v))
        after = state.pulled(Pull(shift, alpha, leaders), aims)
        images = {(t, aims[j]) for t, j in zip(state.token.tolist(), state.owner.tolist())}
        assert (after is None) == (len(set(trial.token_keys())) < len(images))
        if after is not None:
            return after, trial
        alpha /= 2


def both(data, deep=8):
    chosen = np.array(merge(data).representatives)
    return (
        TokenState.of_array(data.tokens, data.offsets, chosen, deep),
        Tokens.of_sequences(data.tokens, data.offsets, chosen),
    )


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("deep", [2, 8])
def test_families(family, deep):
    rng = Random(deep)
    state, batch = both(adversarial(family, 9), deep)
    check_state(state, batch, rng)
    check_state(TokenState.of_tokens(batch, deep), batch, rng)
    for _ in range(4):
        state, batch = pulled(state, batch, rng)
        check_state(state, batch, rng)


def fed_forward(state, batch, rng):
    """Feed forward by a layer that merges nothing and is active on some tokens; both."""
    d = batch.dimension
    u = tuple(F(rng.randint(-9, 9)) for _ in range(d))
    values = sorted(batch.projections(u))
    b = -values[rng.randrange(len(values))]  # a token on the hinge
    w = tuple(F(rng.randint(-9, 9), 8) for _ in range(d))
    while True:
        trial = batch.copy()
        trial.feed_forward(u, b, w)
        after = state.fed_forward(u, b, w)
        assert (after is None) == (len(set(trial.token_keys())) < len(set(batch.token_keys())))
        if after is not None:
            return after, trial
        w = tuple(x / 2 for x in w)


@pytest.mark.parametrize("family", FAMILIES)
def test_layers_and_pulls(family):
    rng = Random(1)
    state, batch = both(adversarial(family, 7, 1))
    for step in (pulled, fed_forward, fed_forward, pulled, fed_forward):
        state, batch = step(state, batch, rng)
        check_state(state, batch, rng)
    check_state(state.worked_out(), batch, rng)


def test_a_layer_that_merges():
    batch = Tokens.from_sequences([[(F(0),)], [(F(1),)]])
    state = TokenState.of_tokens(batch)
    assert state.fed_forward((F(1),), F(0), (F(-1),)) is None
    assert state.fed_forward((F(1),), F(0), (F(-1, 2),)) is not None


@given(datasets(max_dimension=3, max_sequences=4, max_labels=1), st.integers(0, 99))
@settings(max_examples=50)
def test_random_data(data, seed):
    rng = Random(seed)
    state, batch = both(data)
    shift = tuple(F(rng.randint(-3, 3), 3) for _ in range(data.dimension))
    state = state.shifted(shift)
    apply(batch, RankOneBlock.translation(shift))
    check_state(state, batch, rng)
    for _ in range(2):
        state, batch = pulled(state, batch, rng)
        check_state(state, batch, rng)


def test_long_series_of_pulls():
    rng = Random(0)
    state, batch = both(adversarial("text-like", 5))
    for _ in range(300):  # more than Python lets functions call each other
        state, batch = pulled(state, batch, rng)
    check_state(state, batch, rng)


@pytest.mark.parametrize("size", [F(2) ** -1060, F(2) ** -900, F(2) ** 900, F(1)])
def test_any_size_and_close_leaders(size):
    """Two tokens 2^-200 apart, and two that tie along the first axis."""
    near = [(size, F(0)), (size * (1 + F(1, 2**200)), F(0)), (F(0), size)]
    tied = [(size, F(0)), (size, size)]
    data = hm.Dataset([near, tied, near[:1]], "abc") if size < 2**900 else None
    batch = Tokens.from_sequences([near, tied, near[:1]])
    for state in [TokenState.of_tokens(batch)] + ([both(data)[0]] if data else []):
        assert state.leaders((F(1), F(0))) is None
        assert state.leaders((F(1), F(1))).tolist() == [1, 4, 5]
        check_state(state, batch, Random(1))
        check_state(*pulled(state, batch, Random(1)), Random(1))


def test_a_pull_that_merges_by_chance():
    """Pulled half-way to 10 and to −10, the tokens 0 and 20 of two sequences meet at 5."""
    batch = Tokens.from_sequences([[(F(0),), (F(10),)], [(F(20),), (F(-10),)]])
    state = TokenState.of_tokens(batch)
    zero = (F(0),)
    half = Pull(zero, F(1, 2), np.array([1, 3]))
    assert state.pulled(half, np.array([0, 1])) is None
    assert state.pulled(Pull(zero, F(1, 4), np.array([1, 3])), np.array([0, 1])) is not None


def test_tokens_that_share_a_hash():
    data = adversarial("zero-one-lattice", 9)
    batch = Tokens.from_array(data.tokens, data.offsets)
    rows = np.arange(len(data.tokens))
    again = token_numbers(data.tokens, rows, lambda X: np.zeros(len(X), np.uint64))
    found = token_numbers(data.tokens, rows)
    assert again.tolist() == found.tolist() == numbers(batch.token_keys())


@given(
    st.lists(st.lists(st.integers(0, 9), min_size=1, max_size=4), min_size=1, max_size=9),
    st.integers(0, 99),
)
def test_sharing_is_the_graph_of_the_lemma(sequences, seed):
    owner = np.array([j for j, tokens in enumerate(sequences) for _ in tokens])
    token = np.array(numbers(t for tokens in sequences for t in tokens))
    sharing = Sharing(owner, token)
    rng = Random(seed)
    focus = np.array([rng.randint(0, 2) for _ in sequences])

    def components(key):
        graph = nx.Graph()
        graph.add_nodes_from(range(len(sequences)))
        graph.add_edges_from((j, key(t, j)) for j, tokens in enumerate(sequences) for t in tokens)
        return nx.number_connected_components(graph)

    assert sharing.components() == components(lambda t, j: ("token", t))
    assert sharing.components(focus) == components(lambda t, j: (t, int(focus[j])))
    shared = {
        (i, j)
        for j in range(len(sequences))
        for i in range(j)
        if set(sequences[i]) & set(sequences[j])
    }
    assert sharing.any == bool(shared)
    if shared:
        drawn = sharing.pairs(rng)
        assert {next(drawn) for _ in range(20)} <= shared


@given(st.lists(st.integers(0, 3), min_size=1, max_size=12), st.integers(1, 3))
def test_equal_points_of_a_cloud(values, copies):
    """Also where every point has an equal one, so that floats leave all of them in doubt."""
    points = [(F(t, 3), F(t * t)) for t in values] * copies
    assert FilteredCloud.of_vectors(points).first_equal().tolist() == [
        points.index(x) for x in points
    ]
