"""Networks from ONNX and safetensors files: the same function as the graph, or a named refusal."""

from __future__ import annotations

import json
from contextlib import suppress
from fractions import Fraction
from random import Random

import numpy as np
import pytest

import hardmax as hm
from hardmax.network.layers import Affine, Attention, Gelu, Norm, Readout, Relu, Residual

onnx = pytest.importorskip("onnx")
from onnx import TensorProto, helper, numpy_helper  # noqa: E402

from hardmax.exchange.files import write_onnx  # noqa: E402
from hardmax.exchange.read import from_safetensors, read  # noqa: E402
from hardmax.exchange.rounded import judged  # noqa: E402


def graph(nodes, constants, shape=(1, 3, 2), outputs=3, opset=18, kind=TensorProto.FLOAT):
    """A model from lists (operator, inputs, output, attributes)."""
    made = [
        helper.make_node(op, inputs, [out], name=f"the_{out}", **attributes)
        for op, inputs, out, attributes in nodes
    ]
    return helper.make_model(
        helper.make_graph(
            made, "g", [helper.make_tensor_value_info("x", kind, list(shape))],
            [helper.make_tensor_value_info(made[-1].output[0], TensorProto.FLOAT, [1, outputs])],
            [numpy_helper.from_array(np.asarray(x), name) for name, x in constants.items()],
        ),
        opset_imports=[helper.make_opsetid("", opset)], ir_version=9,
    )  # fmt: skip


def save(model, path):
    path.write_bytes(model.SerializeToString())
    return path


RNG = np.random.default_rng(5)
W1, W2 = RNG.integers(-3, 4, (2, 4)).astype("f"), RNG.integers(-3, 4, (4, 3)).astype("f")
BIAS = np.array([1, -2, 0, 0.5], "f")
MEAN = ("ReduceMean", ["h", "axis"], "m", {"keepdims": 0})


def test_a_rational_graph_gives_exactly_its_function(tmp_path):
    nodes = [
        ("MatMul", ["x", "W1"], "a", {}), ("Add", ["b", "a"], "c", {}), ("Relu", ["c"], "h", {}),
        MEAN, ("Gemm", ["m", "W2"], "y", {}),
    ]  # fmt: skip
    path = save(
        graph(nodes, {"W1": W1, "W2": W2, "b": BIAS, "axis": np.array([1])}), tmp_path / "n"
    )
    network = hm.from_onnx(path, classes=["p", "q", "r"])
    assert [type(x) for x in network.layers] == [Affine, Relu, Readout, Affine]
    for _ in range(5):
        tokens = RNG.integers(-4, 5, (3, 2))
        hidden = [[max(Fraction(0), Fraction(float(z @ W1[:, k] + BIAS[k]))) for k in range(4)]
                  for z in tokens]  # fmt: skip
        mean = [sum(column) / 3 for column in zip(*hidden, strict=True)]
        expected = tuple(
            sum((m * Fraction(float(w)) for m, w in zip(mean, column, strict=True)), Fraction(0))
            for column in W2.T
        )
        assert network.outputs([tokens.tolist()]) == [expected]


def test_entries_may_wander(tmp_path):
    """Transposed, split and joined tensors: only where an entry stands counts."""
    nodes = [
        ("Transpose", ["x"], "t", {"perm": [1, 0, 2]}),
        ("Reshape", ["t", "flat"], "f", {}),
        ("MatMul", ["f", "W1"], "a", {}),
        ("Reshape", ["a", "back"], "r", {}),
        ("Transpose", ["r"], "h", {"perm": [1, 0, 2]}),
        MEAN, ("MatMul", ["m", "W2"], "y", {}),
    ]  # fmt: skip
    constants = {
        "W1": W1, "W2": W2, "axis": np.array([1]), "flat": np.array([3, 2]),
        "back": np.array([3, 1, 4]),
    }  # fmt: skip
    network = hm.from_onnx(save(graph(nodes, constants), tmp_path / "n.onnx"))
    other = hm.Network(
        [Affine(W1.T), Readout(), Affine(W2.T)], dimension=2, classes=["0", "1", "2"]
    )
    assert network == other
    # a reshape that mixes the coordinates of two tokens is not a map of tokens
    nodes[1] = ("Reshape", ["x", "mixed"], "f", {})
    constants["mixed"] = np.array([2, 3])
    constants["W1"] = np.ones((3, 4), "f")
    with pytest.raises(hm.InputError, match=r"node 'the_a' \(MatMul\)"):
        hm.from_onnx(save(graph(nodes, constants), tmp_path / "n.onnx"))


