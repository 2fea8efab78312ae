"""Cover at scale: float means with bounds, exact decisions in doubt, tents in panels (B4)."""

from fractions import Fraction
from math import ceil

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hardmax as hm
from hardmax.construct.cover import products
from hardmax.construct.cover.flatten import flatten
from hardmax.construct.cover.rules.apply import repair
from hardmax.construct.cover.strategy import build_cover
from hardmax.construct.cover.tents import panels
from hardmax.construct.cover.tents.panels import TentPanel, TentSearch, precision
from hardmax.construct.cover.tents.search import cover_class
from hardmax.construct.cover.tuning import Tuning
from hardmax.construct.shared.filtered_cloud import FilteredCloud
from hardmax.construct.shared.filtered_means import Means
from hardmax.construct.shared.staged import Staged
from hardmax.dataset import merge
from hardmax.enclosure.enclosed import Enclosed
from hardmax.enclosure.means import float_means
from hardmax.exact.array import ExactArray
from hardmax.model.layers import RankOneBlock
from hardmax.model.parameters import Parameters
from hardmax.model.tokens import Tokens
from hardmax.testing import FAMILIES, adversarial, datasets

TINY = Fraction(1, 2**200)


# however few the tokens: float means, and nothing that takes a step for each point
FLOATS_ONLY = Tuning(small=0, many=0, work=0)


def gaussian(count, dimension, labels=2, seed=0, length=2):
    rng = np.random.default_rng(seed)
    tokens = ExactArray(rng.normal(size=(count * length, dimension)))
    names = rng.integers(0, labels, count).astype(str).tolist()
    return hm.Dataset.from_arrays(tokens, np.arange(count + 1) * length, names)


def prove(data, **options):
    model = build_cover(data, merge(data), **options)
    certificate = hm.certify(model, data)
    assert certificate.proved, certificate.witnesses[0].sentence()
    return model


def task_of(data, seed=0):
    """The slice of a data set, as `cover` makes it."""
    targets = {name: label_set.witness() for name, label_set in data.sets.items()}
    means = Means.of_array(data.tokens, data.offsets, np.arange(len(data)))
    return flatten(means, data.labels, targets, seed)[1]


def rises(base, blocks):
    """By how much blocks raise every point of a height slice, exactly."""
    points = []
    for x in base.exact:
        x = [t + s for t, s in zip(x, base.shift, strict=True)]
        points.append([[*x[: base.axis], base.height, *x[base.axis :]]])
    return [z[base.axis] - base.height for z in hm.Transformer(blocks).outputs(points)]


@given(datasets(kinds=("point",)))
def test_float_means_lie_within_their_bounds(data):
    everything = np.arange(len(data))
    points = float_means(data.tokens.values, data.offsets)
    if points is None:
        return
    exact = Tokens.of_sequences(data.tokens, data.offsets, everything).means()
    for row, error, mean in zip(points.values, points.radius, exact, strict=True):
        for x, t in zip(row.tolist(), mean, strict=True):
            assert abs(Fraction(x) * points.scale - t) <= Fraction(float(error)) * points.scale


def test_float_means_of_ragged_and_rational_tokens(monkeypatch):
    monkeypatch.setattr("hardmax.enclosure.means._CHUNK_TOKENS", 7)
    monkeypatch.setattr("hardmax.enclosure.enclosed._CHUNK_POINTS", 7)
    rng = np.random.default_rng(0)
    lengths = [1, 2, 2, 2, 2, 2, 2, 3, 50, 1, 4, 4, 4, 4]
    sequences = [
        [[Fraction(int(p), 3) * 10 ** int(e) for p, e in zip(*rng.integers(-9, 9, (2, 4)))]
         for _ in range(n)]
        for n in lengths
    ]  # fmt: skip
    data = hm.Dataset(sequences, "a" * len(lengths))
    chosen = np.array([0, 3, 4, 8, 13])
    means = Means.of_array(data.tokens, data.offsets, chosen, small=0)
    assert means.cloud.vectors is None
    exact = Tokens.from_sequences(data.sequence(j) for j in chosen).means()
    assert means.cloud.exact(range(5)) == exact
    projected = means.cloud.project(2, [1, -2, 1, 3])
    for i in range(3):
        low, high = projected.points.column(i)
        for j, m in enumerate(projected.exact(range(5))):
            t = m[i] / projected.points.scale
            assert Fraction(float(low[j])) <= t <= Fraction(float(high[j]))
    assert means.reach(1) >= max(abs(z[1]) for j in chosen for z in data.sequence(j))


