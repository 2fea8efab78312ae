"""The engine: the plan equals the blocks, exactly, on models of any kind (theory C1 to C5)."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import reference
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import hardmax as hm
from hardmax import RankOneBlock, Transformer
from hardmax.certify.verify import misclassified
from hardmax.engine import (
    Plan,
    collapse,
    evaluate,
    float_outputs,
    fuse,
    outputs,
    settle,
    sums,
    sweep,
)
from hardmax.engine.points import ACTIVE, RESTS, Points
from hardmax.exact_array import ExactArray
from hardmax.testing import FAMILIES, adversarial, rank_one_models, rationals, sequences

F = Fraction
FORCED = {  # every path of the engine, on data of any size
    "as it is": {},
    "rounds": {"sweep._SHORT": 0, "fuse._STRAIGHT": 10**6},
    "rounds, then columns": {"sweep._SHORT": 0, "fuse._STRAIGHT": 10**6, "sweep._ROUNDS": 1},
    "small panels": {"fuse._ITEMS": 2, "fuse._TENTS": 1, "fuse._STRAIGHT": 1},
    "step by step": {"settle._NEW": 0, "settle._STEPS": 2},
    "small chunks": {"outputs._CHUNK": 1},
}
MODULES = {"outputs": outputs, "fuse": fuse, "settle": settle, "sweep": sweep}


@pytest.fixture(params=FORCED)
def forced(request, monkeypatch):
    for name, value in FORCED[request.param].items():
        module, _, attribute = name.partition(".")
        monkeypatch.setattr(MODULES[module], attribute, value)


SETTINGS = settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@st.composite
def tents(draw, d):
    """Three blocks that raise a coordinate over a slab, sometimes not quite."""
    axis = draw(st.integers(0, d - 1))
    u = [F(0) if i == axis else draw(rationals()) for i in range(d)]
    b, half = draw(rationals()), draw(st.sampled_from([F(1), F(2), F(1, 3), F(-1)]))
    rise = draw(st.sampled_from([F(1), F(-3), F(1, 3)]))
    off = draw(st.sampled_from([F(0), F(0), F(0), F(1, 2**60)]))
    w = [F(int(i == axis)) * rise for i in range(d)]
    return [
        RankOneBlock.of(d, u=u, b=b + side * half + off * (side > 0), w=[weight * x for x in w])
        for side, weight in ((1, 1), (0, -2), (-1, 1))
    ]


@st.composite
def layers(draw, d):
    """A layer of some kind: clamps, kills, tents, translations, any."""
    kind = draw(st.sampled_from(["any", "straight", "clamp", "tent", "translation", "scaling"]))
    if kind == "tent" and d > 1:
        return draw(tents(d))
    vector = st.tuples(*[rationals()] * d)
    axis, sign = draw(st.integers(0, d - 1)), draw(st.sampled_from([1, -1]))
    unit = [F(sign * (i == axis)) for i in range(d)]
    if kind == "straight":
        return [RankOneBlock.of(d, u=unit, b=draw(rationals()), w=draw(vector))]
    if kind == "clamp":
        return [RankOneBlock.of(d, u=unit, b=draw(rationals()), w=[-x for x in unit])]
    if kind == "translation":
        return [RankOneBlock.translation(draw(vector))]
    if kind == "scaling":
        return [RankOneBlock.of(d, rho=draw(rationals()), alpha=draw(rationals()))]
    return [RankOneBlock.of(d, u=draw(vector), b=draw(rationals()), w=draw(vector))]


@st.composite
def collapsing(draw):
    """Layers, a collapse to the mean or the leaders, and many layers behind it; with data."""
    d = draw(st.integers(1, 3))
    v = draw(st.just((F(0),) * d) | st.tuples(*[rationals()] * d))
    before = [block for part in draw(st.lists(layers(d), max_size=2)) for block in part]
    if draw(st.booleans()):
        before = [block for block in before if block.rho == 1 and block.alpha == 0]
    shift = draw(st.tuples(*[rationals(40)] * d))
    alpha = draw(st.sampled_from([F(1), F(-1), F(1, 3), F(5)]))
    blocks = [*before, RankOneBlock.translation(shift, rho=0, alpha=alpha, v=v)]
    blocks += [block for part in draw(st.lists(layers(d), max_size=12)) for block in part]
    return Transformer(blocks, dimension=d), draw(st.lists(sequences(d, 4), min_size=1, max_size=6))


@SETTINGS
@given(collapsing())
def test_the_plan_equals_the_blocks(forced, pair):
    model, batch = pair
    check(model, batch)


def check(model, batch):
    """Exact outputs of the engine and of the definition are the same."""
    data = hm.Dataset(batch)
    found = evaluate(model, data.tokens, data.offsets)
    expected = [reference.output(model.blocks, Z) for Z in batch]
    assert [found[j] for j in range(len(batch))] == expected
    again = evaluate(model, data.tokens, data.offsets)  # from what the plan remembers
    assert [again[j] for j in range(len(batch))] == expected


@SETTINGS
@given(st.data())
def test_any_model(forced, data):
    d = data.draw(st.integers(1, 3))
    batch = data.draw(st.lists(sequences(d), min_size=1, max_size=4))
    check(data.draw(rank_one_models(d, 6)), batch)


@SETTINGS
@given(collapsing(), st.integers(-210, 210))
def test_any_scale(pair, exponent):
    """Tokens 2^±200 times as large: undecided by floats or past them, never wrong."""
    model, batch = pair
    check(model, [[tuple(F(2) ** exponent * x for x in z) for z in Z] for Z in batch])


@SETTINGS
@given(collapsing(), st.data())
def test_nearly_equal_tokens(pair, data):
    """Tokens 2^-200 apart: floats can't tell them apart, the outputs do."""
    model, batch = pair
    moved = [
        [tuple(x + data.draw(st.integers(-1, 1)) * F(1, 2**200) for x in z) for z in Z]
        for Z in batch
    ]
    check(model, moved)


