"""Scripts for SMT solvers: z3 and cvc5 agree with the verifier and confirm the radii."""

from fractions import Fraction
from random import Random

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import hardmax as hm
from hardmax.certify.radius import adversary, radii
from hardmax.cli.main import exit_code
from hardmax.construct.build import STRATEGIES
from hardmax.formats.smt2 import smt2_script
from hardmax.labels import Ball, Box, Halfspace, Point, Polyhedron
from hardmax.testing import datasets, disjoint_sets, rank_one_models, sequences

F = Fraction
BLOCK = hm.RankOneBlock.of
POINTS = {"a": Point((0, 0)), "b": Point((8, 0))}
LINEAR = ("point", "box", "halfspace", "polyhedron")


def by_z3(script):
    z3 = pytest.importorskip("z3")
    solver = z3.SolverFor("QF_LRA")
    solver.from_string(script)
    return str(solver.check())


def by_cvc5(script):
    cvc5 = pytest.importorskip("cvc5")
    solver = cvc5.Solver(cvc5.TermManager())
    parser = cvc5.InputParser(solver)
    parser.setStringInput(cvc5.InputLanguage.SMT_LIB_2_6, script, "script")
    symbols = parser.getSymbolManager()
    answers = []
    while not (command := parser.nextCommand()).isNull():
        answers.append(str(command.invoke(solver, symbols)).strip())
    return answers[-1]


@pytest.fixture(params=[by_z3, by_cvc5], ids=["z3", "cvc5"])
def solve(request):
    return request.param


DATA = hm.Dataset(
    [
        [(0, 0), (1, 2)], [(0, 1), (1, 2), (3, 1)], [(2, 2)], [(0, 0), (3, 1)],
        [(1, 1), (1, 1), (4, 0)],
    ],
    ["a", "b", "a", "b", "a"],
)  # fmt: skip
SETS = {
    "halfspaces": {"a": Halfspace((1, 1), 2), "b": Halfspace((-1, -1), 0)},
    "boxes": {"a": Box((0, 0), (1, 1)), "b": Box((3, -1), (4, 1))},
    "polyhedra": {"a": Polyhedron([(1, 1), (-1, 0)], (0, 5)), "b": Point((7, 7))},
}


def with_sets(name):
    if name == "points":
        return DATA
    return hm.Dataset(DATA.sequences, DATA.labels, SETS[name])


def shifted(model):
    """The model followed by a translation of 2^-200."""
    return hm.Transformer([*model.parameters, BLOCK(2, b=1, w=(F(1, 2**200), 0))])


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("kind", ["points", *SETS])
def test_built_models_are_unsat(solve, strategy, kind):
    data = with_sets(kind)
    model = hm.build(data, strategy=strategy)
    data = model.read(data)
    assert hm.certify(model, data).proved
    assert solve(smt2_script(model, data)) == "unsat"


# learn ends in open cones, which a small change does not leave
POINTED = [name for name in STRATEGIES if name != "learn"]


@pytest.mark.parametrize("strategy", POINTED)
def test_models_wrong_by_a_little_are_sat(solve, strategy):
    model = shifted(hm.build(DATA, strategy=strategy))
    assert solve(smt2_script(model, DATA)) == "sat"
    assert solve(smt2_script(model, DATA, claim="prediction")) == "unsat"


@pytest.mark.parametrize("strategy", POINTED)
def test_a_dropped_block_is_sat(solve, strategy):
    model = hm.Transformer(list(hm.build(DATA, strategy=strategy).parameters)[:-1])
    assert not hm.certify(model, DATA).proved
    assert solve(smt2_script(model, DATA)) == "sat"


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_solver_and_verifier_agree_on_random_models(draw):
    d = draw.draw(st.integers(1, 2))
    model = draw.draw(rank_one_models(d))
    assume(len(model))
    found = draw.draw(st.lists(sequences(d, 4), min_size=1, max_size=2))
    sets = disjoint_sets(["p", "q"], d, Random(draw.draw(st.integers(0, 99))), LINEAR)
    outputs = model.outputs(found)
    # labels that are right more often than chance, so that both answers occur
    labels = [hm.predict(y, sets) for y in outputs]
    if draw.draw(st.booleans()):  # exactly right where the set is a point
        sets["p"] = Point(outputs[0])
        assume(not sets["q"].contains(outputs[0]))
        labels = [hm.predict(y, sets) for y in outputs]
    data = hm.Dataset(found, labels, sets)
    expected = "unsat" if hm.certify(model, data).proved else "sat"
    script = smt2_script(model, data)
    assert by_z3(script) == by_cvc5(script) == expected


def uniform(strategy, data):
    model = hm.build(data, strategy=strategy)
    if any(any(block.v) and block.alpha for block in model.parameters):
        pytest.skip("the strategy chooses leaders here")
    return model


ROUND = F(1, 2**20)


# a point beside an open set: neither claim is the prediction
@pytest.mark.parametrize("kind", ["points", "halfspaces", "boxes"])
@pytest.mark.parametrize("strategy", [name for name in POINTED if name != "paper"])
def test_radii_are_confirmed(solve, strategy, kind):
    data = with_sets(kind)
    model = uniform(strategy, data)
    claim = "prediction" if kind == "points" else "label"
    for j, found in enumerate(radii(model, data).each):
        inside = smt2_script(model, data, [j], found.value * (1 - ROUND), claim)
        assert solve(inside) == "unsat"