def test_equal_points_are_found_and_nearly_equal_ones_told_apart():
    rng = np.random.default_rng(0)
    exact = [tuple(map(Fraction, x)) for x in rng.normal(size=(40, 3)).tolist()]
    exact += [exact[7], tuple(t + TINY for t in exact[7]), exact[3], exact[7]]
    values = np.array([[float(t) for t in x] for x in exact])
    points = Enclosed.of_floats(values, np.full(len(exact), 1e-15), Fraction(1))
    asked = []

    def look(rows):
        asked.extend(rows)
        return [exact[j] for j in rows]

    first = FilteredCloud(points, look).first_equal()
    assert sorted(asked) == [3, 7, 40, 41, 42, 43]  # all others are certainly different
    assert first.tolist() == [*range(40), 7, 41, 3, 7]


def test_bounds_of_very_different_sizes():
    exact = [(Fraction(10) ** 9,), (Fraction(1),), (1 + TINY,), (Fraction(2),)]
    points = Enclosed.of_floats(
        np.array([[1e9], [1.0], [1.0], [2.0]]), np.array([8.0, 0, 1e-16, 0]), Fraction(1)
    )
    assert FilteredCloud(points, lambda rows: [exact[j] for j in rows]).first_equal().tolist() == [
        0,
        1,
        2,
        3,
    ]


def test_constant_coordinates():
    rng = np.random.default_rng(0)
    tokens = rng.normal(size=(200, 5))
    tokens[:, 1] = 0.1
    tokens[::2, 3], tokens[1::2, 3] = 1, 2
    means = Means.of_array(ExactArray(tokens), np.arange(0, 201, 2), np.arange(100), 0)
    found = [means.cloud.constant(i) for i in range(5)]
    assert found == [None, Fraction(0.1), None, Fraction(3, 2), None]
    assert means.cloud.project(1, [0, 1, 0, 2, 0]).constant(2) == Fraction(3, 2) - 2 * Fraction(0.1)
    assert means.cloud.scaled(Fraction(1, 4)).constant(3) == Fraction(3, 8)


@pytest.mark.parametrize(
    ("count", "dimension", "labels"), [(300, 5, 2), (300, 5, 4), (500, 16, 3), (120, 2, 2)]
)
def test_tents_alone(count, dimension, labels):
    data = gaussian(count, dimension, labels)
    model = prove(data, learn=False, tuning=FLOATS_ONLY)
    assert model.meta["form"] == "tents"
    others = [name for name in data.sets if name != model.meta["base"]]
    most = 3 * sum(ceil(data.labels.count(name) / (dimension - 1)) for name in others)
    assert model.meta["half-spaces"] + 3 * model.meta["tents"] <= most
    assert model.parameters.overrides() == 0


@pytest.mark.parametrize("family", FAMILIES)
def test_families(family):
    prove(adversarial(family, 30), learn=False, tuning=FLOATS_ONLY)


def test_ties_and_nearly_ties():
    rng = np.random.default_rng(0)
    tokens = [
        [[Fraction(t) for t in z] for z in rng.normal(size=(2, 4)).tolist()] for _ in range(60)
    ]
    # the same mean as its neighbour; a mean that differs by far less than floats show
    tokens[1] = [[(a + b) / 2 for a, b in zip(*tokens[0], strict=True)]]
    tokens[3] = [tokens[2][0], [t + TINY for t in tokens[2][1]]]
    labels = [str(j % 2) for j in range(60)]
    model = prove(hm.Dataset(tokens, labels), learn=False, tuning=FLOATS_ONLY)
    assert model.stage_counts()["split"] == 1
    # without the tie there is nothing to split
    model = prove(hm.Dataset(tokens[2:], labels[2:]), learn=False, tuning=FLOATS_ONLY)
    assert "split" not in model.stage_counts()


