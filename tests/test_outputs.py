"""Output sequences: token i of a sequence must become output i (docs/certificate.md, section 1).

Theorem 16: a transformer does that iff no two equal tokens of sequences with equal measures must
become different things; K + R ≤ 2·outputs − 1 blocks suffice.
"""

import json
import sys
from collections import Counter
from fractions import Fraction
from pathlib import Path
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hardmax as hm
from hardmax import checker
from hardmax.dataset import ContradictionError
from hardmax.testing import FAMILIES, adversarial

EXAMPLES = Path(__file__).parent.parent / "examples"


def last_tokens(model, sequence):
    """The tokens behind the last block, as the predicate says: position by position."""
    tokens = [tuple(map(Fraction, z)) for z in sequence]

    def dot(x, y):
        return sum(a * b for a, b in zip(x, y, strict=True))

    for B in model.parameters:
        tokens = [
            tuple(x + w * max(0, dot(B.u, z) + B.b) for x, w in zip(z, B.w, strict=True))
            for z in tokens
        ]
        after = []
        for z in tokens:
            scores = [dot(B.v, z) * dot(B.v, y) for y in tokens]
            lead = [y for y, s in zip(tokens, scores, strict=True) if s == max(scores)]
            mean = [sum(column) / len(lead) for column in zip(*lead, strict=True)]
            after.append(tuple(B.rho * x + B.alpha * m for x, m in zip(z, mean, strict=True)))
        tokens = after
    return tokens


def measure(sequence):
    return frozenset((z, Fraction(k, len(sequence))) for z, k in Counter(sequence).items())


def contradicts(sequences, outputs):
    """Whether a pair (token, measure) must become two different points."""
    asked = {}
    return any(
        asked.setdefault((z, measure(Z)), y) != y
        for Z, Y in zip(sequences, outputs, strict=True)
        for z, y in zip(Z, Y, strict=False)
    )


@st.composite
def sequences_with_outputs(draw):
    d = draw(st.integers(1, 3))
    size = draw(st.sampled_from([1, 2, 9]))
    point = st.tuples(*[st.integers(-size, size)] * d)
    sequences = draw(st.lists(st.lists(point, min_size=1, max_size=5), min_size=1, max_size=8))
    target = st.tuples(*[st.fractions(-3, 3, max_denominator=4)] * d)
    outputs = [draw(st.lists(target, min_size=1, max_size=len(Z))) for Z in sequences]
    return sequences, outputs, draw(st.booleans())


def judged_by_the_checker(model, data, folder):
    """Its exit code on the two as files; where hardmax proves, with the certificate."""
    model.save(folder / "model.npz")
    data.save(folder / "data.json")
    files = [str(folder / "model.npz"), str(folder / "data.json")]
    found = hm.certify(*files)
    if found.proved:
        found.save(folder / "proof.json")
        files += ["--certificate", str(folder / "proof.json")]
    code, line = checker.answer(files)
    assert code == (0 if found.proved else 1), line
    return code


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("outputs")


@settings(deadline=None)
@given(case=sequences_with_outputs())
def test_built_and_proved_iff_no_pair_must_become_two_things(case, folder):
    sequences, outputs, positional = case
    data = hm.Dataset(sequences, outputs=outputs, positional=positional)
    seen = [
        [(*z, i) for i, z in enumerate(Z, 1)] if positional else Z for Z in map(list, sequences)
    ]
    aims = [[(*y, 0) for y in Y] if positional else Y for Y in outputs]
    if contradicts(seen, aims):
        with pytest.raises(ContradictionError) as refused:
            hm.build(data)
        assert "must become both" in str(refused.value)
        if refused.value.tied.ordered:
            assert not positional
        return
    model = hm.build(data)
    for Z, Y in zip(seen, aims, strict=True):
        assert last_tokens(model, Z)[: len(Y)] == [tuple(y) for y in Y]
    asked = sum(map(len, outputs))
    assert len(model) <= model.meta["bound"] <= 2 * asked - 1
    found = hm.certify(model, data)
    assert (found.verdict, found.outputs, found.uniform) == ("proved", asked, True)
    assert hm.certify(model, data, evaluator="definition").proved
    assert judged_by_the_checker(model, data, folder) == 0


