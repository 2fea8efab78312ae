"""Instances for verifiers: the answers hold for the function that the ONNX file itself defines."""

from __future__ import annotations

import csv
import re
from fractions import Fraction
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hardmax as hm
from hardmax.model.layers import RankOneBlock
from hardmax.testing import adversarial

onnx = pytest.importorskip("onnx")

from hardmax.exchange.unrolled import unrolled  # noqa: E402
from hardmax.exchange.vnnlib import benchmark  # noqa: E402

FAMILIES = ("count-vectors", "halfspace-labels", "point-labels", "box-labels", "integer-grid")


def exact(graph, x):
    """The graph over ℚ, node by node: MatMul, Gemm, Add and Relu of Fractions, and no other."""
    values = {"X": [[Fraction(t) for t in x]]}
    for each in graph.initializer:
        array = onnx.numpy_helper.to_array(each)
        rows = array if array.ndim == 2 else array[None]
        values[each.name] = [[Fraction(float(t)) for t in row] for row in rows]

    def product(a, b):
        return [
            [
                sum((s * t for s, t in zip(row, column) if s and t), Fraction(0))
                for column in zip(*b)
            ]
            for row in a
        ]

    def total(a, b):
        return [[s + t for s, t in zip(p, q, strict=True)] for p, q in zip(a, b, strict=True)]

    for node in graph.node:
        given = [values[name] for name in node.input]
        assert not node.attribute
        if node.op_type == "MatMul":
            found = product(*given)
        elif node.op_type == "Gemm":
            found = total(product(given[0], given[1]), given[2])
        elif node.op_type == "Add":
            found = total(*given)
        else:
            assert node.op_type == "Relu"
            found = [[max(t, Fraction(0)) for t in row] for row in given[0]]
        values[node.output[0]] = found
    return values["Y"][0]


def first_version(text):
    """The box, and the ways in which the assertion on Y holds, of a VNN-LIB 1.0 file."""
    low = dict(re.findall(r"\(assert \(>= (X_\d+) ([-.\d]+)\)\)", text))
    high = dict(re.findall(r"\(assert \(<= (X_\d+) ([-.\d]+)\)\)", text))
    names = re.findall(r"declare-const (X_\d+)", text)
    assert set(low) == set(high) == set(names)
    ways = re.findall(r"\(and \(>= Y_(\d+) (Y_\d+|0)\)\)", text)
    box = [(Fraction(low[name]), Fraction(high[name])) for name in names]
    return box, [(int(i), None if k == "0" else int(k[2:])) for i, k in ways]


def lost(y, ways):
    return any(y[i] >= (0 if k is None else y[k]) for i, k in ways)


def counterexample(text):
    return [Fraction(x) for x in re.findall(r"\(X_\d+ ([-.\d]+)\)", text)]


@pytest.mark.parametrize(
    "family",
    [FAMILIES[0], FAMILIES[1], *(pytest.param(x, marks=pytest.mark.slow) for x in FAMILIES[2:])],
)
@pytest.mark.parametrize("strategy", ["cover", "peel"])
def test_answers_hold_for_the_graph(family, strategy):
    data = adversarial(family, 6)
    made = benchmark(hm.build(data, strategy=strategy), data)
    rows = list(csv.DictReader(made.files["ground_truth.csv"].decode().splitlines()))
    listed = list(csv.reader(made.files["instances.csv"].decode().splitlines()))
    assert [row[:2] for row in listed] == [[row["onnx"], row["vnnlib"]] for row in rows]
    assert len(rows) == sum(made.counts.values()) >= 6
    rng = Random(1)
    for row in rows:
        graph = onnx.load_model_from_string(made.files[row["onnx"]]).graph
        box, ways = first_version(made.files[row["vnnlib"]].decode())
        radius = Fraction(row["radius"])
        assert all(high - low == 2 * radius for low, high in box)
        if row["result"] == "sat":
            name = row["vnnlib"].replace("vnnlib/", "counterexamples/").replace(".vnnlib", ".txt")
            x = counterexample(made.files[name].decode())
            assert all(low <= t <= high for t, (low, high) in zip(x, box, strict=True))
            assert lost(exact(graph, x), ways)
        else:  # at the centre and at corners of the box the label holds
            assert not lost(exact(graph, [(low + high) / 2 for low, high in box]), ways)
            for _ in range(3):
                assert not lost(exact(graph, [rng.choice(pair) for pair in box]), ways)
        if row["robust_radius"] != "?":
            ratio = radius / Fraction(row["robust_radius"])
            assert abs(ratio - 1) < Fraction(1, 500)
            assert (ratio < 1) == (row["result"] == "unsat")


entries = st.integers(-3, 3)
quotients = st.builds(Fraction, entries, st.sampled_from([1, 2, 3, 7]))


@st.composite
def uniform_models(draw, dimension=2):
    def vector():
        return tuple(draw(quotients) for _ in range(dimension))

    return hm.Transformer([
        RankOneBlock.of(
            dimension, u=vector(), b=draw(quotients), w=vector(),
            rho=draw(quotients), alpha=draw(quotients),
        )
        for _ in range(draw(st.integers(1, 4)))
    ])  # fmt: skip


