"""The form of cover for open label sets: Theorem B, step B4, L = 1 + K + 3 Σ ⌈N_c/(d−1)⌉."""

from collections import Counter
from fractions import Fraction
from math import ceil
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hardmax as hm
from hardmax.construct.cover.flatten import coded
from hardmax.construct.cover.height_slice import TooClose
from hardmax.construct.cover.open import open_cover as inner
from hardmax.construct.cover.open.open_cover import open_cover
from hardmax.construct.cover.open.open_pushes import Crowd, Pencil
from hardmax.construct.cover.orthogonal import Orthogonal
from hardmax.construct.shared.filtered_cloud import FilteredCloud
from hardmax.construct.shared.tie_splitting import split_ties
from hardmax.dataset import ContradictionError, merge
from hardmax.enclosure.enclosed import Enclosed
from hardmax.exact.numbers import dot
from hardmax.labels import Ball, Box, Halfspace, Point, Polyhedron
from hardmax.labels.inner_radius import inner_radius
from hardmax.model.blocks import apply
from hardmax.model.tokens import Tokens
from hardmax.testing import FAMILIES, KINDS, adversarial, datasets, disjoint_sets

OPEN = tuple(kind for kind in KINDS if kind != "point")
FAR = 10**9


def gaussian(sizes, dimension, sets, seed=0):
    """``sizes[c]`` sequences of one to three normal tokens with label c."""
    rng = np.random.default_rng(seed)
    labels = [str(c) for c, size in enumerate(sizes) for _ in range(size)]
    sequences = [rng.normal(size=(rng.integers(1, 4), dimension)).tolist() for _ in labels]
    return hm.Dataset(sequences, labels, sets)


def balls(count, dimension, radius="2/3"):
    """Balls around 0, 3e₁, 6e₁, …"""
    rest = (0,) * (dimension - 1)
    return {str(k): Ball((3 * k, *rest), radius) for k in range(count)}


def open_model(data, seed=0, hide=False):
    """The form by itself, even where another is shallower: a proved model, the form, and
    Σ ⌈N_c/(d−1)⌉; None where the data do not allow it. ``hide`` leaves it floats only."""
    merged = merge(data)
    labels = [data.labels[j] for j in merged.representatives]
    names, codes = coded(labels)
    batch = Tokens.from_sequences(data.sequence(j) for j in merged.representatives)
    split = split_ties(batch, labels, seed)
    means = dict(zip(batch.means(), codes.tolist(), strict=True))
    if len(names) < 2:
        return None
    vectors, codes = list(means), np.array(list(means.values()))
    cloud = FilteredCloud.of_vectors(vectors)
    if hide:
        cloud = FilteredCloud(Enclosed(vectors), lambda rows: [vectors[j] for j in rows])
    sets = {name: data.sets[name] for name in names}
    found = open_cover(cloud, codes, names, sets, seed, FAR)
    blocks = [*split, found.collapse, *(block for _, block in found.pushes)]
    model = hm.Transformer(blocks, dimension=data.dimension)
    certificate = hm.certify(model, data)
    assert certificate.proved, certificate.witnesses[0].sentence()
    sizes = Counter(codes.tolist())
    assert sizes[names.index(found.base)] == max(sizes.values())
    tents = sum(ceil(n / (data.dimension - 1)) for n in sizes.values())
    tents -= ceil(max(sizes.values()) / (data.dimension - 1))
    assert len(found.pushes) <= found.bound == 3 * (tents + found.small)
    return model, found, tents


@given(datasets(min_dimension=2, max_dimension=6, kinds=OPEN))
def test_label_sets(data):
    try:
        open_model(data)
    except ContradictionError:
        return
    model = hm.build(data, strategy="cover", learn=False)
    assert hm.certify(model, data).proved
    assert len(model) <= model.meta["bound"]


@pytest.mark.parametrize("kinds", [OPEN, *([kind] for kind in OPEN)], ids="-".join)
@pytest.mark.parametrize("family", FAMILIES)
def test_families(family, kinds):
    data = adversarial(family, 16)
    if data.dimension < 2:
        return
    sets = disjoint_sets(list(dict.fromkeys(data.labels)), data.dimension, Random(1), kinds)
    open_model(hm.Dataset(data.sequences, data.labels, sets))


@given(
    st.integers(2, 6),
    st.lists(st.integers(1, 14), min_size=2, max_size=4),
    st.sampled_from([OPEN, *([kind] for kind in OPEN)]),
    st.integers(0, 2**16),
)
def test_depth_in_general_position(dimension, sizes, kinds, seed):
    names = [str(c) for c in range(len(sizes))]
    sets = disjoint_sets(names, dimension, Random(seed), kinds)
    model, found, tents = open_model(gaussian(sizes, dimension, sets, seed), seed)
    assert found.small == 0
    assert len(model) <= 1 + 3 * tents


