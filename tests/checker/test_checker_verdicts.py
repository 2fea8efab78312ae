"""The checker against the definition: true models are proved, wrong ones refuted, no third case."""

from fractions import Fraction

import definition
import pytest
from checker_files import checker, data_file, identity, model_file, verdict
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

QUICK = settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
SMALL = st.integers(-4, 4)
NUMBER = st.one_of(
    SMALL.map(Fraction),
    st.tuples(SMALL, st.sampled_from([1, 2, 3, 4, 7, 1024])).map(lambda t: Fraction(*t)),
)


@st.composite
def blocks(draw, d):
    vector = st.lists(NUMBER, min_size=d, max_size=d)
    zero = st.just([Fraction(0)] * d)
    found = []
    for _ in range(draw(st.integers(1, 5))):
        rho, alpha = draw(st.sampled_from([(1, 0), (0, 1), (0, 0), (1, 1)]).map(list)), None
        alpha = Fraction(rho[1]) if draw(st.booleans()) else draw(NUMBER)
        found.append((
            draw(vector | zero), draw(NUMBER), draw(vector | zero),
            Fraction(rho[0]), alpha, draw(vector | zero),
        ))  # fmt: skip
    return found


@st.composite
def problems(draw):
    """Blocks and sequences, with the true outputs."""
    d = draw(st.integers(1, 3))
    token = st.lists(NUMBER, min_size=d, max_size=d)
    model = draw(blocks(d))
    sequences = draw(st.lists(st.lists(token, min_size=1, max_size=4), min_size=1, max_size=4))
    return model, sequences, [definition.output(model, Z) for Z in sequences]


def around(x, kind, gap):
    """A set of the given kind that has x in it, ``gap`` away from its boundary (an open set)."""
    d = len(x)
    if kind == "point":
        return {"kind": "point", "point": x}
    if kind == "ball":
        return {"kind": "ball", "center": [x[0] + 1, *x[1:]], "radius": 1 + gap}
    if kind == "box":
        return {"kind": "box", "lower": [a - gap for a in x], "upper": [a + gap for a in x]}
    if kind == "halfspace":
        normal = [Fraction(k + 1, 3) for k in range(d)]
        offset = definition.dot(normal, x) - gap
        return {"kind": "halfspace", "normal": normal, "offset": offset}
    rows = [[Fraction((-1) ** (k + i)) for k in range(d)] for i in range(2)]
    return {"kind": "polyhedron", "A": rows, "b": [definition.dot(row, x) + gap for row in rows]}


KINDS = ["point", "ball", "box", "halfspace", "polyhedron"]


@QUICK
@given(problems(), st.lists(st.sampled_from(KINDS), min_size=4, max_size=4))
def test_true_models_are_proved(problem, kinds):
    model, sequences, outputs = problem
    labels = [str(j) for j in range(len(sequences))]
    sets = {
        label: around(x, kind, Fraction(1, 2**80))
        for label, x, kind in zip(labels, outputs, kinds, strict=False)
    }
    assert definition.classified(model, sequences, labels, sets)
    code, lines = verdict(model_file(model), data_file(sequences, labels, sets))
    assert (code, lines[0]) == (0, "proved")


@QUICK
@given(problems(), st.sampled_from(KINDS[1:]))
def test_the_boundary_of_an_open_set_is_outside(problem, kind):
    model, sequences, outputs = problem
    sets = {"a": around(outputs[0], "halfspace", 1), "b": around(outputs[-1], kind, Fraction(0))}
    if kind == "box":  # a point on a face
        sets["b"]["upper"] = [a + 1 for a in outputs[-1]]
    if kind == "polyhedron":  # likewise; with no gap anywhere it would be empty
        first, *others = sets["b"]["b"]
        sets["b"]["b"] = [first, *(bound + 1 for bound in others)]
    labels = ["a"] * (len(sequences) - 1) + ["b"]
    code, reason = verdict(model_file(model), data_file(sequences, labels, sets))
    assert code == 1
    assert " is not in " in reason


