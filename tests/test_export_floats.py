"""Exported models: the same labels in PyTorch and ONNX Runtime, and verdicts on rounded numbers."""

from __future__ import annotations

import json
import sys
from fractions import Fraction
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hardmax as hm
from hardmax.certify.predict import predicted
from hardmax.exchange.files import facts_of, read_exported, write_onnx, write_safetensors
from hardmax.exchange.rounded import judged, rounded
from hardmax.model.layers import RankOneBlock
from hardmax.testing import KINDS, adversarial, disjoint_sets
from tests import reference

VOWELS, UNSEEN = "examples/vowels.json.gz", "examples/vowels_test.json.gz"


def pad(sequences, dimension, dtype="float64", left=False):
    """Tokens and mask; the padding holds NaN, which nothing may read."""
    longest = max(map(len, sequences))
    tokens = np.full((len(sequences), longest, dimension), np.nan, dtype)
    mask = np.zeros((len(sequences), longest), bool)
    for j, Z in enumerate(sequences):
        where = slice(longest - len(Z), None) if left else slice(len(Z))
        tokens[j, where] = [[float(x) for x in z] for z in Z]
        mask[j, where] = True
    return tokens, mask


def in_torch(model, sequences, dtype="float64", left=False, sets=None, **options):
    """Outputs, and label ids where there are label sets."""
    torch = pytest.importorskip("torch")
    module = model.to_torch(dtype, sets=sets, **options)
    tokens, mask = map(torch.from_numpy, pad(sequences, model.dimension, dtype, left))
    ids = module.predict(tokens, mask).tolist()
    return module(tokens, mask).numpy(), ids


