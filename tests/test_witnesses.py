"""A refutation names a few wrong sequences, and stops there."""

import json

import numpy as np
import pytest

import hardmax as hm
from hardmax.engine.search import Search, Tally
from hardmax.exact.array import ExactArray
from hardmax.labels import Halfspace, Point
from hardmax.model.layers import RankOneBlock
from hardmax.model.parameters import Parameters

STAY = hm.Transformer([RankOneBlock.of(1, rho=0, alpha=1)])
SLOW = hm.Transformer([RankOneBlock.of(1)])  # never collapses: block by block
GENERAL = hm.Transformer([RankOneBlock.of(1).general()])


def ones(count, wrong):
    """Sequences that should stay at 1; some are elsewhere."""
    tokens = np.ones((count, 1))
    tokens[wrong] = 3
    return ExactArray(tokens), np.arange(count + 1)


@pytest.mark.parametrize("model", [STAY, SLOW, GENERAL], ids=["collapse", "blocks", "general"])
@pytest.mark.parametrize("sets", [{"a": Point((1,))}, {"a": Halfspace((-1,), -2)}])
@pytest.mark.parametrize(("wrong", "most"), [(1, 10), (10, 10), (11, 10), (200, 10), (7, 2)])
def test_as_many_as_asked_for(model, sets, wrong, most):
    count = 9000 if model is STAY else 300
    data = hm.Dataset.from_arrays(
        *ones(count, np.arange(wrong) * (count // 200)), ["a"] * count, sets
    )
    found = hm.certify(model, data, witnesses=most)
    assert found.verdict == "refuted"
    assert 1 <= len(found.witnesses) <= most
    assert found.more or len(found.witnesses) == wrong
    for witness in found.witnesses:
        assert model.output(data.sequence(witness.sequence)) == witness.output == (3,)
    if wrong <= most and model is GENERAL:
        assert not found.more


def test_at_least_one_is_asked_for():
    data = hm.Dataset([[(0,)]], ["a"])
    with pytest.raises(hm.InputError, match="at least one"):
        hm.certify(STAY, data, witnesses=0)


def test_dear_outputs_are_left_out(monkeypatch):
    """One number of a deep model is altered: thousands of layers meet the points after it."""
    rng = np.random.default_rng(3)
    count = 800
    tokens = ExactArray(rng.normal(size=(2 * count, 3)))
    labels = [str(x) for x in rng.integers(0, 2, count)]
    data = hm.Dataset.from_arrays(tokens, np.arange(count + 1) * 2, labels)
    model = hm.build(data, strategy="peel")
    assert hm.certify(model, data).proved
    u = model.parameters.u
    values = np.array(u.values)
    row = len(model) * 5 // 6
    values[row] += 1 / 3
    arrays = {**model.parameters.arrays, "u": ExactArray(values)}
    altered = hm.Transformer(Parameters(**arrays))
    few, many = (hm.certify(altered, data, witnesses=k) for k in (3, 10**6))
    assert few.verdict == many.verdict
    if not many.proved:
        assert {w.sequence for w in few.witnesses} <= {w.sequence for w in many.witnesses}
        assert few.more == (len(few.witnesses) < len(many.witnesses))


@pytest.mark.parametrize("cheap", [0, 1, 63, 64, 65, 5000])
def test_the_first_dear_output_is_looked_at_alone(cheap):
    """One wrong output is enough; others that take as long must not be begun with it."""
    cost = np.array([1] * cheap + [10**9] * 40)
    found = Tally()
    batches = Search(lambda *_: [], 10).batches(cost, found)
    seen = []
    for some in batches:
        seen.extend(some.tolist())
        found.wrong += int(cost[some].max() > 1)
    assert seen == list(range(cheap + 1))


@pytest.mark.parametrize("cost", [[1] * 3000, [10**9] * 3000, list(range(3000, 0, -1))])
def test_where_nothing_is_wrong_all_are_looked_at_in_few_batches(cost):
    batches = list(Search(lambda *_: [], 10).batches(np.array(cost), Tally()))
    assert sorted(np.concatenate(batches)) == list(range(3000))
    assert len(batches) <= 14


def test_the_command_line(run, tmp_path):
    STAY.save(tmp_path / "m.npz")
    tokens = np.full((30, 1), 5.0)
    np.savez(tmp_path / "d.npz", tokens=tokens, offsets=np.arange(31), label=["a"] * 30)
    for arguments, count in (((), 10), (("--witnesses", 2), 2), (("--witnesses", 100), 30)):
        result = run("verify", tmp_path / "m.npz", tmp_path / "d.npz", *arguments)
        assert result.code == 1
        lines = [x for x in result.out.splitlines() if x.startswith("refuted: sequence")]
        assert len(lines) == count
        assert ("and maybe more" in result.out) == (count < 30)
        result = run("verify", tmp_path / "m.npz", tmp_path / "d.npz", "--json", *arguments)
        found = json.loads(result.out)
        assert len(found["witnesses"]) == count
        assert found["more_witnesses"] == (count < 30)
    assert run("verify", tmp_path / "m.npz", tmp_path / "d.npz", "--witnesses", 0).code == 2
