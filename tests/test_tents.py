"""Tents: parallel layers that cancel outside a slab are one item, exact as the blocks (C3)."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
import reference
from hypothesis import given
from hypothesis import strategies as st

import hardmax as hm
from hardmax import RankOneBlock, Transformer
from hardmax.engine import Plan, Sizes, evaluate
from hardmax.engine.compile.tents import find_tents
from hardmax.engine.forward import collapse
from hardmax.engine.forward.buffers import Buffers
from hardmax.engine.forward.forward_pass import apply_panel
from hardmax.engine.forward.points import ACTIVE
from hardmax.engine.forward.record import SparseRecord
from hardmax.testing import rationals

F = Fraction
COLLAPSE = {"rho": 0, "alpha": 1}


FUSED = Sizes(straight=10**6, few=0)  # panels, however short the model


def dot(x, y):
    return sum((a * b for a, b in zip(x, y, strict=True)), F(0))


def check(model, batch, sizes=FUSED):
    """Exact outputs of the engine and of the definition are the same, at first and again."""
    data = hm.Dataset(batch)
    expected = [reference.output(model.blocks, Z) for Z in batch]
    for _ in range(2):
        found = evaluate(model, data.tokens, data.offsets, sizes=sizes)
        assert [found[j] for j in range(len(batch))] == expected


def layer(u, scale, offset, w):
    """max(0, scale·⟨u,z⟩ + offset)·w."""
    return RankOneBlock.of(len(u), u=[scale * a for a in u], b=offset, w=w)


def model_of(*layers):
    return Transformer([RankOneBlock.of(len(layers[0].u), **COLLAPSE), *layers])


def items(model, sizes=FUSED):
    """Kind and number of layers of every item of the plan."""
    found = []
    for panel in Plan.of(model, sizes).steps:
        found += [(panel.kind, n) for n in panel.counts.tolist()]
    return found


def tent(u, knots, heights, w, scales=None):
    """Layers of the piecewise linear map with these values at these knots, and zero outside."""
    slopes = [F(0)]
    pairs = list(zip(knots, heights, strict=True))
    for (s, g), (t, h) in pairwise(pairs):
        slopes.append((h - g) / (t - s))
    slopes.append(F(0))
    bends = [after - before for before, after in pairwise(slopes)]
    scales = scales or [F(1)] * len(knots)
    return [
        layer(u, s, -s * t, [bend / s * x for x in w])
        for t, bend, s in zip(knots, bends, scales, strict=True)
    ]


@st.composite
def runs(draw, d):
    """Parallel layers that leave ⟨u,z⟩ alone, compact or not, sometimes not quite; and points
    on their knots or next to them."""
    u = draw(st.tuples(*[st.sampled_from([F(0), F(1), F(-2), F(1, 3), F(5, 7)])] * d))
    if not any(u):
        u = (F(1), *u[1:])
    if d == 1:
        return [layer(u, 1, draw(rationals()), draw(st.tuples(rationals())))], []
    i, j = draw(st.permutations(range(d)))[:2]
    w = [F(0)] * d
    w[i], w[j] = u[j], -u[i]  # orthogonal, sharing coordinates with u
    if not any(w):
        w[i] = F(1)
    if draw(st.booleans()):
        w = [draw(st.sampled_from([F(1), F(-3), F(1, 3), F(2) ** 20])) * a for a in w]
    count = draw(st.integers(1, 6))
    knots = sorted(draw(st.sets(rationals(), min_size=count, max_size=count)))
    scale = st.sampled_from([F(1), F(1), F(2), F(1, 3), F(7, 5)])
    turned = draw(st.booleans())
    scales = [draw(scale) * (draw(st.sampled_from([1, -1])) if turned else 1) for _ in knots]
    if count > 2 and draw(st.booleans()):
        heights = [F(0), *(draw(rationals()) for _ in knots[2:]), F(0)]
        found = tent(u, knots, heights, w, [abs(s) for s in scales])
    else:
        bends = st.sampled_from([F(1), F(-2), F(1, 3)])
        found = [
            layer(u, s, -s * t, [draw(bends) * x for x in w])
            for s, t in zip(scales, knots, strict=True)
        ]
    found = draw(st.permutations(found))
    if draw(st.integers(0, 3)) == 0:
        k = draw(st.integers(0, len(found) - 1))
        spoilt = [list(found[k].u), [found[k].b], list(found[k].w)]
        part = draw(st.sampled_from(spoilt))
        part[draw(st.integers(0, len(part) - 1))] += F(1, 2**60)
        found[k] = RankOneBlock.of(d, u=spoilt[0], b=spoilt[1][0], w=spoilt[2])
    points = []
    for t in knots[:3]:
        x = [draw(rationals()) for _ in range(d)]
        k = next(k for k, a in enumerate(u) if a)
        x[k] += (t - dot(u, x)) / u[k]
        x[k] += draw(st.sampled_from([F(0), F(0), F(1, 2**80), F(-1, 2**52)]))
        points.append([tuple(x)])
    return found, points


@st.composite
def models(draw):
    d = draw(st.integers(1, 3))
    layers, batch = [], [[tuple(draw(rationals()) for _ in range(d))]]
    for _ in range(draw(st.integers(1, 4))):
        found, points = draw(runs(d))
        layers += found
        batch += points
        if draw(st.booleans()):
            vector = st.tuples(*[rationals()] * d)
            layers.append(RankOneBlock.of(d, u=draw(vector), b=draw(rationals()), w=draw(vector)))
    return model_of(*layers), batch


@given(models())
def test_the_plan_equals_the_blocks(forced, pair):
    check(*pair, forced)


@given(models())
def test_states_are_those_of_the_blocks(pair):
    """Every event is true: an active layer has ⟨u,z⟩ + b > 0 at the point that it meets."""
    model, batch = pair
    data = hm.Dataset(batch)
    plan = Plan.of(model, FUSED)
    found = collapse.collapse(plan, data.tokens, data.offsets)
    states = [reference.trace(model.blocks, Z) for Z in batch]
    for step in plan.steps:
        record = apply_panel(step, found.points, Buffers(), FUSED)
        if not isinstance(record, SparseRecord):
            continue
        rows, blocks, kinds = record.packed
        assert all(np.diff(blocks[rows == j]).min(initial=1) > 0 for j in range(len(batch)))
        for j, k, state in zip(rows.tolist(), blocks.tolist(), kinds.tolist(), strict=True):
            block = model.blocks[k]
            if state == ACTIVE:
                assert all(dot(block.u, z) + block.b > 0 for z in states[j][k])


def test_tents_of_many_hinges():
    """A plateau, a tooth with negative and rational scales, and three tents of one direction."""
    e, u = (F(0), F(0), F(1)), (F(1), F(-2), F(0))
    plateau = tent(u, [F(0), F(1), F(2), F(3)], [F(0), F(1), F(1), F(0)], e)
    tooth = tent((F(1), F(1), F(1)), [F(0), F(1, 3), F(2)], [F(0), F(5), F(0)], (F(1), F(-1), F(0)))
    scaled = tent(u, [F(0), F(1), F(2)], [F(0), F(1), F(0)], e, [F(2), F(1, 3), F(3)])
    several = [
        block
        for t in (F(0), F(10), F(-4))
        for block in tent(u, [t, t + 1, t + 2], [F(0), F(1), F(0)], e)
    ]
    model = model_of(*plateau, *tooth, *scaled, *several)
    assert items(model) == [("tents", n) for n in (4, 3, 3, 3, 3, 3)]
    values = [F(-4), F(-7, 2), F(-3), F(0), F(1, 6), F(1, 3), F(1), F(5, 2), F(3), F(11)]
    check(model, [[(t, F(0), F(1))] for t in values] + [[(t, F(1, 3), F(0))] for t in values])


def test_negative_scales_can_make_a_tent():
    """Layers that look to either side: far out each side sums to zero by itself."""
    u, e = (F(1), F(0)), (F(0), F(1))
    right = tent(u, [F(0), F(1), F(2)], [F(0), F(1), F(0)], e)
    left = tent((F(-2), F(0)), [F(-1), F(0), F(1)], [F(0), F(1), F(0)], e)
    mixed = [block for pair in zip(right, left, strict=True) for block in pair]
    model = model_of(*mixed)
    assert items(model) == [("tents", 6)]
    check(model, [[(t / 4, F(0))] for t in map(F, range(-6, 12))])


def test_one_side_that_cancels():
    """Layers that look both ways and cancel on one side only are no tent."""
    u, e = (F(1), F(0)), (F(0), F(1))
    left = tent((F(-1), F(0)), [F(-1), F(0), F(1)], [F(0), F(1), F(0)], e)
    model = model_of(*left[:2], layer(u, 1, F(3), e), left[2])
    assert items(model) == [("layers", 1)] * 4
    check(model, [[(t / 2, F(0))] for t in map(F, range(-9, 5))])


def test_what_rests_nowhere_stays_plain():
    u, e = (F(1), F(0)), (F(0), F(1))
    model = model_of(layer(u, 1, F(1), e), layer(u, -1, F(1), e), layer(u, 2, F(-7), e))
    assert items(model) == [("layers", 1)] * 3 or items(model) == [("straight", 1)] * 3
    check(model, [[(t / 2, F(0))] for t in map(F, range(-4, 9))])


TINY = F(1, 2**60)


@pytest.mark.parametrize(
    ("part", "place", "off"),
    [
        ("u", 0, TINY),  # no longer parallel
        ("u", 2, F(2) ** -200),
        ("w", 0, TINY),  # moves ⟨u,z⟩
        ("w", 2, TINY),  # slopes that do not sum to zero
        ("b", 0, TINY),  # offsets that do not
        ("b", 0, F(2) ** -200),
    ],
)
@pytest.mark.parametrize("base", [F(1), F(1, 3)])
def test_near_misses(part, place, off, base):
    """One number 2^-60 off: no tent."""
    u, e = [base, -2 * base, F(0)], [F(0), F(0), F(1)]
    blocks = tent(u, [F(0), base, 2 * base], [F(0), F(1), F(0)], e)
    assert items(model_of(*blocks)) == [("tents", 3)]
    last = {"u": list(blocks[2].u), "b": [blocks[2].b], "w": list(blocks[2].w)}
    last[part][place] += off
    blocks[2] = RankOneBlock.of(3, u=last["u"], b=last["b"][0], w=last["w"])
    model = model_of(*blocks)
    assert items(model) == [("layers", 1)] * 3
    check(model, [[(base * t, F(0), F(0))] for t in (F(-9), F(0), F(1, 2), F(2), F(9), F(2) ** 70)])


def test_layers_that_cancel_everywhere():
    """One layer and its opposite have one knot: no slab, and nothing moves."""
    u, e = (F(1), F(2)), (F(2), F(-1))
    model = model_of(layer(u, 1, F(1), e), layer(u, 1, F(1), [-a for a in e]))
    assert items(model) == [("layers", 1)] * 2
    check(model, [[(t / 2, F(0))] for t in map(F, range(-4, 4))])


def test_knots_past_the_bounds_are_not_fused():
    u, e = (F(1), F(2)), (F(2), F(-1))
    tiny = F(1, 2**200)
    model = model_of(layer(u, tiny, tiny, e), layer(u, 1, tiny, e))  # 1 and 2^-400, for tiny·u
    assert items(model) == [("layers", 1)] * 2
    check(model, [[(F(1), F(1))], [(F(-9), F(0))]])


def test_a_gap_between_blocks_parts_a_run():
    """Attention in between, or a block that does nothing: not consecutive, not one tent."""
    u, e = (F(1), F(2)), (F(2), F(-1))
    first, second, third = tent(u, [F(0), F(1), F(2)], [F(0), F(1), F(0)], e)
    idle = RankOneBlock.of(2)
    plan = Plan.of(model_of(first, idle, second, third, first, second, third))
    assert find_tents(plan.arrays, np.array([1, 3, 4])) == []
    assert find_tents(plan.arrays, np.array([1, 3, 5, 6, 7])) == [(2, 5)]
    assert find_tents(plan.arrays, np.array([1])) == []


@given(st.data())
def test_pushes_next_to_points(data):
    """Layers that all raise one coordinate, steeply or not, with points on and next to their
    hyperplanes, near and far: whatever is active is noticed, whatever counts as active is."""
    d = data.draw(st.integers(2, 4))
    scale = F(2) ** data.draw(st.sampled_from([-150, -45, 0, 0, 0, 30, 45, 150]))
    seed = data.draw(st.integers(0, 2**32))
    rng = np.random.default_rng(seed)  # all bits of a float count

    def entry(size=F(1)):
        return F(rng.normal()) * size

    shift = data.draw(st.sampled_from([F(0), 2**12 * scale]))  # far from the origin
    blocks, batch = [RankOneBlock.of(d, **COLLAPSE)], []
    for _ in range(data.draw(st.integers(2, 6))):
        u, x = [entry() for _ in range(d)], [entry(scale) + shift for _ in range(d)]
        rise = data.draw(st.sampled_from([F(1), F(-3), F(1, 3), F(2) ** 30, -(F(2) ** 100)]))
        blocks.append(RankOneBlock.of(d, u=u, b=-dot(u, x), w=[F(0)] * (d - 1) + [rise]))
        for size in (0, 20, 22, 24, 26, 30, 40, 52, 70):
            off = data.draw(st.sampled_from([1, -1])) * F(1, 2**size) * (size > 0)
            batch.append([(x[0] + off * abs(x[0]), *x[1:])])
    model = Transformer(blocks)
    given_data = hm.Dataset(batch)
    plan = Plan.of(model, FUSED)
    points = collapse.collapse(plan, given_data.tokens, given_data.offsets).points
    (panel,) = plan.steps
    with np.errstate(all="ignore"):  # as `evaluate` has it
        record = apply_panel(panel, points, Buffers(), FUSED)
    assert isinstance(record, SparseRecord)
    rows, met, states = record.packed
    for j, Z in enumerate(batch):
        exact = reference.trace(model.blocks, Z)
        active = {
            k
            for k in range(1, len(blocks))
            if dot(model.blocks[k].u, exact[k][0]) + model.blocks[k].b > 0
        }
        mine = rows == j
        assert active <= set(met[mine].tolist())
        assert set(met[mine & (states == ACTIVE)].tolist()) <= active
        assert (np.diff(met[mine]) > 0).all()
        for value, radius, z in zip(points.values[j], points.radius[j], exact[-1][0], strict=True):
            assert abs(F(float(value)) - z) <= F(float(radius))
    check(model, batch[:6])


def test_many_tents_in_one_panel():
    """At the size of the data: fused without being told to, and exact."""
    rng = np.random.default_rng(0)
    blocks, e = [], (F(0), F(0), F(1))
    for k in range(30):
        u = [F(int(a)) for a in rng.integers(-5, 6, 2)] + [F(0)]
        u[0] = u[0] or F(1)
        t, wide = F(int(rng.integers(-8, 9))), F(1, 2 ** int(rng.integers(0, 9)))
        if k % 2:
            blocks += tent(u, [t, t + wide, t + 2 * wide], [F(0), F(3), F(0)], e)
        else:
            heights = [F(0), F(3), F(3), F(0)]
            blocks += tent(u, [t + i * wide for i in range(4)], heights, e)
    model = model_of(*blocks)
    assert len(items(model, Sizes())) == 30
    assert len(Plan.of(model).steps) == 1
    check(model, [[tuple(map(F, x))] for x in rng.integers(-9, 10, (60, 3)).tolist()])
