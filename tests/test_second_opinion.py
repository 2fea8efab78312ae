"""Verdicts in depth: enclosures enclose, tiny engines agree, and so does another evaluator."""

from fractions import Fraction as F

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hardmax as hm
import hardmax.labels
from hardmax.certify import verify
from hardmax.certify.second_opinion import double_check, replayed_outputs
from hardmax.certify.verify import misclassified
from hardmax.engine import Plan, Sizes, evaluate
from hardmax.engine.forward.buffers import Buffers
from hardmax.engine.forward.collapse import collapse
from hardmax.engine.forward.forward_pass import apply_panel
from hardmax.errors import VerdictError
from hardmax.exact.array import ExactArray
from hardmax.labels import Halfspace, Point
from hardmax.model.blocks import apply
from hardmax.model.tokens import Tokens
from hardmax.testing import datasets

STRATEGIES = ("paper", "peel", "cover")
# chunks of 2, panels of 3: paths that small data never take otherwise
TINY = Sizes(
    panel=3, tents=1, few=0, straight=1, rounds=1, patterns=0,
    alone=0, chunk=1, tokens=2, probe=1,
)  # fmt: skip


def random_data(seed, count=40, length=3, d=3, overrides=0):
    rng = np.random.default_rng(seed)
    tokens = rng.normal(size=(count * length, d)).round(2)
    exact = {}
    for k in rng.choice(tokens.size, overrides, replace=False).tolist():
        exact[k] = F(int(rng.integers(-50, 50)) * 2 + 1, 6)
        tokens.flat[k] = float(exact[k])
    labels = [str(x) for x in rng.integers(0, 3, count)]
    offsets = np.arange(count + 1) * length
    return hm.Dataset.from_arrays(ExactArray(tokens, exact), offsets, labels)


def states(model, data):
    """Exact points of all sequences behind every block; None while there are several tokens."""
    batch = Tokens.from_array(data.tokens, data.offsets)
    for block in model.parameters:
        apply(batch, block)
        alone = len(batch.starts) == batch.starts[-1] + 1
        yield batch.means() if alone else None


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("overrides", [0, 9])
def test_the_enclosure_invariant(strategy, overrides):
    """Behind every step of the plan, the exact points lie within the radius of the floats."""
    data = random_data(5, overrides=overrides)
    model = hm.build(data, strategy=strategy)
    plan = Plan.of(model)
    collapsed = collapse(plan, data.tokens, data.offsets)
    exact = list(states(model, data))

    def check(block):
        points = collapsed.points
        kept = np.ones(len(points), bool) if collapsed.lost is None else ~collapsed.lost
        for j in np.flatnonzero(kept).tolist():
            row = zip(exact[block][j], points.values[j], points.radius[j], strict=True)
            for x, value, radius in row:
                if np.isfinite(value) and np.isfinite(radius):
                    assert abs(x - F(float(value))) <= F(float(radius))
                    checked.append(radius)

    checked = []
    first = plan.steps[0] if plan.steps else None
    if first is None or not hasattr(first, "blocks") or int(first.blocks[0]) > plan.collapse:
        check(plan.collapse)
    for step in plan.steps:
        if hasattr(step, "blocks"):
            apply_panel(step, collapsed.points, Buffers(), plan.sizes)
            last = int(step.blocks.max())
        else:
            p, last = plan.parameters, step.block
            collapsed.points.scale(float(p.rho.entry(last) + p.alpha.entry(last)))
        if not plan.moves[last] or plan.rests[last] or not hasattr(step, "blocks"):
            check(last)
    assert len(checked) > 100


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("seed", range(3))
def test_a_tiny_engine_gives_the_outputs_of_the_definition(strategy, seed):
    data = random_data(seed, count=23, overrides=5 * seed)
    model = hm.build(data, strategy=strategy)
    expected = model.outputs(data.sequences)
    found = evaluate(model, data.tokens, data.offsets, sizes=TINY)
    assert [found[j] for j in range(len(data))] == expected
    assert misclassified(model, data) == []
    assert hm.certify(model, data).proved
    moved = {name: Point((each.point[0] + F(1, 3), *each.point[1:]))
             for name, each in data.sets.items()}  # fmt: skip
    half = {"0": data.sets["0"], "1": moved["1"], "2": data.sets["2"]}
    other = hm.Dataset.from_arrays(data.tokens, data.offsets, data.labels, half)
    wrong = [j for j, label in enumerate(data.labels) if label == "1"]
    assert [j for j, _ in misclassified(model, other)] == wrong
    some = hm.certify(model, other, witnesses=2)
    assert some.verdict == "refuted"
    assert {w.sequence for w in some.witnesses} <= set(wrong)
    assert all(w.output == expected[w.sequence] for w in some.witnesses)


@given(datasets(), st.sampled_from(STRATEGIES))
def test_the_second_evaluator_is_the_definition(data, strategy):
    try:
        model = hm.build(data, strategy=strategy)
    except (hm.ContradictionError, hm.InputError):
        return
    every = np.arange(len(data))
    assert replayed_outputs(model.parameters, data, every)[0] == model.outputs(data.sequences)
    assert double_check(model, data) >= 0


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("kind", ["points", "open"])
def test_an_engine_that_errs_is_found_out(monkeypatch, run, tmp_path, strategy, kind):
    """A verdict that calls everything proved ends as an internal error, exit code 70."""
    data = random_data(1, count=30)
    if kind == "open":
        sets = {"0": Halfspace((-1, 0, 0), F(-1, 2)), "1": Halfspace((1, 0, 0), F(3, 2)),
                "2": hm.labels.Box((F(1, 2), -9, -9), (F(3, 2), 9, 9))}  # fmt: skip
        data = hm.Dataset.from_arrays(data.tokens, data.offsets, data.labels, sets)
    model = hm.build(data, strategy=strategy)
    assert hm.certify(model, data).proved
    shifted = hm.Dataset.from_arrays(
        data.tokens, data.offsets, data.labels,
        {name: Point((k + 50, 0, 0)) for k, name in enumerate(data.sets)},
    )  # fmt: skip
    monkeypatch.setattr(verify, "outside", lambda *_: [])
    with pytest.raises(VerdictError, match="sequence 1 "):
        hm.certify(model, shifted)
    assert VerdictError.exit_code == 70


def test_the_sequences_at_the_ends_of_chunks_are_among_those_replayed(monkeypatch):
    from hardmax.certify import second_opinion

    seen = []
    original = second_opinion.replayed_outputs

    def watching(parameters, data, chosen, *rest):
        seen.extend(chosen.tolist())
        return original(parameters, data, chosen, *rest)

    monkeypatch.setattr(second_opinion, "replayed_outputs", watching)
    count = 9000
    data = hm.Dataset.from_arrays(
        ExactArray(np.zeros((count, 1))), np.arange(count + 1), ["a"] * count
    )
    model = hm.Transformer([hm.RankOneBlock.of(1, rho=0, alpha=1)])
    assert hm.certify(model, data).proved
    assert {0, count - 1} <= set(seen)
    assert len(set(seen)) >= count // 100
