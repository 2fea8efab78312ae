"""Strategies `cover` and `auto`: Theorem B, steps B4 and B5."""

from fractions import Fraction
from math import ceil
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hardmax as hm
from hardmax.certify.floating import certify_float
from hardmax.construct.cover import strategy as module
from hardmax.construct.cover.ending import ending_count, polyline
from hardmax.construct.cover.flatten import flatten
from hardmax.construct.cover.height_slice import Cut, TooClose
from hardmax.construct.cover.rules.learn import choose_list, fit_list
from hardmax.construct.cover.shells.park import fewest, park
from hardmax.construct.cover.shells.tilt import BAND
from hardmax.construct.cover.tents.search import cover_class
from hardmax.construct.cover.variants import (
    Task,
    Variant,
    rules_variant,
    shells_variant,
    tents_variant,
)
from hardmax.construct.shared.tie_splitting import split_ties
from hardmax.dataset import ContradictionError, merge
from hardmax.exact.array import ExactArray
from hardmax.labels import Ball, Halfspace, Point
from hardmax.model.blocks import apply
from hardmax.model.tokens import Tokens
from hardmax.testing import FAMILIES, KINDS, adversarial, datasets, disjoint_sets

EXAMPLES = Path(__file__).parent.parent / "examples"
FAR = 10**9


def gaussian(count, dimension, labels=2, seed=0, sets=None):
    rng = np.random.default_rng(seed)
    sequences = [rng.normal(size=(rng.integers(1, 4), dimension)).tolist() for _ in range(count)]
    return hm.Dataset(sequences, [str(c) for c in rng.integers(0, labels, count)], sets)


def separable(count, dimension, labels=3, seed=0):
    """Labels by thresholds of one linear function."""
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(count, dimension))
    score = points @ np.arange(1.0, dimension + 1)
    cuts = np.linspace(-3, 3, labels - 1)
    return hm.Dataset([[x] for x in points.tolist()], np.searchsorted(cuts, score).tolist())


def check(data, strategy="cover", **options):
    """Build, prove, and assert the bounds; return the model, None for a contradiction."""
    try:
        model = hm.build(data, strategy=strategy, **options)
    except ContradictionError:
        return None
    certificate = hm.certify(model, data)
    assert certificate.proved, certificate.witnesses[0].sentence()
    if model.meta.get("built", "") != "paper":
        split = model.stage_counts().get("split", 0)
        assert len(model) <= min(model.meta["bound"], split + certificate.N)
    return model


def task_of(data, seed=0):
    """Flatten a data set as `cover` does; any number of blocks may follow."""
    merged = merge(data)
    labels = [data.labels[j] for j in merged.representatives]
    names = list(dict.fromkeys(labels))
    sets = {name: data.sets[name] for name in names}
    targets = {name: label_set.witness() for name, label_set in sets.items()}
    batch = Tokens.from_sequences(data.sequence(j) for j in merged.representatives)
    split = split_ties(batch, labels, seed)
    block, base = flatten(batch, labels, targets, seed, sets)
    return [*split, block], Task(base, targets, sets, names, seed, FAR)


def check_forms(data, seed=0):
    """Prove every form by itself, even where peel would be shallower; return their names."""
    if data.dimension < 2 or len(set(data.labels)) < 2:
        return []
    try:
        before, task = task_of(data, seed)
    except ContradictionError:
        return []
    found = []
    for make in (
        lambda task: tents_variant(task, FAR),
        rules_variant,
        lambda task: shells_variant(task, FAR),
    ):
        form = make(task)
        if form is None:
            continue
        blocks = [*before, *(block for _, block in form.blocks)]
        model = hm.Transformer(blocks, dimension=data.dimension)
        certificate = hm.certify(model, data)
        assert certificate.proved, (form.name, certificate.witnesses[0].sentence())
        assert len(form.blocks) <= form.bound
        found.append(form.name)
    return found


@given(datasets())
def test_points(data):
    check(data)
    check_forms(data)


@given(datasets(kinds=KINDS))
def test_label_sets(data):
    check(data, learn=False)
    check_forms(data)


@given(datasets())
def test_auto(data):
    model = check(data, "auto")
    if model is not None:
        for other in ("paper", "peel", "cover"):
            assert len(model) <= len(hm.build(data, strategy=other))
        assert model.meta["built"] in ("paper", "peel", "cover", "fold")
        assert model.meta["why"]