@pytest.mark.parametrize("strategy", ["paper", "peel", "cover"])
@pytest.mark.parametrize("family", FAMILIES)
def test_families(family, strategy, forced):
    data = adversarial(family, 9)
    try:
        model = hm.build(data, strategy=strategy)
    except hm.ContradictionError:
        return
    assert misclassified(model, data) == []
    found = evaluate(model, data.tokens, data.offsets)
    assert [found[j] for j in range(len(data))] == model.outputs(data.sequences)


@pytest.mark.parametrize("strategy", ["paper", "peel", "cover"])
def test_a_wrong_sequence_is_found(strategy):
    """Of many right ones, and with its exact output."""
    rng = np.random.default_rng(0)
    tokens = rng.normal(size=(5000, 3))
    labels = ["a", "b"] * 50
    data = hm.Dataset.from_arrays(ExactArray.from_numpy(tokens[:200]), np.arange(101) * 2, labels)
    model = hm.build(data, strategy=strategy)
    labels[37] = "a"
    other = hm.Dataset.from_arrays(data.tokens, data.offsets, labels, data.sets)
    found = misclassified(model, other)
    assert [j for j, _ in found] == [37]
    assert found[0][1] == model.output(data.sequence(37))


def test_floats_alone_prove_nothing():
    """A target missed by 2^-300 is missed; the same model with the right number is proved."""
    near = F(1) + F(1, 2**300)
    for value, wrong in ((near, 1), (F(1), 0)):
        blocks = [
            RankOneBlock.of(1, rho=0, alpha=1),
            RankOneBlock.of(1, u=[1], b=4, w=[-1]),  # to −4
            RankOneBlock.translation([4 + value]),
        ]
        model = Transformer(blocks)
        data = hm.Dataset([[(F(1, 3),)]], ["a"], {"a": hm.labels.Point((F(1),))})
        assert len(misclassified(model, data)) == wrong


