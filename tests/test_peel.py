"""Strategy `peel`: tie splitting, collapse, radial peeling (Theorem B, steps B1 to B3)."""

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hardmax as hm
from hardmax.construct.peel.radial import Target, peel_radially
from hardmax.construct.shared.collapse import collapse
from hardmax.construct.shared.tie_splitting import split_ties
from hardmax.dataset import ContradictionError, merge
from hardmax.enclosure.enclosed import Enclosed
from hardmax.exact.dyadic import rounded_to
from hardmax.exact.numbers import dot
from hardmax.exact.points import IntegerPoints
from hardmax.labels import Ball, Point
from hardmax.model.blocks import apply
from hardmax.model.tokens import Tokens
from hardmax.testing import FAMILIES, KINDS, adversarial, datasets, rationals


def distinct_means(data):
    merged = merge(data)
    batch = Tokens.from_sequences(data.sequence(j) for j in merged.representatives)
    return len(set(batch.mean_keys()))


def check(data, strategy="peel"):
    """Build, prove, and assert the bounds of Theorem B; return the model."""
    try:
        model = hm.build(data, strategy=strategy)
    except ContradictionError:
        return None
    certificate = hm.certify(model, data)
    assert certificate.proved, certificate.witnesses[0].sentence()
    split = model.stage_counts().get("split", 0)
    assert split <= certificate.N - distinct_means(data)
    assert len(model) <= split + certificate.N
    assert len(model) <= max(2 * certificate.N - 1, 1)
    return model


@given(datasets(kinds=None))
def test_points(data):
    check(data)


@given(datasets(kinds=KINDS))
def test_label_sets(data):
    check(data)


@pytest.mark.parametrize("family", FAMILIES)
def test_families(family):
    model = check(adversarial(family, 24))
    assert not any(any(block.v) for block in model.blocks)  # attention is uniform


def test_merging_tie():
    # with u = 1, b = 0, w = −1 the layer is not injective and the measures become equal
    sequences = [[(-5,), (5,), (0,)], [(1,), (3,), (-4,)], [(2,), (2,), (-4,)]]
    careless = [Counter(z - max(z, 0) for (z,) in sequence) for sequence in sequences]
    assert careless[1] != careless[0] == careless[0]
    assert len({frozenset(c.items()) for c in careless}) < 3
    for labels in ("abc", "aab", "aba", "abb"):
        data = hm.Dataset(sequences, labels)
        model = check(data)
        assert 1 <= model.stage_counts()["split"] <= 2


@given(st.integers(0, 2**16), st.integers(2, 12))
def test_tie_splitting_is_injective(seed, count):
    data = adversarial("equal-means-unequal-lengths", count, seed)
    labels = [str(j) for j in range(count)]
    batch = Tokens.from_sequences(data.sequences)
    before = len(set(batch.token_keys()))
    means = len(set(batch.mean_keys()))
    twin = batch.copy()
    blocks = split_ties(batch, labels, seed)
    assert len(set(batch.token_keys())) == before
    assert len(set(batch.mean_keys())) == count
    assert len(blocks) <= count - means
    for block in blocks:
        apply(twin, block)
    assert twin.token_keys() == batch.token_keys()


def test_ties_of_one_label_stay():
    data = hm.Dataset([[(1, 0), (-1, 0)], [(0, 1), (0, -1)], [(5, 5)]], ["a", "a", "b"])
    assert "split" not in check(data).stage_counts()


@pytest.mark.parametrize("dimension", [1, 2, 7])
def test_distinct_means_need_no_splitting(dimension):
    rng = np.random.default_rng(dimension)
    sequences = [(rng.integers(-9, 9, (3, dimension)) + 40 * j).tolist() for j in range(15)]
    data = hm.Dataset(sequences, range(15))
    model = check(data)
    assert len(model) == distinct_means(data) == 15
    assert model.stage_counts() == {"collapse": 1, "peel": 14}


def test_single_sequence_and_single_label():
    assert len(check(hm.Dataset([[(1, 2), (3, 4)]], ["a"]))) == 1
    assert len(check(hm.Dataset([[(1, 2)], [(3, 4)], [(5, 6)]], ["a"] * 3))) == 2


@given(
    st.lists(st.tuples(rationals(), rationals()), min_size=1, max_size=8, unique=True),
    st.lists(st.tuples(rationals(), rationals()), min_size=8, max_size=8, unique=True),
)
def test_any_points_to_any_targets(points, targets):
    # B3 with a target of its own for each point
    names = [str(j) for j in range(len(points))]
    aims = {name: Target(Point(y)) for name, y in zip(names, targets, strict=False)}
    block, cloud = collapse(
        IntegerPoints.of_vectors(points), names, {name: aim.point for name, aim in aims.items()}
    )
    blocks = [block, *peel_radially(cloud, aims)]
    assert len(blocks) <= len(points)
    model = hm.Transformer(blocks)
    for x, name in zip(points, names, strict=True):
        assert model.output([x]) == aims[name].point


def test_open_sets_get_short_parameters():
    rng = np.random.default_rng(1)
    sequences = [rng.integers(-99, 99, (3, 3)).tolist() for _ in range(20)]
    sets = {"a": Ball((0, 0, 0), "1/3"), "b": Ball((1, 0, 0), "1/3")}
    open_sets = check(hm.Dataset(sequences, ["a", "b"] * 10, sets))
    points = check(hm.Dataset(sequences, ["a", "b"] * 10))
    bits = [sum(model.parameters.bit_lengths()) for model in (open_sets, points)]
    assert bits[0] < bits[1]


@pytest.mark.parametrize("size", [Fraction(2) ** -900, Fraction(2) ** 900])
def test_extreme_sizes(size):
    sequences = [[(size * x, size * y)] for x in (-1, 0, 1) for y in (-2, 3)]
    labels = list("abcabc")
    names = {"a": Point((0, 0)), "b": Point((size, 0)), "c": Point((0, -size))}
    check(hm.Dataset(sequences, labels, names))


def test_seeds_and_repetition():
    data = adversarial("same-hull-same-mean", 12)
    first, second = (hm.build(data, strategy="peel", seed=3) for _ in range(2))
    assert list(first.blocks) == list(second.blocks)


@given(st.lists(st.lists(rationals(50), min_size=3, max_size=3), min_size=1, max_size=6))
def test_filtered_products(rows):
    points = [tuple(x) for x in rows]
    cloud = Enclosed(points)
    u = np.array([[0.7, -1.3, 0.1]])
    value, error = cloud.products(u)
    moved, room = cloud.bounded(u, np.array([0.3]))
    for j, x in enumerate(points):
        exact = dot([Fraction(t) for t in u[0].tolist()], x) / cloud.scale
        assert abs(exact - Fraction(float(value[0, j]))) <= Fraction(float(error[0, j]))
        off = exact + Fraction(0.3) - Fraction(float(moved[0, j]))
        assert abs(off) <= Fraction(float(room[0]))
        assert error[0, j] <= room[0]


def test_filtered_points_of_extreme_size():
    for size in (Fraction(2) ** 990, Fraction(2) ** -990, Fraction(1, 3)):
        cloud = Enclosed([(size,), (-size / 2,)])
        assert size / 2 < cloud.scale <= size
        assert cloud.values[1, 0] == pytest.approx(-cloud.values[0, 0] / 2)
    assert rounded_to(np.array([1.0, 0.0]), 4).tolist() == [1.0, 0.0]