@pytest.mark.parametrize("family", FAMILIES)
def test_families(family):
    data = adversarial(family, 24)
    model = check(data)
    assert len(model) <= len(hm.build(data, strategy="peel"))
    check(data, learn=False)
    if family != "nearly-equal":  # too close for any hyperplane proposed in float64
        assert data.dimension < 2 or check_forms(data)


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("kind", ["lattice", "gauss", "open"])
def test_forms(kind, seed):
    rng = np.random.default_rng(seed)
    dimension, count, labels = int(rng.integers(2, 6)), int(rng.integers(5, 40)), 2 + seed % 3
    if kind == "lattice":
        tokens = rng.integers(-2, 3, (count, dimension)).tolist()
        chosen = {tuple(z): str(rng.integers(labels)) for z in tokens}
        assert check_forms(hm.Dataset([[z] for z in chosen], chosen.values()), seed) or labels
        return
    from random import Random

    names = [str(c) for c in range(labels)]
    kinds = [k for k in KINDS if k != "point"]
    sets = disjoint_sets(names, dimension, Random(seed), kinds) if kind == "open" else None
    assert check_forms(gaussian(count, dimension, labels, seed, sets), seed)


def test_learn_then_repair():
    data = separable(120, 4)
    labels = list(data.labels)
    for j in (3, 50, 77):  # labels that no list of half-spaces explains
        labels[j] = str((int(labels[j]) + 1) % 3)
    data = hm.Dataset(data.sequences, labels)
    model = check(data)
    assert model.meta["form"] == "rules"
    assert model.stage_counts()["repair"] % 4 == 0
    assert model.meta["learned"]["misplaced"] >= 3
    memorised = check(data, learn=False)
    assert memorised.meta["form"] in ("tents", "shells")
    assert "learned" not in memorised.meta
    # the list generalises, memory does not
    test = separable(400, 4, seed=1)
    right = [
        np.mean([hm.predict(y, data.sets) == c for y, c in zip(outputs, test.labels, strict=True)])
        for outputs in (m.outputs(test.sequences) for m in (model, memorised))
    ]
    assert right[0] > 0.85
    assert right[0] > right[1]


@pytest.mark.parametrize("normal", [(4, 1), (1, 3), (-2, 1), (1, 3, -5)])
def test_labels_of_a_half_space_survive_the_projection(normal):
    """The points lose one dimension; along the right direction a half-space stays one."""
    rng = np.random.default_rng(0)
    shape = 600, 3, len(normal)
    tokens, new = rng.normal(size=shape), rng.normal(size=shape)
    model = check(hm.Dataset(tokens, np.where(tokens.mean(axis=1) @ normal > 0, "in", "out")))
    assert model.meta["learned"]["misplaced"] <= 30
    expected = np.where(new.mean(axis=1) @ normal > 0, "in", "out")
    assert (np.array(model.predict(new)) == expected).mean() > 0.95


def test_random_labels_are_not_learned():
    assert check(gaussian(80, 4)).meta["form"] != "rules"


def test_no_deeper_than_peel():
    # three sequences in high dimension: the kills alone cost more
    model = check(gaussian(3, 20))
    assert model.meta["form"] == "peel"
    assert "no cover is shallower" in model.meta["why"]
    one = hm.Dataset([[(k,)] for k in range(9)], "abababbaa")
    assert check(one).meta["why"] == "built as peel: the dimension is 1"


@pytest.mark.parametrize(("dimension", "count"), [(4, 90), (8, 200), (16, 300)])
def test_depth_in_general_position(dimension, count):
    data = gaussian(count, dimension)
    least = min(sum(label == name for label in data.labels) for name in "01")
    _, task = task_of(data)
    tents = tents_variant(task, FAR)
    formula = 3 * ceil(least / (dimension - 1)) + 1 + (dimension - 1) + 2
    assert len(tents.blocks) <= formula + 3  # the base is an end of the line, not the largest
    shells = shells_variant(task, FAR)
    assert shells.notes["shells"] <= ceil(count / (dimension - 1)) + 1
    model = check(data, learn=False)
    assert len(model) == 1 + min(len(tents.blocks), len(shells.blocks))


def test_stored_in_float64():
    for data in (gaussian(120, 6), separable(150, 5)):
        model = check(data)
        assert model.meta["form"] != "peel"
        assert model.parameters.overrides() == 0


