"""The engine: the plan equals the blocks, exactly, on models of any kind (theory C1 to C5)."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from importlib import import_module
from itertools import pairwise, product

import numpy as np
import pytest
import reference
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

import hardmax as hm
from hardmax import RankOneBlock, Transformer
from hardmax.certify.membership import surely_inside
from hardmax.certify.verify import misclassified
from hardmax.engine import Plan, Sizes, evaluate, float_outputs
from hardmax.engine.forward import collapse
from hardmax.engine.forward.buffers import Buffers
from hardmax.engine.forward.forward_pass import apply_panel
from hardmax.engine.forward.points import ACTIVE, RESTS, EnclosedPoints
from hardmax.engine.part import forward
from hardmax.exact import sums
from hardmax.exact.array import ExactArray
from hardmax.labels import ArgmaxCone
from hardmax.model.tokens import Tokens
from hardmax.testing import (
    FAMILIES,
    KINDS,
    adversarial,
    label_sets,
    rank_one_models,
    rationals,
    sequences,
)

F = Fraction
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
    check(model, batch, forced)


def check(model, batch, sizes=Sizes()):
    """Exact outputs of the engine and of the definition are the same."""
    data = hm.Dataset(batch)
    found = evaluate(model, data.tokens, data.offsets, sizes=sizes)
    expected = [reference.output(model.blocks, Z) for Z in batch]
    assert [found[j] for j in range(len(batch))] == expected
    again = evaluate(model, data.tokens, data.offsets, sizes=sizes)  # from what the plan remembers
    assert [again[j] for j in range(len(batch))] == expected


@settings(max_examples=20)
@given(st.integers(0, 10**6), st.sampled_from([5, 28, 29, 40]))
def test_patterns_that_are_known_and_new_ones(seed, count):
    """One plan, sequence after sequence: what it has met says nothing wrong of what it has not."""
    rng = np.random.default_rng(seed)
    blocks = [RankOneBlock.of(2, rho=0, alpha=1)]
    for _ in range(count):
        u = [F(0), F(0)]
        u[int(rng.integers(2))] = F(int(rng.choice([-1, 1])))
        w = [F(int(k), 4) for k in rng.integers(-2, 3, 2)]
        blocks.append(RankOneBlock.of(2, u=u, b=F(int(rng.integers(-(2**20), 2**20)), 2**18), w=w))
    for unit in ((1, 0), (0, 1)):  # down to 0, and up to −1: constants that the states decide
        blocks.append(RankOneBlock.of(2, u=unit, b=0, w=[-x for x in unit]))
        blocks.append(RankOneBlock.of(2, u=[-x for x in unit], b=-1, w=unit))
    model = Transformer(blocks)
    points = [
        [tuple(F(int(k), 2**18) for k in rng.integers(-(2**21), 2**21, 2))] for _ in range(24)
    ]
    for some in (points[:8], points[4:16], points, points[::-1]):
        data = hm.Dataset(some)
        found = evaluate(model, data.tokens, data.offsets)
        expected = [reference.output(model.blocks, Z) for Z in some]
        assert [found[j] for j in range(len(some))] == expected


@SETTINGS
@given(st.data())
def test_any_model(forced, data):
    d = data.draw(st.integers(1, 3))
    batch = data.draw(st.lists(sequences(d), min_size=1, max_size=4))
    check(data.draw(rank_one_models(d, 6)), batch, forced)


@SETTINGS
@given(collapsing(), st.integers(-210, 210))
def test_any_scale(forced, pair, exponent):
    """Tokens 2^±200 times as large: undecided by floats or past them, never wrong."""
    model, batch = pair
    check(model, [[tuple(F(2) ** exponent * x for x in z) for z in Z] for Z in batch], forced)


@SETTINGS
@given(collapsing(), st.data())
def test_nearly_equal_tokens(forced, pair, data):
    """Tokens 2^-200 apart: floats can't tell them apart, the outputs do."""
    model, batch = pair
    moved = [
        [tuple(x + data.draw(st.integers(-1, 1)) * F(1, 2**200) for x in z) for z in Z]
        for Z in batch
    ]
    check(model, moved, forced)


