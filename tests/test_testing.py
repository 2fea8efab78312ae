"""`hardmax.testing`: the families are what their names say; hypothesis is optional."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from fractions import Fraction
from itertools import combinations, pairwise

import pytest
from hypothesis import given

from hardmax.dataset.measures import count_measures
from hardmax.errors import InputError
from hardmax.labels import Separation, separate
from hardmax.testing import (
    FAMILIES,
    KINDS,
    adversarial,
    adversarial_datasets,
    datasets,
    general_models,
    label_sets,
    rank_one_models,
)

F = Fraction


def mean(Z):
    return tuple(sum(column) / F(len(Z)) for column in zip(*Z, strict=True))


def extremes(Z):
    """Corners of the bounding box that are tokens; enough for the square of the family."""
    return {z for z in Z if all(abs(x) == max(abs(y) for t in Z for y in t) for x in z)}


@pytest.mark.parametrize("family", FAMILIES)
def test_families(family):
    data = adversarial(family, 25, seed=2)
    again = adversarial(family, 25, seed=2)
    assert list(data.sequences) == list(again.sequences)
    assert data.labels == again.labels
    assert len(data) == 25
    assert count_measures(data) == 25
    assert len(set(data.labels)) == 3
    assert list(adversarial(family, 25, seed=3).sequences) != list(data.sequences)
    assert len(adversarial(family, 1)) == 1


def test_what_the_names_promise():
    def family(name):
        return list(adversarial(name, 30).sequences)

    Z = family("same-hull-same-mean")
    assert {mean(z) for z in Z} == {(0, 0)}
    assert len({frozenset(extremes(z)) for z in Z}) == 1
    Z = family("equal-means-unequal-lengths")
    assert len({mean(z) for z in Z}) == 1
    assert len({len(z) for z in Z}) > 2
    Z = family("repeated-tokens")
    assert len({frozenset(z) for z in Z}) == 1
    assert any(max(Counter(z).values()) > 2 for z in Z)
    assert {x for z in family("zero-one-lattice") for t in z for x in t} == {0, 1}
    lines = {(y - 2 * x, w + x) for z in family("collinear") for x, y, w in z}
    assert len(lines) == 1
    assert {len(t) for z in family("one-dimensional") for t in z} == {1}
    values = sorted({t[1] for z in family("nearly-equal") for t in z})
    gaps = [b - a for a, b in pairwise(values)]
    assert min(gaps) <= F(1, 2**200)
    numbers = [x for z in family("long-rationals") for t in z for x in t]
    assert 190 <= max(x.denominator.bit_length() for x in numbers) <= 200
    assert {len(z) for z in family("single-tokens")} == {1}
    assert any((0, 0) in z for z in family("zero-tokens"))
    assert {len(t) for z in family("dimension-48") for t in z} == {48}
    shared = [set(y) & set(z) for y, z in combinations(family("text-like"), 2)]
    assert all(shared)


@pytest.mark.parametrize("kind", [*KINDS, "mixed"])
def test_families_of_label_sets(kind):
    found = {
        label_set.kind
        for seed in range(8)
        for label_set in adversarial(f"{kind}-labels", 5, seed).sets.values()
    }
    assert found == ({"halfspace", "polyhedron"} if kind == "halfspace" else
                     set(KINDS) if kind == "mixed" else {kind})  # fmt: skip


def test_unknown_families():
    with pytest.raises(InputError, match="'nonsense' is unknown; known are same-hull"):
        adversarial("nonsense")


@given(label_sets(["a", "b", "c"], 3))
def test_label_sets_are_disjoint(sets):
    for first, second in combinations(sets.values(), 2):
        assert isinstance(separate(first, second), Separation)


@given(datasets(min_dimension=2, max_dimension=3, max_sequences=4, max_length=2, max_labels=2))
def test_limits_of_the_strategy(data):
    assert 2 <= data.dimension <= 3
    assert 1 <= len(data) <= 4
    assert max(len(Z) for Z in data.sequences) <= 2
    assert len(set(data.labels)) <= 2


@given(adversarial_datasets(["collinear"], 5), rank_one_models(2), general_models(2))
def test_the_other_strategies(data, model, general):
    assert data.dimension == 3
    assert model.dimension == general.dimension == 2
    assert model.parameters is not None
    assert general.parameters is None


def test_without_hypothesis_the_families_work_and_the_strategies_name_the_extra():
    code = (
        "import sys; sys.modules['hypothesis'] = None\n"
        "from hardmax.testing import adversarial, datasets\n"
        "print(len(adversarial('collinear', 3)))\n"
        "try: datasets()\n"
        "except ImportError as problem: print(problem)\n"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    first, second = result.stdout.splitlines()
    assert first == "3"
    assert "pip install 'hardmax[test]'" in second