def random_data(seed, count=50, most=5):
    rng = Random(seed)
    d = rng.choice([1, 2, 5])
    sequences, outputs = [], []
    for j in range(count):
        n = rng.randint(1, 8)
        sequences.append([[j, *(rng.randint(-3, 3) for _ in range(d))] for _ in range(n)])
        m = rng.randint(1, min(n, most))
        outputs.append([[Fraction(rng.randint(-9, 9), rng.randint(1, 4)) for _ in range(d + 1)]
                        for _ in range(m)])  # fmt: skip
    return hm.Dataset(sequences, outputs=outputs, positional=True)


@pytest.mark.parametrize("seed", [0, *(pytest.param(k, marks=pytest.mark.slow) for k in (1, 2, 3))])
def test_random_data(seed):
    data = random_data(seed)
    model = hm.build(data)
    assert hm.certify(model, data).proved
    assert len(model) <= 1 + len(data.outputs)  # K = 0: no token is shared


@pytest.mark.parametrize("name", sorted(set(FAMILIES) - {"dimension-48"}))
def test_adversarial_families(name):
    given = adversarial(name, 8)
    rng = Random(name)
    sequences = list(given)
    outputs = [
        [[rng.randint(-2, 2) for _ in range(given.dimension)] for _ in Z[:3]] for Z in sequences
    ]
    data = hm.Dataset(sequences, outputs=outputs)
    if contradicts(sequences, outputs):
        with pytest.raises(ContradictionError):
            hm.build(data)
    else:
        model = hm.build(data)
        assert hm.certify(model, data).proved
        assert len(model) <= 2 * len(data.outputs) - 1


SHARED = [[(0, 0), (1, 0)], [(0, 0), (0, 1)], [(0, 0), (0, 1), (0, 0), (0, 1)], [(2, 2)]]
AIMS = [[(1, 1), (2, 2)], [(3, 3)], [(3, 3)], [(0, "1/3")]]


def test_tied_means_and_shared_tokens_are_split():
    # both sequences have the mean 0 and share the token 0
    data = hm.Dataset([[(0,), (1,), (-1,)], [(0,), (2,), (-2,)]], outputs=[[(5,)], [(6,)]])
    model = hm.build(data)
    assert model.meta["tie_splitting"] == 1
    assert len(model) == 3
    assert hm.certify(model, data).proved


def mutants():
    """Models and data that differ in one number from what is proved."""
    data = hm.Dataset(SHARED, outputs=AIMS)
    model = hm.build(data)
    tiny = Fraction(1, 2**60)
    for k, block in enumerate(model.parameters):
        for name in ("w", "u", "v"):
            changed = tuple(x + tiny * (i == 0) for i, x in enumerate(getattr(block, name)))
            parts = {x: getattr(block, x) for x in ("u", "b", "w", "rho", "alpha", "v")}
            blocks = list(model.parameters)
            blocks[k] = hm.RankOneBlock(**parts | {name: changed})
            yield f"{name}{k}", hm.Transformer(blocks), data
    yield "order", model, hm.Dataset(SHARED, outputs=[AIMS[0][::-1], *AIMS[1:]])
    for i in range(2):
        wrong = [list(map(list, Y)) for Y in AIMS]
        wrong[0][i][0] = Fraction(wrong[0][i][0]) + tiny
        yield f"aim{i}", model, hm.Dataset(SHARED, outputs=wrong)
    short = hm.Transformer(list(model.parameters)[:-1])
    yield "short", short, data


MUTANTS = list(mutants())


@pytest.mark.parametrize(("name", "model", "data"), MUTANTS, ids=[x[0] for x in MUTANTS])
def test_mutants_are_judged_alike(name, model, data, folder):
    right = all(
        last_tokens(model, Z)[: len(Y)] == [tuple(map(Fraction, y)) for y in Y]
        for Z, Y in zip(data, data.given_outputs, strict=True)
    )
    assert judged_by_the_checker(model, data, folder) == (0 if right else 1)
    assert hm.certify(model, data).proved == right
    assert hm.certify(model, data, evaluator="definition").proved == right
    if name in ("order", "aim0", "aim1", "short") or name[0] == "w":
        assert not right