def in_onnx(model, sequences, dtype="float64", left=False, sets=None):
    onnx = pytest.importorskip("onnx")
    runtime = pytest.importorskip("onnxruntime")
    from hardmax.exchange.onnx_model import onnx_model

    proto = onnx_model(rounded(model, dtype, sets))
    onnx.checker.check_model(proto, full_check=True)
    assert proto.opset_import[0].version >= 18
    assert "Hardmax" not in {node.op_type for node in proto.graph.node}
    options = runtime.SessionOptions()
    options.intra_op_num_threads = 1
    session = runtime.InferenceSession(
        proto.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    tokens, mask = pad(sequences, model.dimension, dtype, left)
    found = session.run(None, {"tokens": tokens, "mask": mask})
    return found[0], found[1].tolist() if len(found) > 1 else None


RUNNERS = pytest.mark.parametrize("executor", [in_torch, in_onnx])


@pytest.fixture(scope="module")
def vowels():
    train = hm.load(VOWELS)
    return train, hm.load(UNSEEN, sets=train)


@RUNNERS
@pytest.mark.parametrize(
    "strategy", ["cover", *(pytest.param(x, marks=pytest.mark.slow) for x in ("paper", "fold"))]
)
def test_labels_are_those_of_a_float64_run(vowels, strategy, executor):
    train, unseen = vowels
    model = hm.build(train, strategy=strategy)
    names = list(train.sets)
    for data in (train, unseen):
        ran = [predicted(tuple(map(Fraction, y)), train.sets) for y in model(data).tolist()]
        _, ids = executor(model, data.arrays(), sets=train.sets)
        assert [names[k] for k in ids] == ran


# Dyadic numbers of few bits: floats compute them exactly, so equality is asked for
entries = st.integers(-2, 2)
halves = st.sampled_from([Fraction(0), Fraction(1), Fraction(1, 2), Fraction(-1)])


@st.composite
def dyadic_cases(draw, dimension=2):
    def vector():
        return tuple(draw(entries) for _ in range(dimension))

    blocks = [
        RankOneBlock.of(
            dimension, u=vector(), b=draw(entries), w=vector(), rho=draw(halves),
            alpha=draw(halves), v=vector() if draw(st.booleans()) else None,
        )
        for _ in range(draw(st.integers(1, 3)))
    ]  # fmt: skip
    lengths = draw(st.lists(st.sampled_from([1, 2, 4]), min_size=1, max_size=4))
    token = st.tuples(*[st.integers(-2, 2)] * dimension)
    sequences = [[draw(token) for _ in range(n)] for n in lengths]
    return hm.Transformer(blocks), sequences


def exact_means(model, sequences):
    """Whether every mean of the definition is over 1, 2 or 4 tokens, so that no float rounds."""
    for Z in sequences:
        state = [[Fraction(x) for x in z] for z in Z]
        for block in model.blocks:
            U, b, W, rho, V, A = reference.layers(block)
            state = [reference.feed_forward(U, b, W, z) for z in state]
            for z in state:
                scores = [reference.dot(reference.apply(A, z), other) for other in state]
                if scores.count(max(scores)) == 3:
                    return False
            state = reference.attention(rho, V, A, state)
    return True


@RUNNERS
@given(case=dyadic_cases(), left=st.booleans())
def test_outputs_are_exact_where_floats_are(executor, case, left):
    model, sequences = case
    if not exact_means(model, sequences):
        return
    expected = [[float(x) for x in y] for y in model.outputs(sequences)]
    found, _ = executor(model, sequences, left=left)
    assert found.tolist() == expected


@given(case=dyadic_cases())
def test_uniform_attention_is_softmax_attention(case):
    model, sequences = case
    if not all(block.alpha == 0 or not any(block.v) for block in model.blocks):
        pytest.importorskip("torch")
        with pytest.raises(hm.InputError, match=r"block \d+ has v ≠ 0"):
            model.to_torch(attention="softmax")
        return
    expected = [[float(x) for x in y] for y in model.outputs(sequences)]
    found, _ = in_torch(model, sequences, attention="softmax")
    # softmax weights of 1/n are exact for n = 1, 2, 4
    assert found.tolist() == expected


@RUNNERS
def test_ties_are_averaged_over_positions(executor):
    # (2.4b): (1,0) twice and (1,4) lead with ⟨v,z⟩ = 1; ONNX's Hardmax would take the first
    model = hm.Transformer([RankOneBlock.of(2, rho=0, alpha=1, v=(1, 0))])
    positive = [(1, 0), (1, 4), (1, 0), (1, 4), (Fraction(1, 2), 9)]
    # the least score leads for negative tokens, all tokens for those of score 0
    mixed = [(-1, 2), (0, 3), (2, 4), (-1, 4)]
    found, _ = executor(model, [positive, mixed])
    least, most, all_of = (-1, 3), (2, 4), (0, Fraction(13, 4))
    mean = [(2 * Fraction(a) + b + c) / 4 for a, b, c in zip(least, most, all_of, strict=True)]
    assert found.tolist() == [[1.0, 2.0], [float(x) for x in mean]]


@RUNNERS
@pytest.mark.parametrize("kind", [*KINDS, "mixed"])
def test_every_kind_of_label_set(executor, kind):
    names = ["a", "b"] if kind == "halfspace" else ["a", "b", "c"]
    sets = disjoint_sets(names, 2, Random(7), KINDS if kind == "mixed" else [kind])
    model = hm.Transformer([RankOneBlock.of(2)])
    grid = [Fraction(k, 4) for k in range(-16, 17)]
    points = [(x, y) for x in grid for y in grid]
    points += [each.witness() for each in sets.values()]
    names = list(sets)
    _, ids = executor(model, [[p] for p in points], sets=sets)
    several_rows = any(each.kind == "polyhedron" for each in sets.values())
    for point, found in zip(points, ids, strict=True):
        if found == -1:
            assert several_rows
            assert not any(each.contains(point) for each in sets.values())
            continue
        chosen = sets[names[found]]
        if any(each.contains(point) for each in sets.values()):
            assert chosen.contains(point)
        else:  # floats decide between distances that are equal to the last bit
            nearest = min(each.distance(point) for each in sets.values())
            assert float(chosen.distance(point)) == pytest.approx(float(nearest), abs=1e-12)
    assert set(ids) >= set(range(len(sets)))


@pytest.mark.parametrize(
    "family", ["one-hot-words", "count-vectors", "repeated-tokens", "zero-one-lattice"]
)
@RUNNERS
def test_adversarial_data(executor, family):
    data = adversarial(family, 12)
    model = hm.build(data, strategy="cover")
    names = list(data.sets)
    ran = [predicted(tuple(map(Fraction, y)), data.sets) for y in model(data).tolist()]
    _, ids = executor(model, data.arrays(), sets=data.sets)
    assert [names[k] for k in ids] == ran


@RUNNERS
def test_the_cones_of_the_largest_coordinate(executor):
    # ties lie in no cone; the nearest are those of the tied coordinates, and the first wins
    def cone(c):
        rows = [[int(k == e) - int(k == c) for k in range(4)] for e in range(3) if e != c]
        return hm.Polyhedron(rows, [0, 0])

    sets = {name: cone(c) for c, name in enumerate("pqr")}
    model = hm.Transformer([RankOneBlock.of(4)])
    points = [(x, y, z, 5) for x in range(3) for y in range(3) for z in range(3)]
    _, ids = executor(model, [[p] for p in points], sets=sets)
    assert ["pqr"[k] for k in ids] == [predicted(tuple(map(Fraction, p)), sets) for p in points]


def test_the_rounded_model_is_judged():
    # 1/3 is no float: the exact model is proved, the rounded one misses the point
    data = hm.Dataset([[(1,)], [(3,)]], ["a", "b"], {"a": ["1/3"], "b": [1]})
    model = hm.Transformer([RankOneBlock.of(1, rho="1/3")])
    assert hm.certify(model, data).proved
    for dtype in ("float64", "float32"):
        found, facts = judged(model, dtype, data)
        assert (facts["parameters_rounded"], facts["verdict"]) == ("1", "refuted")
        assert (facts["prediction"], facts["wrong"]) == ("proved", "0")
        assert not hm.certify(found.transformer(), data).proved
        assert found.transformer().output([(3,)]) == (3 * Fraction(found.arrays["rho"].item()),)
    exact = hm.Transformer([RankOneBlock.of(1, rho="1/2")])
    halves = hm.Dataset([[(1,)], [(3,)]], ["a", "b"], {"a": ["1/2"], "b": ["3/2"]})
    assert judged(exact, "float32", halves)[1]["verdict"] == "proved"


def test_a_wrong_prediction_is_said():
    # the hyperplane runs 2^-60 beside the token: float32 parameters put it on the other side
    near = Fraction(1) - Fraction(1, 2**40)
    data = hm.Dataset([[(1,)], [(near,)]], ["moved", "kept"], {"kept": [near], "moved": [9]})
    block = RankOneBlock.of(1, u=(2**42,), b=1 - 2**42 + Fraction(1, 2), w=(Fraction(16, 3),))
    model = hm.Transformer([block])
    outputs = model.outputs(data)
    assert outputs[0] == (9,)
    assert outputs[1] == (near,)
    _, facts = judged(model, "float32", data)
    assert facts["verdict"] == facts["prediction"] == "refuted"
    assert facts["witness"] == "sequence 1"


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("target", ["onnx", "safetensors"])
def test_files_hold_the_rounded_model(tmp_path, target, dtype):
    pytest.importorskip(target)
    data = adversarial("zero-one-lattice", 8)
    model = hm.build(data)
    found, facts = judged(model, dtype, data)
    path = tmp_path / f"m.{target}"
    write = write_onnx if target == "onnx" else write_safetensors
    write(found, facts, path)
    again = read_exported(path)
    assert again == found.transformer()
    assert again.stages == model.stages
    assert facts_of(path) == facts
    assert hm.certify(again, data).verdict == facts["verdict"]
    first = path.read_bytes()
    write(found, facts, path)
    assert path.read_bytes() == first


def test_the_state_dict_is_the_file(tmp_path):
    torch = pytest.importorskip("torch")
    library = pytest.importorskip("safetensors.torch")
    data = adversarial("count-vectors", 8)
    model = hm.build(data)
    path = tmp_path / "m.safetensors"
    write_safetensors(*judged(model, "float32", data), path)
    module = model.to_torch(torch.float32)
    tensors = library.load_file(path)
    module.load_state_dict(tensors)
    from hardmax.exchange.files import load_torch

    loaded = load_torch(path)
    assert set(tensors) == set(loaded.state_dict()) == {"u", "b", "w", "rho", "alpha", "v"}
    assert all(torch.equal(x, tensors[k]) for k, x in loaded.state_dict().items())
    batch = module.batch(data.arrays())
    assert [module.labels[k] for k in module.predict(*batch).tolist()] == data.names
    assert torch.equal(module(*batch), loaded(*batch))


def onnx_file(tmp_path):
    onnx = pytest.importorskip("onnx")
    data = hm.Dataset([[(0, 1), (1, 1)], [(3, 1)]], ["a", "b"])
    path = tmp_path / "m.onnx"
    write_onnx(*judged(hm.build(data), "float64", data), path)
    return onnx, path


def mutations(onnx):
    def operator(model):
        next(n for n in model.graph.node if n.op_type == "ArgMax").op_type = "ArgMin"

    def body(model):
        scan = next(n for n in model.graph.node if n.op_type == "Scan")
        inner = next(a.g for a in scan.attribute if a.name == "body")
        next(n for n in inner.node if n.op_type == "Relu").op_type = "Abs"

    def head(model):
        found = next(x for x in model.graph.initializer if x.name.startswith("constant") and x.dims)
        values = onnx.numpy_helper.to_array(found) + 1
        found.CopyFrom(onnx.numpy_helper.from_array(values, found.name))

    def nan(model):
        found = next(x for x in model.graph.initializer if x.name == "b")
        values = onnx.numpy_helper.to_array(found) * np.nan
        found.CopyFrom(onnx.numpy_helper.from_array(values, "b"))

    def missing(model):
        model.graph.initializer.remove(next(x for x in model.graph.initializer if x.name == "rho"))

    def depth(model):
        found = next(x for x in model.graph.initializer if x.name == "b")
        values = onnx.numpy_helper.to_array(found)[:-1]
        found.CopyFrom(onnx.numpy_helper.from_array(values, "b"))

    def output(model):
        del model.graph.output[1]

    def claims(model):
        del model.metadata_props[:]

    return operator, body, head, nan, missing, depth, output, claims


@pytest.mark.parametrize("number", range(8))
def test_changed_graphs_are_refused(tmp_path, number):
    onnx, path = onnx_file(tmp_path)
    model = onnx.load(path)
    mutations(onnx)[number](model)
    onnx.save(model, path)
    with pytest.raises(hm.InputError, match=r"m\.onnx: "):
        read_exported(path)


def test_changed_numbers_are_another_model(tmp_path):
    onnx, path = onnx_file(tmp_path)
    data = hm.Dataset([[(0, 1), (1, 1)], [(3, 1)]], ["a", "b"])
    assert hm.certify(read_exported(path), data).proved
    model = onnx.load(path)
    found = next(x for x in model.graph.initializer if x.name == "w")
    values = onnx.numpy_helper.to_array(found) * 2
    found.CopyFrom(onnx.numpy_helper.from_array(values, "w"))
    onnx.save(model, path)
    # the metadata still say proved; whoever verifies the file trusts its numbers alone
    assert facts_of(path)["verdict"] == "proved"
    assert not hm.certify(read_exported(path), data).proved


def test_broken_files_are_refused(tmp_path):
    pytest.importorskip("safetensors")
    data = hm.Dataset([[(0, 1), (1, 1)], [(3, 1)]], ["a", "b"])
    path = tmp_path / "m.safetensors"
    write_safetensors(*judged(hm.build(data), "float64", data), path)
    whole = path.read_bytes()
    changed = {
        "cut": whole[:-1],
        "header": whole[:8] + b"x" + whole[9:],
        "length": b"\xff" * 8 + whole[8:],
        "empty": b"",
        "format": whole.replace(b"hardmax-export/1", b"hardmax-export/2"),
        "stages": whole.replace(b'\\"stages\\": \\"[', b'\\"stages\\": \\"{'),
        "type": whole.replace(b'float64', b'float32'),
        "dtype": whole.replace(b'"dtype":"F64"', b'"dtype":"I64"'),
        "nan": whole[:-8] + np.array(np.nan).tobytes(),
    }  # fmt: skip
    for name, content in changed.items():
        assert content != whole, name
        path.write_bytes(content)
        with pytest.raises(hm.InputError, match=r"m\.safetensors: "):
            read_exported(path)


def test_a_model_that_can_not_be_exported(tmp_path):
    big = hm.Transformer([RankOneBlock.of(1, rho=2**900)])
    with pytest.raises(hm.InputError, match="past the range of float32"):
        rounded(big, "float32")
    with pytest.raises(hm.InputError, match="float16"):
        rounded(big, "float16")
    general = hm.Transformer([RankOneBlock.of(1).general()])
    with pytest.raises(hm.InputError, match="rank-1"):
        rounded(general)
    causal = hm.Transformer([RankOneBlock.of(1)], meta={"masked": True})
    with pytest.raises(hm.InputError, match="mask"):
        rounded(causal)


def test_missing_libraries_name_their_extra(monkeypatch):
    model = hm.Transformer([RankOneBlock.of(1)])
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(hm.MissingExtraError, match=r"hardmax\[torch\]"):
        model.to_torch()
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(hm.MissingExtraError, match=r"hardmax\[onnx\]"):
        write_onnx(rounded(model), {}, "never.onnx")
    monkeypatch.setitem(sys.modules, "safetensors", None)
    monkeypatch.setitem(sys.modules, "safetensors.numpy", None)
    with pytest.raises(hm.MissingExtraError, match=r"hardmax\[safetensors\]"):
        write_safetensors(rounded(model), {}, "never.safetensors")


def test_modules_refuse_what_does_not_fit():
    torch = pytest.importorskip("torch")
    module = hm.Transformer([RankOneBlock.of(2)]).to_torch()
    for tokens, mask in [
        (torch.zeros(1, 2, 3), None),
        (torch.zeros(1, 2, 2), torch.ones(1, 3, dtype=torch.bool)),
        (torch.zeros(1, 2, 2), torch.zeros(1, 2, dtype=torch.bool)),
        (torch.zeros(1, 2, 2), torch.ones(1, 2)),
    ]:
        with pytest.raises(hm.InputError):
            module(tokens, mask)
    with pytest.raises(hm.InputError, match="sequence 2"):
        module.batch([[(0, 0)], [(0, 0, 0)]])


@pytest.fixture
def files(tmp_path):
    data = hm.Dataset([[(0, 1), (1, 1)], [(3, 1)]], ["a", "b"])
    data.save(tmp_path / "d.json")
    hm.build(data).save(tmp_path / "m.npz")
    return tmp_path


@pytest.mark.parametrize("target", ["onnx", "torch", "safetensors"])
def test_the_command(run, files, target):
    pytest.importorskip("onnx" if target == "onnx" else "safetensors")
    out = files / "out"
    result = run("export", files / "m.npz", files / "d.json", "--to", target, "-o", out, "--json")
    told = json.loads(result.out)
    assert result.code == 0
    assert told["verdict"] == told["prediction"] == "proved"
    assert told["expects"].startswith("tokens of dimension 2")
    assert hm.certify(read_exported(out), hm.load(files / "d.json")).proved
    again = run("export", files / "m.npz", "--to", target, "-o", out)
    assert again.code == 0
    assert "not checked" in again.out
    out.write_text("mine")
    refused = run("export", files / "m.npz", "--to", target, "-o", out)
    assert refused.code == 2
    assert "--force" in refused.err
    assert out.read_text() == "mine"


def test_the_command_says_what_rounding_broke(run, tmp_path):
    pytest.importorskip("safetensors")
    near = Fraction(1) - Fraction(1, 2**40)
    data = hm.Dataset([[(1,)], [(near,)]], ["moved", "kept"], {"kept": [near], "moved": [9]})
    data.save(tmp_path / "d.json")
    block = RankOneBlock.of(1, u=(2**42,), b=1 - 2**42 + Fraction(1, 2), w=(Fraction(16, 3),))
    hm.Transformer([block]).save(tmp_path / "m.npz")
    result = run(
        "export", tmp_path / "m.npz", tmp_path / "d.json", "--to", "safetensors",
        "--dtype", "float32", "-o", tmp_path / "m.safetensors",
    )  # fmt: skip
    assert result.code == 1
    assert "refuted: 1 of 2 labels; sequence 1 is wrong" in result.out
    assert facts_of(tmp_path / "m.safetensors")["prediction"] == "refuted"


def test_options_belong_to_their_targets(run, files):
    model, data, out = files / "m.npz", files / "d.json", files / "out"
    for target, *options in [
        ("onnx", "--claim", "prediction"), ("torch", "--sequence", "1"),
        ("safetensors", "--radius", "1"), ("smt2", "--dtype", "float32"),
    ]:  # fmt: skip
        result = run("export", model, data, "--to", target, "-o", out, *options)
        assert result.code == 2
        assert "belong" in result.err
        assert not out.exists()