def test_residual_connections(tmp_path):
    nodes = [
        ("MatMul", ["x", "S"], "a", {}), ("Relu", ["a"], "r", {}), ("MatMul", ["r", "S"], "s", {}),
        ("Add", ["s", "x"], "h", {}), MEAN, ("MatMul", ["m", "W"], "y", {}),
    ]  # fmt: skip
    square, last = np.array([[1, 2], [0, -1]], "f"), W2[:2]
    constants = {"S": square, "W": last, "axis": np.array([1])}
    network = hm.from_onnx(save(graph(nodes, constants), tmp_path / "n.onnx"))
    inner = [Affine(square.T), Relu(), Affine(square.T)]
    assert network == hm.Network(
        [Residual(inner), Readout(), Affine(last.T)], dimension=2, classes=["0", "1", "2"]
    )


MASK = np.where(np.tri(3, dtype=bool), 0, -np.inf).astype("f")


def attention_nodes(mask=None):
    scores = [("MatMul", ["q", "kt"], "s0", {}), ("Div", ["s0", "two"], "s", {})]
    if mask is not None:
        scores.append(("Add", ["s", "mask"], "s1", {}))
    return [
        ("MatMul", ["x", "Q"], "q", {}), ("MatMul", ["x", "K"], "k", {}),
        ("MatMul", ["x", "V"], "v", {}), ("Transpose", ["k"], "kt", {"perm": [0, 2, 1]}),
        *scores, ("Softmax", [scores[-1][2]], "p", {"axis": -1}),
        ("MatMul", ["p", "v"], "h", {}), MEAN, ("MatMul", ["m", "W"], "y", {}),
    ]  # fmt: skip


def attention_constants(mask=None):
    squares = {name: RNG.integers(-2, 3, (2, 2)).astype("f") for name in "QKV"}
    more = {} if mask is None else {"mask": mask}
    return {
        **squares, "W": W2[:2], "two": np.array(2, "f"), "axis": np.array([1]), **more
    }  # fmt: skip