@pytest.mark.parametrize("kind", ["gauss", "lattice", "clusters", "flat", "halves"])
@pytest.mark.parametrize("trials", [1, 8])
def test_panels_raise_members_and_nothing_else(kind, trials):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(240, 4))
    y = rng.integers(0, 2, 240)
    if kind == "lattice":
        X = np.unique(rng.integers(-2, 3, (240, 4)), axis=0).astype(float)
    if kind == "clusters":
        X = X / 16 + 4 * rng.normal(size=(6, 4))[np.arange(240) % 6]
        y = np.arange(240) % 2
    if kind == "flat":
        X[:, 1] = 1 / 3
    if kind == "halves":
        y = (X @ [1.0, 2, 3, 4] > 0).astype(int)
    y = y[: len(X)]
    data = hm.Dataset.from_arrays(ExactArray(X), np.arange(len(X) + 1), y.astype(str).tolist())
    base = task_of(data)
    members, avoid = (np.flatnonzero(base.codes == c) for c in (0, 1))
    rise = Fraction(8)
    pushes = cover_class(base, members, avoid, rise, np.random.default_rng(0), trials=trials)
    if kind == "gauss" and trials == 1:
        assert max(len(push) for push in pushes if isinstance(push, TentPanel)) > 3
    assert set(np.concatenate([push.captured for push in pushes]).tolist()) == set(members.tolist())
    heights = rises(base, [block for push in pushes for block in push.blocks(base)])
    assert all(heights[j] >= rise for j in members)
    assert not any(heights[j] for j in avoid)


def test_hinges_of_a_tent_meet_exactly():
    base = task_of(gaussian(200, 6))
    members, avoid = (np.flatnonzero(base.codes == c) for c in (0, 1))
    source = TentSearch(base, members, avoid, Fraction(8), np.random.default_rng(0))
    seen = 0
    while len(source.left):
        panel = source.next()
        blocks = panel.blocks(base)
        assert blocks.overrides() == 0
        assert not blocks.u.values[:, base.axis].any()
        for k in range(0, len(panel), 3):
            left, middle, right = (blocks[k + i] for i in range(3))
            assert left.u == middle.u == right.u
            assert left.b - middle.b == middle.b - right.b > 0
            assert [x[base.axis] / left.w[base.axis] for x in (left.w, middle.w, right.w)] == [
                1,
                -2,
                1,
            ]
            # short directions
            assert all((t * base.points.scale * 2**36).denominator == 1 for t in left.u)
        gone = np.zeros(len(base), dtype=bool)
        gone[panel.captured] = True
        source.drop(gone)
        seen += len(panel.captured)
    assert seen == len(members)


def test_one_by_one_where_offsets_are_no_floats():
    """A target so far away that no float64 offset tells the points apart."""
    sets = {"0": hm.labels.Point((0, 0, 0)), "1": hm.labels.Point((2**40, 0, 0))}
    data = gaussian(60, 3)
    data = hm.Dataset(data.sequences, data.labels, sets)
    targets = {name: label_set.witness() for name, label_set in sets.items()}
    means = Means.of_array(data.tokens, data.offsets, np.arange(60))
    assert precision(flatten(means, data.labels, targets)[1]) is None
    assert prove(data, learn=False, tuning=FLOATS_ONLY).meta["form"] == "tents"


@given(st.lists(st.floats(-4, 4).filter(lambda t: t == 0 or abs(t) > 1e-9), min_size=1))
def test_nearest_values_by_their_bits(values):
    X = np.array(values)[:, None]
    below, above = products.nearest(X, np.ones((1, 1)))
    assert below[0] == max([t for t in values if t < 0], default=-np.inf) or 0 in values
    assert above[0] == min([t for t in values if t >= 0], default=np.inf)