def test_a_witness_names_the_token():
    model = hm.Transformer([hm.RankOneBlock.translation((1,))])
    data = hm.Dataset([[(0,), (1,), (9,)]], outputs=[[(1,), (3,)]])
    found = hm.certify(model, data)
    assert found.verdict == "refuted"
    assert [(x.sequence, x.token, x.output) for x in found.witnesses] == [(0, 2, (Fraction(2),))]
    assert found.witnesses[0].sentence() == (
        "sequence 1: token 2 becomes (2), exactly; asked for is the point (3)"
    )


def test_a_collapsed_sequence_has_one_output_everywhere(folder):
    model = hm.Transformer([hm.RankOneBlock.of(1, rho=0, alpha=1)])
    sequences = [[(0,), (1,), (5,)]]
    same = hm.Dataset(sequences, outputs=[[(2,), (2,), (2,)]])
    other = hm.Dataset(sequences, outputs=[[(2,), (2,), (3,)]])
    for data, code in [(same, 0), (other, 1)]:
        assert judged_by_the_checker(model, data, folder) == code
        assert hm.certify(model, data, evaluator="definition").proved == (code == 0)


def test_labels_stand_for_their_sets(folder):
    sets = {"in": hm.Ball((0, 0), 1), "up": hm.Halfspace((0, 1), 5), "at": (3, 3)}
    outputs = [["in", "up"], ["at", (3, 4)], ["at"], [(0, "1/2")]]
    data = hm.Dataset(SHARED, sets=sets, outputs=outputs)
    model = hm.build(data)
    assert judged_by_the_checker(model, data, folder) == 0
    # a point in a set serves both
    twice = hm.Dataset([[(1, 0)], [(1, 0), (1, 0)]], sets=sets, outputs=[["in"], [(0, "1/2")]])
    built = hm.build(twice)
    assert len(built) == 1
    assert judged_by_the_checker(built, twice, folder) == 0
    # without sets the labels get the points 0, 1, … on the first axis
    data = hm.Dataset(SHARED, outputs=[[7, "b"], [30], [30], ["b"]])
    assert data.sets["30"].point == (1, 0)
    assert judged_by_the_checker(hm.build(data), data, folder) == 0


def test_files_hold_outputs(tmp_path):
    data = hm.Dataset(SHARED, sets={"a": (1, 2)}, outputs=[["a", (1, "1/3")], *AIMS[1:]])
    data.save(tmp_path / "d.json")
    again = hm.load(tmp_path / "d.json")
    assert again.given_outputs == data.given_outputs
    assert again[1:3].given_outputs == data.given_outputs[1:3]
    with pytest.raises(hm.InputError, match="no outputs; save as"):
        data.save(tmp_path / "d.npz")


