"""Strategy `learn`: models that predict (docs/theory.md, *learn before the collapse*)."""

from __future__ import annotations

import json
import re
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
import reference
from hypothesis import given, settings
from hypothesis import strategies as st

import hardmax as hm
from hardmax import checker
from hardmax.dataset import ContradictionError
from hardmax.formats.model_file import pack, read_model
from hardmax.model.layers import RankOneBlock
from hardmax.model.transformer import Transformer
from hardmax.testing import DISCRETE, FAMILIES, adversarial, datasets

EXAMPLES = Path(__file__).parent.parent / "examples"
STAGES = {"feature", "collapse", "read-out", "repair"}


def bumps(count, seed, length=24, channels=1):
    """Series with a bump somewhere, narrow and high or wide and low, so that means are equal."""
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(0, 0.2, (count, length, channels)), 3)
    y = rng.integers(0, 2, count)
    for series, c in zip(X, y, strict=True):
        start, width = rng.integers(0, length - 8), 2 if c == 0 else 7
        series[start : start + width, 0] += 7 / width
    return X, ["narrow" if c == 0 else "wide" for c in y]


def check(data, **options):
    """Build, prove by the engine and by the definition, and compare the count of blocks."""
    try:
        model = hm.build(data, strategy="learn", **options)
    except ContradictionError:
        return None
    certificate = hm.certify(model, data)
    assert certificate.proved, certificate.witnesses[0].sentence()
    if "learned" not in model.meta:
        assert model.meta["why"].startswith("built as peel: ")
        return model
    counts = model.stage_counts()
    labels = len(set(data.names))
    if not data.own_sets:
        assert set(counts) <= STAGES
        assert counts["collapse"] == 1
        assert counts.get("read-out", 0) == labels - 1
        assert counts.get("repair", 0) % 4 == 0
        assert counts.get("repair", 0) <= 4 * model.meta["learned"]["repaired"]
    assert counts.get("feature", 0) + labels <= 8 * certificate.N + 4
    assert certificate.uniform
    return model


@pytest.mark.parametrize(("k", "family"), [*enumerate(FAMILIES)])
def test_adversarial_families_are_proved(k, family):
    # from 10 sequences on there is cross-validation, which takes most of the time
    data = adversarial(family, 12 if k % 6 == 0 else 9, seed=3)
    model = check(data, features=64)
    assert hm.certify(model, data, evaluator="definition").proved


@pytest.mark.slow
@pytest.mark.parametrize("seed", [2, 4])
@pytest.mark.parametrize("family", FAMILIES)
def test_more_adversarial_data_are_proved(family, seed):
    check(adversarial(family, 5 + 13 * seed, seed))


@pytest.mark.slow
@pytest.mark.parametrize("family", DISCRETE)
def test_discrete_data_of_some_size_are_proved(family):
    check(adversarial(family, 300, 1))


@given(datasets(max_dimension=3, max_sequences=9))
@settings(max_examples=8, deadline=None)
def test_every_data_set_is_proved_or_contradicts_itself(data):
    model = check(data)
    if model is None:
        with pytest.raises(ContradictionError):
            hm.build(data, strategy="paper")


def test_sequences_that_only_positions_tell_apart_are_contradictions_without_them():
    data = hm.Dataset([[(1,), (2,)], [(2,), (1,)]], ["up", "down"])
    model = check(data)  # it may read positions or windows, which tell them apart
    assert model is not None
    assert model.predict([[(1,), (2,)], [(2,), (1,)]]) == ["up", "down"]
    with pytest.raises(ContradictionError):
        hm.build(hm.Dataset([[(1,), (2,)], [(1,), (2,)]], ["up", "down"]), strategy="learn")


def test_it_predicts_where_means_say_nothing():
    data, (X, y) = hm.Dataset(*bumps(60, 0)), bumps(200, 1)
    model = check(data, features=100)
    right = np.mean([p == c for p, c in zip(model.predict(X), y, strict=True)])
    assert right >= 0.9
    assert model.meta["learned"]["cross_validated_error"] <= 0.1
    assert model.reading.label_sets == "argmax"
    assert model.reading.window > 1