def test_tied_means_cost_the_blocks_of_tie_splitting():
    data = gaussian((20, 8), 4, balls(2, 4))
    tied = [[(1, 2, 3, 4)], [(0, 2, 3, 4), (2, 2, 3, 4)]]
    data = hm.Dataset([*data.sequences, *tied], [*data.labels, "0", "1"], balls(2, 4))
    model, found, tents = open_model(data)
    split = len(model) - 1 - len(found.pushes)
    assert split == 1
    assert len(model) <= 1 + split + 3 * tents


@pytest.mark.parametrize(
    ("sizes", "dimension", "depth"),
    [((40, 10, 10), 6, 13), ((50, 10), 6, 7), ((28, 1, 1), 2, 7), ((150, 25, 25), 8, 25)],
)
def test_chosen_where_it_is_shallowest(sizes, dimension, depth):
    data = gaussian(sizes, dimension, balls(len(sizes), dimension))
    model = hm.build(data, strategy="auto", learn=False)
    assert hm.certify(model, data).proved
    assert model.meta["form"] == "open"
    assert set(model.stage_counts()) <= {"collapse", "tent", "half-space"}
    assert len(model) == model.meta["alternatives"]["open"] <= depth
    assert model.parameters.overrides() == 0
    assert model.meta["alternatives"]["tents"] > depth


def test_not_for_points():
    sets = {**balls(2, 6), "2": Point((6, 0, 0, 0, 0, 0))}
    model = hm.build(gaussian((40, 10, 10), 6, sets), strategy="cover", learn=False)
    assert "open" not in model.meta["alternatives"]


def test_linear_labels_take_two_blocks():
    # two classes that the second coordinate separates, in sets apart in the first
    data = gaussian((30, 30), 3, balls(2, 3))
    tokens = [
        [(x, 20 * int(c) + y, z) for x, y, z in s]
        for s, c in zip(data.sequences, data.labels, strict=True)
    ]
    model, found, _ = open_model(hm.Dataset(tokens, data.labels, balls(2, 3)))
    assert [stage for stage, _ in found.pushes] == ["half-space"] * 2
    assert len(model) == 3


def test_targets_along_which_labels_meet():
    # on lines in the direction of y_1 − y_0 both labels occur, so y_1 must be another one
    grid = [(x, y) for x in range(5) for y in range(5)]
    data = hm.Dataset([[z] for z in grid], [str(int(x == 2)) for x, _ in grid], balls(2, 2))
    assert open_model(data) is not None


@pytest.mark.parametrize("radius", [Fraction(1), Fraction(1, 1000), Fraction(1, 10**5)])
def test_small_sets(radius):
    for dimension in (2, 5):
        model, found, tents = open_model(
            gaussian((20, 8, 8), dimension, balls(3, dimension, radius))
        )
        assert found.small == 0
        assert len(model) <= 1 + 3 * tents


def test_floats_with_bounds_instead_of_exact_means():
    data = gaussian((40, 12, 9), 4, balls(3, 4))
    model, _, tents = open_model(data, hide=True)
    assert len(model) <= 1 + 3 * tents


def test_limit_and_points_too_close():
    vectors = [(Fraction(k), Fraction(k * k)) for k in range(9)]
    codes = np.array([0, 1, 0] * 3)
    cloud = FilteredCloud.of_vectors(vectors)
    sets = balls(2, 2)
    assert open_cover(cloud, codes, ["0", "1"], sets, 0, 2) is None
    tiny = [(x, y * Fraction(1, 2**200)) for x, y in vectors[:8]]
    close = FilteredCloud.of_vectors(
        [*((Fraction(0), y) for _, y in tiny), (Fraction(1), Fraction(1))]
    )
    with pytest.raises(TooClose):
        open_cover(close, codes, ["0", "1"], sets, 0, FAR)


def test_broken_promise_is_an_internal_error(monkeypatch):
    monkeypatch.setattr(inner, "groups", lambda count, size: 0)
    with pytest.raises(hm.HardmaxError, match="break the bound"):
        hm.build(gaussian((50, 10), 6, balls(2, 6)), strategy="cover", learn=False)


