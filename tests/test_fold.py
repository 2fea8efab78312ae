"""Strategy `fold`: depth about √N (docs/theory.md, the sections on slopes and folds)."""

from fractions import Fraction
from math import ceil, log2
from random import Random

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import hardmax as hm
from hardmax import checker
from hardmax.construct.fold import TooDeepError, build_fold
from hardmax.construct.fold.end import ending
from hardmax.construct.fold.select import tree
from hardmax.construct.fold.waves import Wave
from hardmax.dataset import ContradictionError
from hardmax.dataset.measures import merge
from hardmax.engine.compile.plan import Plan
from hardmax.engine.exact.chain_steps import Wave as ChainedWave
from hardmax.engine.exact.chains import Chains
from hardmax.labels import Ball, Halfspace, Point
from hardmax.model.layers import RankOneBlock
from hardmax.model.transformer import Transformer
from hardmax.testing import FAMILIES, adversarial, datasets


def single(points, labels, sets=None):
    """Sequences of one token."""
    return hm.Dataset([[tuple(p)] for p in points], labels, sets)


def uniform(count, dimension, labels, seed=0):
    rng = np.random.default_rng(seed)
    points = rng.integers(0, 1 << 20, (count, dimension)).tolist()
    return single(points, [int(c) for c in rng.integers(0, labels, count)])


def counted(model, d):
    """The number of blocks that the theorem states, from what the model's meta says."""
    meta, stages = model.meta, model.stage_counts()
    k, b = meta["strings"], meta["windows"].bit_length() - 1
    select = meta["spread"] + (k - 1) + ceil(log2(k)) if k > 1 or b else 0
    shift = 3 * b - 1 if b else 0
    return (
        stages.get("split", 0) + 1 + meta["groups"] + select + shift + meta["folds"]
        + (d - 1) + stages["end"]
    )  # fmt: skip


def check(data, **options):
    """Build, prove, compare the count with the theorem's; None for a contradiction."""
    try:
        model = hm.build(data, strategy="fold", **options)
    except ContradictionError:
        return None
    certificate = hm.certify(model, data)
    assert certificate.proved, certificate.witnesses[0].sentence()
    assert len(model) <= model.meta["bound"]
    assert len(model) <= 8 * certificate.N + 4  # Theorem 2.4
    if "groups" in model.meta:
        assert model.meta["groups"] <= certificate.N
        constant = sum(stage == "kill" for stage in model.stages)
        saved = data.dimension - 1 - constant  # coordinates that were constant all along
        assert saved >= 0
        assert len(model) + saved == counted(model, data.dimension)
    return model


@given(datasets())
def test_any_data(data):
    check(data)


@given(datasets(kinds=("ball", "box", "halfspace", "polyhedron", "point")))
def test_any_label_sets(data):
    check(data)


@pytest.mark.parametrize("family", FAMILIES)
def test_families(family):
    check(adversarial(family, 40))