def test_features_of_the_mean_are_enough_where_the_mean_decides():
    rng = np.random.default_rng(5)
    X = rng.integers(-50, 50, (80, 6, 3))
    y = (X[:, :, 1].sum(axis=1) > 0).astype(int)
    model = check(hm.Dataset(X, y), features=64)
    assert model.stage_counts()["feature"] <= 3


def test_the_limit_of_features_holds_and_windows_that_are_given_stay():
    X, y = bumps(12, 3)
    data = hm.Dataset(X, y, reading=hm.Reading(window=5, dilations=(1, 2)))
    model = check(data, features=20)
    assert 1 <= model.stage_counts()["feature"] <= 20
    assert (model.reading.window, model.reading.dilations) == (5, (1, 2))
    assert not model.reading.positional


@pytest.mark.parametrize("wrong", [0, -3, 1.5, "many", True])
def test_the_limit_of_features_is_checked(wrong):
    data = hm.Dataset([[(1,)], [(2,)]], ["a", "b"])
    with pytest.raises(hm.InputError, match="features is"):
        hm.build(data, strategy="learn", features=wrong)
    with pytest.raises(hm.InputError, match="leave it out for 'paper'"):
        hm.build(data, features=3)


def test_models_are_the_same_every_time_and_differ_with_the_seed():
    X, y = bumps(12, 4)
    data = hm.Dataset(X, y)
    first, again, other = (
        pack(hm.build(data, strategy="learn", seed=seed, features=30)) for seed in (1, 1, 2)
    )
    assert {name: a.tobytes() for name, a in first.items()} == {
        name: a.tobytes() for name, a in again.items()
    }
    assert any(first[name].tobytes() != other[name].tobytes() for name in ("u", "b", "w"))


def test_label_sets_of_the_data_are_reached():
    X, y = bumps(12, 6, channels=2)
    sets = {"narrow": hm.Ball((0, 0), 1), "wide": hm.Halfspace((1, 0), 5)}
    model = check(hm.Dataset(X, y, sets), features=24)
    assert model.reading.label_sets == "points"
    right = [p == c for p, c in zip(model.predict(X), y, strict=True)]
    assert all(right)


def test_three_judges_agree_and_refute_what_is_altered(tmp_path):
    X, y = bumps(12, 7)
    data = hm.Dataset(X, y)
    data.save(tmp_path / "data.json")
    model = hm.build(hm.load(tmp_path / "data.json"), strategy="learn", features=9)
    data = hm.load(tmp_path / "data.json")

    def verdicts(model):
        model.save(tmp_path / "model.npz")
        loaded = read_model(tmp_path / "model.npz")
        by_checker = checker.main([str(tmp_path / "model.npz"), str(tmp_path / "data.json")])
        return [
            hm.certify(loaded, data).proved,
            hm.certify(loaded, data, evaluator="definition").proved,
            by_checker == 0,
        ]

    assert verdicts(model) == [True] * 3
    p = model.parameters
    found = set()
    for k in range(0, len(model), 4):
        blocks = list(p)
        b = blocks[k]
        blocks[k] = RankOneBlock(b.u, b.b, tuple(-x for x in b.w), b.rho, b.alpha, b.v)
        altered = Transformer(blocks, stages=model.stages, meta=model.meta)
        judged = verdicts(altered)
        assert len(set(judged)) == 1, (k, judged)
        found.add(judged[0])
    assert False in found


@given(
    st.integers(0, 10**6),
    st.sampled_from(["integers", "dyadic", "decimals", "thirds"]),
    st.integers(1, 3),
)
@settings(max_examples=40, deadline=None)
def test_outputs_behind_features_are_those_of_the_definition(seed, kind, d):
    rng = np.random.default_rng(seed)
    unit = {
        "integers": Fraction(1),
        "dyadic": Fraction(1, 2**40),
        "decimals": Fraction(1, 1000),
        "thirds": Fraction(1, 3),
    }[kind]
    size = 2**45 if kind == "dyadic" else 3000
    sequences = [
        [tuple(unit * int(x) for x in rng.integers(-size, size, d)) for _ in range(n)]
        for n in rng.integers(1, 6, 5)
    ]
    data = hm.Dataset(sequences, reading=hm.Reading(lift=2))
    blocks = []
    for _ in range(6):
        u = [Fraction(int(x), 8) for x in rng.integers(-9, 9, d)]
        b = Fraction(int(rng.integers(-500, 500)), 4)
        w = [0] * d + [Fraction(int(x), 4) for x in rng.integers(-9, 9, 2)]
        blocks.append(RankOneBlock.of(d + 2, u=[*u, 0, 0], b=b, w=w))
    blocks.append(RankOneBlock.translation([Fraction(7)] + [0] * (d + 1), rho=0, alpha=1))
    model = Transformer(blocks)
    assert list(model.outputs(data)) == [reference.output(model.blocks, Z) for Z in data]


