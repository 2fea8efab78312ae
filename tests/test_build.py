"""`build` with strategy paper: proved, or refuted by a contradiction; never anything else.

The verdicts are not taken from `certify`: outputs come from the evaluator of reference.py.
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import pytest
import reference
from hypothesis import given, settings
from hypothesis import strategies as st

import hardmax as hm
from hardmax.construct.paper.strategy import STAGES
from hardmax.errors import InputError, ResourceLimitError
from hardmax.labels import Point
from hardmax.testing import FAMILIES, KINDS, adversarial, adversarial_datasets, datasets

F = Fraction

MOST = [  # "dimension-48" takes seconds
    pytest.param(x, marks=pytest.mark.slow) if x == "dimension-48" else x for x in FAMILIES
]


def mu(Z):
    return frozenset((z, F(count, len(Z))) for z, count in Counter(Z).items())


def check_model(model, data):
    """Classified by the plain evaluator; block bounds per stage and in all; parameters."""
    for Z, label in zip(data.sequences, data.labels, strict=True):
        assert data.sets[label].contains(reference.output(model.blocks, Z))
    N, d = len({mu(Z) for Z in data.sequences}), data.dimension
    stages = model.stage_counts()
    assert list(stages) == [stage for stage in STAGES if stage in stages]
    assert model.stages == [stage for stage in STAGES for _ in range(stages.get(stage, 0))]
    labels = len(set(data.labels))
    assert stages.get("preprocess", 0) <= 1
    assert stages.get("separate", 0) <= N - 1
    assert stages["cluster"] == 1
    assert stages.get("match", 0) <= N - 1
    assert stages.get("classify", 0) <= labels
    assert len(model) <= 2 * N + 1 <= 8 * N + 4
    parameters = sum(1 for block in model.blocks for x in block.entries if x)
    assert parameters <= (3 * d + 3) * (8 * N + 4)
    if d >= 2:
        assert parameters <= 54 * N * d
    assert sum(model.meta["cases"].values()) == stages.get("separate", 0)
    found = hm.certify(model, data)
    assert (found.verdict, found.N, found.parameters) == ("proved", N, parameters)
    assert found.bounds.status == ("holds" if d >= 2 else "n/a")


def check_data(data, seed=0):
    """Proved, or refuted exactly when equal measures have different labels."""
    by_measure: dict[object, set[str]] = {}
    for Z, label in zip(data.sequences, data.labels, strict=True):
        by_measure.setdefault(mu(Z), set()).add(label)
    if any(len(labels) > 1 for labels in by_measure.values()):
        with pytest.raises(hm.ContradictionError):
            hm.build(data, seed=seed)
    else:
        check_model(hm.build(data, seed=seed), data)


@given(datasets(), st.integers(0, 3))
def test_random_data(data, seed):
    check_data(data, seed)


@given(datasets(max_dimension=3, max_sequences=8, kinds=KINDS))
def test_random_data_with_every_kind_of_label_set(data):
    check_data(data)


@given(adversarial_datasets())
def test_random_adversarial_data(data):
    check_data(data)


@pytest.mark.slow
@given(datasets(), st.integers(0, 99))
@settings(max_examples=800)
def test_random_data_more(data, seed):
    check_data(data, seed)


@pytest.mark.slow
@given(datasets(max_dimension=4, kinds=KINDS), st.integers(0, 99))
@settings(max_examples=400)
def test_random_data_with_every_kind_of_label_set_more(data, seed):
    check_data(data, seed)


@pytest.mark.slow
@given(adversarial_datasets(max_sequences=25))
@settings(max_examples=150)
def test_random_adversarial_data_more(data):
    check_data(data)


@pytest.mark.parametrize("family", MOST)
def test_adversarial_families_of_twenty(family):
    data = adversarial(family, 20, seed=4)
    assert len({mu(Z) for Z in data.sequences}) == 20
    check_data(data)


@pytest.mark.slow
@pytest.mark.parametrize("family", FAMILIES)
def test_adversarial_families_of_fifty(family):
    check_data(adversarial(family, 50, seed=1), seed=1)


def test_equal_seeds_give_equal_models():
    data = adversarial("text-like", 12)
    first, again, other = (list(hm.build(data, seed=seed).blocks) for seed in (1, 1, 2))
    assert first == again != other


def test_equal_sequences_with_equal_labels_are_merged():
    Z, Y = [(0, 0), (1, 2)], [(5, 5)]
    data = hm.Dataset([Z, Y, Z[::-1], Z * 3], ["a", "b", "a", "a"])
    model = hm.build(data)
    assert hm.certify(model, data).N == 2
    assert len(model) == len(hm.build(hm.Dataset([Z, Y], ["a", "b"])))


def test_unused_labels_are_no_obstacle():
    sets = {"a": Point((0, 0)), "never": Point((1, 1)), "b": Point((2, 2))}
    data = hm.Dataset([[(1, 1)], [(2, 2)]], ["a", "b"], sets)
    check_data(data)


def test_one_sequence():
    for Z in ([(0,)], [(7,)], [(0, 0), (1, 1)]):
        data = hm.Dataset([Z], ["only"])
        check_data(data)


def test_progress_names_the_stage_of_each_separation_block():
    seen = []
    data = adversarial("same-hull-same-mean", 6)
    model = hm.build(data, on_block=seen.append)
    assert seen.count("separate") == model.stage_counts()["separate"]


def test_unknown_strategies_and_missing_labels():
    data = hm.Dataset([[(0,)]], ["a"])
    with pytest.raises(InputError, match="'nonsense' is unknown; known are paper"):
        hm.build(data, strategy="nonsense")
    with pytest.raises(InputError, match="sequence 1 has no label"):
        hm.build(hm.Dataset([[(0,)]]))


def test_parameters_past_float64_are_undecided_and_never_wrong():
    """Points 2^-900 apart and 2^999 away from their targets need a factor of 2^1899."""
    x = F(2) ** 999
    data = hm.Dataset([[(x,)], [(x + F(1, 2**900),)]], ["a", "b"])
    with pytest.raises(ResourceLimitError, match="2\\^1024"):
        hm.build(data)


def test_the_meta_says_where_a_model_comes_from():
    data = adversarial("ball-labels", 4)
    meta = hm.build(data, seed=3).meta
    assert meta["strategy"] == "paper"
    assert meta["seed"] == 3
    assert meta["versions"] == {"hardmax": hm.__version__}
    assert meta["numbers"] == "exact"
    assert meta["positional"] is False
    assert meta["dataset"] is None
    assert meta["labels"] == {name: s.to_json() for name, s in data.sets.items()}


@given(datasets(max_dimension=3, max_sequences=6))
def test_positions_tell_all_but_equal_lists_apart(data):
    twin = hm.Dataset(list(data.sequences), data.labels, positional=True)
    lists: dict[object, set[str]] = {}
    for Z, label in zip(data.sequences, data.labels, strict=True):
        lists.setdefault(Z, set()).add(label)
    if any(len(labels) > 1 for labels in lists.values()):
        with pytest.raises(hm.ContradictionError):
            hm.build(twin)
    else:
        check_model(hm.build(twin), twin)
