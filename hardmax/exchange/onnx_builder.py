"""Nodes of an ONNX graph, named in the order in which they are added."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..errors import InputError
from .extras import need

OPSET = 18
IR_VERSION = 9
_LARGEST = 1 << 30  # bytes: a protocol buffer ends at 2 GiB


class Graph:
    """A graph in the making; ``parent`` is the graph whose names a loop body may use."""

    def __init__(self, parent: Graph | None = None) -> None:
        self.onnx = need("onnx")
        self.nodes: list[Any] = []
        self.initializers: list[Any] = []
        self._constants: dict[tuple[str, bytes, tuple[int, ...]], str] = {}
        self._count = 0
        self._mark = "" if parent is None else parent.new("body_")

    def new(self, stem: str) -> str:
        """A name that is not used yet."""
        self._count += 1
        return (
            f"{self._mark}{stem}{self._count}"
            if not stem.endswith("_")
            else f"{stem}{self._count}_"
        )

    def add(self, operator: str, *inputs: str, outputs: int = 1, **attributes: Any) -> Any:
        """Add a node; the name of its output, or the list of names."""
        names = [self.new(operator.lower()) for _ in range(outputs)]
        node = self.onnx.helper.make_node(operator, list(inputs), names, **attributes)
        node.name = names[0]
        self.nodes.append(node)
        return names[0] if outputs == 1 else names

    def constant(self, values: Any, dtype: Any, name: str | None = None) -> str:
        """The name of a constant array; equal ones are stored once."""
        array = np.asarray(values, dtype=dtype)
        key = (array.dtype.str, array.tobytes(), array.shape)
        if name is None and key in self._constants:
            return self._constants[key]
        chosen = name or self.new("constant")
        if name is None:
            self._constants[key] = chosen
        if array.nbytes > _LARGEST:
            raise InputError(
                "the model is larger than 1 GiB, more than an ONNX file holds; take safetensors"
            )
        self.initializers.append(self.onnx.numpy_helper.from_array(array, chosen))
        return chosen

    def axes(self, *axes: int) -> str:
        """A constant with the axes of a reduction."""
        return self.constant(axes, np.int64)

    def copied(self, source: str, target: str) -> None:
        """Give an intermediate result the name of an output of the graph."""
        self.nodes.append(self.onnx.helper.make_node("Identity", [source], [target], name=target))

    def body(self, name: str, inputs: list[Any], outputs: list[Any]) -> Any:
        """The graph as the body of a loop."""
        return self.onnx.helper.make_graph(self.nodes, name, inputs, outputs, self.initializers)

    def model(self, name: str, inputs: list[Any], outputs: list[Any], doc: str) -> Any:
        """The graph as a model."""
        helper = self.onnx.helper
        graph = self.body(name, inputs, outputs)
        graph.doc_string = doc
        opset = helper.make_opsetid("", OPSET)
        return helper.make_model(
            graph, opset_imports=[opset], ir_version=IR_VERSION, producer_name="hardmax"
        )


def value(onnx: Any, name: str, dtype: str, shape: list[int | str] | None) -> Any:
    """The declaration of an input or output; a text in ``shape`` names a free length."""
    kinds = {"float64": "DOUBLE", "float32": "FLOAT", "bool": "BOOL", "int64": "INT64"}
    kind = getattr(onnx.TensorProto, kinds[dtype])
    return onnx.helper.make_tensor_value_info(name, kind, shape)


def with_metadata(onnx: Any, model: Any, facts: Mapping[str, str]) -> Any:
    """The model with texts by name in its ``metadata_props``, under "hardmax.…"."""
    onnx.helper.set_model_props(model, {f"hardmax.{key}": text for key, text in facts.items()})
    return model