def test_collinear_targets_need_one_block():
    targets = {c: (Fraction(k * k), Fraction(0)) for k, c in enumerate("abc")}
    assert ending_count(polyline("abc", targets), targets, 1) == 1
    assert ending_count(polyline("acb", targets), targets, 1) == 3
    assert ending_count(polyline("abc", targets), targets, 0) == 3


@pytest.mark.parametrize(
    "targets",
    [
        {"0": (0, 0, 0), "1": (1, 0, 0), "2": (3, 0, 0)},
        {"0": (1, 0, 5), "1": (0, 2, 5), "2": (-7, "1/3", 5)},
        {"0": (1, 0, 5), "1": (0, 2, -5), "2": (-7, "1/3", 0)},
        {"0": (1, 1, 1), "1": (2, 2, 2), "2": (-1, -1, -1)},
    ],
)
def test_targets_anywhere(targets):
    sets = {name: Point(y) for name, y in targets.items()}
    assert check_forms(gaussian(40, 3, 3, 1, sets))
    check(gaussian(40, 3, 3, 1, sets))


def test_open_sets_need_no_kills():
    sets = {"0": Ball((0,) * 8, "1/3"), "1": Halfspace((1, *(0,) * 7), 1)}
    model = check(gaussian(150, 8, sets=sets), learn=False)
    stages = model.stage_counts()
    assert stages["shift"] == 1
    assert "kill" not in stages


def test_flatten():
    data = gaussian(30, 5)
    merged = merge(data)
    labels = [data.labels[j] for j in merged.representatives]
    targets = {name: data.sets[name].witness() for name in data.sets}
    batch = Tokens.from_sequences(data.sequences)
    block, base = flatten(batch, labels, targets)
    apply(batch, block)
    for point in batch.means():
        assert point[base.axis] == base.height
    assert len(set(batch.mean_keys())) == len(base)


def test_constant_coordinate_becomes_the_height_and_is_not_killed():
    rng = np.random.default_rng(0)
    tokens = rng.normal(size=(80, 5))
    tokens[:, 1], tokens[:, 3] = 0, 0
    data = hm.Dataset([[z] for z in tokens.tolist()], rng.integers(0, 2, 80).tolist())
    _, task = task_of(data)
    assert task.base.axis == 3
    assert task.fixing == 3
    check_forms(data)


@given(st.integers(0, 2**16))
@settings(max_examples=20)
def test_pushes_avoid_what_they_must(seed):
    data = gaussian(25, 3, 2, seed)
    if len(set(data.labels)) < 2:
        return
    _, task = task_of(data, seed)
    base = task.base
    members, avoid = (np.flatnonzero(base.labels == name) for name in "01")
    rise = Fraction(8)
    pushes = cover_class(base, members, avoid, rise, np.random.default_rng(seed))
    assert set(np.concatenate([push.captured for push in pushes])) == set(members)
    for j in range(len(base)):
        x = [t + s for t, s in zip(base.exact[j], base.shift, strict=True)]
        x.insert(base.axis, base.height)
        height = hm.Transformer([b for push in pushes for b in push.blocks(base)]).output([x])[
            base.axis
        ]
        lifted = height - base.height
        assert lifted >= rise if j in members else lifted == 0


@given(st.integers(0, 2**16))
@settings(max_examples=20)
def test_shells_park_in_bands(seed):
    data = gaussian(25, 4, 3, seed)
    _, task = task_of(data, seed)
    base = task.base
    heights = {name: i + 1 for i, name in enumerate(task.names)}
    model = hm.Transformer(park(base, heights, seed))
    for j, label in enumerate(base.labels):
        x = [t + s for t, s in zip(base.exact[j], base.shift, strict=True)]
        x.insert(base.axis, base.height)
        height = model.output([x])[base.axis] - base.height
        assert abs(height - heights[label]) <= BAND


@pytest.mark.parametrize("dimension", [2, 3, 6])
def test_the_last_shell_takes_all_that_is_left_even_where_it_has_one_rank(dimension):
    _, task = task_of(gaussian(dimension + 1, dimension))
    blocks = park(task.base, dict.fromkeys(task.names, 1))
    assert len(blocks) == fewest(len(task.base), dimension - 1) == 2


def test_limits():
    _, task = task_of(gaussian(40, 3))
    heights = {name: i + 1 for i, name in enumerate(task.names)}
    assert park(task.base, heights, limit=3) is None
    members, avoid = (np.flatnonzero(task.base.labels == name) for name in "01")
    rng = np.random.default_rng(0)
    assert cover_class(task.base, members, avoid, Fraction(1), rng, limit=3) is None