@given(st.data())
def test_enclosures_hold(data):
    """values ± radius hold the exact points, through layers that are active, at rest, unclear."""
    model, batch = data.draw(collapsing())
    given_data = hm.Dataset(batch)
    compiled = Plan.of(model)
    if compiled.collapse is None:
        return
    found = collapse.collapse(compiled, given_data.tokens, given_data.offsets)
    outputs._sweeps(compiled, found, sweep.Buffers())
    for j, Z in enumerate(batch):
        if found.lost is not None and found.lost[j]:
            continue
        exact = reference.output(model.blocks, Z)
        for value, radius, x in zip(
            found.points.values[j], found.points.radius[j], exact, strict=True
        ):
            assert abs(F(float(value)) - x) <= F(float(radius))


@pytest.mark.parametrize(
    ("u", "x", "b"),
    [
        ([1.0, 1.0, 1.0], [1e16, 1.0, -1e16], -1.0),  # a sum that cancels to zero
        ([1.0, 1.0, 1.0], [1e16, 1.0, -1e16], -0.5),
        ([3.0, -3.0], [1 / 3, 1 / 3 + 2**-54], 0.0),
        ([5.0, -11.0, 5.0], [2.0**-1074 / 8 * 8, 2.0**-1074, 2.0**-1074], 0.0),
        ([0.625, -1.375, 0.625], [2.0**-1074, 2.0**-1074, 2.0**-1074], 0.0),  # all underflow
    ],
)
def test_signs_that_floats_miss(u, x, b):
    """Whatever the state says for certain is true (theory C1)."""
    d = len(u)
    model = Transformer(
        [RankOneBlock.of(d, rho=0, alpha=1), RankOneBlock.of(d, u=u, b=b, w=[1.0] * d)]
    )
    compiled = Plan.of(model)
    exact = sum((F(a) * F(c) for a, c in zip(u, x, strict=True)), F(b))
    points = Points(np.array([x]), np.zeros((1, d)))
    state = points.layer(compiled, np.array([1]), points.reach())[0]
    assert state != ACTIVE or exact > 0
    assert state != RESTS or exact < 0
    check(model, [[tuple(map(F, x))]])


def test_tents_are_fused():
    d = 3
    blocks = [RankOneBlock.of(d, rho=0, alpha=1)]
    for k in range(4):
        for side, weight in ((1, 1), (0, -2), (-1, 1)):
            blocks.append(RankOneBlock.of(d, u=[1, k, 0], b=k + side, w=[0, 0, weight]))
    panels = Plan.of(Transformer(blocks)).steps
    assert [(panel.kind, len(panel)) for panel in panels] == [("tents", 4)]
    bent = RankOneBlock.of(d, u=[1, 0, 0], b=2, w=[0, 0, 1])  # no longer zero outside
    assert Plan.of(Transformer([blocks[0], bent, *blocks[2:4]])).steps[0].kind != "tents"


def test_float_outputs():
    data = adversarial("collinear", 12)
    model = hm.build(data, strategy="peel")
    found = float_outputs(Plan.of(model), data.tokens.values, data.offsets)
    exact = model.outputs(data.sequences)
    assert np.allclose(found, [[float(x) for x in y] for y in exact], atol=1e-6)


@given(st.lists(st.lists(st.floats(-1e30, 1e30), min_size=2, max_size=2), min_size=1, max_size=9))
def test_exact_sums(rows):
    tokens = ExactArray.from_numpy(np.array(rows))
    starts = np.array([0, len(rows) // 2]) if len(rows) > 1 else np.array([0])
    found, q = sums.sums_as_integers(tokens, np.arange(len(rows)), starts)
    ends = [*starts[1:], len(rows)]
    for total, a, b in zip(found, starts, ends, strict=True):
        exact = [sum(map(F, column)) for column in zip(*rows[a:b], strict=True)]
        assert [F(x, q) for x in total] == exact