@pytest.mark.parametrize("strategy", ["paper", "peel", "cover"])
@pytest.mark.parametrize("family", FAMILIES)
def test_families(family, strategy, forced):
    data = adversarial(family, 9)
    try:
        model = hm.build(data, strategy=strategy)
    except hm.ContradictionError:
        return
    assert misclassified(model, data) == []
    found = evaluate(model, data.tokens, data.offsets, sizes=forced)
    assert [found[j] for j in range(len(data))] == model.run(Tokens.from_sequences(data.sequences))


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


@SETTINGS
@given(st.data())
def test_enclosures_hold(forced, data):
    """values ± radius hold the exact points, through layers that are active, at rest, unclear."""
    model, batch = data.draw(collapsing())
    given_data = hm.Dataset(batch)
    compiled = Plan.of(model, forced)
    if compiled.collapse is None:
        return
    found = collapse.collapse(compiled, given_data.tokens, given_data.offsets)
    forward(compiled, found, Buffers())
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
    points = EnclosedPoints(np.array([x]), np.zeros((1, d)))
    state = points.layer(compiled.arrays, np.array([1]), points.reach())[0]
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
    found = float_outputs(Plan.of(model), data.tokens, data.offsets)
    exact = model.run(Tokens.from_sequences(data.sequences))
    assert np.allclose(found, [[float(x) for x in y] for y in exact], atol=1e-6)


