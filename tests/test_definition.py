"""The literal evaluator is a second way to a verdict, and the engine agrees with it."""

from __future__ import annotations

from fractions import Fraction

import pytest
import reference
from hypothesis import given
from hypothesis import strategies as st

import hardmax as hm
from hardmax.certify.definition import outputs_by_definition
from hardmax.testing import (
    FAMILIES,
    adversarial,
    datasets,
    general_models,
    rank_one_models,
    sequences,
)

F = Fraction


@given(st.data())
def test_the_definition_is_the_tests_own_reference(data):
    d = data.draw(st.integers(1, 3))
    batch = data.draw(st.lists(sequences(d), min_size=1, max_size=3))
    model = data.draw(rank_one_models(d) | general_models(d))
    found = list(outputs_by_definition(model, hm.Dataset(batch)))
    assert found == [reference.output(model.blocks, Z) for Z in batch]


@given(datasets(kinds=("point", "ball", "halfspace")), st.sampled_from(["paper", "peel", "cover"]))
def test_both_evaluators_give_one_verdict(data, strategy):
    try:
        model = hm.build(data, strategy)
    except hm.ContradictionError:
        return
    assert hm.certify(model, data, evaluator="definition").proved
    assert hm.certify(model, data).proved


@pytest.mark.parametrize("family", FAMILIES)
def test_a_wrong_number_is_refuted_by_both(family):
    data = adversarial(family, 6)
    model = hm.build(data, "peel")
    shift = hm.RankOneBlock.translation([F(1, 2**80)] * data.dimension)
    moved = hm.Transformer([*model.blocks, shift])
    verdicts = [hm.certify(moved, data, evaluator=e) for e in ("engine", "definition")]
    assert verdicts[0].witnesses == verdicts[1].witnesses
    if all(isinstance(label_set, hm.labels.Point) for label_set in data.sets.values()):
        assert verdicts[0].verdict == "refuted"


def test_the_command_line(run, tmp_path):
    data = hm.Dataset([[(0, 1)], [(1, 1)]], ["a", "b"])
    hm.build(data).save(tmp_path / "m.npz")
    (tmp_path / "d.csv").write_text("sequence,label,x1,x2\ns,a,0,1\nt,b,1,1\n")
    assert run("verify", tmp_path / "m.npz", tmp_path / "d.csv", "--definition").code == 0


def test_an_unknown_evaluator_is_refused():
    data = hm.Dataset([[(0,)]], ["a"])
    with pytest.raises(hm.InputError, match="known are engine and definition"):
        hm.certify(hm.build(data), data, evaluator="oracle")