ONE = {"tokens": [[0], [1]]}
BAD = {
    "both": ([ONE | {"label": "a", "outputs": [[1]]}], "sequence 1 has a label and outputs"),
    "some": ([ONE | {"outputs": [[1]]}, ONE | {"label": "a"}], "sequence 2 has no outputs"),
    "late": ([ONE | {"label": "a"}, ONE | {"outputs": [[1]]}], "sequence 2 has outputs"),
    "none": ([ONE | {"outputs": []}], "sequence 1 has 0 outputs for 2 tokens"),
    "many": ([ONE | {"outputs": [[1]] * 3}], "sequence 1 has 3 outputs for 2 tokens"),
    "long": ([ONE | {"outputs": [[1, 2]]}], "sequence 1, output 1"),
    "null": ([ONE | {"outputs": [[1], None]}], "sequence 1, output 2 is None"),
    "text": ([ONE | {"outputs": "ab"}], 'sequence 1, outputs: "ab" is not a list'),
    "true": ([ONE | {"outputs": [True]}], "sequence 1, output 1"),
    "deep": ([ONE | {"outputs": [[[1]]]}], "sequence 1, output 1"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_outputs(name, tmp_path, run):
    sequences, reason = BAD[name]
    path = tmp_path / "data.json"
    path.write_text(json.dumps({"sequences": sequences}))
    result = run("build", path, "-o", tmp_path / "m.npz")
    assert result.code == 2
    assert reason in result.err
    assert not (tmp_path / "m.npz").exists()
    hm.Transformer([hm.RankOneBlock.of(1)]).save(tmp_path / "model.npz")
    assert checker.answer([str(tmp_path / "model.npz"), str(path)])[0] == 2


def test_bad_outputs_in_python():
    with pytest.raises(hm.InputError, match="labels or outputs"):
        hm.Dataset([[(1,)]], ["a"], outputs=[[(1,)]])
    with pytest.raises(hm.InputError, match="2 lists of outputs for 1 sequence"):
        hm.Dataset([[(1,)]], outputs=[[(1,)], [(2,)]])
    with pytest.raises(hm.InputError, match="label 'c', which is not among the labels"):
        hm.Dataset([[(1,)]], sets={"a": (1,)}, outputs=[["c"]])
    data = hm.Dataset([[(1,)]], outputs=np.array([[[2]]]))
    model = hm.build(data, "auto")
    assert model.meta["strategy"] == "peel"
    for strategy in ("cover", "fold"):
        with pytest.raises(hm.InputError, match="needs labels"):
            hm.build(data, strategy)
    for wanted in ({"radius": True}, {"executor": "float64"}):
        with pytest.raises(hm.InputError, match="asks for outputs"):
            hm.certify(model, data, **wanted)


def test_the_impossible_is_refuted(tmp_path, run):
    path = tmp_path / "data.json"
    rows = [{"tokens": [[0], [0]], "outputs": [[1], [2]]}]
    path.write_text(json.dumps({"sequences": rows}))
    result = run("build", path, "-o", tmp_path / "m.npz")
    assert result.code == 1
    assert "the token (0) must become both the point (1) and the point (2)" in result.out
    assert "--positional would tell them apart" in result.out
    assert run("build", path, "-o", tmp_path / "m.npz", "--positional").code == 0


def test_the_zen_line_by_line(tmp_path, run, monkeypatch):
    data, model, proof = EXAMPLES / "zen_lines.json", tmp_path / "m.npz", tmp_path / "proof.json"
    monkeypatch.syspath_prepend(EXAMPLES)
    import make_zen_lines

    assert make_zen_lines.text(make_zen_lines.dataset()) == data.read_text(encoding="utf-8")
    built = json.loads(run("build", data, "-o", model, "--certificate", proof, "--json").out)
    assert built["verdict"] == "proved"
    assert built["outputs"] == 144 == built["blocks"]
    assert built["bounds"] == "n/a"
    assert checker.answer([*map(str, (model, data)), "--certificate", str(proof)])[0] == 0
    changed = json.loads(proof.read_text()) | {"outputs": 143}
    proof.write_text(json.dumps(changed))
    assert checker.answer([*map(str, (model, data)), "--certificate", str(proof)])[0] == 1
    run("run", model, data, "-o", tmp_path / "out.json", "--exact")
    for row in json.loads((tmp_path / "out.json").read_text())["results"]:
        assert row["labels"] == [*row["id"].split()[1:], "\n"]
    assert "token 1: Zen  (2, 0)" in run("run", model, data).out
    assert run("verify", model, data, "--definition").code == 0
    for command in (
        ("verify", model, data, "--radius"),
        ("verify", model, data, "--executor", "softmax"),
        ("export", model, data, "--to", "smt2", "-o", tmp_path / "x.smt2"),
        ("report", model, data, "-o", tmp_path / "x.html"),
        ("compare", data),
    ):
        result = run(*command)
        assert result.code == 2
        assert "asks for outputs" in result.err
    monkeypatch.delitem(sys.modules, "make_zen_lines")
