"""Verdicts: refuted wherever a plain evaluation says so, also for models changed by 2^-60."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest
import reference
from hypothesis import given, settings
from hypothesis import strategies as st

import hardmax as hm
from hardmax import RankOneBlock, Transformer
from hardmax.certify import bounds_of
from hardmax.errors import InputError
from hardmax.labels import Ball, Box, Halfspace, Point
from hardmax.testing import adversarial, adversarial_datasets, datasets, rank_one_models

F = Fraction


def judge(model, data):
    """The verdict by the definition: the sequences that are classified wrongly."""
    return [
        j
        for j, (Z, label) in enumerate(zip(data.sequences, data.labels, strict=True))
        if not data.sets[label].contains(reference.output(model.blocks, Z))
    ]


def check(model, data):
    found = hm.certify(model, data, witnesses=len(data))
    wrong = judge(model, data)
    assert [witness.sequence for witness in found.witnesses] == wrong
    assert found.verdict == ("refuted" if wrong else "proved")
    assert found.proved == (not wrong)
    for witness in found.witnesses:
        j = witness.sequence
        assert witness.output == reference.output(model.blocks, data.sequence(j))
        assert (witness.name, witness.label) == (data.name(j), data.labels[j])
        assert data.name(j) in witness.sentence()
    return found.verdict


def mutants(model, rng, count):
    """Models with one parameter changed: by a little, to zero, to its negative, swapped."""
    tiny = F(1, 2**60)
    changes = [lambda x: x + tiny, lambda x: x - tiny, lambda x: x * 2, lambda x: -x,
               lambda x: F(0), lambda x: x + 1]  # fmt: skip
    for _ in range(count):
        blocks = list(model.blocks)
        k = rng.randrange(len(blocks))
        name = rng.choice(["u", "b", "w", "rho", "alpha", "v", "drop", "twice"])
        if name == "drop":
            del blocks[k]
        elif name == "twice":
            blocks.insert(k, blocks[k])
        else:
            change = rng.choice(changes)
            old = getattr(blocks[k], name)
            if isinstance(old, tuple):
                i = rng.randrange(len(old))
                new = tuple(change(x) if j == i else x for j, x in enumerate(old))
            else:
                new = change(old)
            blocks[k] = replace(blocks[k], **{name: new})
        yield Transformer(blocks, dimension=model.dimension)


@given(adversarial_datasets(max_sequences=6), st.randoms(use_true_random=False))
def test_mutants(data, rng):
    model = hm.build(data)
    for mutant in mutants(model, rng, 4):
        check(mutant, data)


@pytest.mark.slow
@given(adversarial_datasets(max_sequences=8), st.randoms(use_true_random=False))
@settings(max_examples=200)
def test_mutants_more(data, rng):
    model = hm.build(data)
    for mutant in mutants(model, rng, 10):
        check(mutant, data)


@pytest.mark.parametrize("label", ["a", "b"])
def test_a_model_without_blocks(label):
    """What is left of a model of one block when that is taken away."""
    data = hm.Dataset([[(0,)]], [label], {"a": (0,), "b": (1,)})
    assert check(Transformer([], dimension=1), data) == ("proved" if label == "a" else "refuted")


@pytest.mark.parametrize("tiny", [F(1, 2**60), F(1, 2**200), F(-1, 2**1000)])
def test_an_output_beside_its_point_is_refuted(tiny):
    """No tolerance: a landing that misses the point by 2^-1000 is no landing."""
    data = adversarial("point-labels", 8)
    model = hm.build(data)
    last = model.blocks[-1]
    for i in range(data.dimension):
        w = tuple(x + tiny if i == j else x for j, x in enumerate(last.w))
        mutant = Transformer([*model.blocks[:-1], replace(last, w=w)])
        assert check(mutant, data) == "refuted"


def test_every_coordinate_of_a_cluster_matters():
    data = adversarial("one-dimensional", 6)
    model = hm.build(data)
    refuted = 0
    for k, block in enumerate(model.blocks):
        for name in ("b", "w", "rho", "alpha"):
            old = getattr(block, name)
            new = tuple(x + 1 for x in old) if isinstance(old, tuple) else old + 1
            changed = [*model.blocks[:k], replace(block, **{name: new}), *model.blocks[k + 1 :]]
            refuted += check(Transformer(changed), data) == "refuted"
    assert refuted >= len(model)  # most changes do harm; the plain evaluator says which


@given(st.integers(1, 3), st.data())
def test_models_that_know_nothing_of_the_data(d, more):
    """Random models on random data with wide label sets: both verdicts occur, both are right."""
    model = more.draw(rank_one_models(d))
    data = more.draw(
        datasets(min_dimension=d, max_dimension=d, max_sequences=3, kinds=["halfspace", "ball"])
    )
    check(model, data)


def test_boundaries_of_open_sets_are_outside():
    identity = Transformer([RankOneBlock.of(2)])
    tiny = F(1, 2**300)
    for label_set, edge, inwards in [
        (Ball((0, 0), 5), (3, 4), (-tiny, 0)),
        (Box((0, 0), (1, 1)), (1, F(1, 2)), (-tiny, 0)),
        (Halfspace((1, 0), 3), (3, 9), (tiny, 0)),
    ]:
        sets = {"a": label_set}
        at = hm.Dataset([[edge]], ["a"], sets)
        near = hm.Dataset([[tuple(x + s for x, s in zip(edge, inwards, strict=True))]], ["a"], sets)
        assert check(identity, at) == "refuted"
        assert check(identity, near) == "proved"


def test_outputs_past_float64():
    """Exact arithmetic has no range: 1100 doublings and back."""
    up = [RankOneBlock.of(1, u=(1,), w=(1,))] * 1100
    down = [RankOneBlock.of(1, rho=F(1, 2))] * 1100
    data = hm.Dataset([[(1,)]], ["a"], {"a": Point((1,))})
    assert check(Transformer([*up, *down]), data) == "proved"
    assert check(Transformer(up), data) == "refuted"


def test_general_layers_are_judged_the_same():
    data = adversarial("repeated-tokens", 4)
    model = hm.build(data)
    general = Transformer([block.general() for block in model.blocks])
    assert check(general, data) == "proved"
    assert hm.certify(general, data).stages == {"block": len(model)}


def test_only_numbers_decide_not_the_meta():
    data = adversarial("collinear", 4)
    wrong = Transformer([RankOneBlock.of(3)], stages=["classify"], meta=hm.build(data).meta)
    assert check(wrong, data) == "refuted"


@given(st.integers(1, 30), st.integers(1, 4), st.integers(0, 70))
def test_bounds(count, d, depth):
    block = RankOneBlock.of(d, u=[1] * d, b=1, w=[1] * d, rho=1, alpha=1, v=[1] * d)
    found = bounds_of(Transformer([block] * depth, dimension=d), count)
    assert found.block_bound == 8 * count + 4
    assert found.parameters == depth * (3 * d + 3)
    assert found.parameter_bound == (54 * count * d if d >= 2 else None)
    assert found.block_parameter_bound == (3 * d + 3) * (8 * count + 4)
    within = depth <= 8 * count + 4 and found.parameters <= 54 * count * d
    assert found.status == ("n/a" if d == 1 else "holds" if within else "exceeded")


@pytest.mark.parametrize(
    ("data", "message"),
    [(hm.Dataset([[(0,)]], ["a"]), "dimension 2, the data set 1"),
     (hm.Dataset([[(0, 0)]]), "sequence 1 has no label")],
)  # fmt: skip
def test_unusable_pairs(data, message):
    with pytest.raises(InputError, match=message):
        hm.certify(Transformer([RankOneBlock.of(2)]), data)


def test_the_papers_bounds_are_not_about_other_architectures():
    data = hm.Dataset([[(0, 0)], [(1, 0)]], ["a", "b"])
    model = hm.build(data)
    general = hm.Transformer([block.general() for block in model.blocks])
    assert hm.certify(general, data).bounds.status == "holds"
    wide = hm.Block(
        hm.FeedForward(hm.Matrix([[1, 0], [0, 1]]), (0, 0), hm.Matrix.zeros(2, 2)),
        hm.SelfAttention(1, hm.Matrix.zeros(2, 2), hm.Matrix.identity(2)),
    )
    certificate = hm.certify(hm.Transformer([*general.blocks, wide]), data)
    assert certificate.proved
    assert certificate.bounds.status == "n/a"
    assert certificate.structure.sentence() == "hidden width 2, rank A ≤ 2, V = αI"
    counted = hm.Transformer([wide])
    assert hm.certify(counted, data).parameters == 2 + 1 + 2  # U, ρ, A