@pytest.mark.parametrize("value", [F(3), F(1, 2)])
def test_a_binding_label_is_sat_just_outside(solve, value):
    model = hm.Transformer([BLOCK(2, rho=0, alpha=1)])
    data = hm.Dataset([[(4 - value, 0), (4 - value, 1)]], ["a"], POINTS)
    assert radii(model, data).least == value
    assert adversary(model, data.sequence(0), POINTS) == ((1, 0), (1, 0))
    assert (
        solve(smt2_script(model, data, radius=value * (1 - ROUND), claim="prediction")) == "unsat"
    )
    assert solve(smt2_script(model, data, radius=value, claim="prediction")) == "unsat"  # a ties
    assert solve(smt2_script(model, data, radius=value * (1 + ROUND), claim="prediction")) == "sat"


@settings(max_examples=25, deadline=None)
@given(datasets(min_dimension=2, max_dimension=2, max_sequences=4, max_length=3))
def test_radii_of_peel_are_confirmed_on_random_data(data):
    try:
        model = hm.build(data, strategy="peel")
    except hm.ContradictionError:
        assume(False)
    for j, found in enumerate(radii(model, data).each[:2]):
        if found.value and all(not any(block.v) for block in model.parameters):
            script = smt2_script(model, data, [j], found.value * (1 - ROUND), "prediction")
            assert by_z3(script) == "unsat"


def test_leaders_are_chosen_inside_the_script(solve):
    block = BLOCK(1, rho=F(1, 2), alpha=F(1, 3), v=(1,))
    data = hm.Dataset([[(-2,), (3,), (0,), (3,), (-2,), (-1,)]], ["y"])
    (y,) = hm.Transformer([block]).outputs(data.sequences)
    right = hm.Dataset(data.sequences, ["y"], {"y": Point(y)})
    wrong = hm.Dataset(data.sequences, ["y"], {"y": Point((y[0] + F(1, 10**40),))})
    model = hm.Transformer([block, BLOCK(1, v=(1,), alpha=0, rho=1)])
    assert solve(smt2_script(model, right)) == "unsat"
    assert solve(smt2_script(model, wrong)) == "sat"


def test_a_single_label_is_always_predicted(solve):
    data = hm.Dataset([[(1, 2)]], ["a"], {"a": Point((0, 0))})
    model = hm.Transformer([BLOCK(2)])
    assert solve(smt2_script(model, data, radius=F(9), claim="prediction")) == "unsat"


@pytest.mark.parametrize(
    ("parts", "options", "message"),
    [
        ({"v": (1, 0), "alpha": 1}, {"radius": F(1)}, "block 1 chooses leaders"),
        ({}, {"radius": F(-1)}, "negative"),
        ({}, {"sequences": [3]}, "no sequence 4; the data set has 1"),
        ({}, {"claim": "truth"}, "'truth' is unknown"),
    ],
)
def test_what_can_not_be_written_is_said(parts, options, message):
    data = hm.Dataset([[(1, 2)]], ["a"], POINTS)
    with pytest.raises(hm.InputError, match=message):
        smt2_script(hm.Transformer([BLOCK(2, **parts)]), data, **options)


def test_balls_are_refused():
    data = hm.Dataset([[(1, 2)]], ["a"], {"a": Ball((0, 0), 9)})
    with pytest.raises(hm.InputError, match="'a' is a ball, which is not linear"):
        smt2_script(hm.Transformer([BLOCK(2)]), data)
    with pytest.raises(hm.InputError, match="needs point labels"):
        smt2_script(hm.Transformer([BLOCK(2)]), data, claim="prediction")


def test_general_layers_are_refused():
    data = hm.Dataset([[(1, 2)]], ["a"], POINTS)
    with pytest.raises(hm.InputError, match="rank-1"):
        smt2_script(hm.Transformer([BLOCK(2).general()]), data)


def test_too_large_a_script_names_the_limit():
    data = hm.Dataset([[(k, l) for l in range(40)] for k in range(40)], ["a"] * 40, POINTS)
    model = hm.Transformer([BLOCK(2, u=(1, 0), w=(1, 1), rho=1)] * 400)
    with pytest.raises(hm.InputError, match="more than 1000000; choose fewer with --sequence"):
        smt2_script(model, data)


@pytest.fixture
def files(tmp_path):
    data = tmp_path / "data.json"
    data.write_text(
        '{"dimension": 2, "sequences": [{"tokens": [[0, 0], [1, 2]], "label": "a"},'
        ' {"tokens": [[0.1, "1/3"]], "label": "b"}]}'
    )
    model = tmp_path / "model.npz"
    assert exit_code(["build", str(data), "-o", str(model), "--strategy", "peel"]) == 0
    return model, data, tmp_path / "script.smt2"


def test_command_writes_a_script(files, capsys, solve):
    model, data, script = map(str, files)
    capsys.readouterr()
    assert exit_code(["export", model, data, "--to", "smt2", "-o", script]) == 0
    assert "2 sequences" in capsys.readouterr().out
    assert solve(files[2].read_text()) == "unsat"
    whole = files[2].read_text()
    arguments = ["export", model, data, "--to", "smt2", "-o", script, "--sequence", "2"]
    assert exit_code([*arguments, "--radius", "1/1000", "--claim", "prediction", "--json"]) == 0
    assert '"sequences": 1' in capsys.readouterr().out
    assert len(files[2].read_text()) < len(whole)
    assert solve(files[2].read_text()) == "unsat"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--sequence", "3"], "there is no sequence 3"),
        (["--radius", "x"], "'x' is not a number"),
        (["--to", "smt3"], "smt3"),
    ],
)
def test_command_refuses_bad_use(files, capsys, options, message):
    model, data, script = map(str, files)
    assert exit_code(["export", model, data, "--to", "smt2", "-o", script, *options]) == 2
    assert message in capsys.readouterr().err
    assert not files[2].exists()


def test_command_needs_data(files, capsys):
    assert exit_code(["export", str(files[0]), "--to", "smt2", "-o", str(files[2])]) == 2
    assert "needs DATA" in capsys.readouterr().err