@given(
    st.lists(st.fractions(-9, 9, max_denominator=64), min_size=2, max_size=7).filter(any), st.data()
)
def test_directions_are_orthogonal_exactly(p, data):
    floats = st.floats(-1, 1, allow_subnormal=False)
    wanted = np.array(data.draw(st.lists(floats, min_size=len(p), max_size=len(p))))
    try:
        orthogonal = Orthogonal(tuple(p))
    except TooClose:  # too long in whole numbers
        assert len(p) > 4
        return
    wanted = orthogonal.basis @ (orthogonal.basis.T @ wanted)
    u = orthogonal.near(wanted)
    if u is None:
        assert np.abs(wanted).max() < 1e-9
        return
    assert np.abs(u / np.abs(u).max() - wanted / np.abs(wanted).max()).max() < 1e-3
    assert dot([Fraction(t) for t in u.tolist()], p) == 0
    assert np.abs(orthogonal.basis.T @ np.array(p, dtype=float)).max() < 1e-9


@given(st.integers(2, 5), st.integers(0, 2**16))
def test_a_push_moves_what_it_captures_and_nothing_else(dimension, seed):
    rng = np.random.default_rng(seed)
    vectors = [tuple(map(Fraction, x)) for x in rng.integers(-4, 5, (14, dimension)).tolist()]
    points = Enclosed(vectors)
    p, before = (tuple(map(Fraction, x)) for x in rng.integers(1, 6, (2, dimension)).tolist())
    base = tuple(map(Fraction, rng.integers(-3, 4, dimension).tolist()))
    crowd = Crowd(points, base, points.scale)
    gone = np.arange(14) < 4  # these have been pushed already
    crowd.take(before, gone, np.full(14, 0.25))
    shares = [Fraction(int(rng.integers(6, 9)), 8) if pushed else 0 for pushed in gone]
    here = [
        tuple(c + t + share * q for c, t, q in zip(base, x, before, strict=True))
        for x, share in zip(vectors, shares, strict=True)
    ]
    orthogonal = Orthogonal(p)
    normal = orthogonal.basis @ rng.normal(size=dimension - 1)
    left = rng.random(14) < 0.5
    left[:5] = False
    for j in np.flatnonzero(left):
        pencil = Pencil(crowd, orthogonal.near(normal), p)
        for push in pencil.pushes(np.array([j]), left, 0.4):
            blocks = push.blocks()
            assert len(blocks) == len(push)
            batch = Tokens.from_sequences([x] for x in here)
            for block in blocks:
                apply(batch, block)
            for i, (x, y) in enumerate(zip(here, batch.means(), strict=True)):
                if not push.captured[i]:
                    assert x == y
                    continue
                share = (y[0] - x[0]) / p[0]
                assert y == tuple(t + share * q for t, q in zip(x, p, strict=True))
                assert 1 - Fraction(float(push.missing[i])) <= share <= 1
                assert push.missing[i] <= 0.4


@given(st.integers(1, 4), st.sampled_from(OPEN), st.integers(0, 2**16))
def test_inner_radius(dimension, kind, seed):
    rng = Random(seed)
    chosen = disjoint_sets(["a", "b"], dimension, rng, [kind])["a"]
    x = chosen.witness()
    radius = inner_radius(chosen, x)
    assert radius > 0
    steps = [tuple(rng.randint(-5, 5) for _ in x) for _ in range(20)]
    if not isinstance(chosen, Ball):  # the steepest ways out
        rows, bounds = chosen.rows
        steps += [row for row in rows if any(row)]
        # nothing much larger serves: some facet is this near
        assert any(
            (bound - dot(row, x)) ** 2 <= radius**2 * dot(row, row) * (1 + Fraction(1, 2**50))
            for row, bound in zip(rows, bounds, strict=True)
        )
    for step in steps:
        square = dot(step, step)
        if square:
            # a rational length just below the radius
            scale = Fraction(int(2**40 * float(radius) / float(square) ** 0.5) - 1, 2**40)
            assert chosen.contains(tuple(s + scale * t for s, t in zip(x, step, strict=True)))


def test_inner_radius_by_hand():
    assert inner_radius(Ball((0, 0), 2), (Fraction(0), Fraction(1))) == 1
    assert inner_radius(Ball((0,), 2, free=1), (Fraction(1), Fraction(99))) == 1
    assert inner_radius(Box((0, 0), (1, 9)), (Fraction(3, 4), Fraction(1))) == Fraction(1, 4)
    assert inner_radius(Halfspace((3, 4), 5), (Fraction(3), Fraction(4))) == 4
    assert inner_radius(Polyhedron([[0, 0]], [1]), (Fraction(3), Fraction(4))) is None
    with pytest.raises(ValueError, match="outside"):
        inner_radius(Box((0,), (1,)), (Fraction(1),))
    with pytest.raises(TypeError, match="not open"):
        inner_radius(Point((0,)), (Fraction(0),))