def test_nearest_values_of_large_products():
    rng = np.random.default_rng(0)
    X, W = rng.normal(size=(33, 4)), rng.normal(size=(4, 10))
    T = X @ W
    below, above = products.nearest(X, W, block=(5, 3))
    np.testing.assert_allclose(below, np.where(T < 0, T, -np.inf).max(axis=0))
    np.testing.assert_allclose(above, np.where(T > 0, T, np.inf).min(axis=0))
    within = np.full(10, 0.5)
    rows, columns = products.within_slabs(X, W, within, block=(5, 3))
    inside = np.zeros(T.shape, dtype=bool)
    inside[rows, columns] = True
    assert (inside == (np.abs(T) <= 0.5)).all()


def test_runs_of_the_near_order_are_near():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(512, 3))
    order = panels.near_order(X, 4, rng)
    assert sorted(order.tolist()) == list(range(512))
    spread = [X[part].std(axis=0).mean() for part in np.array_split(order, 128)]
    assert np.mean(spread) < 0.6 * X.std(axis=0).mean()


def with_mistakes(count, dimension):
    """Three labels that a list of two rules tells apart, but for an eighth of the points."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(count, dimension))
    labels = np.searchsorted([-1, 1], X.sum(axis=1))
    wrong = rng.choice(count, count // 8, replace=False)
    labels[wrong] = (labels[wrong] + 1) % 3
    return hm.Dataset([[x] for x in X.tolist()], labels.tolist()), wrong


@pytest.mark.parametrize("sizes", [(400, 5), (150, 3)])
def test_plateaus_in_panels(sizes):
    data, _ = with_mistakes(*sizes)
    slowly, model = prove(data), prove(data, tuning=Tuning(much=0))
    assert slowly.meta["form"] == "rules"
    assert model.meta["learned"] == slowly.meta["learned"]
    assert model.stage_counts()["repair"] <= slowly.stage_counts()["repair"] + 4
    assert model.parameters.overrides() == 0


@pytest.mark.parametrize("much", [0, np.inf])
@pytest.mark.parametrize("sizes", [(400, 5), (150, 3)])
def test_plateaus_move_what_is_misplaced_and_nothing_else(sizes, much):
    data, wrong = with_mistakes(*sizes)
    base = task_of(data)
    levels = [Fraction(8), Fraction(3), Fraction(0)]
    place = np.arange(len(base)) % 3
    wanted = place.copy()
    wanted[wrong] = (place[wrong] + 1) % 3
    parts = repair(base, place, wanted, levels, much=much)
    assert {type(part) for part in parts} == {list if much else Parameters}
    found = rises(base, [block for part in parts for block in part])
    assert found == [levels[k] - levels[i] for i, k in zip(place, wanted, strict=True)]


def test_least_value_beyond_a_bound():
    rng = np.random.default_rng(0)
    X, W = rng.normal(size=(50, 3)), rng.normal(size=(3, 7))
    T = np.abs(X @ W)
    counts, least = products.beyond(X, W, np.full(7, 0.5))
    assert (counts == (T <= 0.5).sum(axis=0)).all()
    np.testing.assert_allclose(least, np.where(T > 0.5, T, np.inf).min(axis=0))


def test_packed_blocks_keep_their_exact_numbers():
    third = RankOneBlock.of(2, u=("1/3", 1), b="1/7", w=(0, "2/3"))
    plain = RankOneBlock.translation((1, 2))
    staged = Staged([("a", plain), ("a", third)])
    staged.add("b", Parameters.pack([third, plain, third], 2))
    staged.extend([("c", third)])
    assert staged.stages() == ["a", "a", "b", "b", "b", "c"]
    assert list(staged.parameters(2)) == [plain, third, third, plain, third, third]
    assert [block for _, block in staged] == list(staged.parameters(2))
    assert staged[2] == ("b", third)