def test_the_command_says_what_cross_validation_found(run, tmp_path):
    for name, seed in (("train", 8), ("test", 9)):
        X, y = bumps(12, seed)
        sequences = [{"tokens": x.tolist(), "label": c} for x, c in zip(X, y, strict=True)]
        (tmp_path / f"{name}.json").write_text(json.dumps({"sequences": sequences}))
    train, model = tmp_path / "train.json", tmp_path / "model.npz"
    options = "--strategy", "learn", "--test", tmp_path / "test.json"
    result = run("build", train, "-o", model, *options)
    assert result.code == 0
    assert "in cross-validation" in result.out
    learned = json.loads(run("info", model, "--json").out)["meta"]["learned"]
    shown = run("info", model).out
    for key in ("features", "repaired"):
        assert re.search(rf"{key} +{learned[key]}\b", shown), shown
    assert run("verify", model, train).code == 0
    result = run("build", train, "-o", model, "--force", *options, "--json")
    assert json.loads(result.out)["learned"] == learned
    result = run("build", train, "-o", model, "--force", "--strategy", "learn",
                 "--label-sets", "points")  # fmt: skip
    assert result.code == 2
    assert "argmax" in result.err


def test_ragged_sequences_of_several_channels():
    data = hm.load(EXAMPLES / "vowels.json.gz")
    model = check(data.split(0.4)[0], features=64)
    assert model.meta["learned"]["cross_validated_error"] <= 0.15


@pytest.mark.parametrize(
    "sequences",
    [
        [[(1, 2), (3, 4)]],
        [[(1, 2)], [(3, 4), (5, 6)]],
        [[(7, 7)] * n for n in range(1, 13)],
        [[(n, 7)] * 3 for n in range(12)],
    ],
    ids=["one sequence", "two", "one token, repeated", "constant sequences"],
)
def test_data_with_little_in_them_are_proved(sequences):
    data = hm.Dataset(sequences, [j % 2 for j in range(len(sequences))])
    assert check(data) is not None


def test_one_label_needs_no_windows():
    X, _ = bumps(12, 10)
    model = check(hm.Dataset(X, ["only"] * 12))
    assert len(model) <= 2
    assert model.reading.keeps_tokens


def test_the_unit_of_the_data_does_not_matter():
    X, y = bumps(12, 11)
    small, large = (check(hm.Dataset(X * unit, y), features=32) for unit in (1.0, 2.0**40))
    assert small.stage_counts() == large.stage_counts()
    assert small.reading == large.reading


def test_numbers_whose_squares_overflow_are_proved_without_a_word(recwarn):
    X, y = bumps(12, 12)
    assert check(hm.Dataset(X * 2.0**700, y)) is not None
    assert not recwarn.list


def test_more_labels_than_occur_are_no_trouble():
    many = hm.Dataset([[(j,)] for j in range(40)], range(40))
    few = hm.Dataset([[(1,), (2,)], [(3,)]], [5, 30], sets=many)
    model = hm.build(few, strategy="learn")
    assert hm.certify(model, few).proved
    assert model.predict(few) == [5, 30]


def test_hundreds_of_labels_are_proved():
    """More than 2^24 numbers, if all rows of their cones were written out."""
    X = np.random.default_rng(0).normal(size=(200, 1, 16))
    data = hm.Dataset(X, range(200))
    model = hm.build(data, strategy="learn", features=250)
    assert hm.certify(model, data).proved
    others = hm.Dataset(X, [*range(100), *range(101, 200), 100])
    assert not hm.certify(model, others.read_as(model.reading)).proved


def test_too_many_labels_are_refused_before_the_work():
    data = hm.Dataset([[(j, 0)] for j in range(2700)], range(2700))
    with pytest.raises(hm.InputError, match=r"strategy learn: .* 2700 labels .* strategy cover"):
        hm.build(data, strategy="learn")