def test_cut_on_the_grid():
    cut = Cut.near(np.array([3.0, -0.1]), 0.7)
    assert np.abs(cut.u).max() <= 2
    assert (cut.u * 2**36 == np.round(cut.u * 2**36)).all()
    with pytest.raises(TooClose):
        Cut.near(np.array([0.0, 0.0]), 1.0)
    with pytest.raises(TooClose):
        Cut.near(np.array([np.nan, 0.0]), 1.0)


def test_choice_uses_training_data_and_admits_ignorance():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    y = (X[:, 0] > 0).astype(int)
    chosen = choose_list(X, y, [[0, 1]], len)
    assert chosen.clear
    assert chosen.error < 0.1
    noise = rng.integers(0, 2, 200)
    assert choose_list(X, noise, [[0, 1]], len) is None
    assert choose_list(X[:8], y[:8], [[0, 1]], len) is None
    rules = fit_list(X, y, [1, 0], 0.1, 0.1)
    assert (rules.predict(X) == y).mean() > 0.95


def test_falls_back_where_floats_cannot_tell():
    tiny = Fraction(2) ** -200
    data = hm.Dataset([[(k * tiny, 1 + k * k * tiny)] for k in range(9)] + [[(5, 5)]], "aabbabbabb")
    model = check(data)
    assert model.meta["form"] == "peel" or model.meta["hyperplanes"] == "exact"


@pytest.mark.parametrize(
    ("option", "strategy"),
    [("--robust", "paper"), ("--robust", "fold"), ("--no-learn", "paper"), ("--no-learn", "learn")],
)
def test_options_of_other_strategies_are_refused(tmp_path, run, option, strategy):
    """As --heads is: an option that would change nothing is said, not passed over."""
    path, output = tmp_path / "data.csv", tmp_path / "model.npz"
    path.write_text("sequence,label,x1\ns,a,1\nt,b,2\n")
    result = run("build", path, "-o", output, "--strategy", strategy, option)
    assert (result.code, result.out, result.err.count("\n")) == (2, "", 1)
    assert option in result.err
    assert result.err.endswith(f"not for {strategy}\n")
    assert not output.exists()


def test_options_and_notes(tmp_path, run):
    path, output = tmp_path / "data.csv", tmp_path / "model.npz"
    rng = np.random.default_rng(0)
    rows = [
        f"{j},{'ab'[j % 2]},{x},{y},{z}"
        for j, (x, y, z) in enumerate(rng.integers(-99, 99, (60, 3)))
    ]
    path.write_text("\n".join(["sequence,label,x1,x2,x3", *rows]) + "\n")
    result = run("build", path, "-o", output, "--strategy", "auto", "--no-learn", "--robust")
    assert result.code == 0
    assert "blocks, paper takes at least 1 + N − M" in result.out
    meta = hm.Transformer.load(output).meta
    assert meta["strategy"] == "auto"
    assert meta["built"] == "cover"
    assert meta["options"] == {"learn": False, "robust": True}


def test_broken_promise_is_an_internal_error(monkeypatch):
    form = Variant("tents", [], -5, {})
    monkeypatch.setattr(module, "_shallowest", lambda task, learn: (form, {}))
    with pytest.raises(hm.HardmaxError, match="break the bound"):
        hm.build(gaussian(30, 3), strategy="cover")


@pytest.mark.slow
def test_vowels():
    data = hm.load(EXAMPLES / "vowels.json.gz")
    model = check(data)
    assert len(model) <= 45
    assert model.meta["learned"]["cross_validated_error"] < 0.05
    assert model.parameters.overrides() == 0
    test = hm.load(EXAMPLES / "vowels_test.json.gz")
    outputs = model.outputs(test.sequences)
    right = [hm.predict(y, data.sets) == c for y, c in zip(outputs, test.labels, strict=True)]
    assert np.mean(right) >= 0.95
    assert certify_float(model, data).certified
    assert len(check(data, learn=False)) <= 110


@pytest.mark.slow
@pytest.mark.parametrize(("dimension", "most"), [(16, 1030), (64, 310)])
def test_ten_thousand_random_labels(dimension, most):
    rng = np.random.default_rng(0)
    tokens = ExactArray.from_numpy(rng.normal(size=(40000, dimension)))
    labels = rng.integers(0, 2, 10000).tolist()
    data = hm.Dataset.from_arrays(tokens, np.arange(10001) * 4, labels)
    assert len(check(data)) <= most