@pytest.mark.parametrize("library", [True, False])
@given(st.lists(st.lists(st.floats(-1e30, 1e30), min_size=2, max_size=2), min_size=1, max_size=9))
def test_exact_sums(library, rows):
    tokens = ExactArray.from_numpy(np.array(rows))
    bounds = np.unique([0, len(rows) // 2, len(rows)])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sums, "_SPARSE_FROM", 0)
        import_module("scipy.sparse")
        if not library:
            patch.delitem(sys.modules, "scipy.sparse", raising=False)
        found = sums.sums_of_tokens(tokens, np.arange(len(rows)), bounds)
    for total, (a, b) in zip(found.integers(), pairwise(bounds), strict=True):
        exact = [sum(map(F, column)) for column in zip(*rows[a:b], strict=True)]
        assert [F(x, found.denominator) for x in total] == exact


@SETTINGS
@given(st.data())
def test_slabs(data):
    """Points on the edges of narrow tents, an ulp or 2^-80 away, at any scale: the exact rises."""
    d = data.draw(st.integers(2, 4))
    scale = F(2) ** data.draw(st.sampled_from([-150, -40, 0, 0, 0, 40, 120]))
    entry = st.integers(-(2**20), 2**20).map(lambda k: k * scale / 2**18)
    blocks = [RankOneBlock.of(d, rho=0, alpha=1)]
    points = []
    for _ in range(data.draw(st.integers(1, 4))):
        u = [*(F(data.draw(st.integers(-8, 8))) for _ in range(d - 1)), F(0)]
        if not any(u):
            continue
        b = data.draw(entry)
        half = scale * F(1, 2 ** data.draw(st.integers(0, 30)))
        rise = data.draw(st.sampled_from([F(1), F(2) ** 20, F(-(2**10))]))
        for side, weight in ((1, 1), (0, -2), (-1, 1)):
            w = [F(0)] * (d - 1) + [rise * weight]
            blocks.append(RankOneBlock.of(d, u=u, b=b + side * half, w=w))
        for _ in range(3):  # ⟨u,x⟩ + b on an edge or the ridge, and a little off
            x = [*(data.draw(entry) for _ in range(d))]
            i = next(i for i, a in enumerate(u) if a)
            aim = data.draw(st.sampled_from([F(0), half, -half])) - b
            x[i] += (aim - sum(a * c for a, c in zip(u, x, strict=True))) / u[i]
            off = data.draw(st.sampled_from([F(0), F(1, 2**80), F(1, 2**50), F(-1, 2**52)]))
            x[i] += off * abs(x[i])
            points.append([tuple(x)])
    if points:
        assert all(p.kind == "tents" for p in Plan.of(Transformer(blocks)).steps if len(p) > 1)
        check(Transformer(blocks), points)


def test_a_glance_past_single_precision():
    """Coordinates that float32 can't hold cancel in ⟨u,x⟩: the slab is still noticed."""
    huge = F(2) ** 140
    blocks = [RankOneBlock.of(3, rho=0, alpha=1)]
    for side, weight in ((1, 1), (0, -2), (-1, 1)):
        blocks.append(RankOneBlock.of(3, u=[1, -1, 0], b=side, w=[0, 0, weight]))
    check(Transformer(blocks), [[(huge, huge, F(0))], [(huge, -huge, F(0))], [(F(1), F(1), F(1))]])


def test_layers_that_floats_leave_open():
    """A point is cut off at 1/3, exactly; whether it lies beyond the float 1/3 matters."""
    near = F(1 / 3)
    for sign in (1, -1):
        blocks = [
            RankOneBlock.of(1, rho=0, alpha=1),
            RankOneBlock.of(1, u=[1], b=F(-1, 3), w=[-1]),
            RankOneBlock.of(1, u=[sign], b=-sign * near, w=[F(2) ** 60]),
        ]
        check(Transformer(blocks), [[(F(1),)], [(F(5),), (F(7),)]])


def test_differences_that_floats_round():
    """b₁ − b₂ and b₂ − b₃ are one float and two numbers: no tent."""
    b = [F(1), F(1, 2**54), F(-1)]
    assert float(b[0]) - float(b[1]) == float(b[1]) - float(b[2])
    blocks = [RankOneBlock.of(2, rho=0, alpha=1)]
    for offset, weight in zip(b, (1, -2, 1), strict=True):
        blocks.append(RankOneBlock.of(2, u=[1, 0], b=offset, w=[0, weight]))
    assert all(panel.kind != "tents" for panel in Plan.of(Transformer(blocks)).steps)
    check(Transformer(blocks), [[(F(9), F(0))], [(F(-9), F(0))], [(F(0), F(0))]])


def test_nearly_the_identity():
    """ρ = 1 + 2^-80 and α = 2^-80 are attention, though one is the float 1."""
    blocks = [
        RankOneBlock.of(1, rho=0, alpha=1),
        RankOneBlock.of(1, rho=1 + F(1, 2**80)),
        RankOneBlock.of(1, u=[1], b=1, w=[1], alpha=F(1, 2**80)),
    ]
    check(Transformer(blocks), [[(F(1),)], [(F(-3),), (F(2),)]])


def test_means_of_long_sequences():
    """Sums that cancel stay within their radius, however long."""
    rng = np.random.default_rng(3)
    tokens = rng.normal(size=(3000, 2)) * 2.0 ** rng.integers(-30, 30, size=(3000, 1))
    tokens[1::2] = -tokens[::2] * (1 + 2.0**-50)
    offsets = np.array([0, 999, 1000, 3000])
    model = Transformer([RankOneBlock.of(2, rho=0, alpha=1)])
    found = collapse.collapse(Plan.of(model), ExactArray.from_numpy(tokens), offsets)
    for j in range(3):
        part = tokens[offsets[j] : offsets[j + 1]]
        for i in range(2):
            exact = sum(map(F, part[:, i].tolist())) / len(part)
            assert abs(F(found.points.values[j, i]) - exact) <= F(found.points.radius[j, i])


@given(st.data())
def test_surely_inside(data):
    """What floats call certain holds at every corner of the enclosure."""
    d = data.draw(st.integers(1, 2))
    kinds = [k for k in KINDS if k != "point"]
    sets = data.draw(label_sets(["a", "b", "c"], d, kinds))
    chosen = sets[data.draw(st.sampled_from(sorted(sets)))]
    middle, size = chosen.witness(), data.draw(st.integers(-60, 3))
    away = data.draw(st.tuples(*[rationals(4)] * d))
    x = [
        float(m + a * F(data.draw(st.sampled_from([0, 1, 2]))))
        for m, a in zip(middle, away, strict=True)
    ]
    radius = [2.0**size] * d
    inside = bool(surely_inside(chosen, EnclosedPoints(np.array([x]), np.array([radius])))[0])
    if inside:
        for signs in product([-1, 0, 1], repeat=d):
            corner = tuple(F(a) + s * F(r) for a, s, r in zip(x, signs, radius, strict=True))
            assert chosen.contains(corner)
    elif chosen.contains(tuple(map(F, x))) and size < -50:
        event("inside, not surely")


def test_surely_inside_says_so():
    """And it is not vacuous: well inside is certain for every kind of open set."""
    ball, box = hm.labels.Ball((0, 0), 1), hm.labels.Box((-1, -1), (1, 1))
    half = hm.labels.Halfspace((1, 1), -1)
    many = hm.labels.Polyhedron([[1, 2], [-3, 1]], [1, 2])
    near = EnclosedPoints(np.zeros((1, 2)), np.full((1, 2), 0.1))
    wide = EnclosedPoints(np.zeros((1, 2)), np.full((1, 2), 1.0))
    for label_set in (ball, box, half, many):
        assert surely_inside(label_set, near)[0]
        assert not surely_inside(label_set, wide)[0]


@st.composite
def near_ties(draw):
    """Values and radii for an argmax cone, (classes,): one value leads by the sum of two radii, up
    to a few units in the last place, at any scale, infinities and NaN included."""
    classes, scale = draw(st.integers(1, 4)), 2.0 ** draw(st.integers(-1074, 1000))
    place = draw(st.integers(0, classes - 1))
    x = [scale * draw(st.floats(-4, 4)) for _ in range(classes)]
    r = [scale * draw(st.sampled_from([0.0, 2.0**-60, 0.1, 1.0])) for _ in range(classes)]
    rival = draw(st.integers(0, classes - 1))
    x[place] = x[rival] + r[place] + r[rival]
    for _ in range(draw(st.integers(0, 40))):
        x[place] = np.nextafter(x[place], np.inf)
    if draw(st.integers(0, 9)) == 0:
        some = draw(st.sampled_from([x, r]))
        odd = draw(st.sampled_from([np.inf, np.nan, 1.7e308]))
        some[draw(st.integers(0, classes - 1))] = odd
    if draw(st.integers(0, 9)) == 0:
        x[draw(st.integers(0, classes - 1))] = -np.inf
    return place, np.array([x]), np.array([r])


@settings(max_examples=500, deadline=None)
@given(near_ties())
def test_the_surely_largest_is_the_largest(given):
    """Where floats call a coordinate the largest, it is, at the worst corner of the enclosure."""
    place, x, r = given
    cone = ArgmaxCone(place, x.shape[1], x.shape[1])
    with np.errstate(all="ignore"):
        said = bool(surely_inside(cone, EnclosedPoints(x, r))[0])
    event(f"surely: {said}")
    if said and x.shape[1] > 1:
        assert np.isfinite(x).all()
        assert np.isfinite(r).all()
        ends = [F(a) + (-F(b) if i == place else F(b)) for i, (a, b) in enumerate(zip(x[0], r[0]))]
        assert cone.contains(tuple(ends))


def test_the_surely_largest_is_found():
    """A lead of a millionth beyond the radii is enough."""
    x, r = np.array([[1.0, 1.0 - 0.2 - 1e-6, -5.0]]), np.array([[0.1, 0.1, 0.1]])
    assert surely_inside(ArgmaxCone(0, 3, 3), EnclosedPoints(x, r))[0]
    assert not surely_inside(ArgmaxCone(1, 3, 3), EnclosedPoints(x, r))[0]


def test_what_a_plan_was_made_of_does_not_change():
    data = adversarial("collinear", 6)
    model = hm.build(data)
    assert misclassified(model, data) == []
    with pytest.raises(ValueError, match="read-only"):
        model.parameters.w.values[0] += 1
    with pytest.raises(ValueError, match="read-only"):
        data.tokens.values[0] += 1
    with pytest.raises(ValueError, match="read-only"):
        data.offsets[1] += 1
    data.labels[2] = next(name for name in data.labels if name != data.labels[2])
    assert [j for j, _ in misclassified(model, data)] == [2]


def test_threads_share_a_plan():
    """Many first calls at once, from the user's own threads."""
    data = hm.Dataset.from_arrays(
        ExactArray.from_numpy(np.random.default_rng(1).normal(size=(400, 3))),
        np.arange(201) * 2,
        ["a", "b"] * 100,
    )
    made = hm.build(data, strategy="cover")
    for _ in range(5):
        fresh = Transformer(type(made.parameters)(**made.parameters.arrays))
        with ThreadPoolExecutor(8) as pool:
            assert list(pool.map(lambda _, m=fresh: misclassified(m, data), range(16))) == [[]] * 16


@SETTINGS
@given(st.data())
def test_layers_along_one_coordinate(forced, data):
    """Pushes of the last coordinate that read it, too: every one meets what those before did."""
    d = data.draw(st.integers(2, 3))
    vector = st.tuples(*[rationals()] * d)
    blocks = [RankOneBlock.of(d, rho=0, alpha=1)]
    for _ in range(data.draw(st.integers(2, 9))):
        w = [F(0)] * (d - 1) + [data.draw(st.sampled_from([F(1), F(-2), F(7), F(1, 3)]))]
        blocks.append(RankOneBlock.of(d, u=data.draw(vector), b=data.draw(rationals(6)), w=w))
    check(Transformer(blocks), data.draw(st.lists(sequences(d, 2), min_size=1, max_size=5)), forced)


def test_errors_grow_with_steep_layers():
    """1/3 is 2^-54/3 off as a float; a layer of slope 2^40 makes that 2^-14/3."""
    near = F(1 / 3)
    model = Transformer(
        [RankOneBlock.of(1, rho=0, alpha=1), RankOneBlock.of(1, u=[1], b=-near, w=[F(2) ** 40])]
    )
    points = EnclosedPoints(np.array([[1 / 3]]), np.array([[2.0**-54]]))
    points.layer(Plan.of(model).arrays, np.array([1]), points.reach())
    exact = F(1, 3) + 2**40 * (F(1, 3) - near)
    assert exact - F(1, 3) > F(1, 2**16)
    assert abs(F(float(points.values[0, 0])) - exact) <= F(float(points.radius[0, 0]))


def test_levels_that_floats_round():
    """Points that layers take to 1/3 lie within their radius of it."""
    blocks = [RankOneBlock.of(5, rho=0, alpha=1)]
    for i in range(5):
        unit = [int(i == j) for j in range(5)]
        blocks.append(RankOneBlock.of(5, u=unit, b=F(-1, 3), w=[-x for x in unit]))
    plan = Plan.of(Transformer(blocks))
    (panel,) = plan.steps
    for start in (1.0, 1 / 3):  # beyond 1/3 for certain, and perhaps
        points = EnclosedPoints(np.full((1, 5), start), np.zeros((1, 5)))
        apply_panel(panel, points, Buffers(), plan.sizes)
        for value, radius in zip(points.values[0], points.radius[0], strict=True):
            assert abs(F(float(value)) - F(1, 3)) <= F(float(radius))


def test_surely_inside_on_every_side():
    for low, high in (((-1, -9), (9, 9)), ((-9, -9), (1, 9)), ((-9, -9), (9, 1))):
        near = EnclosedPoints(np.zeros((1, 2)), np.full((1, 2), 1.5))
        assert not surely_inside(hm.labels.Box(low, high), near)[0]
        assert surely_inside(hm.labels.Box((-9, -9), (9, 9)), near)[0]