@given(
    model=uniform_models(),
    sequence=st.lists(st.tuples(entries, entries), min_size=1, max_size=5),
    dtype=st.sampled_from(["float32", "float64"]),
)
def test_the_exact_model_is_the_graph(model, sequence, dtype):
    sets = {"a": hm.Point((0, 1)), "b": hm.Point((2, "1/3"))}
    net = unrolled(model, sets, len(sequence), dtype)
    y = net.model.output(sequence)
    scores = [sum((a * t for a, t in zip(row, y, strict=True)), b) for row, b in net.rows]
    assert exact(net.graph.graph, [x for z in sequence for x in z]) == scores
    assert net.sets["a"].contains(y) == (scores[0] > scores[1])
    # rounding moved the parameters by little
    near = model.output(sequence)
    size = max(1.0, *(abs(float(x)) for x in near))
    assert all(abs(float(s - t)) < 0.01 * size for s, t in zip(y, near, strict=True))


def test_runtime_and_parser_accept_the_files():
    runtime = pytest.importorskip("onnxruntime")
    data = adversarial("count-vectors", 6)
    made = benchmark(hm.build(data, strategy="cover"), data)
    names = list(data.sets)
    for name, content in made.files.items():
        if not name.startswith("onnx/"):
            continue
        onnx.checker.check_model(onnx.load_model_from_string(content), full_check=True)
        session = runtime.InferenceSession(content, providers=["CPUExecutionProvider"])
        width = session.get_inputs()[0].shape[1]
        for Z, label in zip(data.arrays(), data.names, strict=True):
            if Z.size == width:
                (y,) = session.run(None, {"X": Z.reshape(1, -1).astype(np.float32)})
                assert names[int(y[0].argmax())] == label
    parser = pytest.importorskip("vnnlib")
    for name, content in made.files.items():
        if name.startswith("vnnlib2/"):
            assert len(parser.parse_query_string(content.decode()).networks) == 1


def test_models_that_do_not_fit():
    data = hm.Dataset([[(0, 1)], [(1, 2)]], ["a", "b"])
    leaders = hm.Transformer([RankOneBlock.of(2, alpha=1, v=(1, 0))])
    with pytest.raises(hm.InputError, match=r"block 1 chooses leaders \(v ≠ 0\)"):
        benchmark(leaders, data)
    plain = hm.Transformer([RankOneBlock.of(2)])
    balls = data.with_sets({"a": hm.Ball((0, 1), 1), "b": hm.Ball((9, 9), 1)})
    with pytest.raises(hm.InputError, match="label 'a' is a ball"):
        benchmark(plain, balls)
    with pytest.raises(hm.InputError, match="single label"):
        benchmark(plain, hm.Dataset([[(0, 1)]], ["a"]))
    with pytest.raises(hm.InputError, match="gap"):
        benchmark(plain, data, gap=Fraction(1))
    with pytest.raises(hm.InputError, match="block 1 has a number past the range of float32"):
        benchmark(hm.Transformer([RankOneBlock.of(2, rho=2**200)]), data)
    # the second sequence goes to the point of the first: nothing is said about it
    wrong = hm.Transformer([RankOneBlock.translation((-1, -2))])
    assert benchmark(wrong, data).skipped == [1]


@pytest.fixture
def files(tmp_path):
    data = adversarial("count-vectors", 4)
    data.save(tmp_path / "d.json")
    hm.build(data, strategy="cover").save(tmp_path / "m.npz")
    return tmp_path


def test_the_folder_comes_whole_or_not_at_all(run, files, monkeypatch):
    command = ("export", files / "m.npz", files / "d.json", "--to", "vnnlib", "-o", files / "out")
    result = run(*command)
    assert result.code == 0
    assert "sat" in result.out
    before = sorted(files.iterdir())
    first = {p.name: p.read_bytes() for p in (files / "out").rglob("*") if p.is_file()}
    assert {"README.md", "instances.csv", "ground_truth.csv"} <= set(first)
    assert run(*command).code == 0
    assert {p.name: p.read_bytes() for p in (files / "out").rglob("*") if p.is_file()} == first
    assert sorted(files.iterdir()) == before  # no temporary folder stays

    def fail(self, content):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("pathlib.Path.write_bytes", fail)
        result = run(*command)
    assert result.code == 2
    assert "No space" in result.err
    assert sorted(files.iterdir()) == before
    assert (files / "out" / "ground_truth.csv").read_bytes() == first["ground_truth.csv"]
    (files / "out" / "notes.txt").write_text("mine")
    result = run(*command, "--force")
    assert result.code == 2
    assert (files / "out" / "notes.txt").read_text() == "mine"


def test_bad_use_of_the_command(run, files):
    model, data, out = files / "m.npz", files / "d.json", files / "out"
    for extra in (["--radius", "1"], ["--claim", "prediction"], ["--gap", "2"], ["--gap", "x"]):
        result = run("export", model, data, "--to", "vnnlib", "-o", out, *extra)
        assert result.code == 2
        assert not out.exists()
    assert run("export", model, data, "--to", "onnx", "-o", out, "--gap", "1/9").code == 2
    assert run("export", model, "--to", "vnnlib", "-o", out).code == 2
    assert run("export", model, data, "--to", "vnnlib", "-o", "-").code == 2
    out.write_text("mine")
    assert run("export", model, data, "--to", "vnnlib", "-o", out).code == 2
    assert out.read_text() == "mine"