RNG = np.random.default_rng(3)
TWO = [int(c) for c in RNG.integers(0, 2, 90)]
DEGENERATE = {
    "collinear": [(k, 0, 0, 0) for k in range(90)],
    "diagonal": [(k, k, k) for k in range(90)],
    "in the plane": [(k, k * k) for k in range(90)],
    "lattice": [(k % 5, k // 5 % 5, k // 25) for k in range(90)],
    "clusters 2^200 apart": [(k % 2 * 2**200 + k * k, k, k % 3 * 2**190, 3) for k in range(90)],
    "powers of two": [(2**k, 0, 1) for k in range(90)],
    "equal but for one coordinate": [(0, 0, k * k) for k in range(90)],
    "pairs at distance 1": [(k // 2 * 10**9 + k % 2, 5, 7) for k in range(90)],
    "tiny": [(Fraction(k, 2**300), 1, Fraction(k * k, 2**300)) for k in range(90)],
}


@pytest.mark.parametrize("name", DEGENERATE)
def test_degenerate(name):
    check(single(DEGENERATE[name], TWO))
    check(single(DEGENERATE[name], [k % 2 for k in range(90)]))


def test_long_rationals():
    rng = Random(0)
    points = [
        tuple(Fraction(rng.getrandbits(200), rng.getrandbits(200) | 1) for _ in range(3))
        for _ in range(16)
    ]
    check(single(points, TWO[:16]))


@pytest.mark.parametrize("labels", [1, 2, 3, 5, 60])
@pytest.mark.parametrize("dimension", [2, 3, 5])
def test_numbers_of_labels(labels, dimension):
    points = RNG.integers(0, 99, (60, dimension)).tolist()
    data = single(points, [k % labels for k in range(60)])
    check(data)


@pytest.mark.parametrize("count", [1, 2, 3])
def test_few_points(count):
    check(single([(k, 0) for k in range(count)], "abc"[:count]))
    check(single([(k,) for k in range(count)], "abc"[:count]))  # peeled: the dimension is 1
    check(uniform(count, 60, 2))  # peeled: fixing 60 coordinates takes more blocks than 8N + 4


@pytest.mark.parametrize("labels", [2, 3, 6])
def test_any_targets(labels):
    rng = Random(labels)
    sets = {
        str(c): Point([Fraction(rng.randint(-999, 999), rng.randint(1, 99)) for _ in range(3)])
        for c in range(labels)
    }
    data = uniform(80, 3, labels)
    check(hm.Dataset(data.sequences, [str(c) for c in data.labels], sets))


def test_open_sets_far_away():
    sets = {"a": Ball((10**9, 0), Fraction(1, 10**9)), "b": Halfspace((-1, 0), 10**6)}
    check(single(DEGENERATE["in the plane"], ["ab"[c] for c in TWO], sets))


@pytest.mark.parametrize(
    ("count", "dimension", "labels", "most"),
    [(1000, 4, 2, 59), (1000, 8, 2, 53), (1000, 16, 2, 59), (1000, 32, 2, 76), (1000, 8, 10, 92)],
)
@pytest.mark.slow
def test_depth_of_random_labels(count, dimension, labels, most):
    data = uniform(count, dimension, labels, count + dimension + labels)
    assert len(check(data)) <= most


def test_is_far_below_the_number_of_points():
    assert len(check(uniform(500, 8, 2))) <= 50


def test_rebuilds_are_identical(tmp_path):
    data = uniform(200, 4, 3)
    for name in ("a.npz", "b.npz"):
        hm.build(data, strategy="fold", seed=5).save(tmp_path / name)
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()


def test_the_checker_agrees(tmp_path, run):
    rng = np.random.default_rng(0)
    rows = [f"{j},{'ab'[rng.integers(2)]},{x},{y},{z}"
            for j, (x, y, z) in enumerate(rng.integers(-99, 99, (120, 3)))]  # fmt: skip
    path, model = tmp_path / "data.csv", tmp_path / "model.npz"
    path.write_text("\n".join(["sequence,label,x1,x2,x3", *dict.fromkeys(rows)]) + "\n")
    assert run("build", path, "-o", model, "--strategy", "fold").code == 0
    assert checker.main([str(model), str(path)]) == 0


@pytest.mark.parametrize("most", [20, 40, 60, 80])
def test_stops_where_it_would_be_too_deep(most):
    data = uniform(400, 4, 3)
    least = len(hm.build(data, strategy="fold"))
    try:
        assert len(build_fold(data, merge(data), most=most)) <= most
    except TooDeepError:
        assert most < 1.3 * least
    else:
        assert most > least / 1.3


def test_auto_takes_it_unless_margins_are_asked_for():
    data = uniform(400, 4, 2)
    assert hm.build(data, strategy="auto").meta["built"] == "fold"
    assert hm.build(data, strategy="auto", robust=True).meta["built"] != "fold"


def test_the_figure_shows_points_in_their_bands():
    from hardmax.draw.figures import waves

    data = waves.points()
    y = waves.heights(hm.build(data, strategy="fold"), data)
    for (before, *_, after), label in zip(y.T, data.labels, strict=True):
        assert after == pytest.approx(min(before % 2, 2 - before % 2), abs=1e-9)
        assert (after > 0.5) == (label == "c1")


# parts of the construction


@given(st.integers(1, 40))
def test_tree_of_selects(k):
    """Every string is the one of a single cell; the levels take k − 1 selects and ⌈log₂k⌉ folds."""
    found = tree(k)
    assert sorted(found.string) == sorted(found.rank) == list(range(k))
    assert sum(len(level.selects) for level in found.levels) == k - 1
    assert len(found.levels) == ceil(log2(k))


@given(st.integers(1, 12), st.integers(2, 9), st.integers(-(2**14), 2**14))
def test_bands(bits, bands, y):
    height = Fraction(y, 2**bits) % 2
    height = min(height, 2 - height)
    inside = [c for c in range(bands) if Fraction(c, bands) < height < Fraction(c + 1, bands)]
    inside += [0] * (height == 0) + [1] * (height == 1 and bands == 2)
    assert Wave(bits, bands).code(y) == (inside[0] if inside else -1)


def test_digits_share_their_cuts():
    line = {str(c): (Fraction(c), Fraction(0)) for c in range(16)}
    assert ending(line).blocks == 9  # 8 for four cuts, one for the kill of y


# the engine's chains


def folds(base, half, count, direction=1, dimension=2):
    """Reflections in coordinate 0 at base + 2^n·half; coordinate 1 moves along."""
    unit = [1] + [0] * (dimension - 1)
    move = [-2, Fraction(direction, 3)] + [0] * (dimension - 2)
    return [
        RankOneBlock.of(dimension, u=unit, b=-(base + half * 2**n), w=move)
        for n in range(count - 1, -1, -1)
    ]


@given(
    st.fractions(-9, 9, max_denominator=9), st.fractions(Fraction(1, 9), 3, max_denominator=9),
    st.integers(12, 20), st.lists(st.fractions(-10**6, 10**6), min_size=1, max_size=8),
)  # fmt: skip
@example(Fraction(0), Fraction(1), 12, [Fraction(0), Fraction(1), Fraction(4096), Fraction(9999)])
def test_waves_are_their_folds(base, half, count, values):
    blocks = [RankOneBlock.of(2, rho=0, alpha=1), *folds(base, half, count)]
    model = Transformer(blocks)
    plan = Plan.of(model)
    chains = plan.kept(Chains.of)
    assert chains.deep
    assert any(isinstance(step, ChainedWave) for step in chains.steps)
    data = single([(x, 1) for x in values], ["a"] * len(values))
    found = [w.output for w in hm.certify(model, data).witnesses]
    expected = [model.blocks and literal(model, data.sequence(j)) for j in range(len(values))]
    assert found == [x for x in expected if x != (0, 0)]


def test_numbers_past_the_range_of_the_bounds_on_floats():
    """A wave whose numbers are past 2^300 is run by the same chains, a short one literally."""
    far = Fraction(2) ** 400
    for count in (3, 40):
        model = Transformer([RankOneBlock.of(2, rho=0, alpha=1), *folds(0, far, count)])
        plan = Plan.of(model)
        assert plan.wild
        assert plan.kept(Chains.of).deep == (count == 40)
        data = single([(far * k / 3 + k, 1) for k in range(9)], ["a"] * 9)
        found = [w.output for w in hm.certify(model, data).witnesses]
        outputs = [literal(model, data.sequence(j)) for j in range(9)]
        assert found == [x for x in outputs if x != (0, 0)]


def literal(model, sequence):
    """Block by block, by the general layers."""
    from hardmax.exact.matrix import Matrix
    from hardmax.model.layers import readout

    state = Matrix(sequence)
    for block in model.blocks:
        state = block(state)
    return readout(state)


@given(st.data())
def test_mutants_get_their_exact_outputs(data):
    """Any change of a number is run as it stands: the engine's outputs are the literal ones."""
    given_data = uniform(30, 3, 2, seed=1)
    model = hm.build(given_data, strategy="fold")
    blocks = list(model.blocks)
    k = data.draw(st.integers(1, len(blocks) - 1))
    block = blocks[k]
    part = data.draw(st.sampled_from(["u", "b", "w", "rho"]))
    change = data.draw(st.fractions(-2, 2, max_denominator=8))
    if part in ("b", "rho"):
        values = {part: getattr(block, part) + change}
    else:
        i = data.draw(st.integers(0, 2))
        vector = list(getattr(block, part))
        vector[i] += change
        values = {part: vector}
    old = {name: getattr(block, name) for name in ("u", "b", "w", "rho", "alpha", "v")}
    blocks[k] = RankOneBlock.of(3, **(old | values))
    mutant = Transformer(blocks)
    outputs = [literal(mutant, given_data.sequence(j)) for j in range(30)]
    wrong = [(j, x) for j, x in enumerate(outputs)
             if not given_data.sets[given_data.labels[j]].contains(x)]  # fmt: skip
    found = hm.certify(mutant, given_data, witnesses=100).witnesses
    assert [(w.sequence, w.output) for w in found] == wrong


@st.composite
def layers(draw, dense):
    """Hinges that leave ⟨dense,z⟩ alone, clips of one coordinate, and layers without a pattern."""
    number = st.fractions(-3, 3, max_denominator=4)
    b, w = draw(number), [draw(number) for _ in range(4)]
    kind, j = draw(st.sampled_from(["hinge", "clip", "any"])), draw(st.integers(0, 3))
    unit = [Fraction(int(i == j)) for i in range(4)]
    if kind == "hinge":
        w[j] -= sum(x * y for x, y in zip(dense, w, strict=True)) / dense[j]
        return RankOneBlock.of(4, u=dense, b=b, w=w)
    if kind == "clip":
        s = draw(number.filter(bool))
        return RankOneBlock.of(4, u=[s * x for x in unit], b=b, w=[-x / s for x in unit])
    return RankOneBlock.of(4, u=[draw(number) for _ in range(4)], b=b, w=w)


@given(st.data())
def test_any_layers_around_a_wave(data):
    """Whatever patterns the engine finds in them, the outputs are the literal ones."""
    dense = [data.draw(st.fractions(-2, 2, max_denominator=3).filter(bool)) for _ in range(4)]
    before, behind = (data.draw(st.lists(layers(dense), max_size=8)) for _ in range(2))
    wave = folds(Fraction(-1), Fraction(1, 8), 12, dimension=4)
    model = Transformer([RankOneBlock.of(4, rho=0, alpha=1), *before, *wave, *behind])
    assert Plan.of(model).kept(Chains.of).deep
    points = np.random.default_rng(0).integers(-4, 5, (7, 4)).tolist()
    given_data = single(points, ["a"] * 7)
    outputs = [literal(model, given_data.sequence(j)) for j in range(7)]
    found = [w.output for w in hm.certify(model, given_data).witnesses]
    assert found == [x for x in outputs if any(x)]


def test_attention_behind_a_wave_scales_the_outputs():
    data = uniform(300, 3, 2, seed=1)
    model = hm.build(data, strategy="fold")
    scaled = RankOneBlock.of(3, rho=Fraction(1, 3), alpha=Fraction(1, 3))
    outputs = Transformer([*model.blocks, scaled]).outputs(data)
    assert outputs == [tuple(Fraction(2, 3) * x for x in y) for y in model.outputs(data)]
