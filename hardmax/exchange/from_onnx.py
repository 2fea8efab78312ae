"""Networks from ONNX graphs, as exporters write transformer encoders: `from_onnx`."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from typing import Any

import numpy as np

from ..errors import InputError
from ..formats.files import read_bytes, sha256, shown_name
from ..network.layers import Embedding
from ..network.network import Network
from .extras import need
from .files import parse_onnx
from .onnx_rules import RULES, read_out
from .onnx_values import Entries, Scores, State

_FLOATS = (1, 11)  # float and double in onnx.TensorProto
_LENGTHS = (3, 5)  # tried where the graph leaves the length open
_MOVING = (
    "Reshape", "Transpose", "Squeeze", "Unsqueeze", "Flatten", "Slice", "Gather", "Split", "Expand",
    "Identity",
)  # fmt: skip


def from_onnx(path: str | PathLike[str], classes: Sequence[object] | None = None) -> Network:
    """The network that an ONNX graph computes, with exactly its constants.

    The graph has one input, tokens (1, n, d) or token numbers (1, n), and its first output are M
    numbers, whose largest names the class (by default "0", "1", …). Supported are MatMul,
    Gemm, Add, Sub, Mul and Div by constants, Relu, Gelu (also written with Erf, where √2 rounded
    to a float is read as √2), LayerNormalization, Softmax attention with or without
    a causal mask, residual connections, embeddings, positions, the mean, first or last token; and
    whatever only moves entries, as Reshape and Transpose. Constants are folded in the type of the
    file. A length that the graph leaves open is tried with 3 and 5 tokens, which must give one
    network.
    Raises InputError that names the node and its operator where something else is found;
    MissingExtraError without the library onnx.

    >>> from onnx.parser import parse_model
    >>> import tempfile, pathlib
    >>> graph = parse_model('''<ir_version: 9, opset_import: ["": 18]>
    ...     g (float[1, n, 2] x) => (float[1, 2] y) {
    ...       h = Relu(x)  axis = Constant<value_ints = [1]>()
    ...       y = ReduceMean<keepdims = 0>(h, axis)
    ...     }''')
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "net.onnx"
    ...     size = path.write_bytes(graph.SerializeToString())
    ...     from_onnx(path).outputs([[(1, -1), (2, 4)]])
    [(Fraction(3, 2), Fraction(2, 1))]
    """
    content = read_bytes(path)
    lengths: tuple[int, ...] = ()
    try:
        proto = parse_onnx(content)
        lengths = _lengths(proto)
        networks = [_Reader(proto, n).network(classes) for n in lengths]
    except InputError as problem:
        advice = "; the graph leaves the length open: export it for one" if len(lengths) > 1 else ""
        raise InputError(f"{shown_name(path)}: {problem}{advice}") from None
    if any(other != networks[0] for other in networks):
        raise InputError(f"{shown_name(path)}: its network is another one for another length")
    networks[0].sha256 = sha256(content)
    return networks[0]


def _input(proto: Any) -> tuple[str, list[int]]:
    """Name and shape of the one input; 0 for a free length."""
    constants = {each.name for each in proto.graph.initializer}
    inputs = [each for each in proto.graph.input if each.name not in constants]
    if len(inputs) != 1:
        raise InputError(f"the graph has {len(inputs)} inputs, expected one: tokens (1, n, d)")
    shape = [int(axis.dim_value) for axis in inputs[0].type.tensor_type.shape.dim]
    if len(shape) not in (2, 3) or shape[0] > 1 or (len(shape) == 3 and not shape[2]):
        raise InputError(f"its input has the shape {shape}, expected (1, n, d) or (1, n)")
    return inputs[0].name, shape


def _lengths(proto: Any) -> tuple[int, ...]:
    _, shape = _input(proto)
    return (shape[1],) if shape[1] else _LENGTHS


def _shape(given: Any) -> np.ndarray:
    """The shape of a tensor."""
    if isinstance(given, Scores):
        count = given.queries.state.count
        return np.array([*given.queries.index.shape[:-2], count, count], np.int64)
    if not isinstance(given, Entries):
        raise InputError("the shape of such a tensor is not supported")
    return np.array(given.index.shape, np.int64)


class _Reader:
    """Follows a graph node by node for one length."""

    def __init__(self, proto: Any, length: int) -> None:
        self.onnx = need("onnx")
        self.proto = proto
        name, shape = _input(proto)
        self.width = shape[2] if len(shape) == 3 else 1
        start = State(length, self.width)
        index = start.everything()[None] if len(shape) == 3 else start.everything()[None, :, 0]
        self.values: dict[str, Any] = {name: Entries(start, index), "": None}
        for each in proto.graph.initializer:
            try:
                self.values[each.name] = self.onnx.numpy_helper.to_array(each)
            except Exception as problem:
                raise InputError(
                    f"the constant {each.name!r} can't be read: {type(problem).__name__}; a model "
                    f"with external data has to be stored in one file"
                ) from None
        self.opset = next((x.version for x in proto.opset_import if not x.domain), 1)
        if self.opset < 13:
            raise InputError(f"its opset is {self.opset}; 13 is the oldest that is supported")

    def network(self, classes: Sequence[object] | None) -> Network:
        """The network behind the first output."""
        for number, node in enumerate(self.proto.graph.node):
            place = f"node {node.name or number!r} ({node.op_type})"
            try:
                found = self._node(node)
            except InputError as problem:
                raise InputError(f"{place}: {problem}") from None
            except MemoryError:
                raise
            except Exception as problem:  # of ONNX's own implementation: any at all
                raise InputError(
                    f"{place} can't be read: {type(problem).__name__} {problem}"[:300]
                ) from None
            for name, each in zip(node.output, found, strict=False):
                self.values[name] = each
        output = self.values.get(self.proto.graph.output[0].name)
        if not isinstance(output, Entries):
            raise InputError("its first output is not what known layers make of the tokens")
        output = read_out(output.plain())
        if not np.array_equal(output.index.ravel(), np.arange(output.state.width)):
            raise InputError("its first output holds a part of the coordinates only")
        layers = output.state.back_to(None) or []
        names = classes if classes is not None else [str(k) for k in range(output.state.width)]
        return Network(layers, dimension=self.width, classes=names)

    def _node(self, node: Any) -> Sequence[Any]:
        given = [self.values[name] for name in node.input]
        if node.op_type.startswith("Random") or node.op_type in ("Bernoulli", "Multinomial"):
            raise InputError("a random number is no constant")
        if all(each is None or isinstance(each, np.ndarray) for each in given):
            return self._reference(node, given)
        attributes = {a.name: self.onnx.helper.get_attribute_value(a) for a in node.attribute}
        kind = node.op_type
        if node.domain not in ("", "ai.onnx"):
            raise InputError(f"operators of the domain {node.domain!r} are not supported")
        if kind == "Shape":
            return [_shape(given[0])[attributes.get("start", 0) : attributes.get("end")]]
        if kind == "Gather" and isinstance(given[0], np.ndarray):
            return [self._embedded(given[0], given[1], attributes)]
        if kind in _MOVING and isinstance(given[0], Entries):
            index = self._reference(node, [given[0].index, *given[1:]])
            return [given[0].moved(np.asarray(each)) for each in index]
        if kind == "Cast" and attributes["to"] in _FLOATS and isinstance(given[0], Entries):
            return [given[0]]
        if kind == "Dropout" and not any(np.any(each) for each in given[2:]):
            return [given[0]]
        rule = RULES.get(kind)
        if rule is None:
            raise InputError("this operator is not supported here")
        return [rule(*given, **attributes)]

    def _reference(self, node: Any, given: Sequence[Any]) -> Sequence[Any]:
        """What ONNX's own implementation makes of constants, or of places."""
        copy = self.onnx.NodeProto()
        copy.CopyFrom(node)
        copy.domain = ""
        from onnx.reference import ReferenceEvaluator

        names = [f"in{k}" if each is not None else "" for k, each in enumerate(given)]
        del copy.input[:]
        copy.input.extend(names)
        graph = self.onnx.helper.make_graph(
            [copy], "one",
            [self.onnx.helper.make_tensor_value_info(
                name, self.onnx.helper.np_dtype_to_tensor_dtype(each.dtype), each.shape)
             for name, each in zip(names, given, strict=True) if name],
            [self.onnx.ValueInfoProto(name=name) for name in node.output],
        )  # fmt: skip
        model = self.onnx.helper.make_model(
            graph, opset_imports=[self.onnx.helper.make_opsetid("", self.opset)]
        )
        feeds = {name: each for name, each in zip(names, given, strict=True) if name}
        found: Sequence[Any] = ReferenceEvaluator(model).run(None, feeds)
        return found

    def _embedded(self, table: np.ndarray, given: Any, attributes: dict[str, Any]) -> Entries:
        if not isinstance(given, Entries) or given.state.parent is not None or table.ndim != 2:
            raise InputError("a table is looked up with something else than the input")
        if attributes.get("axis", 0) != 0 or given.state.width != 1:
            raise InputError("a table is looked up along another axis than its first")
        width = table.shape[1]
        state = given.state.then(Embedding(table), width)
        return Entries(state, given.index[..., None] * width + np.arange(width))