@pytest.mark.parametrize("mask", [None, MASK, np.maximum(MASK, np.finfo("f").min)])
def test_single_head_attention(tmp_path, mask):
    constants = attention_constants(mask)
    model = graph(attention_nodes(mask), constants)
    network = hm.from_onnx(save(model, tmp_path / "n.onnx"))
    (layer,) = [x for x in network.layers if isinstance(x, Attention)]
    assert layer.causal == (mask is not None)
    assert layer.beta == Fraction(1, 2)
    assert np.array_equal(layer.Q.values[0], constants["Q"].T)
    runtime = pytest.importorskip("onnxruntime")
    session = runtime.InferenceSession(
        model.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    tokens = RNG.normal(size=(1, 3, 2)).astype("f")
    (y,) = session.run(None, {"x": tokens})
    for (low, high), float_value in zip(network.enclosures(tokens)[0], y[0], strict=True):
        assert float(low) - 1e-5 < float_value < float(high) + 1e-5


def test_masks_of_another_form_are_refused(tmp_path):
    mask = MASK.copy()
    mask[2, 0] = -np.inf
    model = graph(attention_nodes(mask), attention_constants(mask))
    with pytest.raises(hm.InputError, match=r"'the_s1' \(Add\): it adds a mask"):
        hm.from_onnx(save(model, tmp_path / "n.onnx"))


@pytest.mark.parametrize(
    ("node", "constants", "message"),
    [
        (("Sigmoid", ["x"], "h", {}), {}, r"'the_h' \(Sigmoid\): this operator is not supported"),
        (("Mul", ["x", "x"], "h", {}), {}, r"\(Mul\): such a product"),
        (("Gelu", ["x"], "h", {"approximate": "tanh"}), {}, r"\(Gelu\): approximate='tanh'"),
        (("Erf", ["x"], "h", {}), {}, r"\(Erf\): its argument is x·1.0"),
        (("Softmax", ["x"], "h", {}), {}, r"\(Softmax\): it is no attention"),
        (("RandomNormalLike", ["x"], "h", {}), {}, r"\(RandomNormalLike\): a random number"),
        (("Cast", ["x"], "h", {"to": TensorProto.INT64}), {}, r"\(Cast\)"),
        (("Add", ["x", "big"], "h", {}), {"big": np.zeros((2, 3, 2), "f")}, r"\(Add\)"),
        (("LayerNormalization", ["x", "g"], "h", {"axis": 1}), {"g": np.ones((3, 2), "f")},
         r"\(LayerNormalization\): it normalises several axes"),
        (("Add", ["x", "nan"], "h", {}), {"nan": np.full(2, np.nan, "f")}, r"NaN"),
    ],
)  # fmt: skip
def test_what_is_not_supported_is_named(tmp_path, run, node, constants, message):
    nodes = [node, MEAN, ("MatMul", ["m", "W"], "y", {})]
    model = graph(nodes, {"W": W2[:2], "axis": np.array([1]), **constants}, opset=20)
    path = save(model, tmp_path / "n.onnx")
    with pytest.raises(hm.InputError, match=message):
        hm.from_onnx(path)
    hm.Dataset([[(1, 2)] * 3], ["0"]).save(tmp_path / "d.json")
    result = run("verify", path, tmp_path / "d.json")
    assert result.code == 2
    assert result.err.count("\n") == 1


def test_broken_files(tmp_path):
    path = tmp_path / "n.onnx"
    for content in (b"", b"\x08", b"\x08\x09\xff\xff", b"PK\x03\x04"):
        path.write_bytes(content)
        with pytest.raises(hm.InputError, match=r"n\.onnx"):
            hm.from_onnx(path)
        with pytest.raises(hm.InputError, match=r"n\.onnx"):
            read(path)


def test_changed_bytes_never_crash(tmp_path):
    """Any byte may be wrong: what is left is a model of its own, or refused in one line."""
    data = hm.Dataset([[(0, 1), (1, 1)], [(3, 1)]], ["a", "b"])
    nodes = [("Relu", ["x"], "h", {}), MEAN, ("MatMul", ["m", "W"], "y", {})]
    sources = [save(graph(nodes, {"W": W2[:2], "axis": np.array([1])}), tmp_path / "n.onnx")]
    write_onnx(*judged(hm.build(data), "float32", data), tmp_path / "m.onnx")
    sources.append(tmp_path / "m.onnx")
    rng = Random(3)
    for source in sources:
        whole = source.read_bytes()
        for _ in range(60):
            content = bytearray(whole)
            for _ in range(rng.choice([1, 2, 5])):
                content[rng.randrange(len(content))] = rng.randrange(256)
            source.write_bytes(content)
            with suppress(hm.InputError):  # anything else fails
                read(source)


@pytest.fixture(scope="module")
def encoder():
    """Two encoder layers behind positions, and the parts as `from_torch` takes them."""
    torch = pytest.importorskip("torch")
    from hardmax.network.layers import Position

    def make(norm_first, activation, seed=0):
        torch.manual_seed(seed)
        nn = torch.nn

        class Classifier(nn.Module):
            def __init__(self):
                super().__init__()
                self.embed = nn.Linear(3, 8)
                self.positions = nn.Parameter(torch.randn(4, 8))
                layer = nn.TransformerEncoderLayer(
                    8, 2, 16, activation=activation, batch_first=True, norm_first=norm_first
                )
                self.encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
                for parameter in self.encoder.parameters():  # no bias is zero, no norm 1
                    nn.init.normal_(parameter, std=0.5)
                self.head = nn.Linear(8, 3)

            def forward(self, x):
                return self.head(self.encoder(self.embed(x) + self.positions).mean(1))

        module = Classifier().eval()
        parts = (module.embed, Position(module.positions), module.encoder, "mean", module.head)
        return torch, module, parts

    return make


def exported(torch, module, path, dynamo):
    import warnings

    if dynamo:
        pytest.importorskip("onnxscript")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        options = {"external_data": False} if dynamo else {}
        torch.onnx.export(
            module, (torch.zeros(1, 4, 3),), str(path), dynamo=dynamo, verbose=False,
            opset_version=18 if dynamo else 17, **options,
        )  # fmt: skip
    return path


CASES = [(False, "gelu", False), (True, "relu", False), (False, "relu", True), (True, "gelu", True)]


@pytest.mark.parametrize(("norm_first", "activation", "dynamo"), [
    CASES[0], *(pytest.param(*x, marks=pytest.mark.slow) for x in CASES[1:])
])  # fmt: skip
def test_exported_encoders(tmp_path, encoder, norm_first, activation, dynamo):
    torch, module, parts = encoder(norm_first, activation)
    path = exported(torch, module, tmp_path / "n.onnx", dynamo)
    network = hm.from_onnx(path)
    direct = hm.from_torch(*parts, classes=["0", "1", "2"])
    assert kinds(network.layers) == kinds(direct.layers)
    sequences = RNG.normal(size=(4, 4, 3)).astype("f")
    with torch.no_grad():
        y = module.double()(torch.from_numpy(sequences).double()).numpy()
    for Z, row in zip(sequences, y, strict=True):
        for (low, high), value in zip(network.enclosures([Z])[0], row, strict=True):
            assert float(low) - 1e-5 < value < float(high) + 1e-5
    assert network.predict(sequences) == [str(k) for k in y.argmax(1)]


def kinds(layers):
    return [kinds(x.layers) if isinstance(x, Residual) else type(x) for x in layers]


def test_the_commands_take_onnx(tmp_path, run, encoder):
    torch, module, _ = encoder(False, "gelu")
    path = exported(torch, module, tmp_path / "n.onnx", False)
    network = hm.from_onnx(path)
    assert {Gelu, Norm} <= {type(x) for y in network.layers for x in getattr(y, "layers", [y])}
    sequences = RNG.integers(-3, 4, (12, 4, 3)).tolist()
    labels = network.predict(sequences)
    hm.Dataset(sequences, labels).save(tmp_path / "right.json")
    proved = run("verify", path, tmp_path / "right.json")
    assert proved.code == 0
    assert "proved" in proved.out
    labels[0] = str((int(labels[0]) + 1) % 3)
    hm.Dataset(sequences, labels).save(tmp_path / "wrong.json")
    assert run("verify", path, tmp_path / "wrong.json").code == 1
    repaired = tmp_path / "repaired.npz"
    result = run("build", tmp_path / "wrong.json", "--from", path, "-o", repaired)
    assert result.code == 0, result.err
    assert run("verify", repaired, tmp_path / "wrong.json").code == 0


def test_safetensors_with_an_architecture(tmp_path, run):
    library = pytest.importorskip("safetensors.numpy")
    document = {
        "format": "hardmax-network/1", "dimension": 2, "classes": ["a", "b"],
        "layers": [
            {"kind": "affine", "arrays": ["W", "b"]}, {"kind": "relu"},
            {"kind": "readout", "which": "mean"}, {"kind": "affine", "arrays": ["W"]},
        ],
    }  # fmt: skip
    tensors = {
        "0.W": W1.T.copy(), "0.b": BIAS, "3.W": np.ascontiguousarray(W2.T[:2]),
    }  # fmt: skip
    path = tmp_path / "n.safetensors"
    path.write_bytes(library.save(tensors))
    with pytest.raises(hm.InputError, match=r"n\.json with its architecture is missing"):
        read(path)
    (tmp_path / "n.json").write_text(json.dumps(document))
    network = read(path)
    assert network == hm.Network(
        [Affine(W1.T, BIAS), Relu(), Readout(), Affine(W2.T[:2])], dimension=2, classes=["a", "b"]
    )
    sequences = [[(1, 2), (3, 1)], [(-2, 1)], [(0, -3)], [(1, 2), (-1, -1)], [(4, 1)]]
    sequences = [Z for Z in sequences if network.predict([Z]) != [None]]  # no ties
    assert len(sequences) >= 3
    hm.Dataset(sequences, network.predict(sequences)).save(tmp_path / "d.json")
    assert run("verify", path, tmp_path / "d.json").code == 0
    for broken in ("not json", "[]", json.dumps({**document, "format": "other"}),
                   json.dumps({**document, "layers": document["layers"][:3]}),
                   json.dumps({**document, "dimension": 3})):  # fmt: skip
        (tmp_path / "other.json").write_text(broken)
        with pytest.raises(hm.InputError, match=r"n\.safetensors"):
            from_safetensors(path, tmp_path / "other.json")
    path.write_bytes(path.read_bytes()[:-3])
    with pytest.raises(hm.InputError, match="not a safetensors file"):
        read(path)


def test_exported_models_come_back_as_models(tmp_path, run):
    data = hm.Dataset([[(0, 1), (1, 1)], [(3, 1)]], ["a", "b"])
    data.save(tmp_path / "d.json")
    model = hm.build(data)
    model.save(tmp_path / "m.npz")
    for target in ("onnx", "safetensors"):
        pytest.importorskip(target)
        path = tmp_path / f"m.{target}"
        assert run("export", tmp_path / "m.npz", "--to", target, "-o", path).code == 0
        assert read(path) == model
        exact = [run("run", m, tmp_path / "d.json", "--exact") for m in (path, tmp_path / "m.npz")]
        assert exact[0].out == exact[1].out
        assert exact[0].code == 0
        assert run("verify", path, tmp_path / "d.json").code == 0


@pytest.mark.slow
def test_the_trained_digits_come_back_through_onnx(tmp_path, run):
    """examples/digits.npz → PyTorch → ONNX → network: the same class for every image."""
    torch = pytest.importorskip("torch")
    runtime = pytest.importorskip("onnxruntime")
    from torch import nn

    network = hm.Network.load("examples/digits.npz")

    class Digits(nn.Module):
        def __init__(self):
            super().__init__()
            self.embed = nn.Linear(8, 32)
            self.positions = nn.Parameter(torch.zeros(8, 32))
            layer = nn.TransformerEncoderLayer(32, 4, 64, activation="gelu", batch_first=True)
            self.encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
            self.head = nn.Linear(32, 10)

        def forward(self, images):
            return self.head(self.encoder(self.embed(images) + self.positions).mean(1))

    module = Digits().eval()
    values = {name: torch.from_numpy(x.values.copy()) for name, x in network.arrays.items()}
    state = {
        "embed.weight": values["0.W"], "embed.bias": values["0.b"], "positions": values["1.table"],
        "head.weight": values["11.W"], "head.bias": values["11.b"],
    }  # fmt: skip
    for k, first in enumerate((2, 6)):
        name, a = f"encoder.layers.{k}.", f"{first}.0."
        heads = [values[a + x].reshape(32, 32) for x in "QKV"]
        state[name + "self_attn.in_proj_weight"] = torch.cat(heads)
        state[name + "self_attn.in_proj_bias"] = torch.cat(
            [values[a + x].reshape(32) for x in "qkv"]
        )
        state[name + "self_attn.out_proj.weight"] = values[a + "O"].permute(1, 0, 2).reshape(32, 32)
        state[name + "self_attn.out_proj.bias"] = values[a + "o"]
        for n, place in (("norm1", first + 1), ("norm2", first + 3)):
            state[f"{name}{n}.weight"] = values[f"{place}.g"]
            state[f"{name}{n}.bias"] = values[f"{place}.b"]
        for n, place in (("linear1", 0), ("linear2", 2)):
            state[f"{name}{n}.weight"] = values[f"{first + 2}.{place}.W"]
            state[f"{name}{n}.bias"] = values[f"{first + 2}.{place}.b"]
    module.load_state_dict(state)
    path = tmp_path / "digits.onnx"
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.onnx.export(
            module, (torch.zeros(1, 8, 8),), str(path), dynamo=False, opset_version=17
        )
    data = hm.load("examples/digits_train.npz")
    again = hm.from_onnx(path)
    classes = again.predict(data)
    assert classes == network.predict(data)
    session = runtime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    name = session.get_inputs()[0].name
    found = [
        str(session.run(None, {name: Z[None].astype(np.float32)})[0].argmax())
        for Z in data.arrays()
    ]
    assert found == classes
    right = sum(a == b for a, b in zip(classes, data.names, strict=True))
    result = run("verify", path, "examples/digits_train.npz", "--json")
    assert json.loads(result.out)["verdict"] == ("proved" if right == len(data) else "refuted")


@pytest.mark.slow
@pytest.mark.parametrize("dynamo", [False, True])
def test_mutated_graphs_are_refused_or_read_as_they_are(tmp_path, encoder, dynamo):
    """Shuffled shapes and axes, other edges and operators: never read as another function."""
    runtime = pytest.importorskip("onnxruntime")
    runtime.set_default_logger_severity(4)
    torch, module, _ = encoder(False, "gelu")
    path = exported(torch, module, tmp_path / "n.onnx", dynamo)
    whole = path.read_bytes()
    tokens = RNG.normal(size=(1, 4, 3)).astype("f")
    rng = Random(4)
    agreed = 0
    for _ in range(60):
        model = onnx.load_model_from_string(whole)
        mutate(model.graph, rng)
        path.write_bytes(model.SerializeToString())
        try:
            network = hm.from_onnx(path)
        except hm.InputError:
            continue
        y = outcome(runtime, path, tokens)
        if y is None:
            continue
        found = network.enclosures(tokens)[0]
        assert len(found) == y.size
        for (low, high), number in zip(found, y.ravel(), strict=True):
            assert float(low) - 1e-3 < number < float(high) + 1e-3
        agreed += 1
    assert agreed >= 5


def outcome(runtime, path, tokens):
    """What ONNX Runtime computes; None where it refuses the graph."""
    try:
        session = runtime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
        return session.run(None, {session.get_inputs()[0].name: tokens})[0]
    except Exception:
        return None


def mutate(graph, rng):
    """Change one attribute, integer constant, edge or operator."""
    kind = rng.choice(["attribute", "constant", "edge", "operator"])
    if kind == "attribute":
        lists = [a for node in graph.node for a in node.attribute if len(a.ints) > 1]
        chosen = rng.choice(lists)
        values = list(chosen.ints)
        rng.shuffle(values)
        chosen.ints[:] = values
    elif kind == "constant":
        tensors = [x for x in graph.initializer if x.data_type == TensorProto.INT64]
        tensors += [
            a.t for node in graph.node for a in node.attribute
            if a.t.data_type == TensorProto.INT64
        ]  # fmt: skip
        chosen = rng.choice(tensors)
        values = numpy_helper.to_array(chosen).copy()
        flat = values.reshape(-1)
        flat[rng.randrange(len(flat))] = rng.choice([-1, 0, 1, 2, 3, 4, 8])
        rng.shuffle(flat)
        chosen.CopyFrom(numpy_helper.from_array(values, chosen.name))
    elif kind == "edge":
        k = rng.randrange(5, len(graph.node))
        inputs = graph.node[k].input
        if inputs:
            before = graph.node[rng.randrange(max(0, k - 6), k)]
            inputs[rng.randrange(len(inputs))] = rng.choice(before.output)
    else:
        known = ("Add", "Mul", "Div", "Sub", "MatMul")
        chosen = rng.choice([node for node in graph.node if node.op_type in known])
        chosen.op_type = rng.choice(known[:4])