@QUICK
@given(problems(), st.data())
def test_mutants_get_the_verdict_of_the_definition(problem, data):
    """One number of the model, one coordinate of a token, or two labels are changed."""
    model, sequences, outputs = problem
    labels = [str(x) for x in outputs]
    sets = {str(x): {"kind": "point", "point": x} for x in outputs}
    sets["elsewhere"] = {"kind": "point", "point": [x + 9 for x in outputs[0]]}
    kind = data.draw(st.sampled_from(["parameter", "token", "label", "swap", "drop"]))
    change = data.draw(st.sampled_from([Fraction(1), Fraction(-1, 2), Fraction(1, 2**200)]))
    if kind == "parameter":
        k, place = data.draw(st.integers(0, len(model) - 1)), data.draw(st.integers(0, 5))
        block = [list(x) if isinstance(x, list) else x for x in model[k]]
        if isinstance(block[place], list):
            block[place][data.draw(st.integers(0, len(block[place]) - 1))] += change
        else:
            block[place] += change
        model = [*model[:k], tuple(block), *model[k + 1 :]]
    elif kind == "token":
        sequences = [[list(z) for z in Z] for Z in sequences]
        sequences[-1][0][0] += change
    elif kind == "label":
        labels[data.draw(st.integers(0, len(labels) - 1))] = "elsewhere"
    elif kind == "swap":
        model = model[::-1]
    elif len(model) > 1:
        model = model[1:]
    wanted = 0 if definition.classified(model, sequences, labels, sets) else 1
    code, reason = verdict(model_file(model), data_file(sequences, labels, sets))
    assert code == wanted, reason


@QUICK
@given(problems())
def test_the_witness_is_the_exact_output(problem):
    model, sequences, outputs = problem
    sets = {"far": {"kind": "point", "point": [x + Fraction(1, 2**90) for x in outputs[0]]}}
    data = data_file(sequences, ["far"] * len(sequences), sets)
    code, reason = verdict(model_file(model), data)
    assert code == 1
    shown = ", ".join(f'"{x}"' for x in outputs[0])
    assert reason.startswith(f"sequence 1: output [{shown}] is not in ")


def test_a_known_value():
    # leaders of (2,0), (1,1), (-1,3) along v = (1,0): the first two follow (2,0), the third itself
    model = [identity(2, rho="1/2", alpha="1/2", v=[1, 0])]
    sequences = [[[2, 0], [1, 1], [-1, 3]]]
    x = [Fraction(2 + 3 / 2 - 1) / 3, Fraction(0 + 1 / 2 + 3) / 3]
    assert definition.output(model, sequences[0]) == x
    data = data_file(sequences, ["a"], {"a": {"kind": "point", "point": x}})
    assert verdict(model_file(model), data)[0] == 0


@pytest.mark.parametrize("tail", [0, 1, 2])
def test_many_blocks_with_growing_numbers(tail):
    """Numbers of a thousand bits, and the division by common factors in between."""
    step = identity(2, u=["1/3", "1/7"], b="1/5", w=["3/11", "-1/13"], rho="2/3", alpha="1/17")
    model = [step] * (60 + tail)
    sequences = [[[1, 2], [3, 4]], [[-1, 1]]]
    for blocks_ in (model, [identity(2, rho=0, alpha=1), *model]):
        outputs = [definition.output(blocks_, Z) for Z in sequences]
        assert max(x.denominator for x in outputs[0]).bit_length() > 900
        sets = {str(j): {"kind": "point", "point": x} for j, x in enumerate(outputs)}
        data = data_file(sequences, ["0", "1"], sets)
        assert verdict(model_file(blocks_), data)[0] == 0


def test_past_the_limit_of_bits_nothing_is_claimed(monkeypatch):
    monkeypatch.setattr(checker, "MAX_BITS", 200)
    grow = identity(1, u=["1/3"], b=1, w=["1/7"])
    code, reason = verdict(model_file([grow] * 90), data_file([[[1]]], ["a"]))
    assert (code, reason) == (3, "a coordinate needs more than 200 bits")
